import type { Clock } from '../../clock.ts';
import type { DueJob, Store, WorkQueue } from '../../engine/index.ts';
import { deliverQueue, memberIds, retryKey, type TaskRepository, taskIdOf } from '../../pipeline/index.ts';
import {
  comparisonOf,
  hasClip,
  isBlind,
  type Phase,
  phaseAtEnd,
  type SetPlace,
  type Task,
  type TaskId,
  WAITS_FOR_OTHERS_MS,
} from '../../tasks/index.ts';
import { isSettled } from '../sets/set-view.ts';
import {
  type ComparisonRecord,
  ComparisonRecords,
  IN_ORDER_MS,
  OPEN_COMPARISONS,
  type VoteOutcome,
} from './comparison-records.ts';

/** Longest delay until it is checked again whether the clips may appear, in milliseconds. */
const CHECK_EVERY_MS = 60_000;
/** Delay until it is checked again whether those are posted, in milliseconds. */
const NEXT_TURN_MS = 200;

/** Options of {@link Comparisons}. */
interface ComparisonsOptions {
  readonly store: Pick<Store, 'keyv' | 'commit'>;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly queue: Pick<WorkQueue, 'schedule'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Schedules an edit of the set's card. */
  readonly refresh: (set: TaskId) => void;
}

/** Comparisons while they are blind: when their clips appear, votes, and the reveal. */
export class Comparisons {
  /** Reveals comparisons after their time, and completes the reveals of processes that died. */
  readonly job: DueJob = {
    name: 'reveal_sweep',
    index: OPEN_COMPARISONS,
    everyMs: 20_000,
    leaseMs: 15_000,
    run: (set) => this.#revealDue(set as TaskId),
  };
  readonly records: ComparisonRecords;
  readonly #options: ComparisonsOptions;

  constructor(options: ComparisonsOptions) {
    this.records = new ComparisonRecords(options.store, options.clock);
    this.#options = options;
  }

  /** Returns the task that is shown under each label: the first one, or its last retry before the reveal. */
  async entries(place: Pick<SetPlace, 'id' | 'of'>): Promise<readonly Task[]> {
    const found = await Promise.all(memberIds(place).map((id) => this.#options.repository.get(id)));
    return Promise.all(found.filter((task) => task !== undefined).map((task) => this.#lastOf(task)));
  }

  /**
   * Returns the time until it has to be checked again whether the outcome of a task may be shown, in milliseconds; `null`
   * if it may. The outcomes of a comparison appear together: once all tasks have ended, or some time after the first;
   * which is decided once, for all of them. They appear in the order of their labels: any other order would betray which
   * model was the slowest.
   */
  async heldForMs(task: Task): Promise<number | null> {
    const place = comparisonOf(task);
    if (place === null || !isBlind(task) || !(isHeld(task) || isOver(task))) return null;
    const { records } = this;
    const { repository, queue, clock } = this.#options;
    const record = await records.get(place.id);
    // Ordered while the models were being revealed: the reveal did not find it.
    if (record?.revealed !== undefined) await repository.record(task.id, { kind: 'reveal', atMs: clock.now() });
    const entries = await this.entries(place);
    const waitsMs = record === undefined ? waitForOthersMs(entries, clock.now()) : 0;
    if (waitsMs > 0) return isHeld(task) ? Math.min(waitsMs, CHECK_EVERY_MS) : null;
    const shown = record ?? (await records.show(place, task.origin));
    if (!entries.some((one) => isPendingOrUndecided(one) || hasClip(one))) await this.reveal(place);
    if (record === undefined)
      for (const one of entries)
        if (one.id !== task.id && !one.presented) queue.schedule(deliverQueue(one), one.id, clock.now());
    return isHeld(task) ? this.#turnInMs(task, entries, shown) : null;
  }

  /** Returns the time until it has to be checked again whether the clips with earlier labels are posted; `null` if so. */
  #turnInMs(task: Task, entries: readonly Task[], { revealed, shownAtMs }: ComparisonRecord): number | null {
    const at = entries.findIndex(({ id }) => id === task.id);
    if (revealed !== undefined || this.#options.clock.now() >= shownAtMs + at * IN_ORDER_MS) return null;
    return entries.slice(0, at).some((one) => hasClip(one) && !one.presented) ? NEXT_TURN_MS : null;
  }

  /** Counts a vote for a clip by its number, if it has one. */
  async vote(place: Pick<SetPlace, 'id' | 'of'>, person: string, at: number): Promise<VoteOutcome | 'no_clip'> {
    const entry = (await this.entries(place))[at - 1];
    if (entry === undefined || !hasClip(entry)) return 'no_clip';
    const outcome = await this.records.vote(place.id, person, at);
    if (outcome === 'counted') this.#options.refresh(place.id);
    return outcome;
  }

  /**
   * Ends the vote and reveals the models: every message of the comparison is shown again. May be repeated.
   * @returns `false` before the clips have appeared
   */
  async reveal(place: Pick<SetPlace, 'id' | 'of'>): Promise<boolean> {
    const { records } = this;
    const { repository, clock, refresh } = this.#options;
    const entries = await this.entries(place);
    const models = new Map(entries.flatMap((one, index) => (hasClip(one) ? [[index + 1, one.request.model]] : [])));
    if ((await records.reveal(place.id, models)) === undefined) return false;
    const event = { kind: 'reveal', atMs: clock.now() } as const;
    const ids = new Set([...memberIds(place), ...entries.map(({ id }) => id)]);
    for (const id of ids) await repository.record(id, event);
    await records.ended(place.id);
    refresh(place.id);
    return true;
  }

  async #revealDue(set: TaskId): Promise<void> {
    const place = (await this.#options.repository.get(set))?.set;
    const isThere = place !== undefined && (await this.reveal(place));
    // Its content was removed.
    if (!isThere) await this.records.ended(set);
  }

  async #lastOf(first: Task): Promise<Task> {
    let last = first;
    for (let number = 1; ; number += 1) {
      const next = await this.#options.repository.get(taskIdOf(retryKey(first.id, number)));
      if (next === undefined) return last;
      if (next.takeOf !== undefined) last = next;
    }
  }
}

/** Phases of an outcome that would betray by its time how fast a model is. */
const HELD: ReadonlySet<Phase> = new Set(['fetching', 'done', 'lost', 'failed', 'refused']);

function isHeld(task: Task): boolean {
  return HELD.has(phaseAtEnd(task));
}

/** Returns the time for which outcomes wait for those of the other tasks, in milliseconds. */
function waitForOthersMs(entries: readonly Task[], nowMs: number): number {
  const ends = entries.filter(isSettled).map(({ endedAtMs, createdAtMs }) => endedAtMs ?? createdAtMs);
  return ends.length === entries.length ? 0 : Math.min(...ends) + WAITS_FOR_OTHERS_MS - nowMs;
}

/** Returns whether a task ended without an outcome that is held back: cancelled, or left unresolved. */
function isOver(task: Task): boolean {
  return phaseAtEnd(task) === 'cancelled' || isLeft(task);
}

function isLeft(task: Task): boolean {
  return phaseAtEnd(task) === 'uncertain' && task.leftBy !== undefined;
}

function isPendingOrUndecided(task: Task): boolean {
  return !isSettled(task) || (phaseAtEnd(task) === 'uncertain' && !isLeft(task));
}
