import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { HOME_COMMANDS } from '#commands/home.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import { buttonsOf, type Card } from '#commands/ui/card.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import type { BudgetScope } from '#src/money/budgets.ts';
import { microsOf } from '#src/tasks/money.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../videos/models.ts';

const ACTOR = { person: { id: 'U8', name: 'Grace' }, surface: 'command' } as const;
const LOST: readonly TaskEvent[] = [
  { kind: 'send', owner: 'me', atMs: 0 },
  { kind: 'lost', failure: { code: 'lost_answer', words: null } },
];

let house: BotHouse;

beforeEach(() => {
  house = new BotHouse(CATALOG);
});

/** Returns the caller on the home page: in the direct message with the bot. */
const atHome = (caller: Caller): Caller => ({ ...caller, channel: `direct-${caller.user.id}` });
const homeOf = (caller: Caller): Promise<readonly Card[]> => house.bot.home(atHome(caller));
const cardAt = (cards: readonly Card[], title: string): string =>
  cards.map(cardText).find((text) => text.startsWith(title)) ?? '';
const buttons = (cards: readonly Card[]): readonly string[] => cards.flatMap(buttonsOf).map(({ id }) => id);

describe('the clips in progress', () => {
  it('have Cancel on their rows, with the link to their messages', async () => {
    const task = await house.seed(ada(), 'a red fox');
    const id = task.id.slice(0, 8);
    expect(cardAt(await homeOf(ada()), 'In progress')).toBe(
      [
        'In progress',
        `‹a red fox› · 2026-11-20T12:00 · ‹Swift 1› · 4 s · $0.20 · Ada · \`${id}\` · [See it → m-${task.id}] (Cancel)`,
      ].join('\n'),
    );
  });

  it('are the person’s own, and those of others that they may cancel, which the press does', async () => {
    house.memberRights.set('clips', { view: true, post: true, manage: false });
    house.memberRights.set('clips:U2', { view: true, post: true, manage: true });
    const [task, own] = [await house.seed(ada(), 'a red fox'), await house.seed(bob(), 'a wolf')];
    const cancel = (id: string) => buttonId({ action: 'cancel', task: id as TaskId });
    expect(buttons(await homeOf(bob()))).toEqual(expect.arrayContaining([cancel(own.id), cancel(task.id)]));
    expect(cardAt(await homeOf(bob()), 'In progress').split('\n')[1]).toContain('a wolf');
    expect(cardAt(await homeOf(ada()), 'In progress')).not.toContain('a wolf');
    const press = (caller: Caller, id: string) => house.bot.press(atHome(caller), cancel(id)).then(replyText);
    expect(await press(ada(), own.id)).toContain('refused');
    expect(await press(bob(), task.id)).toBe('Cancelled. You were not charged.');
    expect(cardAt(await homeOf(ada()), 'In progress')).toContain('You have nothing in progress.');
  });

  it('of private channels are shown to their requesters alone, also to a manager', async () => {
    house.audiences.set('clips', 'channel');
    const task = await house.seed(ada(), 'a secret fox');
    expect(cardAt(await homeOf(bob({ mayAdminister: true })), 'In progress')).not.toContain('secret');
    expect(buttons(await homeOf(ada()))).toContain(`cancel:${task.id}`);
  });

  it('of others are not shown to a guest', async () => {
    await house.seed(ada(), 'a red fox');
    expect(cardAt(await homeOf(bob({ isExternal: true })), 'In progress')).not.toContain('fox');
  });

  it('of a blind comparison are one row, which cancels all of it and tells nothing of them', async () => {
    const reply = await house.bot.text(ada(), 'compare a red fox --models swift-1,plain --seconds 6');
    const { task: id } = reply as { readonly task: TaskId };
    const cards = await homeOf(ada());
    const rows = cardAt(cards, 'In progress').split('\n').slice(1);
    expect(rows).toEqual([expect.stringContaining('‹a red fox› · 2026-11-20T12:00 · ')]);
    expect(rows.join()).not.toMatch(/Swift|Plain|\$/u);
    expect(buttons(cards).filter((one) => one.startsWith('cancel:'))).toEqual([`cancel:${setCardId(id)}`]);
    expect(replyText(await house.bot.press(atHome(ada()), `cancel:${setCardId(id)}`))).toContain('Cancelled 2 clips');
  });

  it('have no Cancel where it would be refused', async () => {
    await house.seed(ada(), 'a red fox', ...LOST);
    const card = cardAt(await homeOf(ada()), 'In progress');
    expect(card).toContain('unconfirmed');
    expect(card).not.toContain('(Cancel)');
  });

  it('of others that cannot be cancelled take the place of none that can, and are not counted', async () => {
    house.memberRights.set('clips:U2', { view: true, post: true, manage: true });
    for (let at = 1; at <= 10; at += 1) await house.seed(ada(), `owl ${at} flies home`, ...LOST);
    const { id } = await house.seed(ada(), 'a red fox');
    for (let at = 11; at <= 20; at += 1) await house.seed(ada(), `owl ${at} flies home`, ...LOST);
    const cards = await homeOf(bob());
    expect(buttons(cards).filter((one) => one.startsWith('cancel:'))).toEqual([`cancel:${id}`]);
    expect(cardAt(cards, 'In progress').split('\n')).toHaveLength(2);
  });

  it('are at most ten, and the rest is counted', async () => {
    for (let at = 1; at <= 12; at += 1) await house.seed(ada(), `fox ${at} runs home`);
    const lines = cardAt(await homeOf(ada()), 'In progress').split('\n');
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe('And 2 more.');
  });
});

