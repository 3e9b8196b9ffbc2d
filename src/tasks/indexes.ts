import type { Change, IndexWrite, RecordWrite } from '../store/store.ts';
import type { LedgerEntry, LedgerState } from './ledger.ts';
import { isEnded } from './state-machine.ts';
import { type Origin, sinceMs, type Task } from './task.ts';

/** The index of all tasks of a team, or of one person in it; scores are creation times. */
export function historyIndex(platform: string, team: string, user?: string): string {
  return user === undefined ? `history:${platform}:${team}` : `history:${platform}:${team}:${user}`;
}

/** The index of the tasks of a team that all of it may see (audience `team`); scores are creation times. */
export function sharedIndex(platform: string, team: string): string {
  return `shared:${platform}:${team}`;
}

/** The index of the tasks of a team, or of one person in it, that are not ended. */
export function openIndex(platform: string, team: string, user?: string): string {
  return user === undefined ? `open:${platform}:${team}` : `open:${platform}:${team}:${user}`;
}

/** A channel of a chat. */
type Channel = Pick<Origin, 'platform' | 'team' | 'channel'>;

const CHANNEL_HISTORY = 'history-in:';

/** The index of all tasks that were asked for in a channel. */
export function channelHistoryIndex({ platform, team, channel }: Channel): string {
  return `${CHANNEL_HISTORY}${platform}:${team}:${channel}`;
}

/** Whether an index is one of {@link channelHistoryIndex}. */
export function isChannelHistory(index: string): boolean {
  return index.startsWith(CHANNEL_HISTORY);
}

/** The index of the tasks that were asked for in a channel and are not ended. */
export function channelOpenIndex({ platform, team, channel }: Channel): string {
  return `open-in:${platform}:${team}:${channel}`;
}

/** The index of all tasks in one state that are not ended; scores are when the service took them, or when they were created. */
export function stateIndex(state: Task['state']): string {
  return `state:${state}`;
}

/** The index of the tasks whose chat message is behind; scores are when they ended, or were created where they have not. */
export const OUTBOX = 'outbox';

/** The index of a team's ledger entries of one month, such as `2026-11` (UTC). */
export function spendIndex(platform: string, team: string, month: string): string {
  return `spend:${platform}:${team}:${month}`;
}

/** The key of a ledger entry's record. */
export function ledgerKey(entry: Pick<LedgerEntry, 'task' | 'send'>): string {
  return `${entry.task}#${entry.send}`;
}

/**
 * Everything that has to be written when a task goes from `before` (null: it is new) to `after`: the record, the
 * indexes it enters and leaves, and the money, so that none of them can disagree with another.
 */
export function toChange(before: Task | null, after: Task): Change {
  const record: RecordWrite = {
    namespace: 'tasks',
    key: after.id,
    value: after,
    expected: before === null ? 'absent' : before.revision,
  };
  const money = ledgerOf(after).filter((entry) => !sameMoney(entry, before));
  return {
    records: [record, ...money.map((entry) => ledgerWrite(entry))],
    index: [...indexWrites(before, after), ...money.map((entry) => spendWrite(entry))],
  };
}

/** The indexes a task belongs in; {@link scoreOf} says where in them. */
function indexesOf(task: Task): ReadonlySet<string> {
  const { platform, team, user } = task.origin;
  const indexes = new Set([
    historyIndex(platform, team),
    historyIndex(platform, team, user.id),
    channelHistoryIndex(task.origin),
  ]);
  if (task.origin.audience === 'team') indexes.add(sharedIndex(platform, team));
  if (!isEnded(task)) {
    indexes.add(channelOpenIndex(task.origin));
    indexes.add(openIndex(platform, team));
    indexes.add(openIndex(platform, team, user.id));
    indexes.add(stateIndex(task.state));
  }
  if (!task.presented) indexes.add(OUTBOX);
  return indexes;
}

function indexWrites(before: Task | null, after: Task): IndexWrite[] {
  const was = before === null ? new Set<string>() : indexesOf(before);
  const is = indexesOf(after);
  const left = [...was].filter((index) => !is.has(index)).map((index) => ({ index, member: after.id, score: null }));
  const entered = [...is].filter((index) => !was.has(index));
  return [...left, ...entered.map((index) => ({ index, member: after.id, score: scoreOf(index, after) }))];
}

/**
 * When it was created; among those of its state, from when on its age counts; in the outbox, when it ended, if it has: how
 * long it waits there is how late its outcome is.
 */
function scoreOf(index: string, task: Task): number {
  if (index === OUTBOX) return task.endedAtMs ?? task.createdAtMs;
  return index === stateIndex(task.state) ? sinceMs(task) : task.createdAtMs;
}

/**
 * The money of a task, send by send. A send that was followed by another one stays in doubt for good: it may have
 * been billed besides.
 */
export function ledgerOf(task: Task): readonly LedgerEntry[] {
  const state = lastLedgerState(task);
  // What was never sent is the send that was about to be.
  const hasLeft = state !== 'released' && !(state === 'reserved' && task.state === 'claimed');
  const last = hasLeft ? task.sends : task.sends + 1;
  const entry = (send: number): LedgerEntry => ({
    task: task.id,
    send,
    platform: task.origin.platform,
    team: task.origin.team,
    channel: task.origin.channel,
    user: task.origin.user.id,
    userName: task.origin.user.name,
    model: task.request.model,
    amount: task.price.amount,
    currency: task.price.currency,
    state: send === last ? state : 'in_doubt',
    createdAtMs: task.createdAtMs,
  });
  return Array.from({ length: last }, (_, index) => entry(index + 1));
}

function lastLedgerState(task: Task): LedgerState {
  switch (task.state) {
    case 'claimed':
    case 'sending':
    case 'polling':
      return 'reserved';
    case 'uncertain':
      return 'in_doubt';
    case 'completed':
      return 'settled';
    case 'failed':
      return 'refunded';
    case 'rejected':
      return 'released';
    case 'cancelled':
      if (task.upstreamId === undefined) return 'released';
      if (task.lateOutcome === undefined) return 'reserved';
      if (task.lateOutcome === 'unknown') return 'in_doubt';
      return task.lateOutcome === 'completed' ? 'settled' : 'refunded';
  }
}

function sameMoney(entry: LedgerEntry, before: Task | null): boolean {
  if (before === null) return false;
  return ledgerOf(before).some((old) => old.send === entry.send && old.state === entry.state);
}

function ledgerWrite(entry: LedgerEntry): RecordWrite {
  return { namespace: 'ledger', key: ledgerKey(entry), value: entry, expected: 'any' };
}

function spendWrite(entry: LedgerEntry): IndexWrite {
  const month = new Date(entry.createdAtMs).toISOString().slice(0, 7);
  return { index: spendIndex(entry.platform, entry.team, month), member: ledgerKey(entry), score: entry.createdAtMs };
}
