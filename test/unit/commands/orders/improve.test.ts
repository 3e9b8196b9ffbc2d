import { beforeEach, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { NO_SPENDING_RULES } from '#commands/orders/spending.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import type { Enhanced, EnhanceOrder } from '#src/enhancer/enhancer.ts';
import type { Task } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { EVENTS } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../videos/models.ts';

let house: BotHouse;
let asked: EnhanceOrder[];
let answer: Enhanced;

const BETTER = 'A red fox trots <@U2> --seconds 60';

beforeEach(() => {
  house = new BotHouse(CATALOG);
  asked = [];
  answer = { ok: true, prompt: BETTER };
  house.enhancer = {
    enhance: async (order) => {
      asked.push(order);
      return answer;
    },
  };
});

const cardOf = (reply: Reply) => {
  if (reply.kind === 'private') return reply.card;
  if (reply.kind === 'offer') return reply.private ?? reply.card;
  throw new TypeError(`no card: ${JSON.stringify(reply)}`);
};
const labelsOf = (reply: Reply) => buttonsOf(cardOf(reply)).map(({ label }) => label);
const press = (reply: Reply, label: string, caller: Caller = ada()) => {
  const button = buttonsOf(cardOf(reply)).find((one) => one.label.startsWith(label));
  if (button === undefined) throw new TypeError(`no button ${label}: ${labelsOf(reply).join()}`);
  return house.bot.press(caller, button.id);
};
const details = async (task: Task, caller: Caller = ada()) => house.bot.press(caller, `details:${task.id}`);
const prompts = () => [...house.records.values()].map(({ request }) => request.prompt);

it('shows both prompts of a clip privately, and buys nothing', async () => {
  const task = await house.seed(ada(), 'a red fox --seconds 6');
  const shown = await press(await details(task), 'Improve');
  expect(replyText(shown)).toBe(
    [
      '*Original*: ‹a red fox›',
      `*Improved*: ‹${BETTER}›`,
      'A language model wrote the second one. Nothing has been started.',
      '(Create improved · $0.30) (Keep original · $0.30) (Edit) (Discard)',
    ].join('\n'),
  );
  expect(asked).toMatchObject([{ prompt: 'a red fox', maxLength: 1_500, person: 'slack:T1:U1' }]);
  expect(house.orders).toEqual([]);
});

it('orders the one that is chosen, once, with the settings of the original', async () => {
  const task = await house.seed(ada(), 'a red fox --seconds 6');
  const shown = await press(await details(task), 'Improve');
  expect(await press(shown, 'Create improved')).toMatchObject({ kind: 'task' });
  expect(house.orders).toMatchObject([{ request: { prompt: BETTER, seconds: 6 }, retryOf: task.id }]);
  expect(replyText(await press(shown, 'Keep original'))).toContain('This was already requested');
  expect(replyText(await press(shown, 'Create improved'))).toContain('This was already requested');
  expect(prompts()).toEqual(['a red fox', BETTER]);
});

it('improves an order before it is placed: either prompt, edited or none', async () => {
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  const order = () => house.bot.text(ada(), 'a red fox --seconds 6');
  const original = await press(await press(await order(), 'Improve'), 'Keep original');
  expect(original).toMatchObject({ kind: 'task' });
  const edited = await press(await press(await order(), 'Improve'), 'Edit');
  expect(edited).toMatchObject({
    kind: 'form',
    form: { fields: [{ name: 'prompt', value: BETTER }, {}, {}, {}, {}, {}] },
  });
  if (edited.kind !== 'form') throw new TypeError('no form');
  const discarded = await press(await order(), 'Improve');
  expect(replyText(await press(discarded, 'Discard'))).toContain('Nothing was bought');
  for (const label of ['Create improved', 'Keep original'])
    expect(replyText(await press(discarded, label))).toContain('Nothing was bought');
  expect(prompts()).toEqual(['a red fox']);
});

it('orders what the message of the button shows after a second press, too', async () => {
  const task = await house.seed(ada(), 'a red fox');
  const card = await details(task);
  const caller = ada();
  const first = await press(card, 'Improve', caller);
  answer = { ok: true, prompt: 'another one' };
  await press(card, 'Improve', caller);
  await press(first, 'Create improved');
  expect(prompts()).toEqual(['a red fox', BETTER]);
});

it.each([
  ['timed_out', 'didn’t answer within 15 s'],
  ['unauthorised', 'ENHANCER_TOKEN'],
  ['too_long', 'too long'],
] as const)('keeps the original after %s', async (reason, words) => {
  answer = { ok: false, reason };
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  const offer = await house.bot.text(ada(), 'a red fox --seconds 6');
  const reply = await press(offer, 'Improve');
  expect(reply).toMatchObject({ kind: 'refused' });
  expect(replyText(reply)).toContain(words);
  expect(replyText(reply)).toContain('Your prompt is unchanged');
  expect(await press(offer, 'Create for')).toMatchObject({ kind: 'task' });
  expect(prompts()).toEqual(['a red fox']);
});

it('says so if there is nothing to improve', async () => {
  answer = { ok: true, prompt: 'a red fox' };
  const task = await house.seed(ada(), 'a red fox');
  expect(replyText(await press(await details(task), 'Improve'))).toContain('nothing to improve');
});

it('checks the words of the policy in the improved prompt', async () => {
  const task = await house.seed(ada(), 'a red fox');
  const policy = { team: { words: ['trots'] }, channels: {} };
  await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
  const shown = await press(await details(task), 'Improve');
  expect(labelsOf(shown)).not.toContainEqual(expect.stringContaining('Create improved'));
});

it('asks nobody else, and nobody who may not see or create', async () => {
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  const offer = await house.bot.text(ada(), 'a red fox --seconds 6');
  expect(replyText(await press(offer, 'Improve', bob()))).toContain('Only Ada');
  house.rules = { budgets: [] };
  house.audiences.set('secret', 'channel');
  const hidden = await house.seed(ada({ channel: 'secret' }), 'a secret fox');
  expect(await house.bot.press(bob(), `improve:${hidden.id}`)).toMatchObject({ kind: 'refused' });
  // The requester is asked first whether others may see the prompt.
  expect(replyText(await house.bot.press(ada(), `improve:${hidden.id}`))).toContain('private channel');
  const open = await house.seed(ada(), 'a red fox');
  const policy = { team: { create: [] }, channels: {} };
  await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
  expect(replyText(await house.bot.press(ada(), `improve:${open.id}`))).toContain('only administrators');
  expect(asked).toEqual([]);
});

it('betrays no model of a comparison, and has no button for orders of several prompts or models', async () => {
  const reply = await house.bot.text(ada(), 'compare a red fox --models swift-1,plain --seconds 4');
  if (reply.kind !== 'task') throw new TypeError(replyText(reply));
  for (const id of house.records.keys())
    expect(await house.bot.press(ada(), `improve:${id}`)).toMatchObject({ kind: 'refused' });
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  for (const text of ['compare a hen --models swift-1,plain', 'storyboard a hen\na fox'])
    expect(labelsOf(await house.bot.text(ada(), text))).not.toContain('Improve');
  expect(asked).toEqual([]);
});

it('has no button without an enhancer', async () => {
  house.enhancer = null;
  const task = await house.seed(ada(), 'a red fox');
  expect(labelsOf(await details(task))).toEqual([]);
  expect(await house.bot.press(ada(), `improve:${task.id}`)).toMatchObject({ kind: 'refused' });
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  expect(labelsOf(await house.bot.text(ada(), 'a hen --seconds 6'))).not.toContain('Improve');
});

it('asks the service for nobody who may not create clips here, and not about an unconfirmed clip', async () => {
  const task = await house.seed(ada(), 'a red fox --seconds 6');
  const shown = await details(task);
  house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
  const offered = await house.bot.text(ada(), 'a red fox --seconds 6');
  const actor = { person: bob().user, surface: 'command' } as const;
  const create = [{ kind: 'person', ...bob().user }] as const;
  await house.settings.change(ada(), actor, { policy: { team: { create }, channels: {} } });
  for (const reply of [await press(shown, 'Improve'), await press(offered, 'Improve')])
    expect(replyText(reply)).toContain('only Bob may');
  house.rules = NO_SPENDING_RULES;
  const doubtful = await house.seed(bob(), 'a blue fox --seconds 6');
  const before = await details(doubtful, bob());
  for (const event of [EVENTS.send, EVENTS.lost]) house.happen(doubtful.id, event);
  expect((await press(before, 'Improve', bob())).kind).toBe('refused');
  expect(asked).toEqual([]);
});
