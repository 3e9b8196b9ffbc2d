import type { AppDeps } from '../app.ts';
import { type ChatEngine, createAttachmentPlanner, type MessageLocks, type Platform } from '../chat/index.ts';
import type { WorkQueue } from '../engine/index.ts';
import { type ClipLinks, createFfmpegFitter, Joiner } from '../media/index.ts';
import type { Money } from '../money/index.ts';
import type { ClipStorage } from '../storage/index.ts';
import { Cuts } from '../studio/index.ts';
import type { Pipeline } from '../task-pipeline.ts';

interface CutParts {
  readonly money: Pick<Money, 'settings'>;
  readonly queue: WorkQueue;
  readonly pipeline: Pipeline;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly locks: MessageLocks;
  readonly chat: Pick<ChatEngine, 'cutShown'>;
  readonly clipLinks: ClipLinks;
  readonly storage: ClipStorage;
  readonly folder: string;
  readonly assertWritable: () => Promise<void>;
}

/** Creates the service that joins clips; their files are beside those of the clips. */
export function createCuts(
  deps: AppDeps,
  { money, pipeline, chat, clipLinks: links, assertWritable: assertRoom, folder, ...parts }: CutParts,
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
    isLabelled: async (team) => (await money.settings.get(team)).aiLabel,
    shown: (cut) => chat.cutShown(cut),
  });
}
