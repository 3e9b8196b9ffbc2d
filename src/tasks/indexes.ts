import { type Change, collection, type IndexWrite, type RecordWrite } from '../engine/index.ts';
import { isBlind, WAITS_FOR_OTHERS_MS } from './blind.ts';
import type { LedgerEntry } from './ledger.ts';
import { moneyOf, spendChannel, statesOf, sumWritesOf } from './money.ts';
import { storedTask, taskRecords } from './record-shape.ts';
import { isContentRemoved } from './removal.ts';
import { versionWrites } from './review/versions.ts';
import { isEnded, lastLedgerState } from './state-machine.ts';
import { type Origin, sinceMs, type Task, type TaskId } from './task.ts';

/** Names the index of all tasks of a team, or of one user in it; scores are creation times. */
export function historyIndex(platform: string, team: string, user?: string): string {
  return user === undefined ? `history:${platform}:${team}` : `history:${platform}:${team}:${user}`;
}

/** Returns the team of an index of all its tasks; `null` for any other index. */
export function teamOfHistory(index: string): { readonly platform: string; readonly team: string } | null {
  const [, platform, team] = /^history:([^:]+):([^:]+)$/u.exec(index) ?? [];
  return platform === undefined || team === undefined ? null : { platform, team };
}

/** Names the index of a team's tasks that all of it may see (audience `team`); scores are creation times. */
export function sharedIndex(platform: string, team: string): string {
  return `shared:${platform}:${team}`;
}

/** Names the index of the open tasks of a team, or of one user in it. */
export function openIndex(platform: string, team: string, user?: string): string {
  return user === undefined ? `open:${platform}:${team}` : `open:${platform}:${team}:${user}`;
}

type Channel = Pick<Origin, 'platform' | 'team' | 'channel'>;

const CHANNEL_HISTORY = 'history-in:';

/** Names the index of all tasks ordered in a channel. */
export function channelHistoryIndex({ platform, team, channel }: Channel): string {
  return `${CHANNEL_HISTORY}${platform}:${team}:${channel}`;
}

/** Returns whether an index is one of {@link channelHistoryIndex}. */
export function isChannelHistory(index: string): boolean {
  return index.startsWith(CHANNEL_HISTORY);
}

/** Names the index of the open tasks ordered in a channel. */
export function channelOpenIndex({ platform, team, channel }: Channel): string {
  return `open-in:${platform}:${team}:${channel}`;
}

/** Names the index of the further takes of a storyboard's shots, by the id of its set; scores are creation times. */
export function boardTakesIndex(set: TaskId): string {
  return `board-takes:${set}`;
}

/**
 * Names the index of the open tasks in one state; scores are times of acceptance by the service, else of approval, else
 * of creation.
 */
export function stateIndex(state: Task['state']): string {
  return `state:${state}`;
}

/** Index of the tasks with an outcome to deliver to the chat; scores are their end times, else their creation times. */
export const OUTBOX = 'outbox';

/** Index of the removals with files, messages or records still to delete; scores are the times of the removals. */
export const REMOVALS = 'removals';

/** Index of the requests to forget a person; scores are the times from which to work on them. */
export const FORGETTINGS = 'forgettings';

/** Index of the tasks whose clip is on a machine's disk and not in the bucket yet; scores are the times of their first failure. */
export const UPLOADS = 'uploads';

/** Names the index of a team's clips that were signed off, also if changes were requested since; scores are creation times. */
export function signedOffIndex(platform: string, team: string): string {
  return `signed-off:${platform}:${team}`;
}

/** Names the index of a team's ledger entries of one month, such as `2026-11`. */
export function spendIndex(platform: string, team: string, month: string): string {
  return `spend:${platform}:${team}:${month}`;
}

/** Returns the team and month of an index of {@link spendIndex}; `null` for any other index. */
export function spendScopeOf(
  index: string,
): { readonly platform: string; readonly team: string; readonly month: string } | null {
  const [, platform, team, month] = /^spend:([^:]+):(.+):(\d{4}-\d{2})$/u.exec(index) ?? [];
  return platform === undefined || team === undefined || month === undefined ? null : { platform, team, month };
}

/** Returns the key of a ledger entry's record. */
export function ledgerKey(entry: Pick<LedgerEntry, 'task' | 'send'>): string {
  return `${entry.task}#${entry.send}`;
}

/**
 * Returns everything to commit when a task goes from `before` (null: it is new) to `after`: its record, the indexes it
 * enters and leaves, its ledger entries and the sums of spend, so that they are always consistent.
 */
export function toChange(before: Task | null, after: Task): Change {
  const record: RecordWrite = {
    namespace: taskRecords.name,
    key: after.id,
    value: storedTask(after),
    expected: before === null ? 'absent' : before.revision,
  };
  const entries = ledgerWrites(before, after);
  return {
    records: [record, ...entries.records],
    index: [
      ...indexWrites(before, after),
      ...removalWrites(before, after),
      ...(before === null ? versionWrites(after) : []),
      ...entries.index,
    ],
    sums: sumWritesOf(before, after),
  };
}

export const ledgerRecords = collection<Pick<LedgerEntry, 'task' | 'send'>, LedgerEntry>({
  name: 'ledger',
  key: ledgerKey,
  holds: 'task, requester, channel, model and amount of each send',
  kept: 'kept; of a removed task, derived from its record instead',
  personal: 'with its task',
});

