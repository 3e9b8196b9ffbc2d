import { describe, expect, test } from 'vitest';
import { messageIdOf } from '#adapters/playground/interactions.ts';
import type { SumParts } from '#src/engine/store/store.ts';
import { addParts, ZERO_SUM } from '#src/engine/store/sums.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import { ledgerKey, ledgerOf } from '#src/tasks/indexes.ts';
import { sumWritesOf } from '#src/tasks/money.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Task, TaskEvent } from '#src/tasks/task.ts';
import { hashOf } from '#src/teams/audit/audit-entry.ts';
import { CLIP, EVENTS, lived, NOON_MS, newTask, originOf, requestedTask, UPSTREAM } from '../fakes/tasks.ts';
import { check } from './check.ts';
import type { MoneyWrite } from './commits.ts';
import type { Create, Deleted, History, Kept, Life, Made, Pressed, Shown } from './history.ts';
import { shownOf } from './shown.ts';

const ID = taskIdOf('playground:s1-000');
const CREATE: Create = {
  key: ID,
  order: 's1-000',
  sender: { replica: 0, life: 0 },
  fate: 'right',
  upstreamId: UPSTREAM,
  atMs: 1_000,
  answeredAtMs: 1_010,
};
const LOST = { ...EVENTS.lost, send: 1 };
const MADE: Made = { upstreamId: UPSTREAM, status: 'completed', clipBytes: CLIP.bytes, isGone: false };
const OWN: Shown = {
  id: 'm1',
  channel: 'clips',
  task: ID,
  state: 'completed',
  files: [CLIP.bytes],
  buttons: ['retry', 'edit', 'details'],
  replyTo: null,
  end: null,
};
const MENTION: Shown = {
  ...OWN,
  id: 'n1',
  task: null,
  state: null,
  files: [],
  buttons: [],
  replyTo: 'm1',
  end: 'done:1',
};
const LIFE: Life = {
  replica: 0,
  life: 0,
  fromMs: 0,
  readyAtMs: 500,
  untilMs: 20_000,
  end: 'stopped',
  code: 0,
  output: 'Dailies is ready.',
};

function taskAfter(...events: readonly TaskEvent[]): Task {
  const task = lived(newTask({ id: ID, origin: originOf({ platform: 'playground' }) }), ...events);
  return recount({ ...task, presented: true });
}

