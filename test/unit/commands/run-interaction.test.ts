import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { type Responder, runInteraction } from '#commands/run-interaction.ts';
import { DailiesError } from '#src/errors.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ada } from '#test/fakes/bot-house.ts';
import { newTask } from '#test/fakes/tasks.ts';

const card = { lines: [['Yes.']], progress: null, buttons: [] };
const task = 'T1' as TaskId;

/** Runs an interaction. @returns the calls in order, and the lines of the log. */
async function run(
  ask: () => Promise<Reply | null>,
  inPlace = false,
  changes: Partial<Responder> = {},
  removed: Reply | null = null,
) {
  const calls: unknown[][] = [];
  const log: { event: string; code?: string }[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const note =
    (call: string) =>
    async (...given: readonly unknown[]) => {
      calls.push([call, ...given]);
    };
  const responder: Responder = {
    acknowledge: note('acknowledge'),
    show: note('show'),
    showForm: note('showForm'),
    refuse: note('refuse'),
    offer: note('offer'),
    ...changes,
  };
  const bot = {
    removed: async () => removed,
    urgently: <Result>(work: () => Promise<Result>) => work(),
    show: async (_task: TaskId, claimed?: Task) => {
      calls.push(['post', ...(claimed === undefined ? [] : [claimed])]);
      return { channel: 'C1', message: 'M1' };
    },
  };
  const message = await runInteraction({ bot, logger, caller: ada(), inPlace, ask }, responder).catch(
    (thrown: unknown) => thrown,
  );
  return { message, calls, log };
}

it('acknowledges a task before it shows its message, and returns the message', async () => {
  const { message, calls } = await run(async () => ({ kind: 'task', task }));
  expect(calls).toEqual([['acknowledge', task], ['post']]);
  expect(message).toEqual({ channel: 'C1', message: 'M1' });
});

it('shows a task that was just claimed as it is', async () => {
  const claimed = newTask();
  const { calls } = await run(async () => ({ kind: 'task', task, claimed }));
  expect(calls).toEqual([
    ['acknowledge', task],
    ['post', claimed],
  ]);
});

it('posts no message if the acknowledgement fails', async () => {
  const away = new Error('away');
  const acknowledge = () => Promise.reject(away);
  const { message, calls } = await run(async () => ({ kind: 'task', task }), false, { acknowledge });
  expect([message, calls]).toEqual([away, []]);
});

const SETTLED = { kind: 'task', task, settled: 'Ordered: 1 clip · $0.30.' } as const;

it('replaces the question whose button ordered a task, once its message is there', async () => {
  const { calls } = await run(async () => SETTLED, true);
  const lines = [['Ordered: 1 clip · $0.30. ', { message: { channel: 'C1', message: 'M1' }, label: 'See it' }]];
  const settled = { lines, progress: null, buttons: [] };
  expect(calls).toEqual([['acknowledge', task], ['post'], ['show', settled, 'in-place']]);
  // A button that was not in the message, or an order elsewhere, replaces nothing.
  expect((await run(async () => SETTLED, false)).calls).toEqual([['acknowledge', task], ['post']]);
});

it('returns the message of an order whose question could not be replaced, and logs it', async () => {
  const show = () => Promise.reject(new Error('away'));
  const { message, calls, log } = await run(async () => SETTLED, true, { show });
  expect([message, calls]).toEqual([{ channel: 'C1', message: 'M1' }, [['acknowledge', task], ['post']]]);
  expect(log).toMatchObject([{ event: 'interaction_handled' }, { event: 'question_not_settled' }]);
});

const FORM = { id: 'create', title: 'New clip', fields: [], submit: 'Create' };
const REFUSED: Reply = { kind: 'refused', sentence: 'Which clip?' };
const OFFER: Reply = { kind: 'offer', id: 'D1', card };

it.each<[string, Reply, boolean, readonly unknown[]]>([
  ['a private card', { kind: 'private', card }, false, ['show', card, 'private']],
  ['a private card in place', { kind: 'private', card }, true, ['show', card, 'in-place']],
  ['a public card', { kind: 'public', card }, true, ['show', card, 'public']],
  ['a form', { kind: 'form', form: FORM }, true, ['showForm', FORM]],
  ['a refusal', REFUSED, true, ['refuse', REFUSED, null]],
  ['an offer', OFFER, true, ['offer', OFFER]],
])('shows %s', async (_, reply, inPlace, call) => {
  const { message, calls, log } = await run(async () => reply, inPlace);
  expect(calls).toEqual([call]);
  expect(message).toBeNull();
  expect(log).toMatchObject([{ event: 'interaction_handled' }]);
});

it('shows nothing without a reply', async () => {
  expect(await run(async () => null)).toMatchObject({ message: null, calls: [] });
});

it('refuses with the sentence of an error, and logs it once', async () => {
  const error = new DailiesError('writing', { code: 'store_unavailable', retryable: true });
  const { calls, log } = await run(() => Promise.reject(error));
  expect(calls).toEqual([['refuse', { kind: 'refused', sentence: expect.stringContaining('database') }, error]]);
  expect(log).toMatchObject([{ event: 'interaction_failed', code: 'store_unavailable' }]);
});

it('refuses as internal what is not a DailiesError, also if it is thrown at once', async () => {
  const { calls } = await run(() => {
    throw new Error('boom');
  });
  expect(calls).toMatchObject([['refuse', { kind: 'refused' }, { code: 'internal', name: 'DailiesError' }]]);
});

it('rejects if showing fails, and does not refuse what was done', async () => {
  const away = new Error('away');
  const { message, calls } = await run(async () => ({ kind: 'private', card }), false, {
    show: () => Promise.reject(away),
  });
  expect([message, calls]).toEqual([away, []]);
});

it('answers the redelivery of a removed order before anything of it is stored', async () => {
  let isAsked = false;
  const ask = async () => {
    isAsked = true;
    return null;
  };
  const { calls } = await run(ask, false, {}, REFUSED);
  expect([isAsked, calls]).toEqual([false, [['refuse', REFUSED, null]]]);
});