/** Returns the indexes that contain a task; {@link scoreOf} returns its score in them. */
function indexesOf(task: Task): ReadonlySet<string> {
  const { platform, team, user } = task.origin;
  const indexes = new Set(historiesOf(task));
  if (!isEnded(task)) {
    indexes.add(channelOpenIndex(task.origin));
    indexes.add(openIndex(platform, team));
    indexes.add(openIndex(platform, team, user.id));
    indexes.add(stateIndex(task.state));
  }
  if (!task.presented) indexes.add(OUTBOX);
  const wasSignedOff = task.review?.some(({ kind }) => kind === 'signed_off') === true;
  if (wasSignedOff && task.clip !== undefined) indexes.add(signedOffIndex(platform, team));
  if (task.takeOf !== undefined && !isContentRemoved(task)) indexes.add(boardTakesIndex(task.takeOf.id));
  return indexes;
}

/**
 * Returns the histories that list a task. One without content is found by its entries in the ledger (`tasksOfPerson`);
 * where it has none, in its requester's, until forgotten.
 */
function historiesOf(task: Task): readonly string[] {
  const { platform, team, user, audience } = task.origin;
  const own = historyIndex(platform, team, user.id);
  if (task.removal?.reason === 'forgotten') return [];
  if (isContentRemoved(task)) return ledgerOf(task).length === 0 ? [own] : [];
  const shared = audience === 'team' ? [sharedIndex(platform, team)] : [];
  return [historyIndex(platform, team), own, channelHistoryIndex(task.origin), ...shared];
}

/** Enters a new removal; its completion takes it out again. */
function removalWrites(before: Task | null, { id, removal }: Task): readonly IndexWrite[] {
  if (removal === undefined || removal === before?.removal) return [];
  return [{ index: REMOVALS, member: id, score: removal.atMs }];
}

function indexWrites(before: Task | null, after: Task): IndexWrite[] {
  const was = before === null ? new Set<string>() : indexesOf(before);
  const is = indexesOf(after);
  const left = [...was].filter((index) => !is.has(index)).map((index) => ({ index, member: after.id, score: null }));
  const entered = [...is].filter((index) => !was.has(index));
  return [...left, ...entered.map((index) => ({ index, member: after.id, score: scoreOf(index, after) }))];
}

/**
 * Returns the creation time of a task; in the index of its state, the start of its age; in the outbox, the time since
 * which its outcome is delayed.
 */
function scoreOf(index: string, task: Task): number {
  if (index === OUTBOX) return dueAtMs(task);
  return index === stateIndex(task.state) ? sinceMs(task) : task.createdAtMs;
}

/** Returns the time from which the outcome of a task may be shown: its end; in a comparison also that of the others' wait. */
function dueAtMs(task: Task): number {
  const endMs = task.endedAtMs ?? task.createdAtMs;
  return isBlind(task) ? endMs + WAITS_FOR_OTHERS_MS : Math.max(endMs, task.revealedAtMs ?? endMs);
}

/**
 * Returns the ledger entries of a task, one per submission; none while it waits for an approval, and after a denial. A
 * submission that was followed by another one stays in doubt forever: it may have been billed as well.
 */
export function ledgerOf(task: Task): readonly LedgerEntry[] {
  const states = statesOf(task, lastLedgerState(task));
  const sends = moneyOf(task, states.length).sends.slice(0, states.length);
  return sends.map(({ period, amount, listed, currency, counted, booked, atMs }, index) => ({
    task: task.id,
    send: index + 1,
    platform: task.origin.platform,
    team: task.origin.team,
    channel: spendChannel(task.origin),
    user: task.origin.user.id,
    userName: task.origin.user.name,
    model: task.request.model,
    period,
    amount,
    ...(listed === undefined ? {} : { listed }),
    currency,
    state: states[index] ?? 'released',
    ...(booked === undefined ? {} : { booked }),
    ...(counted === undefined ? {} : { counted }),
    ...(isBlind(task) ? { isBlind: true } : {}),
    createdAtMs: atMs,
  }));
}

function ledgerWrites(before: Task | null, after: Task): Required<Pick<Change, 'records' | 'index'>> {
  const was = new Map((before === null ? [] : ledgerOf(before)).map((entry) => [ledgerKey(entry), entry]));
  const isNew = before === null || (before.money === undefined && after.money !== undefined);
  const changed = ledgerOf(after).filter((entry) => {
    const old = was.get(ledgerKey(entry));
    return isNew || old === undefined || JSON.stringify(old) !== JSON.stringify(entry);
  });
  const moved = changed.flatMap((entry) => {
    const old = was.get(ledgerKey(entry));
    return old === undefined || spendIndexOf(old) === spendIndexOf(entry)
      ? []
      : [{ index: spendIndexOf(old), member: ledgerKey(old), score: null }];
  });
  // Those of a removed task are derived from its record, by `pipeline/ledger-reader.ts`.
  const records = isContentRemoved(after)
    ? ledgerOf(after).map((entry) => ledgerRecords.overwriting(entry, null))
    : changed.map((entry) => ledgerRecords.overwriting(entry, entry));
  return {
    records,
    index: [
      ...moved,
      ...changed.map((entry) => ({
        index: spendIndexOf(entry),
        member: ledgerKey(entry),
        score: entry.createdAtMs,
      })),
    ],
  };
}

function spendIndexOf({ platform, team, period }: LedgerEntry): string {
  return spendIndex(platform, team, period);
}
