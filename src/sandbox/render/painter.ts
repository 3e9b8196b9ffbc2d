import { type Canvas, createCanvas, type Image, type SKRSContext2D } from '@napi-rs/canvas';
import { FONTS } from './fonts.ts';
import { type FrameSize, frameSize, type RenderJob } from './job.ts';
import { paintReferences } from './reference.ts';
import { paintScene, sceneOf } from './scene.ts';
import { type Captioned, setCaption } from './title.ts';

/** Frame of a clip. */
export interface Frame extends FrameSize {
  /** Short side in pixels, the unit of every size and speed in a scene. */
  readonly unit: number;
  /** Time since the start of the clip. */
  readonly seconds: number;
  /** Length of the clip, in seconds. */
  readonly duration: number;
}

/** Painter of the frames of one clip, on one canvas. */
export interface Painter {
  readonly size: FrameSize;
  /** Draws the frame at `seconds`. @returns the RGBA pixels of the canvas, valid until the next call. */
  paint(seconds: number): Uint8Array;
}

/** Creates the painter of a clip. @param prints its reference images, `null` for each unavailable one. */
export function createPainter(job: RenderJob, prints: readonly (Image | null)[]): Painter {
  const size = frameSize(job.aspectRatio, job.resolution);
  const canvas: Canvas = createCanvas(size.width, size.height);
  const ctx = canvas.getContext('2d', { alpha: false });
  const scene = sceneOf(job.prompt);
  const captioned = setCaption({ prompt: job.prompt, facts: factsOf(job) }, size);
  const unit = Math.min(size.width, size.height);
  return {
    size,
    paint(seconds) {
      const frame: Frame = { ...size, unit, seconds, duration: job.seconds };
      paintScene(ctx, scene, frame);
      paintReferences(ctx, prints, frame);
      ctx.drawImage(captioned.overlay, 0, 0);
      paintTimeLine(ctx, captioned, frame);
      return canvas.data();
    },
  };
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
