import {
  createRemover,
  createRetention,
  type DataSpace,
  type Remover,
  type RemoverOptions,
  type RetentionOptions,
} from '../clips/index.ts';
import type { Run } from '../lifecycle.ts';
import { Forgetting, type ForgettingOptions } from '../people/index.ts';

interface LibraryPart {
  readonly name: string;
  readonly start: (run: Run) => Promise<void> | void;
  readonly stop: () => Promise<void>;
}

/** The team's library of clips: what becomes of them after their delivery. */
export interface Library {
  readonly remover: Remover;
  readonly forgetting: Pick<Forgetting, 'request'>;
  /** Its periodic work, in the order of start. */
  readonly parts: readonly LibraryPart[];
}

/** Options of {@link createLibrary}. */
interface LibraryOptions
  extends RemoverOptions,
    Omit<RetentionOptions, 'remover' | 'store' | 'clock' | 'logger'>,
    Pick<ForgettingOptions, 'relay' | 'platforms' | 'carried'> {
  readonly cuts: RemoverOptions['cuts'] & ForgettingOptions['cuts'];
  readonly audit: RemoverOptions['audit'] & ForgettingOptions['audit'];
  readonly space: Pick<DataSpace, 'start' | 'stop'>;
}

/** Creates the library of one process. */
export function createLibrary(options: LibraryOptions): Library {
  const { space } = options;
  const remover = createRemover(options);
  const retention = createRetention({ ...options, remover });
  const forgetting = new Forgetting({ ...options, remover });
  return {
    remover,
    forgetting,
    parts: [
      { name: 'the data folder', start: () => space.start(), stop: () => space.stop() },
      { name: 'the removals', start: () => remover.start(), stop: () => remover.stop() },
      { name: 'the retention', start: () => retention.start(), stop: () => retention.stop() },
      { name: 'the forgetting', start: () => forgetting.start(), stop: () => forgetting.stop() },
    ],
  };
}
