import type { Clock } from '../clock.ts';
import { collection, type Job, type JobRun, pagesOf, type Store, type Versioned } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics/index.ts';
import {
  historyIndex,
  isContentRemoved,
  isEnded,
  isSignedOff,
  readTasks,
  signedOffIndex,
  type Task,
  type TaskId,
  teamOfHistory,
} from '../tasks/index.ts';
import { keyOfTeam, type TeamKey, type TeamSettings, type TeamSettingsRepository } from '../teams/index.ts';
import type { Remover } from './remover.ts';

/** Removals in flight: few enough not to delay the orders of others. */
const AT_ONCE = 4;
/** Tasks that a cursor may leave behind; with more of them, it waits. */
const MAX_LEFT = 1_000;

/** Progress of the removal of a team's clips. */
interface Cursor extends Versioned {
  /** The clips of all tasks created before this are removed, but for those in `left`. */
  readonly beforeMs: number;
  /** Earlier tasks whose clip could not be removed yet: they were running, uncertain or not delivered, or ended late. */
  readonly left: readonly TaskId[];
}

const retentionCursors = collection<TeamKey, Cursor>({
  name: 'retention_cursors',
  key: keyOfTeam,
  holds: 'up to where a team’s expired clips are removed',
  personal: 'nobody',
});

/** Time of the last completed run; before the first one, that of its begin. */
interface CompletionRecord extends Versioned {
  readonly atMs: number;
}

const completions = collection<'retention', CompletionRecord>({
  name: 'completions',
  holds: 'when expired clips were last removed',
  personal: 'nobody',
});

