import type { AppDeps } from '../app.ts';
import { createAttachmentPlanner } from '../chat/attachment-plan.ts';
import type { ChatEngine } from '../chat/chat.ts';
import type { MessageLocks } from '../chat/message-lock.ts';
import type { Platform } from '../chat/platform.ts';
import type { WorkQueue } from '../engine/queue/queue.ts';
import type { ClipLinks } from '../media/clip-links.ts';
import { createFfmpegFitter } from '../media/ffmpeg.ts';
import { Joiner } from '../media/join/joiner.ts';
import type { ClipStorage } from '../storage/clip-storage.ts';
import { Cuts } from '../studio/cuts/cuts.ts';
import type { Pipeline } from '../task-pipeline.ts';

/** Parts that the cuts depend on. */
interface CutParts {
  readonly queue: WorkQueue;
  readonly pipeline: Pipeline;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly locks: MessageLocks;
  readonly chat: Pick<ChatEngine, 'cutShown'>;
  readonly clipLinks: ClipLinks;
  readonly storage: ClipStorage;
  /** Folder of the clips. */
  readonly folder: string;
  readonly assertWritable: () => Promise<void>;
}

/** Creates the service that joins clips; their files are beside those of the clips. */
export function createCuts(
  deps: AppDeps,
  { pipeline, chat, clipLinks: links, assertWritable: assertRoom, folder, ...parts }: CutParts,
): Cuts {
  const { ffmpeg, logger } = deps;
  return new Cuts({
    ...deps,
    ...parts,
    ...pipeline,
    links,
    assertRoom,
    handing: createAttachmentPlanner({ fitter: createFfmpegFitter({ ffmpeg, logger }), links }),
    joiner: new Joiner({ ...deps, folder }),
    observer: deps.metrics.cutObserver,
    shown: (cut) => chat.cutShown(cut),
  });
}
