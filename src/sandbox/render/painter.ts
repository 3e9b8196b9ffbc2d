import { type Canvas, type CanvasGradient, createCanvas, type Image, type SKRSContext2D } from '@napi-rs/canvas';
import { FONTS } from '../../fonts.ts';
import type { AspectRatio, Resolution } from '../../videos/index.ts';
import { css, hex, mix, type Rgb } from './colour.ts';
import { dice } from './dice.ts';
import { paintFigure } from './figure.ts';
import type { FrameSize, RenderJob } from './job.ts';
import { type Scene, sceneOf } from './scene.ts';
import { type Captioned, setCaption } from './title.ts';

interface Frame extends FrameSize {
  /** Short side in pixels, the unit of every size and speed in a scene. */
  readonly unit: number;
  /** Time since the start of the clip. */
  readonly seconds: number;
  /** Length of the clip, in seconds. */
  readonly duration: number;
}

/** Painter of the frames of one clip, on one canvas. */
interface Painter {
  readonly size: FrameSize;
  /** Draws the frame at `seconds`. @returns the RGBA pixels of the canvas, valid until the next call. */
  paint(seconds: number): Uint8Array;
}

/** Creates the painter of a clip. @param prints its reference images, `null` for each unavailable one. */
export function createPainter(job: RenderJob, prints: readonly (Image | null)[]): Painter {
  const size = frameSize(job.aspectRatio, job.resolution);
  const canvas: Canvas = createCanvas(size.width, size.height);
  const ctx = canvas.getContext('2d', { alpha: false });
  const scene = sceneOf(job.prompt, job.id);
  const captioned = setCaption({ prompt: job.prompt, facts: factsOf(job) }, size);
  const first: Frame = { ...size, unit: Math.min(size.width, size.height), seconds: 0, duration: job.seconds };
  const layers = createLayers(scene, first);
  return {
    size,
    paint(seconds) {
      const frame: Frame = { ...first, seconds };
      paintScene(ctx, scene, layers, frame);
      paintReferences(ctx, prints, frame);
      ctx.drawImage(captioned.overlay, 0, 0);
      paintTimeLine(ctx, captioned, frame);
      return canvas.data();
    },
  };
}

/** Returns the size of a clip: the resolution is the short side, the ratio gives the long one, rounded to even. */
export function frameSize(aspectRatio: AspectRatio, resolution: Resolution): FrameSize {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  const short = Number.parseInt(resolution, 10);
  const long = 2 * Math.round((short * Math.max(across, down)) / Math.min(across, down) / 2);
  return across >= down ? { width: long, height: short } : { width: short, height: long };
}

/** Paints the layers back to front, the subject on the last but one. A mirrored camera moves to the left. */
function paintScene(ctx: SKRSContext2D, scene: Scene, layers: readonly Layer[], frame: Frame): void {
  const { unit, seconds, duration } = frame;
  for (const [index, { picture, speed, top, ground }] of layers.entries()) {
    const passed = Math.round(speed * (scene.isMirrored ? duration - seconds : seconds));
    const heave = index < 2 ? 0 : Math.round(Math.sin(seconds * 1.5 + index * 2) * unit * scene.place.heave);
    ctx.drawImage(picture, -passed, top + heave);
    if (index === layers.length - 2) paintSubject(ctx, scene, frame, (x) => ground(x + passed) + heave);
  }
  paintWeather(ctx, scene, frame);
}

/** @param ground returns the height of the ground at `x` pixels. */
function paintSubject(ctx: SKRSContext2D, scene: Scene, frame: Frame, ground: (x: number) => number): void {
  const { subject, subjectAt, isMirrored, isStill } = scene;
  if (subject === null) return;
  const { width, unit, seconds, duration } = frame;
  const ahead = width * (subjectAt + (isStill ? 0 : subject.travel * seconds) / duration);
  const x = isMirrored ? width - ahead : ahead;
  const phase = isStill ? 0.6 : seconds * subject.rate;
  const size = unit * 0.19 * scene.scale * subject.size;
  ctx.save();
  ctx.translate(x, ground(x));
  ctx.rotate(
    Math.atan2(ground(x + unit * 0.09) - ground(x - unit * 0.09), unit * 0.18) * (subject.travel > 0 ? 0.7 : 0),
  );
  ctx.scale(isMirrored ? -size : size, size);
  ctx.translate(0, -subject.lift - subject.bob * (1 + Math.sin(phase + 1.2)));
  ctx.rotate(subject.sway * Math.sin(phase + 2.4));
  ctx.scale(1, 1 + subject.flap * Math.sin(phase * 5));
  const colour = scene.accent ?? hex(subject.colour);
  const colours = { accent: css(colour), shade: css(mix(colour, [0, 0, 0], 0.35)), pale: subject.pale };
  paintFigure(ctx, subject.figure, colours, phase);
  ctx.restore();
}

/**
 * Returns the small print, such as `4 s · 16:9 · 720p`: it names no model, which a comparison keeps hidden. Audio and video
 * references are mentioned, not shown.
 */
