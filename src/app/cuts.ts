import type { AppDeps } from '../app.ts';
import type { ChatEngine } from '../chat/index.ts';
import { Joiner } from '../media/index.ts';
import type { ClipStorage } from '../storage/index.ts';
import { Cuts } from '../studio/index.ts';

interface CutParts {
  readonly chat: ChatEngine;
  readonly storage: ClipStorage;
  readonly folder: string;
  readonly assertWritable: () => Promise<void>;
}

/** Creates the service that joins clips; their files are beside those of the clips. */
export function createCuts(deps: AppDeps, { chat, storage, folder, assertWritable: assertRoom }: CutParts): Cuts {
  return new Cuts({
    ...chat.parts,
    storage,
    assertRoom,
    joiner: new Joiner({ ...deps, folder }),
    observer: deps.metrics.cutObserver,
    shown: (cut) => chat.cutShown(cut),
  });
}
