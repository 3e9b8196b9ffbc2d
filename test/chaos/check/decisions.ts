import type { Task } from '#src/tasks/task.ts';
import type { ApproversValue, MoneyCommit } from '../commits.ts';
import type { History, Rights, Trouble, Violation } from '../history.ts';

/** Approvers of a team, and the list before it. */
interface Lists {
  readonly now: ApproversValue['approvers'];
  readonly former: ApproversValue['approvers'];
  /** Time of the change from one to the other, by the clock of its replica. */
  readonly sinceMs: number;
}

/** Time between the check of an approver's right and the time that the approval records. */
const PRESS_MS = 3_000;
/** Largest step of a replica's clock during a run, both ways. */
const STEP_MS = 2 * 3_600_000;

/** Replays every commit of the run: a request is decided once, and approved by someone who had the right then. */
export function checkDecisions({
  commits,
  rights,
  troubles,
}: Pick<History, 'commits' | 'rights' | 'troubles'>): readonly Violation[] {
  const tasks = new Map<string, Task>();
  const lists = new Map<string, Lists>();
  const toleranceMs = toleranceOf(troubles);
  return commits.flatMap((commit, at) => {
    changeLists(lists, commit);
    return commit.flatMap((write) => {
      if (write.of !== 'task' || write.value === null) return [];
      const [before, after] = [tasks.get(write.key), write.value];
      tasks.set(write.key, after);
      const what = `commit ${at}: task ${write.key} was ${decisionOn(before)}, then ${decisionOn(after)}`;
      const isTwice = decisionOn(before) !== NONE && decisionOn(before) !== decisionOn(after);
      const isNew = after.approval?.approved !== undefined && before?.approval?.approved === undefined;
      return [
        ...(isOutOfTime(after) ? [{ name: 'decided out of time', what }] : []),
        ...(isTwice ? [{ name: 'decided twice', what }] : []),
        ...(isNew && !hadRight(after, lists.get(teamOf(after)), { rights, toleranceMs })
          ? [{ name: 'approved without the right', what }]
          : []),
      ];
    });
  });
}

const NONE = 'undecided';

/** Returns the decision on a request, as a text. */
function decisionOn(task: Task | undefined): string {
  const { by, atMs } = task?.approval?.approved ?? {};
  const approved = by === undefined ? [] : [`approved by ${by.id} at ${atMs}`];
  const { how, by: decliner, atMs: declinedMs } = task?.declined ?? {};
  const declined = how === undefined ? [] : [`${how} by ${decliner?.id} at ${declinedMs}`];
  return [...approved, ...declined].join(' and ') || NONE;
}

/** Returns whether a request was approved after its expiry, or expired before it. */
function isOutOfTime({ approval, declined }: Task): boolean {
  const endMs = approval?.expiresAtMs ?? 0;
  const isTooLate = approval?.approved !== undefined && approval.approved.atMs >= endMs;
  return isTooLate || (declined?.how === 'expired' && declined.atMs < endMs);
}

function teamOf({ origin }: Task): string {
  return `${origin.platform}:${origin.team}`;
}

function changeLists(lists: Map<string, Lists>, commit: MoneyCommit): void {
  const changes = commit.flatMap((write) => (write.of === 'audit' ? [write.value] : []));
  const sinceMs = changes.findLast(({ action }) => action === 'approver')?.atMs ?? 0;
  for (const write of commit) {
    if (write.of !== 'approvers') continue;
    const former = lists.get(write.key)?.now ?? [];
    lists.set(write.key, { now: write.value?.approvers ?? [], former, sinceMs });
  }
}

/** Returns whether the approver had the right at the commit, or when the press was checked, a moment before. */
function hadRight(
  { origin, approval }: Task,
  { now, former, sinceMs }: Lists = { now: [], former: [], sinceMs: 0 },
  { rights, toleranceMs }: { readonly rights: Rights; readonly toleranceMs: number },
): boolean {
  const { by, atMs = 0 } = approval?.approved ?? {};
  const user = `${origin.platform}:${by?.id}`;
  const valid = (list: ApproversValue['approvers']): boolean => {
    const some = list
      .filter(({ untilMs }) => untilMs === undefined || atMs < untilMs)
      .filter(({ kind, id }) => kind !== 'person' || id !== origin.user.id);
    if (some.length === 0) return rights.administrators.has(user);
    return some.some(({ kind, id }) => (kind === 'person' ? id === by?.id : rights.members.get(id)?.includes(user)));
  };
  return valid(now) || (sinceMs >= atMs - toleranceMs && valid(former));
}

/** Returns how long before its recorded time an approver's right may have been checked. */
function toleranceOf(troubles: readonly Trouble[]): number {
  const pauses = troubles.filter(({ kind }) => kind === 'pause').map(({ fromMs, untilMs }) => untilMs - fromMs);
  const stepMs = troubles.some(({ kind }) => kind === 'clock') ? STEP_MS : 0;
  return PRESS_MS + Math.max(0, ...pauses) + stepMs;
}
