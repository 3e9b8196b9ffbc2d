import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Frame } from './painter.ts';

/** Colours of a landscape, and the seed of everything else in it. The same prompt gives the same one. */
export interface Scene {
  readonly seed: number;
  /** Sky at the top, middle and horizon. */
  readonly sky: readonly [Rgb, Rgb, Rgb];
  /** Colour of the farthest hills; `near` is the nearest. */
  readonly far: Rgb;
  readonly near: Rgb;
  /** Sun, and everything that it lights. */
  readonly light: Rgb;
}

/** Share of the frame above the horizon. */
const HORIZON = 0.46;
/** Number of hills, one behind the other. */
const HILLS = 5;
const CLOUDS = 5;
const MOTES = 70;

/** Returns the scene of a prompt: colours around one hue, with the horizon shifted to a neighbouring one. */
export function sceneOf(prompt: string): Scene {
  const seed = seedOf(prompt);
  const hue = dice(seed)() * 360;
  return {
    seed,
    sky: [hsl(hue, 0.45, 0.2), hsl(hue + 22, 0.48, 0.47), hsl(hue + 48, 0.75, 0.8)],
    far: hsl(hue + 18, 0.35, 0.52),
    near: hsl(hue - 8, 0.45, 0.11),
    light: hsl(hue + 55, 0.9, 0.9),
  };
}

/** Paints a landscape that the camera moves through: sky, sun, clouds, hills, and motes in front. */
export function paintScene(ctx: SKRSContext2D, scene: Scene, frame: Frame): void {
  paintSky(ctx, scene, frame);
  paintSun(ctx, scene, frame);
  paintClouds(ctx, scene, frame);
  for (let index = 0; index < HILLS; index++) paintHills(ctx, scene, frame, index);
  paintMotes(ctx, scene, frame);
}

function paintSky(ctx: SKRSContext2D, { sky }: Scene, { width, height }: Frame): void {
  const gradient = ctx.createLinearGradient(0, 0, 0, height * (HORIZON + 0.12));
  gradient.addColorStop(0, css(sky[0]));
  gradient.addColorStop(0.55, css(sky[1]));
  gradient.addColorStop(1, css(sky[2]));
  ctx.fillStyle = gradient;
  ctx.fillRect(0, 0, width, height);
}

function paintSun(ctx: SKRSContext2D, { seed, sky, light }: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(seed ^ 0x50);
  const x = (0.58 + roll() * 0.28) * width - seconds * unit * 0.004;
  const y = (0.3 + roll() * 0.4) * height * HORIZON + seconds * unit * 0.003;
  const reach = unit * 0.62;
  const glow = ctx.createRadialGradient(x, y, 0, x, y, reach);
  glow.addColorStop(0, css(light, 0.75));
  glow.addColorStop(0.18, css(mix(light, sky[2], 0.35), 0.34));
  glow.addColorStop(1, css(sky[2], 0));
  ctx.fillStyle = glow;
  ctx.fillRect(x - reach, y - reach, reach * 2, reach * 2);
  paintDisc(ctx, { x, y, radius: unit * 0.062, colour: css(light) });
}

function paintClouds(ctx: SKRSContext2D, { seed, sky, light }: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(seed ^ 0xc10d);
  const colour = mix(sky[2], light, 0.4);
  for (let index = 0; index < CLOUDS; index++) {
    const span = unit * (0.28 + roll() * 0.4);
    const drift = roll() * width + seconds * unit * (0.008 + roll() * 0.014);
    ctx.save();
    ctx.translate(wrap(drift, width, span), height * HORIZON * (0.12 + roll() * 0.66));
    ctx.scale(1, 0.13 + roll() * 0.08);
    const haze = ctx.createRadialGradient(0, 0, 0, 0, 0, span);
    haze.addColorStop(0, css(colour, 0.32));
    haze.addColorStop(1, css(colour, 0));
    ctx.fillStyle = haze;
    ctx.fillRect(-span, -span, span * 2, span * 2);
    ctx.restore();
  }
}

/** Paints one range of hills: the nearer, the darker, the lower and the faster (parallax). */
function paintHills(ctx: SKRSContext2D, scene: Scene, frame: Frame, index: number): void {
  const { width, height, unit, seconds } = frame;
  const depth = index / (HILLS - 1);
  const roll = dice(scene.seed + index * 7919);
  const phases = [roll() * 7, roll() * 7, roll() * 7] as const;
  const travelled = seconds * unit * (0.012 + 0.11 * depth ** 1.5);
  const rise = unit * 0.065 * (1 - 0.4 * depth);
  ctx.beginPath();
  ctx.moveTo(0, height);
  for (let x = 0; x <= width + unit * 0.01; x += unit * 0.008) {
    const at = ((x + travelled) / unit) * (3.4 - depth * 1.3);
    const wave =
      Math.sin(at + phases[0]) + 0.5 * Math.sin(at * 2.1 + phases[1]) + 0.18 * Math.sin(at * 4.7 + phases[2]);
    ctx.lineTo(x, height * (HORIZON + 0.38 * depth) - rise * wave);
  }
  ctx.lineTo(width, height);
  ctx.closePath();
  const colour = mix(scene.far, scene.near, depth ** 1.15);
  const gradient = ctx.createLinearGradient(0, height * (HORIZON - 0.2), 0, height);
  gradient.addColorStop(0, css(mix(colour, scene.light, 0.1)));
  gradient.addColorStop(1, css(mix(colour, scene.far, 0.25)));
  ctx.fillStyle = gradient;
  ctx.fill();
}

function paintMotes(ctx: SKRSContext2D, { seed, light }: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(seed ^ 0x5e0f);
  for (let index = 0; index < MOTES; index++) {
    const near = 0.35 + 0.65 * roll();
    const sway = Math.sin(seconds * 1.4 + roll() * 7) * 0.02 * unit;
    const x = wrap(roll() * width + sway + seconds * 0.03 * near * unit, width, unit * 0.05);
    const y = wrap(roll() * height - seconds * 0.03 * near * unit, height, unit * 0.05);
    paintDisc(ctx, { x, y, radius: 0.0036 * near * unit, colour: css(light, 0.6 * near) });
  }
}

interface Disc {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly colour: string;
}

function paintDisc(ctx: SKRSContext2D, { x, y, radius, colour }: Disc): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}

/** Wraps a moving thing around the frame: it leaves on one side and re-enters on the other. */
function wrap(at: number, span: number, margin: number): number {
  const period = span + margin * 2;
  return ((((at + margin) % period) + period) % period) - margin;
}

/** Red, green and blue, each 0 to 255. */
type Rgb = readonly [number, number, number];

/** Converts a hue (degrees), saturation and lightness (0 to 1). */
function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

/** Interpolates between two colours: 0 is `from`, 1 is `to`. */
function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

/** Formats a colour for the canvas. `alpha` from 0 (transparent) to 1, the default. */
function css(colour: Rgb, alpha = 1): string {
  return `rgba(${colour.map(Math.round).join(',')},${alpha.toFixed(3)})`;
}

/** Pseudorandom number generator: returns the next number in [0, 1), in a sequence determined by the seed. */
type Dice = () => number;

/** Hashes a text to 32 bits; similar texts hash far apart. @see http://www.isthe.com/chongo/tech/comp/fnv/ (FNV-1a) */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Creates a seeded generator, so that the same prompt gives the same clip. */
function dice(seed: number): Dice {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
