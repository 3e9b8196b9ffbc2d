import { expect, it } from 'vitest';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { ledgerKey, ledgerOf } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { EVENTS, lived, newTask, originOf, UPSTREAM, waitingTask } from '../../fakes/tasks.ts';
import type { Create, History, Life, Made, Pressed, Violation, Withdrawal } from '../history.ts';
import { checkCosts } from './costs.ts';
import { checkCreates } from './creates.ts';
import { checkMoney } from './money.ts';
import { checkOwners } from './owners.ts';
import { checkTasks } from './tasks.ts';
import { checkWithdrawals } from './withdrawals.ts';

const ID = taskIdOf('playground:s1-000');
const OTHER = taskIdOf('playground:s1-001');
const LOST = { ...EVENTS.lost, send: 1 };

function taskAfter(id: TaskId, ...events: readonly TaskEvent[]): Task {
  return recount({
    ...lived(newTask({ id, origin: originOf({ platform: 'playground' }) }), ...events),
    presented: true,
  });
}

const FOUND = taskAfter(ID, EVENTS.send, LOST, EVENTS.identify);
const CREATE: Create = {
  key: ID,
  order: 's1-000',
  sender: { replica: 0, life: 0 },
  fate: 'silent',
  upstreamId: UPSTREAM,
  atMs: 1_000,
  answeredAtMs: null,
};
const MADE: Made = { upstreamId: UPSTREAM, status: 'completed', clipBytes: 1_000, isGone: false };
const LIFE: Life = {
  replica: 0,
  life: 0,
  fromMs: 0,
  readyAtMs: 500,
  untilMs: 20_000,
  end: 'stopped',
  code: 0,
  output: '',
};
const PRESS: Pressed = { user: 'ada', action: 'cancel', task: ID, afterSends: null, status: 202, message: null };
const CANCEL: Withdrawal = {
  upstreamId: UPSTREAM,
  status: 'queued',
  fate: 'right',
  atMs: 2_000,
  deletesEnded: true,
  isConfirmed: true,
};
const CANCELLED: Made = { ...MADE, status: 'cancelled', cancelledAtMs: 2_000 };
const FORGOTTEN: Made = { ...CANCELLED, isForgotten: true };

/** History of these tasks, as far as the checks here read it. */
function history(tasks: readonly Task[], changes: Partial<History> = {}): History {
  const ledger = new Map(tasks.flatMap(ledgerOf).map((entry) => [ledgerKey(entry), entry]));
  const store = { tasks: new Map(tasks.map((task) => [task.id, task])), ledger, sums: new Map() };
  const none = { asked: [], pressed: [], troubles: [], messages: [], offered: [], withdrawals: [], misuses: [] };
  return {
    ...none,
    creates: [CREATE],
    made: [MADE],
    lives: [LIFE],
    clockMs: 0,
    store,
    ...changes,
  } as unknown as History;
}

function names(found: readonly Violation[]): readonly string[] {
  return found.map(({ name }) => name);
}

it('takes a lost task from a list only where it is the order’s own', () => {
  const strangers: Made = { ...MADE, isStrangers: true };
  const own: Create = { ...CREATE, upstreamId: 'up-own' };
  expect(checkOwners(history([FOUND]))).toEqual([]);
  expect(names(checkOwners(history([FOUND], { creates: [{ ...CREATE, key: OTHER }] })))).toEqual([
    'another order’s task taken',
  ]);
  expect(names(checkOwners(history([FOUND], { creates: [own], made: [strangers] })))).toEqual([
    'stranger’s task taken',
  ]);
  // A list cannot tell it from one that was taken.
  expect(
    checkOwners(history([FOUND], { creates: [{ ...CREATE, upstreamId: null }], made: [strangers] })),
  ).toMatchObject([{ name: 'stranger’s task taken for one that never arrived', isWarning: true }]);
});

it('names a request that the contract of the service does not allow', () => {
  expect(checkOwners(history([], { misuses: ['PUT /x', 'PUT /x'] }))).toEqual([
    { name: 'request against the contract of the service', what: 'PUT /x' },
  ]);
});

it('takes a create that met a withdrawn key for one that was turned away', () => {
  const of = { platform: 'playground', id: 's1-000', user: 'ada', channel: 'clips', replica: 0, atMs: 1 } as const;
  const asked = [{ ...of, status: 202, message: 'm1' }];
  const posts = (fate: Create['fate']) => [{ ...CREATE, fate, upstreamId: null }, CREATE];
  const found = (fate: Create['fate']) => checkCreates(history([FOUND], { creates: posts(fate), asked }));
  expect(names(found('withdrawn'))).toEqual([]);
  expect(names(found('broken'))).toEqual(['sent again by itself']);
});

const NAME = 'cost that the books do not have';

it('compares the books with what the service reports, rounded up to millionths', () => {
  const ended = (cost?: string) =>
    taskAfter(ID, EVENTS.send, EVENTS.accepted, {
      ...EVENTS.completed,
      ...(cost === undefined ? {} : { cost: { amount: cost, currency: 'USD' } }),
    });
  const wrong = (task: Task, cost?: string | null) =>
    names(checkCosts(history([task], { made: [cost === undefined ? MADE : { ...MADE, cost }] })));
  for (const cost of ['0.1', '12.5', '0.1234567891', '0.30']) expect(wrong(ended(cost), cost), cost).toEqual([]);
  expect(wrong(ended())).toEqual([]);
  expect(wrong(ended(), null)).toEqual([]);
  expect(wrong(ended(), '0')).toEqual([]);
  expect(wrong(ended(), '0.31')).toEqual([NAME]);
  expect(wrong(ended('0.123456'), '0.1234567891')).toEqual([NAME]);
  expect(wrong(ended('0.31'), null)).toEqual([NAME]);
  expect(wrong(ended('0.31'))).toEqual([NAME]);
  // A cost is known at the end alone.
  expect(wrong(taskAfter(ID, EVENTS.send, EVENTS.accepted), '0.31')).toEqual([]);
});

