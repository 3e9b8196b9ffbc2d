import type { ApprovalNotice, EndNotice, ReviewNotice, SignedOffNotice } from '#src/chat/notices/views.ts';
import type { SpendReport } from '#src/chat/team-notice.ts';
import type { TaskView } from '#src/chat/view.ts';
import type { Origin, Person, TaskId } from '#src/tasks/task.ts';

/** 21 November 2026, noon UTC. */
const NOON_MS = Date.UTC(2026, 10, 21, 12);

/** Returns the view of a running task, with changes. */
export function taskView(changes: Partial<TaskView> = {}): TaskView {
  return {
    kind: 'task',
    task: 'task-1' as TaskId,
    state: 'polling',
    phase: 'running',
    prompt: 'a red fox running through snow, cinematic',
    modelTitle: 'Swift 1',
    settings: { seconds: 6, aspectRatio: '16:9', resolution: '720p' },
    price: { amount: '0.30', currency: 'USD' },
    by: { id: 'ada', name: 'ada' },
    progress: 42,
    createdAtMs: NOON_MS,
    startedAtMs: NOON_MS,
    endedAtMs: null,
    nowMs: NOON_MS + 72_000,
    usual: null,
    longerThanUsual: false,
    overdue: null,
    retrying: null,
    failure: null,
    refundKnown: true,
    sends: 1,
    cancelledBy: null,
    lateOutcome: null,
    leftBy: null,
    handover: null,
    retryOf: null,
    approval: null,
    declined: null,
    retryPrice: { amount: '0.30', currency: 'USD' },
    buttons: ['cancel', 'details'],
    ...changes,
  };
}

/** Returns the view of a task whose clip was delivered. */
export function doneView(changes: Partial<TaskView> = {}): TaskView {
  return taskView({
    state: 'completed',
    phase: 'done',
    progress: null,
    endedAtMs: NOON_MS + 134_000,
    handover: { kind: 'attached' },
    buttons: ['retry', 'edit', 'details'],
    ...changes,
  });
}

/** Returns the notice of a task's end, for its origin. */
export function endNotice(origin: Pick<Origin, 'user' | 'channel'>, changes: Partial<EndNotice> = {}): EndNotice {
  return {
    kind: 'end',
    task: 'task-1' as TaskId,
    phase: 'done',
    prompt: 'a red fox',
    by: origin.user satisfies Person,
    message: { channel: origin.channel, message: 'unknown' },
    sends: 1,
    handover: 'attached',
    subscribed: false,
    ...changes,
  };
}

/** Returns Cleo's request for the approval of $4.00, as its approvers see it. */
export function approvalNotice(changes: Partial<ApprovalNotice> = {}): ApprovalNotice {
  return {
    kind: 'approval',
    task: 'task-1' as TaskId,
    by: { id: 'U7', name: 'Cleo' },
    price: { amount: '4.00', currency: 'USD' },
    model: 'swift-1',
    seconds: 8,
    prompt: 'a red fox',
    message: null,
    left: { amount: '36.20', currency: 'USD' },
    pings: [],
    isReminder: false,
    expiresAtMs: NOON_MS + 24 * 3_600_000,
    decided: null,
    ...changes,
  };
}

/** Returns the report of a month with two people and a chart. */
export function spendReport(changes: Partial<SpendReport> = {}): SpendReport {
  const row = { model: 'swift-1', clips: 2, amount: '0.60', currency: 'USD' };
  return {
    kind: 'report',
    period: '2026-10',
    totals: [
      {
        currency: 'USD',
        spent: '212.40',
        clips: 431,
        held: '0',
        awaited: '0',
        refunded: '6.20',
        refundedClips: 14,
        doubted: '0.80',
        doubtedClips: 1,
      },
    ],
    rows: [
      { ...row, person: { id: 'U1', name: 'Ada' } },
      { ...row, person: { id: 'U2', name: '@everyone =HYPERLINK("https://evil.example")' } },
    ],
    moreRows: 0,
    chart: {
      title: 'October by week, USD',
      categories: ['1–7', '8–14'],
      series: [{ name: 'swift-1', values: ['0.30', '0.90'] }],
      currency: 'USD',
    },
    skipped: [],
    ...changes,
  };
}

/** Returns the notice of Ben, who requests changes to a second version, with changes. */
export function reviewNotice(changes: Partial<ReviewNotice> = {}): ReviewNotice {
  return {
    kind: 'review',
    task: 'task-1' as TaskId,
    decision: 'changes_requested',
    by: { id: 'U9', name: 'Ben' },
    requester: { id: 'U1', name: 'Ada' },
    prompt: 'a red fox',
    version: 2,
    note: { text: 'too *dark* @everyone', atSeconds: 3 },
    takesBack: null,
    ...changes,
  };
}

/** Returns a signed-off second version in the channel for them, with changes. */
export function signedOffNotice(changes: Partial<SignedOffNotice> = {}): SignedOffNotice {
  return {
    kind: 'signed_off',
    task: 'task-1' as TaskId,
    by: { id: 'U1', name: 'Ada' },
    prompt: 'a red fox',
    version: 2,
    message: null,
    channel: 'clips',
    link: null,
    ...changes,
  };
}
