import type { AspectRatio, Resolution } from '../../videos/request.ts';

/** Frames a second of every clip: each lasts a whole number of the MP4's 90,000 ticks, so lengths are exact. */
export const FRAMES_PER_SECOND = 24;

/** Width and height in pixels, both even, as H.264 with 4:2:0 colour needs them. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** A reference image, as a render worker gets at it. */
export type ReferenceSource =
  /** In the chat's own folder. */
  | { readonly path: string }
  /** Anywhere on the public internet. */
  | { readonly url: string };

/** What a render worker is asked to make. Plain data: it crosses to another thread. */
export interface RenderJob {
  readonly prompt: string;
  /** The model's title, shown small. */
  readonly title: string;
  readonly seconds: number;
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  /** Reference images, read by the worker. */
  readonly images: readonly ReferenceSource[];
  /** Whether addresses may lead to this machine. */
  readonly isLoopbackAllowed: boolean;
  /** How many sound and video references were given: they are named in the clip, not shown. */
  readonly otherReferences: number;
  /** Where the finished MP4 goes; it appears there whole or not at all. */
  readonly path: string;
  /** Stops half way and reports a failure, for the steering word `[fail]`. */
  readonly failMidway: boolean;
}

/** What a render worker reports. */
export type RenderReport =
  /** So many frames are encoded. */
  | { readonly kind: 'progress'; readonly frames: number; readonly of: number }
  /** The MP4 is on disk. */
  | { readonly kind: 'done' };

/** The size of a clip: a resolution is its short side, the ratio gives the long one, rounded to even. */
export function frameSize(aspectRatio: AspectRatio, resolution: Resolution): FrameSize {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  const short = Number.parseInt(resolution, 10);
  const long = 2 * Math.round((short * Math.max(across, down)) / Math.min(across, down) / 2);
  return across >= down ? { width: long, height: short } : { width: short, height: long };
}