it('takes a failure that the service bills for billed', () => {
  const cost = { amount: '0.31', currency: 'USD' };
  const billed = taskAfter(ID, EVENTS.send, EVENTS.accepted, { ...EVENTS.failed, cost });
  const free = taskAfter(ID, EVENTS.send, EVENTS.accepted, EVENTS.failed);
  const wrong = (task: Task, made: Partial<Made>) =>
    checkMoney(history([task], { made: [{ ...MADE, status: 'failed', ...made }] })).filter(({ what }) =>
      what.includes(ID),
    );
  expect(wrong(billed, { cost: '0.31' })).toEqual([]);
  expect(wrong(free, { cost: null })).toEqual([]);
  expect(wrong(free, { cost: '0.31' })).not.toEqual([]);
  expect(wrong(billed, { cost: null })).not.toEqual([]);
});

const QUIET = taskAfter(ID, EVENTS.send, EVENTS.accepted, EVENTS.cancel);
const FREE = { ...lived(QUIET, { ...EVENTS.failed, failure: { code: 'cancelled', words: null } }), presented: true };
const LATE = lived(QUIET, EVENTS.completed);

it('cancels at the service only what a user cancelled, and never what has ended where that deletes it', () => {
  const wrong = (changes: Partial<History>) =>
    names(
      checkWithdrawals(history([FREE], { made: [CANCELLED], withdrawals: [CANCEL], pressed: [PRESS], ...changes })),
    );
  expect(wrong({})).toEqual([]);
  expect(wrong({ pressed: [] })).toEqual(['cancelled, and nobody asked for it']);
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    const late = { ...CANCEL, status };
    expect(wrong({ withdrawals: [late] }), status).toEqual(['ended task deleted at the service']);
    expect(wrong({ withdrawals: [{ ...late, deletesEnded: false }] }), status).toEqual([]);
  }
});

it('bills what the service made all the same, and not what it cancelled', () => {
  const wrong = (task: Task, made: Made) =>
    names(checkWithdrawals(history([task], { made: [made], withdrawals: [CANCEL], pressed: [PRESS] })));
  expect(wrong(FREE, CANCELLED)).toEqual([]);
  expect(wrong(LATE, MADE)).toEqual([]);
  expect(wrong(LATE, CANCELLED)).toEqual(['billed although it was cancelled']);
  expect(wrong(FREE, MADE)).toEqual(['made all the same, and not billed']);
  expect(wrong(QUIET, MADE)).toEqual(['made all the same, and not billed']);
  // A day later, it counts as unknown.
  expect(wrong(lived(QUIET, EVENTS.abandon), MADE)).toEqual([]);
  const ofMoney = (task: Task, made: Made) =>
    checkMoney(history([task], { made: [made] })).filter(({ what }) => what.includes(ID));
  expect(ofMoney(FREE, CANCELLED)).toEqual([]);
  expect(ofMoney(LATE, CANCELLED)).not.toEqual([]);
  expect(ofMoney(QUIET, FORGOTTEN)).toEqual([]);
  expect(ofMoney(QUIET, CANCELLED)).not.toEqual([]);
});

it('lets the bot follow what the service has forgotten, where it could not hear of that', () => {
  const wrong = (changes: Partial<History> = {}) =>
    names(checkTasks(history([QUIET], { made: [FORGOTTEN], withdrawals: [CANCEL], ...changes })));
  expect(wrong()).toEqual(['stuck task']);
  expect(wrong({ withdrawals: [{ ...CANCEL, isConfirmed: false }] })).toEqual([]);
  expect(wrong({ lives: [LIFE, { ...LIFE, life: 1, fromMs: 9_000 }] })).toEqual([]);
  const cut = { kind: 'service-cut', replica: 0, fromMs: 1_000, untilMs: 3_000, remark: '' } as const;
  expect(wrong({ troubles: [cut] })).toEqual([]);
  expect(wrong({ troubles: [{ ...cut, fromMs: 10_000, untilMs: 11_000 }] })).toEqual(['stuck task']);
  expect(wrong({ made: [CANCELLED] })).toEqual(['stuck task']);
});

it('takes a task that the service cancelled for one that failed', () => {
  expect(names(checkTasks(history([FREE], { made: [CANCELLED] })))).toEqual([]);
  expect(names(checkTasks(history([LATE], { made: [CANCELLED] })))).toContain('untrue state');
});

it('lets a chained shot wait for one before it on which a user has to decide', () => {
  const set = (at: number) => ({ id: ID, kind: 'storyboard', at, of: 2 }) as const;
  const waiting = recount({ ...waitingTask({ id: OTHER, set: set(2) }), presented: true });
  const doubtful: Task = { ...taskAfter(ID, EVENTS.send, LOST), set: set(1) };
  const done: Task = { ...taskAfter(ID, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched), set: set(1) };
  const wrong = (first: Task) => names(checkTasks(history([first, waiting], { made: [MADE] })));
  expect(wrong(doubtful)).toEqual([]);
  expect(wrong(done)).toEqual(['stuck task']);
  const ofMoney = checkMoney(history([doubtful, waiting])).filter(({ what }) => what.includes(OTHER));
  expect(ofMoney).toEqual([]);
});
