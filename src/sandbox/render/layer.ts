import { type Canvas, type CanvasGradient, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { css, mix, type Rgb } from './colour.ts';
import { dice } from './dice.ts';
import { paintFigure } from './figure.ts';
import type { Frame } from './painter.ts';
import type { Scene } from './scene.ts';

/** Layer of a scene, painted once, wider than the frame by what passes the camera. */
export interface Layer {
  readonly picture: Canvas;
  /** Upper edge of the picture, in pixels from the top of the frame. */
  readonly top: number;
  /** Pixels by which the camera passes it each second. */
  readonly speed: number;
  /** Returns the height of its ground at `x` pixels of the picture, in pixels from the top of the frame. */
  readonly ground: (x: number) => number;
}

const LANDS = 5;

/** Paints the layers of a scene: the sky, and the land, the nearest last. */
export function createLayers(scene: Scene, frame: Frame): readonly Layer[] {
  return [createSky(scene, frame), ...Array.from({ length: LANDS }, (_, index) => createLand(scene, frame, index))];
}

function createSky(scene: Scene, { width, height, unit, duration }: Frame): Layer {
  const { sky, light, sun, horizon } = scene;
  const speed = unit * 0.014;
  const picture = createCanvas(Math.ceil(width + speed * duration) + 2, height);
  const ctx = picture.getContext('2d', { alpha: false });
  const gradient = ctx.createLinearGradient(0, 0, 0, height * (horizon + 0.12));
  for (const [index, colour] of sky.entries()) gradient.addColorStop(index * 0.5, css(colour));
  ctx.fillStyle = gradient;
  ctx.fillRect(0, 0, picture.width, height);
  const roll = dice(scene.seed ^ 0x57a5);
  for (let star = scene.hasStars ? 150 : 0; star > 0; star--) {
    const down = roll() ** 1.6;
    const size = unit * (0.0011 + roll() * 0.0019);
    fillCircle(ctx, css(light, 1 - down), [roll() * picture.width, down * height * horizon, size]);
  }
  const [x, y] = [sun[0] * width, sun[1] * height * horizon];
  fillGlow(ctx, light, [x, y, unit * 0.5]);
  fillCircle(ctx, css(light), [x, y, unit * 0.062]);
  for (let cloud = scene.place.isIndoors ? 0 : 6; cloud > 0; cloud--) {
    ctx.save();
    ctx.translate(roll() * picture.width, height * horizon * (0.12 + roll() * 0.6));
    ctx.scale(1, 0.13 + roll() * 0.08);
    fillGlow(ctx, mix(sky[2], light, 0.4), [0, 0, unit * (0.28 + roll() * 0.4)]);
    ctx.restore();
  }
  return { picture, top: 0, speed, ground: () => height };
}

/** Paints a layer of the land: the nearer, the darker, the lower and the faster (parallax). */
function createLand(scene: Scene, { width, height, unit, duration }: Frame, index: number): Layer {
  const { place, far, near, light, horizon, seed, isSnowy } = scene;
  const depth = index / (LANDS - 1);
  const speed = place.isIndoors ? 0 : unit * (0.02 + 0.1 * depth ** 1.5);
  const step = (height * (0.81 - horizon)) / (LANDS - 1);
  const base = height * horizon + step * index;
  const top = Math.max(0, Math.floor(base - unit * 0.42));
  // The next layer covers what is below.
  const bottom = depth === 1 ? height : Math.min(height, Math.ceil(base + step + unit * 0.22));
  const picture = createCanvas(Math.ceil(width + speed * duration) + 2, bottom - top);
  const ctx = picture.getContext('2d');
  ctx.translate(0, -top);
  const roll = dice(seed + index * 7919);
  const phases = [roll() * 7, roll() * 7, roll() * 7] as const;
  const wave = place.isRidged ? (at: number) => 1 - 2 * Math.abs(Math.sin(at * 0.45)) : Math.sin;
  const ground = (x: number): number => {
    const at = (x / unit) * (3.4 - depth * 1.3) * place.pitch;
    const waves = wave(at + phases[0]) + 0.5 * wave(at * 2.1 + phases[1]) + 0.18 * wave(at * 4.7 + phases[2]);
    return base - unit * place.rise * (1 - 0.5 * depth) * waves;
  };
  const colour = mix(far, near, depth ** 1.15);
  const fill = ctx.createLinearGradient(0, top, 0, height);
  fill.addColorStop(0, css(mix(colour, light, 0.1)));
  fill.addColorStop(1, css(mix(colour, far, 0.25)));
  ctx.moveTo(0, height);
  for (let x = 0; x < picture.width + unit * 0.01; x += unit * 0.01) ctx.lineTo(x, ground(x));
  ctx.lineTo(picture.width, height);
  ctx.fillStyle = fill;
  if (!place.isIndoors || depth > 0.5) ctx.fill();
  // The nearest layer is under the title: little stands on it.
  const size = unit * (0.06 + 0.14 * depth);
  const distance = size * place.spacing * (depth === 1 ? 3 : 1);
  const end = place.rise === 0 && depth === 1 ? 0 : picture.width + size;
  const colours = {
    leaf: css(isSnowy ? mix(colour, [38, 66, 84], 0.7) : mix(colour, [0, 0, 0], 0.25)),
    lit: isSnowy ? css(near, 0.8) : css(light, 0.08),
    wall: css(mix(colour, scene.sky[1], 0.1)),
    glow: css(light, 0.6),
    haze: css(light, 0.22),
  };
  for (let x = roll() * distance; x < end; x += distance * (0.6 + roll() * 0.8)) {
    ctx.save();
    ctx.translate(x, ground(x));
    ctx.scale(size * (0.6 + roll() * 0.7), size * (0.6 + roll() * 0.7));
    paintFigure(ctx, place.cover[Math.floor(roll() * place.cover.length)] ?? '', colours);
    ctx.restore();
  }
  return { picture, top, speed, ground };
}

/** Centre and radius, in pixels. */
type Circle = readonly [x: number, y: number, radius: number];

function fillGlow(ctx: SKRSContext2D, colour: Rgb, [x, y, radius]: Circle): void {
  const glow = ctx.createRadialGradient(x, y, 0, x, y, radius);
  glow.addColorStop(0, css(colour, 0.45));
  glow.addColorStop(1, css(colour, 0));
  fillCircle(ctx, glow, [x, y, radius]);
}

function fillCircle(ctx: SKRSContext2D, fill: string | CanvasGradient, [x, y, radius]: Circle): void {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}
