import { describe, expect, test } from 'vitest';
import { messageIdOf } from '#adapters/playground/desk.ts';
import { ledgerKey, ledgerOf } from '#src/tasks/records.ts';
import { taskIdOf } from '#src/tasks/service.ts';
import type { Task } from '#src/tasks/task.ts';
import type { TaskEvent } from '#src/tasks/transition.ts';
import { CLIP, EVENTS, lived, newTask, originOf, UPSTREAM } from '../fakes/tasks.ts';
import { check } from './check.ts';
import type { Create, History, Kept, Life, Made, Shown } from './history.ts';
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
  return { ...task, presented: true };
}

const DONE = taskAfter(EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
const UNCERTAIN = taskAfter(EVENTS.send, LOST);

/** What a store has that holds these tasks. */
function kept(...tasks: readonly Task[]): Kept {
  const indexes = new Map<string, Map<string, number>>();
  const add = (name: string, member: string, score: number): void => {
    indexes.set(name, (indexes.get(name) ?? new Map<string, number>()).set(member, score));
  };
  const ledger = new Map(tasks.flatMap((task) => ledgerOf(task)).map((entry) => [ledgerKey(entry), entry]));
  for (const { id, state, createdAtMs } of tasks) {
    const open = state === 'uncertain' || state === 'polling' ? [`state:${state}`, ...scopes('open')] : [];
    for (const name of [...scopes('history'), ...open]) add(name, id, createdAtMs);
  }
  for (const [key, { createdAtMs }] of ledger) add('spend:playground:T1:2026-11', key, createdAtMs);
  return { tasks: new Map(tasks.map((task) => [task.id, task])), ledger, cards: new Map(), indexes };
}

const scopes = (name: string): readonly string[] => [
  `${name}:playground:T1`,
  `${name}:playground:T1:ada`,
  `${name}-in:playground:T1:clips`,
];

/** One clip that was asked for twice, made once and delivered once; with what a test changes. */
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
    lives: [LIFE],
    troubles: [],
    store: kept(DONE),
    messages: [OWN, MENTION],
    breaches: [],
    secrets: ['sk-secret'],
    ...changes,
  };
}

const UNCERTAIN_MESSAGES = [
  { ...OWN, state: 'uncertain', files: [], buttons: ['lookup', 'again', 'leave', 'details'] },
  { ...MENTION, end: 'uncertain:1' },
];
const SILENT: Create = { ...CREATE, fate: 'silent', answeredAtMs: null };
const AGAIN = { action: 'again', task: ID, afterSends: 1, status: 202, message: null } as const;
const SECOND: Create = { ...CREATE, upstreamId: 'up-2' };

const names = (changes: Partial<History>): readonly string[] => [
  ...new Set(check(history(changes)).map(({ name }) => name)),
];

test('a history without a fault is without a violation', () => {
  expect(check(history())).toEqual([]);
});

describe('what is right although it looks odd', () => {
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
  ])('%s', (_what, changes) => {
    expect(check(history(changes))).toEqual([]);
  });
});

describe('each violation is named', () => {
  test.each<readonly [string, Partial<History>]>([
    ['doubled create', { creates: [CREATE, SECOND] }],
    ['doubled create', { creates: [CREATE, SECOND, { ...CREATE, upstreamId: 'up-3' }], pressed: [AGAIN, AGAIN] }],
    ['sent again by itself', { creates: [{ ...CREATE, fate: 'dropped', upstreamId: null }, CREATE] }],
    ['create without a claim', { store: kept() }],
    ['create nobody asked for', { creates: [CREATE, { ...SECOND, key: 'another' }] }],
    ['lost task', { store: kept() }],
    ['lost task', { creates: [CREATE, SECOND], pressed: [AGAIN] }],
    ['never answered', { asked: [{ ...history().asked[0], status: 503 } as History['asked'][number]] }],
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
    ['message of no task', { messages: [OWN, MENTION, { ...OWN, id: 'm2', task: 'another' }] }],
    ['lost message', { messages: [] }],
    ['doubled message', { messages: [OWN, MENTION, { ...OWN, id: 'm2' }] }],
    ['money that does not add up', { store: { ...kept(DONE), ledger: new Map() } }],
    ['money that does not add up', { made: [{ ...MADE, status: 'failed' }] }],
    ['money that does not add up', { creates: [CREATE, SECOND] }],
    ['index that disagrees with its records', { store: { ...kept(DONE), indexes: new Map() } }],
    [
      'index that disagrees with its records',
      { store: { ...kept(DONE), indexes: new Map([...kept(DONE).indexes, ['outbox', new Map([[ID, 1]])]]) } },
    ],
    ['crash', { lives: [{ ...LIFE, end: 'itself', code: 1 }] }],
    ['crash', { lives: [{ ...LIFE, code: 1 }] }],
    ['crash', { lives: [{ ...LIFE, code: null }] }],
    ['defect', { lives: [{ ...LIFE, output: '{"err":{"code":"internal"},"msg":"a step threw; it is tried again"}' }] }],
    ['defect', { lives: [{ ...LIFE, output: 'Error: unhandled rejection' }] }],
    ['secret told', { lives: [{ ...LIFE, output: 'token sk-secret' }] }],
    ["breach of a platform's rules", { breaches: ['a call too much'] }],
    ['needlessly uncertain', { store: kept(UNCERTAIN), messages: UNCERTAIN_MESSAGES }],
  ])('%s', (name, changes) => {
    expect(names(changes)).toContain(name);
  });
});

test('a sender that was killed, stopped or cut off has an excuse', () => {
  const lost = { store: kept(UNCERTAIN), messages: UNCERTAIN_MESSAGES };
  const trouble = { kind: 'pause', replica: 0, fromMs: 990, untilMs: 4_000, remark: '' } as const;
  expect(names({ ...lost, troubles: [trouble] })).toEqual([]);
  expect(names({ ...lost, lives: [{ ...LIFE, untilMs: 1_100, end: 'killed', code: null }] })).toEqual([]);
  expect(names({ ...lost, troubles: [{ ...trouble, replica: 1 }] })).toEqual(['needlessly uncertain']);
});

test('a mention of a send that was taken back later is known as such', () => {
  const refused = lived(newTask(), EVENTS.send, EVENTS.lost, EVENTS.refused);
  const id = messageIdOf('notice', `end:${refused.id}:uncertain:1`);
  const said = { id, channel: 'clips', replyTo: 'm1', visibleTo: null, asked: null, state: null, task: null };
  const [shown] = shownOf([{ ...said, mentions: ['ana'], attachments: [], buttons: [] }], [refused]);
  expect([refused.sends, shown?.end]).toEqual([0, 'uncertain:1']);
});
