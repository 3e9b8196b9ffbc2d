import {
  createRemover,
  type Remover,
  type RemoverOptions,
  type RetentionOptions,
  retentionJob,
} from '../clips/index.ts';
import type { Job } from '../engine/index.ts';
import { Forgetting, type ForgettingOptions } from '../people/index.ts';

/** The team's library of clips: what becomes of them after their delivery. */
export interface Library {
  readonly remover: Remover;
  readonly forgetting: Pick<Forgetting, 'request'>;
  readonly jobs: readonly Job[];
}

/** Options of {@link createLibrary}. */
interface LibraryOptions
  extends RemoverOptions,
    Omit<RetentionOptions, 'remover' | 'store' | 'clock' | 'logger'>,
    Pick<ForgettingOptions, 'relay' | 'platforms' | 'carried'> {
  readonly cuts: RemoverOptions['cuts'] & ForgettingOptions['cuts'];
  readonly audit: RemoverOptions['audit'] & ForgettingOptions['audit'];
}

/** Creates the library of one process. */
export function createLibrary(options: LibraryOptions): Library {
  const remover = createRemover(options);
  const forgetting = new Forgetting({ ...options, remover });
  return { remover, forgetting, jobs: [remover.job, retentionJob({ ...options, remover }), forgetting.job] };
}