describe('the budgets', () => {
  const TEAM = { platform: 'slack', team: 'T1' } as const;
  const limit = (scope: Exclude<BudgetScope, { kind: 'deployment' }>, amount: string) =>
    house.budgets.change(scope, ACTOR, { part: 'hard', currency: 'USD', amount: microsOf(amount) });
  const spend = (sum: string, amount: string) =>
    house.store.commit({ records: [], sums: [{ sum, add: { settled: microsOf(amount) } }] });
  const card = async (caller: Caller) => cardAt(await homeOf(caller), 'This month');

  it('are bars of the person and of the team, which are read out in words and lead to the usage', async () => {
    await limit({ kind: 'team', ...TEAM }, '5');
    await limit({ kind: 'everyone', ...TEAM }, '0.9');
    await spend('team:slack:T1:2026-11:USD', '3');
    await spend('person:slack:T1:U1:2026-11:USD', '0.3');
    expect(await card(ada())).toBe(
      [
        'This month',
        'You · $0.30 of $0.90 used · $0.60 left (██████░░░░░░░░░░░░░░ 33 %)',
        'The team · $3.00 of $5.00 used · $2.00 left (████████████░░░░░░░░ 60 %)',
      ].join('\n'),
    );
    const bars = (await homeOf(ada())).flatMap(buttonsOf).filter(({ spoken }) => spoken !== undefined);
    expect(bars.map(({ id, spoken }) => [HOME_COMMANDS.get(id), spoken])).toEqual([
      ['usage', 'You: 33 % used. Usage'],
      ['usage', 'The team: 60 % used. Usage'],
    ]);
  });

  it('are full, and no fuller, where all is used or nothing is allowed', async () => {
    await limit({ kind: 'team', ...TEAM }, '0');
    expect(await card(ada())).toContain('The team · $0.00 of $0.00 used · $0.00 left (████████████████████ 100 %)');
    await limit({ kind: 'team', ...TEAM }, '1');
    await spend('team:slack:T1:2026-11:USD', '1.5');
    expect(await card(ada())).toContain('over by $0.50 (████████████████████ 100 %)');
  });

  it('are amounts without a bar where there is no limit, and absent where nothing was spent', async () => {
    expect(await card(ada())).toBe('');
    await spend('team:slack:T1:2026-11:USD', '3');
    expect(await card(ada())).toBe('This month\n*The team*: $3.00 used');
  });

  it('of the team are not shown to a guest', async () => {
    await limit({ kind: 'team', ...TEAM }, '5');
    await spend('team:slack:T1:2026-11:USD', '3');
    expect(await card(ada({ isExternal: true }))).toBe('');
  });
});

describe('the buttons', () => {
  it('for administrators are shown to them alone, also to those named in ADMINS', async () => {
    const administration = ['home:settings', 'home:budget', 'home:approvers', 'home:policy'];
    expect(buttons(await homeOf(ada()))).not.toEqual(expect.arrayContaining(administration));
    expect(buttons(await homeOf(ada({ mayAdminister: true })))).toEqual(expect.arrayContaining(administration));
    house.admins = [{ platform: 'slack', user: 'U1' }];
    expect(buttons(await homeOf(ada()))).toEqual(expect.arrayContaining(administration));
  });

  it('lead to commands that exist', () => {
    const names = house.bot.commands.map(({ name }) => name);
    for (const command of HOME_COMMANDS.values()) expect(['', ...names]).toContain(command);
  });

  it('lead to the gallery where it is on', async () => {
    expect(buttons(await homeOf(ada()))).toContain('home:gallery');
    house.galleryLinks = null;
    expect(buttons(await homeOf(ada()))).not.toContain('home:gallery');
  });
});

it('what waits for a decision of the person comes first, with its buttons; nothing while nothing waits', async () => {
  const titles = async (caller: Caller) => (await homeOf(caller)).map((card) => cardText(card).split('\n')[0]);
  expect(await titles(bob())).toEqual([expect.stringContaining('Type /video'), 'In progress', 'Clips by Bob']);
  house.rules = { approveAbove: { amount: '0.1', currency: 'USD' }, budgets: [] };
  await house.approvers.add(ada(), ACTOR, { kind: 'person', ...bob().user });
  const reply = await house.bot.text(ada(), 'create a red fox --seconds 8');
  const { task } = reply as { readonly task: TaskId };
  expect((await titles(bob()))[1]).toBe('Waiting for you');
  expect(buttons(await homeOf(bob()))).toContain(`approve:${task}:0.4USD`);
  expect(cardAt(await homeOf(bob()), 'In progress')).not.toContain('red fox');
  // Its requester may withdraw it.
  expect(buttons(await homeOf(ada()))).toContain(`withdraw:${task}`);
});
