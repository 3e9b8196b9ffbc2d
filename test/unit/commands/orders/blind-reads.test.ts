import { expect, it } from 'vitest';
import { declarations } from '#commands/registry.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn, failedIn, SENT } from '#test/fakes/outcomes.ts';
import { SWIFT } from '../../videos/models.ts';

// Of two comparisons that differ only in which model made which clip, every answer has to be the same.

const REEL = { ...SWIFT, name: 'reel-2', title: 'Reel 2', price: '0.60', billing: 'per_call', default: false };
const CATALOG = parseCatalog({ models: [SWIFT, REEL] });

const DONE = doneIn(60_000);
const FAILED = failedIn(60_000, 'I am tired');
/** What became of clips A and B. */
const OUTCOMES = {
  running: [SENT, SENT],
  done: [DONE, DONE],
  failed: [DONE, FAILED],
} as const;
type Outcome = keyof typeof OUTCOMES;

interface World {
  readonly house: BotHouse;
  readonly set: TaskId;
  readonly ids: readonly TaskId[];
}

/** Returns a comparison of Ada's whose clip A is of the model; its labels are drawn by a secret of the store. */
async function worldOf(model: string, outcome: Outcome): Promise<World> {
  for (let tries = 0; tries < 200; tries += 1) {
    const house = new BotHouse(CATALOG);
    await house.bot.text(bob({ mayAdminister: true }), 'review on');
    const order = ada({ interaction: 'fixed' });
    const reply = await house.bot.text(order, 'compare a red fox --models swift-1,reel-2 --seconds 6');
    if (reply.kind !== 'task') throw new TypeError(replyText(reply));
    const ids = memberIds({ id: reply.task, of: 2 }) as readonly [TaskId, TaskId];
    if (house.task(ids[0]).request.model !== model) continue;
    for (const [at, id] of ids.entries()) for (const event of OUTCOMES[outcome][at] ?? []) house.happen(id, event);
    await house.comparisons.heldForMs(house.task(ids[0]));
    for (const id of ids) house.entries.push(...ledgerOf(house.task(id)));
    return { house, set: reply.task, ids };
  }
  throw new TypeError(`no comparison has ${model} first`);
}

/** Options with which a command reads the clips; every other command is run without any, and with the ids of the clips. */
const READS: Readonly<Record<string, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  list: [{}, { search: ['red fox'] }, { who: ['me'] }],
  usage: [{}, { by: ['model'] }, { by: ['person'] }, { by: ['channel'] }, { who: ['me'] }, { csv: [''] }],
};
/** Sums tell what a refund shows: see docs/decisions/0050-compare.md. */
const SUMS: ReadonlySet<string> = new Set(['usage', 'budget']);

const callers = (id: number) => [
  ada({ interaction: `i-${id}` }),
  bob({ interaction: `i-${id}`, mayManage: true }),
  bob({ interaction: `i-${id}`, mayAdminister: true }),
];

/** Runs the same in both worlds, and returns what everyone reads there. */
async function readsOf(
  outcome: Outcome,
  read: (world: World, caller: ReturnType<typeof ada>) => Promise<unknown>,
): Promise<readonly [string, string]> {
  const seen = async (model: string): Promise<string> => {
    const shown: unknown[] = [];
    for (const at of callers(0).keys()) {
      // A world of its own for each, so that no read changes that of the next.
      const world = await worldOf(model, outcome);
      shown.push(await read(world, callers(1)[at] ?? ada()));
    }
    return JSON.stringify(shown);
  };
  return [await seen('swift-1'), await seen('reel-2')];
}

const outcomes = Object.keys(OUTCOMES) as readonly Outcome[];

it.each(declarations.map(({ name }) => name))('/video %s does not tell which model made which clip', async (name) => {
  const hasId = declarations.find((one) => one.name === name)?.options.some((option) => option.name === 'id');
  for (const outcome of outcomes) {
    if (outcome === 'failed' && SUMS.has(name)) continue;
    const [one, other] = await readsOf(outcome, async ({ house, ids }, caller) => {
      const given = READS[name] ?? [{}, ...(hasId === true ? ids.map((id) => ({ id: [id] })) : [])];
      const shown: unknown[] = [];
      for (const options of given) shown.push(await house.bot.command(caller, name, options));
      return shown;
    });
    expect(one).toBe(other);
  }
});

/** What follows the clip in the ids of buttons. */
const ENDINGS: Readonly<Record<string, string>> = { signoff: ':0', changes: ':0', remake: ':0.6USD', again: ':0' };
const ACTIONS = [
  ...Object.keys(ENDINGS),
  'retry',
  'edit',
  'details',
  'cancel',
  'show',
  'lookup',
  'leave',
  'refetch',
  'delete',
  'improve',
  'join',
];

it.each(ACTIONS)('the button %s does not tell which model made which clip', async (action) => {
  for (const outcome of outcomes) {
    const [one, other] = await readsOf(outcome, async ({ house, ids, set }, caller) => {
      const shown: unknown[] = [];
      for (const id of [...ids, `set-${set}`])
        shown.push(await house.bot.press(caller, `${action}:${id}${ENDINGS[action] ?? ''}`));
      return shown;
    });
    expect(one).toBe(other);
  }
});

it.each(['status', 'retry', 'cancel', 'delete'])('what is suggested for /video %s does not tell it', async (name) => {
  for (const outcome of outcomes) {
    const [one, other] = await readsOf(outcome, ({ house }, caller) => house.bot.suggest(caller, name, 'id', '', {}));
    expect(one).toBe(other);
  }
});

it('🔁 on the card of a comparison offers the same comparison, which does not tell it', async () => {
  for (const outcome of outcomes) {
    const [one, other] = await readsOf(outcome, ({ house, set }, caller) =>
      house.bot.react(caller, { channel: 'clips', message: `m-set-${set}` }, '🔁'),
    );
    expect(one).toBe(other);
    expect(one).toContain('This costs $0.90');
  }
  const { house, set } = await worldOf('reel-2', 'done');
  const reply = await house.bot.react(ada(), { channel: 'clips', message: `m-set-${set}` }, '🔁');
  const [order] = reply?.kind === 'offer' ? buttonsOf(reply.card) : [];
  expect(await house.bot.press(ada(), order?.id ?? '')).toMatchObject({ kind: 'task' });
  const again = [...house.records.values()].slice(2);
  expect(again.map(({ request }) => request.model).toSorted()).toEqual(['reel-2', 'swift-1']);
  expect(again.map((task) => task.set)).toMatchObject([{ kind: 'comparison' }, { kind: 'comparison' }]);
});

it('tells it after the reveal', async () => {
  const [one, other] = await readsOf('done', async ({ house, ids }, caller) => {
    for (const id of ids) house.happen(id, { kind: 'reveal', atMs: NOON_MS + 120_000 });
    return house.bot.command(caller, 'list', {});
  });
  expect(one).not.toBe(other);
});
