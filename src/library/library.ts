import type { Run } from '../lifecycle.ts';
import { createRemover, type Remover, type RemoverOptions } from './remover.ts';
import { createRetention, type RetentionOptions } from './retention.ts';
import type { DataSpace } from './space/data-space.ts';

/** Periodic work of the library. */
interface LibraryPart {
  readonly name: string;
  readonly start: (run: Run) => Promise<void> | void;
  readonly stop: () => Promise<void>;
}

/** The team's library of clips: what becomes of them after their delivery. */
export interface Library {
  readonly remover: Remover;
  /** Its periodic work, in the order of start. */
  readonly parts: readonly LibraryPart[];
}

/** Options of {@link createLibrary}. */
interface LibraryOptions extends RemoverOptions, Omit<RetentionOptions, 'remover' | 'store' | 'clock' | 'logger'> {
  readonly space: Pick<DataSpace, 'start' | 'stop'>;
}

/** Creates the library of one process. */
export function createLibrary(options: LibraryOptions): Library {
  const { space } = options;
  const remover = createRemover(options);
  const retention = createRetention({ ...options, remover });
  return {
    remover,
    parts: [
      { name: 'the data folder', start: () => space.start(), stop: () => space.stop() },
      { name: 'the removals', start: () => remover.start(), stop: () => remover.stop() },
      { name: 'the retention', start: () => retention.start(), stop: () => retention.stop() },
    ],
  };
}