function factsOf({ seconds, aspectRatio, resolution, media }: RenderJob): string {
  const others = media.audio.length + media.video.length;
  const more = others === 0 ? [] : [`${others} more reference${others > 1 ? 's' : ''}`];
  return [`${seconds} s`, aspectRatio, resolution, ...more].join('  ·  ');
}

function paintTimeLine(ctx: SKRSContext2D, { margin, textSize }: Captioned, frame: Frame): void {
  const { width, height, seconds, duration } = frame;
  ctx.font = `${textSize}px ${FONTS.text}`;
  ctx.textAlign = 'right';
  ctx.fillStyle = 'rgba(255,255,255,0.82)';
  ctx.fillText(`${seconds.toFixed(1)} s`, width - margin, height - margin);
  ctx.textAlign = 'left';
  const thick = Math.max(2, Math.round(textSize * 0.14));
  const y = height - margin + textSize * 0.75;
  ctx.fillStyle = 'rgba(255,255,255,0.25)';
  ctx.fillRect(margin, y, width - margin * 2, thick);
  ctx.fillStyle = 'rgba(255,255,255,0.9)';
  ctx.fillRect(margin, y, (width - margin * 2) * (seconds / duration), thick);
}

/** Paints the reference images as a fan of prints in the upper left; an unavailable one is labelled as such. */
function paintReferences(ctx: SKRSContext2D, prints: readonly (Image | null)[], frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const card = unit * (prints.length > 4 ? 0.2 : 0.27);
  const step = Math.min(card * 1.12, (width - unit * 0.2 - card) / Math.max(1, prints.length - 1));
  prints.forEach((image, index) => {
    const sway = Math.sin(seconds * 0.9 + index * 1.7) * 0.012;
    ctx.save();
    ctx.translate(unit * 0.09 + card / 2 + step * index, Math.min(height * 0.24, unit * 0.27));
    ctx.rotate((index % 2 === 0 ? -1 : 1) * 0.045 + sway);
    paintPrint(ctx, image, card, 1.03 + 0.07 * (seconds / frame.duration));
    ctx.restore();
  });
}

/** Paints one print around the origin. @param zoom zoom of the camera into the picture, at least 1. */
function paintPrint(ctx: SKRSContext2D, image: Image | null, card: number, zoom: number): void {
  const border = card * 0.055;
  ctx.fillStyle = 'rgba(0,0,0,0.28)';
  ctx.fillRect(-card / 2 + border * 0.6, -card / 2 + border * 0.9, card, card * 1.14);
  ctx.fillStyle = '#fbf8f1';
  ctx.fillRect(-card / 2, -card / 2, card, card * 1.14);
  const side = card - border * 2;
  ctx.beginPath();
  ctx.rect(-side / 2, -side / 2, side, side);
  ctx.clip();
  if (image === null) {
    ctx.fillStyle = '#d8d3c8';
    ctx.fillRect(-side / 2, -side / 2, side, side);
    ctx.fillStyle = '#6d675c';
    ctx.textAlign = 'center';
    ctx.font = `${Math.max(10, Math.round(card * 0.085))}px ${FONTS.text}`;
    ctx.fillText('reference', 0, -card * 0.02);
    ctx.fillText('unavailable', 0, card * 0.09);
    return;
  }
  const scale = (side / Math.min(image.width, image.height)) * zoom;
  ctx.drawImage(
    image,
    (-image.width * scale) / 2,
    (-image.height * scale) / 2,
    image.width * scale,
    image.height * scale,
  );
}

/** Paints what falls or floats in front of a scene: the nearer, the larger and the faster. */
function paintWeather(ctx: SKRSContext2D, { weather, seed }: Scene, frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const { count, speed, wind, sway, size, colours } = weather;
  const roll = dice(seed ^ 0x5e0f);
  for (let index = 0; index < count; index++) {
    const near = 0.35 + 0.65 * roll();
    const phase = roll() * 7;
    const swing = Math.sin(seconds * 1.4 + phase) * sway * unit;
    const x = wrap(roll() * width + swing + seconds * wind * near * unit, width, unit * 0.05);
    const y = wrap(roll() * height + seconds * speed * near * unit, height, unit * 0.05);
    const radius = size * near * unit;
    // Rain is so fast that it is seen as a streak; leaves and petals turn.
    const length = Math.max(radius, Math.abs(speed) > 1 ? unit * 0.035 * near : 0);
    const thin = size > 0.01 ? 0.3 + 0.5 * Math.abs(Math.sin(seconds * 1.7 + phase)) : 1;
    ctx.globalAlpha = near;
    ctx.fillStyle = colours[Math.floor(roll() * colours.length)] ?? '';
    ctx.beginPath();
    ctx.ellipse(x, y, radius * thin, length, length > radius ? Math.atan2(-wind, speed) : phase, 0, Math.PI * 2);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/** Wraps a moving thing around the frame: it leaves on one side and re-enters on the other. */
function wrap(at: number, span: number, margin: number): number {
  const period = span + margin * 2;
  return ((((at + margin) % period) + period) % period) - margin;
}

/** Layer of a scene, painted once, wider than the frame by what passes the camera. */
interface Layer {
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
function createLayers(scene: Scene, frame: Frame): readonly Layer[] {
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
