import { type Canvas, createCanvas, type Image, type SKRSContext2D } from '@napi-rs/canvas';
import { FONTS } from '../../fonts.ts';
import { css, hex, mix } from './colour.ts';
import { dice } from './dice.ts';
import { paintFigure } from './figure.ts';
import { type FrameSize, frameSize, type RenderJob } from './job.ts';
import { createLayers, type Layer } from './layer.ts';
import { paintReferences } from './reference.ts';
import { type Scene, sceneOf } from './scene.ts';
import { type Captioned, setCaption } from './title.ts';

export interface Frame extends FrameSize {
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

/** Returns the small print, such as `4 s · 16:9 · 720p`: it names no model, which a comparison keeps hidden. */
function factsOf(job: RenderJob): string {
  const media =
    job.otherReferences === 0 ? [] : [`${job.otherReferences} more reference${job.otherReferences > 1 ? 's' : ''}`];
  return [`${job.seconds} s`, job.aspectRatio, job.resolution, ...media].join('  ·  ');
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
