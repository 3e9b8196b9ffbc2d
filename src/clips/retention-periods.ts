import type { Clock } from '../clock.ts';
import { isSignedOff, type Task } from '../tasks/index.ts';
import type { TeamSettings, TeamSettingsRepository } from '../teams/index.ts';

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