/** Options of {@link retentionJob}. */
interface RetentionOptions {
  readonly store: Store;
  readonly remover: Pick<Remover, 'complete' | 'remove'>;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  /** Retention that the operator has set for all teams. */
  readonly retention: Retention;
  readonly metrics: Pick<Metrics, 'expired'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Returns the job that removes, every hour, the clips, and the clips with their prompts, that ended longer ago than their
 * team or the operator keeps them. What is running, uncertain or not delivered stays. Can be interrupted at any point.
 */
export function retentionJob(options: RetentionOptions): Job {
  const schedule = { everyMs: 3_600_000, firstInMs: 30_000, leaseMs: 30_000 };
  return { name: 'retention', ...schedule, run: (run) => sweep(options, run) };
}

/** Returns the time since the retention was last complete, or first began; `null` before that. */
export async function retentionAgeMs(store: Pick<Store, 'keyv'>, nowMs: number): Promise<number | null> {
  const record = await completions.get(store, 'retention');
  return record === undefined ? null : Math.max(0, nowMs - record.atMs);
}

async function sweep(options: RetentionOptions, { isActive }: JobRun): Promise<void> {
  const { store, settings, retention, clock, logger } = options;
  // Its age is known from the first run on, even if none ever completes.
  await store.commit({ records: [completions.replacing('retention', undefined, { atMs: clock.now() })] });
  const teams = (await store.contents.indexes()).flatMap((index) => teamOfHistory(index) ?? []);
  for (const team of teams) {
    const rules = await settings.get(team);
    const nowMs = clock.now();
    const { clipsMs, promptsMs } = retentionOf(retention, rules, nowMs);
    const how = { isActive, sparesSignedOff: rules.keepSignedOff };
    const prompts =
      promptsMs === null ? 0 : await removePrompts(options, team, { latestMs: nowMs - promptsMs, ...how });
    const clips = clipsMs === null ? 0 : await removeClips(options, team, { latestMs: nowMs - clipsMs, ...how });
    if (!isActive()) return;
    if (prompts + clips > 0)
      logger.info({ event: 'retention_swept', ...team, prompts, clips }, 'removed what expired of a team');
  }
  await completions.set(store, 'retention', { revision: 1, atMs: clock.now() });
}

/** What is due of a team, and whether to go on. */
interface Sweep {
  /** What ended later is kept. */
  readonly latestMs: number;
  readonly isActive: JobRun['isActive'];
  /** Signed-off clips are kept. */
  readonly sparesSignedOff: boolean;
}

/**
 * Removes expired clips with their prompts. Their tasks leave the team's history with it, so that each sweep begins with
 * the oldest that is left. @returns their number.
 */
async function removePrompts(
  options: RetentionOptions,
  team: TeamKey,
  { latestMs, isActive, sparesSignedOff }: Sweep,
): Promise<number> {
  const { store, remover, metrics } = options;
  let removed = 0;
  for await (const page of pagesOf(store, historyIndex(team.platform, team.team), { max: latestMs })) {
    const tasks = await readTasks(
      store,
      page.map(({ member }) => member),
    );
    const isSpared = (task: Task): boolean => sparesSignedOff && isSignedOff(task);
    const due = tasks.filter((task) => isDue(task, latestMs) && !isContentRemoved(task) && !isSpared(task));
    const gone = await inBatches(due, isActive, async ({ id, clip }) => {
      const isRemoved = await remover.remove({ id }, { reason: 'expired', sparesSignedOff, isPartOfMany: true });
      if (isRemoved) metrics.expired('prompt', clip?.bytes ?? 0);
      return isRemoved;
    });
    await remover.complete(gone);
    removed += gone.length;
    if (!isActive()) break;
  }
  return removed;
}

/** Removes expired clips, from where the last sweep ended. @returns their number. */
async function removeClips(options: RetentionOptions, team: TeamKey, due: Sweep): Promise<number> {
  const { store } = options;
  const { latestMs, isActive } = due;
  const known = (await retentionCursors.get(store, team)) ?? { revision: 1, beforeMs: 0, left: [] };
  const again = await clipsOf(options, known.left, due);
  let [removed, left] = [again.removed, again.left];
  for await (const page of pagesOf(store, historyIndex(team.platform, team.team), {
    min: known.beforeMs,
    max: latestMs,
  })) {
    const found = await clipsOf(
      options,
      page.map(({ member }) => member as TaskId),
      due,
    );
    removed += found.removed;
    left = [...new Set([...left, ...found.left])];
    const last = page.at(-1);
    if (!isActive() || last === undefined || left.length > MAX_LEFT) break;
    // Equal times may continue on the next page.
    await retentionCursors.set(store, team, { revision: 1, beforeMs: last.score, left });
  }
  removed += await removeSpared(options, team, due);
  return removed;
}

/**
 * Removes the clips that earlier sweeps spared, because they were signed off, and that are kept no longer: changes were
 * requested since, or the team keeps them like others now. @returns their number.
 */
async function removeSpared(options: RetentionOptions, team: TeamKey, due: Sweep): Promise<number> {
  let removed = 0;
  for await (const page of pagesOf(options.store, signedOffIndex(team.platform, team.team), { max: due.latestMs })) {
    const ids = page.map(({ member }) => member as TaskId);
    removed += (await clipsOf(options, ids, due)).removed;
    if (!due.isActive()) break;
  }
  return removed;
}

/** Removes the clips of tasks as far as they are due. @returns those that have to be looked at again. */
async function clipsOf(
  { store, remover, metrics }: RetentionOptions,
  ids: readonly TaskId[],
  { latestMs, isActive, sparesSignedOff }: Sweep,
): Promise<{ readonly removed: number; readonly left: readonly TaskId[] }> {
  const read = await readTasks(store, ids);
  const tasks = sparesSignedOff ? read.filter((task) => !isSignedOff(task)) : read;
  const [due, waiting] = [
    tasks.filter((task) => isDue(task, latestMs)),
    tasks.filter((task) => !isDue(task, latestMs)),
  ];
  const left = waiting.map(({ id }) => id);
  const clips = due.filter(({ clip }) => clip !== undefined);
  const gone = await inBatches(clips, isActive, async ({ id, clip }) => {
    const isRemoved = await remover.remove(
      { id },
      { reason: 'expired', keepsContent: true, sparesSignedOff, isPartOfMany: true },
    );
    if (isRemoved) metrics.expired('clip', clip?.bytes ?? 0);
    else left.push(id);
    return isRemoved;
  });
  await remover.complete(gone);
  return { removed: gone.length, left };
}

/** Returns whether a task has ended, is in the chat, and its time is over. */
function isDue(task: Task, latestMs: number): boolean {
  return isEnded(task) && task.presented && (task.endedAtMs ?? task.createdAtMs) <= latestMs;
}

/** Runs `act` on all tasks, a few at a time. @returns those for which it returned true. */
async function inBatches(
  tasks: readonly Task[],
  isActive: JobRun['isActive'],
  act: (task: Task) => Promise<boolean>,
): Promise<readonly TaskId[]> {
  const done: TaskId[] = [];
  for (let at = 0; at < tasks.length && isActive(); at += AT_ONCE) {
    const batch = tasks.slice(at, at + AT_ONCE);
    const results = await Promise.all(batch.map(act));
    done.push(...batch.filter((_task, index) => results[index]).map(({ id }) => id));
  }
  return done;
}

const DAY_MS = 24 * 3_600_000;
/** Longest period that can be set: a hundred years. */
export const MAX_DAYS = 36_500;

/** Days that the operator keeps clips and prompts after a task has ended; 0: for good. */
export interface Retention {
  readonly clipsDays: number;
  readonly promptsDays: number;
}

/** Periods after the end of a task, in milliseconds; `null`: kept for good. */
interface RetentionPeriods {
  /** Never longer than `promptsMs`: a clip goes with its prompt. */
  readonly clipsMs: number | null;
  readonly promptsMs: number | null;
}

/** Returns the periods of a team at a time: the shorter ones of the operator's and its own, as far as these apply. */
export function retentionOf(
  { clipsDays, promptsDays }: Retention,
  { keepClips, keepPrompts }: Pick<TeamSettings, 'keepClips' | 'keepPrompts'>,
  nowMs: number,
): RetentionPeriods {
  const [ownClips = 0, ownPrompts = 0] = [keepClips, keepPrompts].map((keep) =>
    keep === undefined || keep.fromMs > nowMs ? 0 : keep.days,
  );
  const prompts = shorter(promptsDays, ownPrompts);
  return { clipsMs: inMs(shorter(shorter(clipsDays, ownClips), prompts)), promptsMs: inMs(prompts) };
}

/** Creates the lookup of the time at which the clip of a task is due for removal; `null` where it has none, or keeps it. */
export function createKeptUntil({
  settings,
  retention,
  clock,
}: {
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly retention: Retention;
  readonly clock: Clock;
}): (task: Pick<Task, 'origin' | 'clip' | 'createdAtMs' | 'endedAtMs' | 'review'>) => Promise<number | null> {
  return async (task) => {
    const { origin, clip, createdAtMs, endedAtMs } = task;
    if (clip === undefined) return null;
    const rules = await settings.get(origin);
    if (rules.keepSignedOff && isSignedOff(task)) return null;
    const { clipsMs } = retentionOf(retention, rules, clock.now());
    return clipsMs === null ? null : (endedAtMs ?? createdAtMs) + clipsMs;
  };
}

/** Returns the shorter one of two numbers of days, where 0 stands for good. */
function shorter(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}

function inMs(days: number): number | null {
  return days === 0 ? null : days * DAY_MS;
}
