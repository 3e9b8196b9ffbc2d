import {
  createRemover,
  createRetention,
  type DataSpace,
  type Remover,
  type RemoverOptions,
  type RetentionOptions,
} from '../clips/index.ts';
import type { Clock } from '../clock.ts';
import { OnOneReplica, type Store } from '../engine/index.ts';
import type { Run } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { CarriedSpend } from '../money/index.ts';
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
    Pick<ForgettingOptions, 'relay' | 'platforms' | 'recordKinds'> {
  readonly cuts: RemoverOptions['cuts'] & ForgettingOptions['cuts'];
  readonly audit: RemoverOptions['audit'] & ForgettingOptions['audit'];
  readonly carried: ForgettingOptions['carried'] & Pick<CarriedSpend, 'sweep'>;
  readonly space: Pick<DataSpace, 'start' | 'stop'>;
}

/** Creates the library of one process. */
export function createLibrary(options: LibraryOptions): Library {
  const { space } = options;
  const remover = createRemover(options);
  const retention = createRetention({ ...options, remover });
  const forgetting = new Forgetting({ ...options, remover });
  const carried = createCarriedSweep(options);
  return {
    remover,
    forgetting,
    parts: [
      { name: 'the data folder', start: () => space.start(), stop: () => space.stop() },
      { name: 'the removals', start: () => remover.start(), stop: () => remover.stop() },
      { name: 'the retention', start: () => retention.start(), stop: () => retention.stop() },
      { name: 'the forgetting', start: () => forgetting.start(), stop: () => forgetting.stop() },
      { name: 'the carried spend', start: () => carried.start(FIRST_SWEEP_MS), stop: () => carried.stop() },
    ],
  };
}

const HOUR_MS = 3_600_000;
/** Delay of the first sweep after the start. */
const FIRST_SWEEP_MS = 60_000;
const LEASE_MS = 30_000;

/** Creates the sweep that deletes what is carried for forgotten people once the month is over. */
function createCarriedSweep({
  store,
  clock,
  carried,
  logger,
}: {
  readonly store: Pick<Store, 'leases'>;
  readonly clock: Clock;
  readonly carried: Pick<CarriedSpend, 'sweep'>;
  readonly logger: Logger;
}): Pick<OnOneReplica, 'start' | 'stop'> {
  return new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'carried-spend',
    ttlMs: LEASE_MS,
    everyMs: HOUR_MS,
    run: () => carried.sweep(),
    failed: (thrown) =>
      logger.warn({ event: 'carried_spend_failed', err: thrown }, 'failed to delete what was carried, retrying'),
  });
}
