import type { ApprovalNotice, EndNotice, ReviewNotice, SignedOffNotice } from '#src/chat/notices/views.ts';
import { setViewOf } from '#src/chat/sets/set-view.ts';
import type { SpendReport } from '#src/chat/team-notice.ts';
import { type CutView, type SetMember, type SetView, type ShownTask, shownOf, type TaskView } from '#src/chat/view.ts';
import type { Origin, Person, TaskId } from '#src/tasks/task.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import { newTask } from './tasks.ts';

/** 21 November 2026, noon UTC. */
const NOON_MS = Date.UTC(2026, 10, 21, 12);

/** Changes to the view of a task, and to the task that it shows, by the names of their fields; `null` leaves one out. */
export type TaskViewChanges = Partial<Omit<TaskView, 'kind' | 'task'>> & {
  readonly [Field in Exclude<keyof ShownTask, 'id' | 'request' | 'origin'>]?: ShownTask[Field] | null;
} & {
  readonly task?: TaskId;
  readonly by?: Person;
  readonly prompt?: string;
  readonly request?: Partial<VideoRequest>;
};

/** Fields of a view, which are not those of its task. */
const OF_VIEW = [
  'phase',
  'modelTitle',
  'progress',
  'ahead',
  'startedAtMs',
  'nowMs',
  'pace',
  'retrying',
  'refundKnown',
  'handover',
  'isLabelled',
  'earlierNotes',
  'keptUntilMs',
  'retryPrice',
  'elsewhere',
  'buttons',
  'awayFrom',
  'blind',
] as const satisfies readonly Exclude<keyof TaskView, 'kind' | 'task'>[];

/** Returns the view of a running task, with changes. */
export function taskView({ task = 'task-1' as TaskId, ...changes }: TaskViewChanges = {}): TaskView {
  const { by = { id: 'ada', name: 'ada' }, prompt = PROMPT, request, ...fields } = changes;
  const isOfView = (name: string): boolean => (OF_VIEW as readonly string[]).includes(name);
  const given = Object.entries(fields);
  const shown = Object.fromEntries(given.filter(([name, value]) => !isOfView(name) && value !== null));
  const whole = newTask({ id: task, createdAtMs: NOON_MS, sends: 1, state: 'polling' });
  return {
    kind: 'task',
    task: {
      ...shownOf({ ...whole, price: { amount: '0.30', currency: 'USD' } }),
      origin: { ...whole.origin, user: by },
      request: { ...REQUEST, prompt, ...request },
      ...shown,
    },
    phase: 'running',
    modelTitle: 'Swift 1',
    progress: 42,
    startedAtMs: NOON_MS,
    nowMs: NOON_MS + 72_000,
    pace: null,
    retrying: null,
    refundKnown: true,
    handover: null,
    retryPrice: { amount: '0.30', currency: 'USD' },
    buttons: ['cancel', 'details'],
    ...Object.fromEntries(given.filter(([name]) => isOfView(name))),
  };
}

const PROMPT = 'a red fox running through snow, cinematic';

const REQUEST: Omit<VideoRequest, 'prompt'> = {
  model: 'swift-1',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};

/** Returns the view of a task whose clip was delivered. */
export function doneView(changes: TaskViewChanges = {}): TaskView {
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

/** Returns the view of a set's card with its members, with changes. */
export function setView(
  set: SetView['set'],
  members: readonly SetMember[],
  changes: Partial<Omit<SetView, 'kind' | 'set' | 'members'>> = {},
): SetView {
  const [first = { view: taskView() }] = members;
  return { ...setViewOf({ ...set, at: 1 }, first.view, members), ...changes };
}

/** Returns the view of a cut that is being joined, with changes. */
export function cutView(changes: Partial<CutView> = {}): CutView {
  return {
    kind: 'cut',
    id: 'cut-1' as TaskId,
    phase: 'running',
    by: { id: 'ada', name: 'ada' },
    createdAtMs: NOON_MS,
    handover: null,
    shots: [],
    file: null,
    failure: null,
    ...changes,
  };
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