const DONE = taskAfter(EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
const UNCERTAIN = taskAfter(EVENTS.send, LOST);

/** Store contents that hold these tasks. */
function kept(...tasks: readonly Task[]): Kept {
  const indexes = new Map<string, Map<string, number>>();
  const add = (name: string, member: string, score: number): void => {
    indexes.set(name, (indexes.get(name) ?? new Map<string, number>()).set(member, score));
  };
  const ledger = new Map(tasks.flatMap((task) => ledgerOf(task)).map((entry) => [ledgerKey(entry), entry]));
  for (const { id, state, createdAtMs, origin } of tasks) {
    const of = (name: string) => scopes(name, origin.platform);
    const open = state === 'uncertain' || state === 'polling' ? [`state:${state}`, ...of('open')] : [];
    for (const name of [...of('history'), ...open]) add(name, id, createdAtMs);
  }
  for (const [key, { platform, createdAtMs }] of ledger) add(`spend:${platform}:T1:2026-11`, key, createdAtMs);
  const sums = new Map(writesOf(tasks).map(({ key, parts }) => [key, parts]));
  return {
    tasks: new Map(tasks.map((task) => [task.id, task])),
    ledger,
    boards: new Map(),
    cuts: new Map(),
    comparisons: new Map(),
    cards: new Map(),
    indexes,
    sums,
    audit: auditOf(tasks),
  };
}

/** Returns the audit log of these tasks, one of which at most was sent again. */
function auditOf(tasks: readonly Task[]): Kept['audit'] {
  const again = tasks.find(({ money }) => money?.sends.length === 2);
  if (again === undefined) return new Map();
  const about = {
    subject: [{ kind: 'task', task: again.id }],
    before: [],
    after: [{ kind: 'text', text: 'sent again' }],
  };
  const entry = { number: 1, atMs: 1, action: 'unconfirmed', by: null, surface: 'button', ...about } as const;
  const hash = hashOf('', entry as Parameters<typeof hashOf>[1]);
  return new Map<string, unknown>([
    ['head:T1', { entries: 1, hash }],
    ['entry:T1#1', { revision: 1, ...entry, hash }],
  ]);
}

/** Returns the sums after the last of these tasks was claimed, each sum after each task. */
function writesOf(tasks: readonly Task[]): readonly Extract<MoneyWrite, { of: 'sum' }>[] {
  const sums = new Map<string, SumParts>();
  return tasks.flatMap((task) =>
    sumWritesOf(null, task).map(({ sum, add }) => {
      const parts = addParts(sums.get(sum) ?? ZERO_SUM, { ...ZERO_SUM, ...add });
      sums.set(sum, parts);
      return { of: 'sum' as const, key: sum, parts };
    }),
  );
}

const scopes = (name: string, platform: string): readonly string[] => [
  `${name}:${platform}:T1`,
  `${name}:${platform}:T1:ada`,
  `${name}-in:${platform}:T1:clips`,
];

/** History of one clip that was requested twice, created once and delivered once, with the changes of a test. */
function history(changes: Partial<History> = {}): History {
  const asked = {
    platform: 'playground' as const,
    id: 's1-000',
    user: 'ada',
    channel: 'clips',
    atMs: 900,
    status: 202,
    message: 'm1',
  };
  return {
    asked: [
      { ...asked, replica: 0 },
      { ...asked, replica: 1 },
    ],
    pressed: [],
    creates: [CREATE],
    made: [MADE],
    withdrawals: [],
    misuses: [],
    events: new Map(),
    lives: [LIFE],
    troubles: [],
    clockMs: NOON_MS,
    store: kept(DONE),
    commits: [],
    messages: [OWN, MENTION],
    cutFiles: [],
    deleted: [],
    offered: [],
    breaches: [],
    rights: { administrators: new Set(), members: new Map() },
    secrets: ['sk-secret'],
    ...changes,
  };
}

const GONE: Deleted = { id: 'm0', task: ID, atMs: 5_000, hadClip: false, wasDelivered: false };
const TAKEN_DOWN: Deleted = { ...GONE, hadClip: true, wasDelivered: true };
/** Mention that replies to the deleted message of its task. */
const ORPHAN: Shown = { ...MENTION, replyTo: 'm0' };
/** Slack rejects the token from before the order until after its create. */
const REVOKED = { kind: 'token', replica: null, chat: 'slack', fromMs: 800, untilMs: 2_000, remark: '' } as const;

/** Slack refuses to post after the create. */
const REFUSED = { ...REVOKED, kind: 'scope', fromMs: 1_500 } as const;
/** Outcome on Slack in the requester's direct messages, and the task's message in the channel before. */
const DIRECT: Shown = { ...OWN, task: taskIdOf('slack:s1-000'), channel: 'dm' };
const RUNNING: Shown = {
  ...DIRECT,
  id: 'm0',
  channel: 'clips',
  state: null,
  files: [],
  buttons: ['cancel', 'details'],
};

/** History of one clip that was requested on Slack. */
function onSlack(changes: Partial<History>): Partial<History> {
  const [first] = history().asked;
  const asked = [{ ...(first as History['asked'][number]), platform: 'slack' as const, message: null }];
  const key = taskIdOf('slack:s1-000');
  const own = { ...OWN, task: key };
  const task = { ...DONE, id: key, origin: { ...DONE.origin, platform: 'slack' } };
  return { asked, creates: [{ ...CREATE, key }], store: kept(task), messages: [own, MENTION], ...changes };
}

const UNCERTAIN_MESSAGES = [
  { ...OWN, state: 'uncertain', files: [], buttons: ['lookup', 'again', 'leave', 'details'] },
  { ...MENTION, end: 'uncertain:1' },
];
const SILENT: Create = { ...CREATE, fate: 'silent', answeredAtMs: null };
const AGAIN = { user: 'ana', action: 'again', task: ID, afterSends: 1, status: 202, message: null } as const;
const SECOND: Create = { ...CREATE, upstreamId: 'up-2' };

const names = (changes: Partial<History>): readonly string[] => [
  ...new Set(check(history(changes)).map(({ name }) => name)),
];

test('finds no violation in a history without faults', () => {
  expect(check(history())).toEqual([]);
});

describe('unusual but correct histories', () => {
  test.each<readonly [string, Partial<History>]>([
    [
      'uncertain after an answer that never came',
      { store: kept(UNCERTAIN), creates: [SILENT], messages: UNCERTAIN_MESSAGES },
    ],
    [
      'sent again by a person, billed twice',
      {
        store: kept(
          taskAfter(EVENTS.send, LOST, EVENTS.resubmit, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched),
        ),
        creates: [{ ...SILENT, upstreamId: 'up-0' }, CREATE],
        made: [MADE, { ...MADE, upstreamId: 'up-0', status: 'open' }],
        pressed: [AGAIN, AGAIN],
        messages: [OWN, { ...MENTION, id: 'n0', end: 'uncertain:1' }, { ...MENTION, end: 'done:2' }],
      },
    ],
    [
      'a start that was refused while the store was away',
      {
        lives: [{ ...LIFE, readyAtMs: null, end: 'itself', code: 1, output: 'Dailies could not start: …' }, LIFE],
        troubles: [{ kind: 'redis-kill', replica: null, fromMs: 100, untilMs: 900, remark: '' }],
      },
    ],
    ['a clip that comes again since its message was deleted before', { deleted: [GONE] }],
    ['a message that was deleted with its clip', { messages: [ORPHAN], deleted: [TAKEN_DOWN] }],
    ['both messages of a task deleted', { messages: [ORPHAN], deleted: [GONE, GONE] }],
    [
      'a message that was deleted before the bot could write down that it is there',
      {
        store: kept(UNCERTAIN),
        creates: [SILENT],
        messages: UNCERTAIN_MESSAGES,
        deleted: [GONE],
        troubles: [{ kind: 'redis-readonly', replica: null, fromMs: 4_500, untilMs: 5_500, remark: '' }],
      },
    ],
    [
      'the message of a failed task deleted',
      {
        store: kept(taskAfter(EVENTS.send, EVENTS.accepted, EVENTS.failed)),
        made: [{ ...MADE, status: 'failed' }],
        messages: [{ ...ORPHAN, end: 'failed:1' }],
        deleted: [GONE],
      },
    ],
    [
      'an order that a budget refused, and that is offered since the refusal was not delivered',
      {
        store: kept(),
        creates: [],
        made: [],
        messages: [{ ...OWN, task: null, state: null, files: [], buttons: ['order', 'discard'] }],
      },
    ],
    [
      'an order that a budget refused',
      {
        store: kept(),
        creates: [],
        made: [],
        messages: [],
        asked: history().asked.map((one) => ({ ...one, status: 400, message: null, isRefused: true as const })),
      },
    ],
    ['an order that is offered, and not bought', { offered: [taskIdOf('discord:77')] }],
    ['a token that is revoked only once the order is taken', onSlack({ troubles: [{ ...REVOKED, fromMs: 950 }] })],
    [
      'a message that its channel refused, sent to the requester directly',
      onSlack({ troubles: [REFUSED], messages: [DIRECT, MENTION] }),
    ],
    [
      'a message that the bot may not edit, and its outcome sent to the requester directly',
      onSlack({ troubles: [REFUSED], messages: [DIRECT, RUNNING, MENTION] }),
    ],
    ['a token of another chat', onSlack({ troubles: [{ ...REVOKED, chat: 'discord' }] })],
  ])('%s', (_what, changes) => {
    expect(check(history(changes))).toEqual([]);
  });
});

describe('names each violation', () => {
  test.each<readonly [string, Partial<History>]>([
    ['doubled create', { creates: [CREATE, SECOND] }],
    ['doubled create', { creates: [CREATE, SECOND, { ...CREATE, upstreamId: 'up-3' }], pressed: [AGAIN, AGAIN] }],
    ['sent again by itself', { creates: [{ ...CREATE, fate: 'dropped', upstreamId: null }, CREATE] }],
    ['create without a claim', { store: kept() }],
    ['create nobody asked for', { creates: [CREATE, { ...SECOND, key: 'another' }] }],
    ['lost task', { store: kept() }],
    ['lost task', { creates: [CREATE, SECOND], pressed: [AGAIN] }],
    ['never answered', { asked: [{ ...history().asked[0], status: 503 } as History['asked'][number]] }],
    [
      'refused and bought',
      {
        asked: history().asked.map((one) => ({ ...one, status: 400, message: null, isRefused: true as const })),
      },
    ],
    ['two answers', { asked: history().asked.map((one) => ({ ...one, message: `m${one.replica}` })) }],
    ['stuck task', { store: kept(taskAfter(EVENTS.send, EVENTS.accepted)) }],
    ['lost delivery', { store: kept({ ...DONE, presented: false }) }],
    ['lost delivery', { messages: [{ ...OWN, files: [] }, MENTION] }],
    ['lost delivery', { messages: [OWN] }],
    ['lost delivery', { messages: [OWN, { ...MENTION, end: 'uncertain:1' }] }],
    ['doubled delivery', { messages: [{ ...OWN, files: [1_000, 1_000] }, MENTION] }],
    ['doubled delivery', { messages: [OWN, MENTION, { ...MENTION, id: 'n2' }] }],
    ['doubled delivery', { messages: [OWN, MENTION, { ...MENTION, id: 'n2', end: '?' }] }],
    ['wrong clip', { messages: [{ ...OWN, files: [999] }, MENTION] }],
    ['id out of nowhere', { made: [] }],
    ['untrue state', { made: [{ ...MADE, status: 'failed' }] }],
    ['clip given up', { store: kept({ ...DONE, failure: { code: 'gone', words: null } }) }],
    ['one id in two tasks', { store: kept(DONE, { ...DONE, id: taskIdOf('another') }) }],
    ['message in a wrong state', { messages: [{ ...OWN, state: 'polling' }, MENTION] }],
    ['message in a wrong state', { messages: [{ ...OWN, buttons: ['cancel', 'details'] }, MENTION] }],
    ['message in another channel', { messages: [{ ...OWN, channel: 'dm' }, MENTION] }],
    ['message in another channel', { messages: [{ ...OWN, channel: 'dm' }, MENTION], troubles: [REFUSED] }],
    ['doubled message', onSlack({ troubles: [REVOKED], messages: [DIRECT, RUNNING, MENTION] })],
    ['doubled message', onSlack({ troubles: [REFUSED], messages: [DIRECT, { ...RUNNING, files: [1] }, MENTION] })],
    ['doubled message', onSlack({ troubles: [REFUSED], messages: [DIRECT, RUNNING, RUNNING, MENTION] })],
    [
      'doubled message',
      onSlack({ troubles: [REFUSED], messages: [{ ...DIRECT, channel: 'clips' }, RUNNING, MENTION] }),
    ],
    ['message of no task', { messages: [OWN, MENTION, { ...OWN, id: 'm2', task: 'another' }] }],
    ['lost message', { messages: [] }],
    ['doubled message', { messages: [OWN, MENTION, { ...OWN, id: 'm2' }] }],
    ['money that does not add up', { store: { ...kept(DONE), ledger: new Map() } }],
    ['money that does not add up', { made: [{ ...MADE, status: 'failed' }] }],
    ['money that does not add up', { creates: [CREATE, SECOND] }],
    ['money that does not add up', { store: { ...kept(DONE), sums: new Map() } }],
    ['index that disagrees with its records', { store: { ...kept(DONE), indexes: new Map() } }],
    [
      'index that disagrees with its records',
      { store: { ...kept(DONE), indexes: new Map([...kept(DONE).indexes, ['outbox', new Map([[ID, 1]])]]) } },
    ],
    ['crash', { lives: [{ ...LIFE, end: 'itself', code: 1 }] }],
    ['crash', { lives: [{ ...LIFE, code: 1 }] }],
    ['crash', { lives: [{ ...LIFE, code: null }] }],
    [
      'defect',
      { lives: [{ ...LIFE, output: '{"err":{"code":"internal"},"msg":"job threw an error, retrying later"}' }] },
    ],
    ['defect', { lives: [{ ...LIFE, output: 'Error: unhandled rejection' }] }],
    ['secret told', { lives: [{ ...LIFE, output: 'token sk-secret' }] }],
    ["breach of a platform's rules", { breaches: ['a call too much'] }],
    ['lost delivery', { messages: [ORPHAN], deleted: [GONE] }],
    ['lost delivery', { messages: [], deleted: [TAKEN_DOWN] }],
    ['lost message', { messages: [ORPHAN], deleted: [{ ...GONE, task: 'another' }] }],
    ['doubled delivery', { deleted: [TAKEN_DOWN] }],
    ['message posted again', { deleted: [GONE, GONE] }],
    ['message posted again', { store: kept(UNCERTAIN), messages: UNCERTAIN_MESSAGES, deleted: [GONE] }],
    ['bought although it is only offered', { offered: [ID] }],
    ['bought although it could not be delivered', onSlack({ troubles: [REVOKED] })],
    ['bought although it could not be delivered', onSlack({ troubles: [{ ...REVOKED, kind: 'scope' }] })],
    ['needlessly uncertain', { store: kept(UNCERTAIN), messages: UNCERTAIN_MESSAGES }],
  ])('%s', (name, changes) => {
    expect(names(changes)).toContain(name);
  });
});

describe('an order that a budget refused', () => {
  const asked = history().asked.map((one) => ({ ...one, status: 400, message: null, isRefused: true as const }));
  const again: Pressed = { user: 'ada', action: 'order', task: ID, afterSends: null, status: 202, message: 'm1' };

  test('may be bought by a press on *Try again*', () => {
    expect(check(history({ asked, pressed: [{ ...again, atMs: 950 }] }))).toEqual([]);
  });

  test.each<readonly [string, Partial<Pressed>]>([
    ['before the refusal', { atMs: 850 }],
    ['at an unknown time', {}],
    ['by somebody else', { atMs: 950, user: 'ben' }],
    ['that was rejected', { atMs: 950, status: 400 }],
    ['on another order', { atMs: 950, task: taskIdOf('playground:s1-001') }],
    ['on another button', { atMs: 950, action: 'retry' }],
  ])('may not be bought by a press %s', (_how, changes) => {
    expect(names({ asked, pressed: [{ ...again, ...changes }] })).toContain('refused and bought');
  });
});

test('a request for approval has no entry in the ledger', () => {
  const requested = recount(requestedTask({ id: ID, origin: originOf({ platform: 'playground' }), presented: true }));
  const sums = (store: Kept) => names({ store, creates: [], made: [] });
  expect(sums(kept(requested))).not.toContain('money that does not add up');
  expect(sums({ ...kept(requested), ledger: kept(DONE).ledger })).toContain('money that does not add up');
});

test('excuses a sender that was killed, paused or cut off', () => {
  const lost = { store: kept(UNCERTAIN), messages: UNCERTAIN_MESSAGES };
  const trouble = { kind: 'pause', replica: 0, fromMs: 990, untilMs: 4_000, remark: '' } as const;
  expect(names({ ...lost, troubles: [trouble] })).toEqual([]);
  expect(names({ ...lost, lives: [{ ...LIFE, untilMs: 1_100, end: 'killed', code: null }] })).toEqual([]);
  expect(names({ ...lost, troubles: [{ ...trouble, replica: 1 }] })).toEqual(['needlessly uncertain']);
});

test('recognizes a mention for a submission that was taken back later', () => {
  const refused = lived(newTask(), EVENTS.send, EVENTS.lost, EVENTS.refused);
  const id = messageIdOf('notice', `end:${refused.id}:uncertain:1`);
  const said = { id, channel: 'clips', replyTo: 'm1', text: '', visibleTo: null, asked: null, state: null, task: null };
  const [shown] = shownOf([{ ...said, mentions: ['ana'], attachments: [], buttons: [] }], {
    tasks: new Map([[refused.id, refused]]),
    cuts: new Map(),
    cards: new Map(),
  });
  expect([refused.sends, shown?.end]).toEqual([0, 'uncertain:1']);
});

test('tells the messages to the approvers from the mention of a denial', () => {
  const denied = lived(requestedTask(), EVENTS.decline);
  const said = { channel: 'clips', replyTo: 'm1', text: '', visibleTo: null, asked: null, state: null, task: null };
  const messages = [
    `ask:${denied.id}:`,
    `remind:${denied.id}:`,
    `end:${denied.id}:declined:0`,
    `end:${denied.id}:odd`,
  ].map((key) => {
    return { ...said, id: messageIdOf('notice', key), mentions: ['ana'], attachments: [], buttons: [] };
  });
  expect(
    shownOf(messages, { tasks: new Map([[denied.id, denied]]), cuts: new Map(), cards: new Map() }).map(
      ({ end }) => end,
    ),
  ).toEqual([null, null, 'declined:0', '?']);
});

test('an approved task is as old as its approval in the index of its state', () => {
  const lost = lived(requestedTask({ id: ID, origin: originOf({ platform: 'playground' }) }), EVENTS.approve);
  const task = recount({ ...lived(lost, EVENTS.send, LOST), presented: true });
  const store = kept(task);
  const indexes = new Map([...store.indexes, ['state:uncertain', new Map([[ID, EVENTS.approve.atMs]])]]);
  const name = 'index that disagrees with its records';
  expect(names({ store: { ...store, indexes } })).not.toContain(name);
  expect(names({ store })).toContain(name);
});

test('shows the card of a set with the names of its files, the states of its tasks and the ends below it', () => {
  const [first, second] = memberIds({ id: ID, of: 2 }).map((id, index) =>
    newTask({ id, set: { id: ID, kind: 'takes', at: index + 1, of: 2 } }),
  ) as [Task, Task];
  const said = { channel: 'clips', replyTo: null, text: '', visibleTo: null, asked: null, state: null, task: null };
  const card = {
    ...said,
    id: 'm1',
    mentions: [],
    tasks: [first, second].map(({ id, state }) => ({ task: id, state })),
    attachments: [{ name: `fox-${ID.slice(0, 4)}-1.mp4`, bytes: 7, url: '' }],
    buttons: [{ id: `details:${second.id}` }, { id: `details:set-${ID}` }],
  };
  const end = messageIdOf('notice', `end:${second.id}:uncertain:1`);
  const notice = { ...said, id: end, replyTo: 'm1', mentions: ['ana'], attachments: [], buttons: [] };
  const tasks = new Map([first, second].map((task) => [task.id, task]));
  expect(shownOf([card, notice], { tasks, cuts: new Map(), cards: new Map() })).toMatchObject([
    {
      set: ID,
      files: [7],
      names: [`fox-${ID.slice(0, 4)}-1.mp4`],
      tasks: card.tasks,
      buttonIds: [`details:${second.id}`, `details:set-${ID}`],
    },
    { end: 'uncertain:1', endOf: second.id, replyTo: 'm1' },
  ]);
});
