import type { SandboxTask } from '../records.ts';

/** Frames per second of every clip. Each lasts a whole number of the MP4's 90,000 ticks, so lengths are exact. */
export const FRAMES_PER_SECOND = 24;

/** Width and height in pixels, both even, as H.264 with 4:2:0 chroma subsampling requires. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** Source of a reference image, read by the render worker. */
export type ReferenceSource =
  /** File in a folder of the bot. */
  | { readonly path: string }
  /** URL on the public internet. */
  | { readonly url: string };

/** Input of a render worker: a task and its files. Plain data, since it is cloned to another thread. */
export interface RenderJob extends SandboxTask {
  /** Reference images, read by the worker. */
  readonly images: readonly ReferenceSource[];
  /** True: URLs may lead to this machine. */
  readonly isLoopbackAllowed: boolean;
  /** Path of the finished MP4, written atomically. */
  readonly path: string;
}
