import { describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { buttonsOf, type CardButton } from '#commands/ui/card.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn, failedIn } from '#test/fakes/outcomes.ts';
import { SWIFT } from '../../videos/models.ts';

const REEL = {
  ...SWIFT,
  name: 'reel-2',
  title: 'Reel 2',
  billing: 'per_call',
  price: '0.60',
  seconds: [6, 10],
  default: false,
};
const BARE = {
  ...SWIFT,
  name: 'bare',
  title: 'Bare',
  price: '0.02',
  aspectRatios: [],
  resolutions: [],
  default: false,
};
const EURO = { ...SWIFT, name: 'euro', title: 'Euro', currency: 'EUR', default: false };
const LONG = { ...SWIFT, name: 'long', title: 'Long', seconds: [20], default: false };
const CATALOG = parseCatalog({ models: [SWIFT, REEL, BARE, EURO, LONG] });
const NAMES = /swift|reel|bare|0\.30|0\.60|0\.12/iu;

const DONE = doneIn(60_000);
const FAILED = failedIn(60_000, 'swift-1 is tired');

/** A comparison of Ada's. */
async function compared(
  text = 'a red fox --models swift-1,reel-2,bare',
  ...perTask: readonly (readonly TaskEvent[])[]
) {
  const house = new BotHouse(CATALOG);
  const reply = await house.bot.text(ada({ interaction: 'i-fixed' }), `compare ${text}`);
  if (reply.kind !== 'task') throw new TypeError(replyText(reply));
  const set = reply.task;
  const of = house.task(set).set?.of ?? 0;
  const ids = memberIds({ id: set, of });
  for (const [index, events] of perTask.entries())
    for (const event of events) house.happen(ids[index] as TaskId, event);
  if (perTask.length > 0) await house.comparisons.heldForMs(house.task(ids[0] as TaskId));
  return { house, ids, set, place: { id: set, of } };
}

function buttons(reply: Reply | null): readonly CardButton[] {
  return reply?.kind === 'private' || reply?.kind === 'offer' ? buttonsOf(reply.card) : [];
}

describe('/video compare', () => {
  it('orders one clip by each model at once, with what all of them offer', async () => {
    const { house, ids } = await compared();
    const tasks = ids.map((id) => house.task(id));
    expect(tasks.map(({ request }) => request.model).toSorted()).toEqual(['bare', 'reel-2', 'swift-1']);
    expect(new Set(tasks.map(({ request }) => request.seconds))).toEqual(new Set([6]));
    expect(new Set(tasks.map(({ request }) => request.resolution))).toEqual(new Set(['720p', undefined]));
    for (const task of tasks)
      expect(task.set).toMatchObject({ kind: 'comparison', of: 3, upTo: { amount: '0.6', currency: 'USD' } });
    const priced = tasks.map(({ request, price }) => [request.model, price.amount]);
    expect(Object.fromEntries(priced)).toEqual({ bare: '0.12', 'reel-2': '0.6', 'swift-1': '0.3' });
  });

  it.each([
    ['a fox --models swift-1', 'models: name 2 to 4 models, such as --models '],
    ['a fox --models swift-1,swift-1', 'is named twice'],
    ['a fox --models swift-1,nosuch', 'there is no model “nosuch”'],
    ['a fox --models swift-1,euro', 'so this would have no single price'],
    ['a fox --models swift-1,long', 'Swift 1 makes 4, 6 or 8; Long makes 20'],
    [
      'a fox --models swift-1,reel-2 --seconds 4',
      'not every model makes 4 s: Swift 1 makes 4, 6 or 8; Reel 2 makes 6 or 10. All of them make 6 s.',
    ],
    ['a fox --models swift-1,bare --aspect 9:16', 'aspect: Bare doesn’t take this option'],
    ['--models swift-1,reel-2', 'prompt: say what the clip should show'],
  ])('refuses %s and buys nothing', async (text, sentence) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), `compare ${text}`);
    expect(replyText(reply)).toContain(sentence);
    expect(house.records.size).toBe(0);
  });

  it('has labels that neither the order of the names nor the id alone determines, the same at each delivery', async () => {
    const orders = new Set<string>();
    const labels = async (models: string): Promise<string> => {
      const { house, ids } = await compared(`a fox --models ${models}`);
      return ids.map((id) => house.task(id).request.model).join();
    };
    // Each store has a secret of its own.
    for (let tries = 0; tries < 40; tries += 1) orders.add(await labels('swift-1,reel-2,bare'));
    expect(orders.size).toBeGreaterThan(3);
    const { house, place } = await compared();
    const items = ['swift-1', 'reel-2', 'bare'];
    const once = await house.comparisons.records.inBlindOrder(place.id, items, (name) => name);
    expect(await house.comparisons.records.inBlindOrder(place.id, items.toReversed(), (name) => name)).toEqual(once);
  });

  it('is asked about once, at the price of all, and asks about an option in the prompt', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], confirmAbove: { amount: '1', currency: 'USD' } };
    const reply = await house.bot.text(ada(), 'compare a red fox --models swift-1,reel-2,bare');
    expect(buttons(reply)[0]?.label).toBe('Create for $1.02');
    expect(house.records.size).toBe(0);
    expect((await house.bot.press(ada(), buttons(reply)[0]?.id ?? '')).kind).toBe('task');
    expect(house.records.size).toBe(3);
    const given = { prompt: ['a fox --seconds 6'], models: ['swift-1,reel-2'] };
    expect(replyText(await house.bot.command(ada(), 'compare', given))).toContain('looks like an option');
  });

  it.each(['approve', 'deny'] as const)('is one request for approval, at the price of all: %s', async (decision) => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], approveAbove: { amount: '1', currency: 'USD' } };
    const admin = bob({ mayAdminister: true });
    const actor = { person: admin.user, surface: 'command' } as const;
    await house.approvers.add(admin, actor, { kind: 'person', ...admin.user });
    const reply = await house.bot.text(ada(), 'compare a red fox --models swift-1,reel-2,bare');
    if (reply.kind !== 'task') throw new TypeError(replyText(reply));
    const tasks = () => memberIds({ id: reply.task, of: 3 }).map((id) => house.task(id));
    expect(tasks().map(({ state }) => state)).toEqual(['requested', 'requested', 'requested']);
    const waiting = await house.bot.command(admin, 'approvals', {});
    expect(replyText(waiting)).toContain('$1.02');
    expect(JSON.stringify(waiting).match(/swift|reel-2|bare/iu)?.[0]).toBeUndefined();
    const approve = buttons(waiting).find(({ id }) => id.startsWith('approve:'))?.id ?? '';
    if (decision === 'approve') expect(replyText(await house.bot.press(admin, approve))).toContain('Approved');
    else await house.bot.submit(admin, `deny:${reply.task}`, { reason: '' });
    const state = decision === 'approve' ? 'claimed' : 'declined';
    expect(tasks().map((task) => task.state)).toEqual([state, state, state]);
    const amounts = tasks().map(({ request, price }) => [request.model, price.amount]);
    expect(Object.fromEntries(amounts)).toEqual({ bare: '0.12', 'reel-2': '0.6', 'swift-1': '0.3' });
  });

  it('completes the list of models', async () => {
    const house = new BotHouse(CATALOG);
    const suggest = async (typed: string) =>
      (await house.bot.suggest(ada(), 'compare', 'models', typed, {})).map(({ value }) => value);
    expect(await suggest('')).toContain('swift-1');
    expect(await suggest('swift-1,re')).toEqual(['swift-1,reel-2']);
    expect(await suggest('swift-1,reel-2,bare,euro,')).toEqual([]);
  });
});

describe('a blind comparison', () => {
  it('tells nobody in any reply which model made a clip, or what it costs', async () => {
    const { house, ids, set } = await compared(undefined, DONE, FAILED, DONE);
    const replies: (Reply | null)[] = [];
    for (const caller of [ada(), ada({ mayManage: true }), bob()]) {
      for (const id of ids) {
        for (const name of ['status', 'retry', 'cancel', 'delete'])
          replies.push(await house.bot.command(caller, name, { id: [id] }));
        for (const action of ['retry', 'edit', 'details', 'cancel', 'show', 'lookup', 'leave', 'refetch', 'delete'])
          replies.push(await house.bot.press(caller, `${action}:${id}`));
        replies.push(await house.bot.press(caller, `again:${id}:1:0.3USD`));
        replies.push(await house.bot.press(caller, `retry:${id}:0.3USD`));
        replies.push(await house.bot.submit(caller, `edit:${id}`, { prompt: 'x' }));
        replies.push(await house.bot.react(caller, { channel: 'clips', message: `m-${id}` }, '🔁'));
      }
      for (const action of ['details', 'cancel', 'retry'])
        replies.push(await house.bot.press(caller, `${action}:set-${set}`));
      replies.push(await house.bot.command(caller, 'list', {}), await house.bot.command(caller, 'status', {}));
    }
    // The highest price of all is the one that may be told.
    const told = JSON.stringify(replies).replaceAll(/up to \$0\.60|at most \$0\.60|0\.6USD(?::confirmed)?/gu, '');
    expect(told.match(NAMES)?.[0]).toBeUndefined();
    expect(told).not.toContain('tired');
    const suggested = ['retry', 'status', 'delete'].map((name) => house.bot.suggest(ada(), name, 'id', '', {}));
    expect(JSON.stringify(await Promise.all(suggested)).match(NAMES)?.[0]).toBeUndefined();
    expect(house.records.size).toBe(3);
  });

  it('lists its open clips once, so that none is seen to be ready before the others', async () => {
    const { house, ids } = await compared(undefined);
    for (const event of DONE) house.happen(ids[1] as TaskId, event);
    const shown = replyText(await house.bot.command(ada(), 'status', {}));
    expect(shown.match(/a red fox/gu)).toHaveLength(1);
    expect((await house.bot.suggest(ada(), 'cancel', 'id', '', {})).map(({ value }) => value)).toEqual([ids[0]]);
  });
});

describe('a vote', () => {
  it('counts once for a person, can be changed, and ends with the reveal', async () => {
    const { house, set, place } = await compared(undefined, DONE, DONE, DONE);
    const vote = async (caller = ada(), at = 1) => replyText(await house.bot.press(caller, `vote:${set}:${at}`));
    expect(await vote()).toContain('You voted for clip A.');
    expect(await vote()).toContain('You already voted for clip A.');
    expect(await vote(ada(), 3)).toContain('You changed your vote to clip C.');
    expect(await vote(bob(), 3)).toContain('You voted for clip C.');
    expect(replyText(await house.bot.press(bob(), `reveal:${set}`))).toContain('Only Ada');
    expect(replyText(await house.bot.press(bob({ mayManage: true }), `reveal:${set}`))).toContain('revealed');
    expect((await house.comparisons.records.get(set))?.revealed?.tally).toEqual([0, 0, 2]);
    expect((await house.comparisons.records.get(set))?.votes).toEqual({});
    expect(await vote(ada(), 2)).toContain('the vote is over');
    const view = await house.chat.setView({ ...place, kind: 'comparison', at: 1 });
    expect(view.members?.map((one) => one.view.modelTitle).toSorted()).toEqual(['Bare', 'Reel 2', 'Swift 1']);
  });

  it('counts each of fifty at once', async () => {
    const { house, set } = await compared(undefined, DONE, DONE, DONE);
    const people = Array.from({ length: 50 }, (_, index) => ada({ user: { id: `V${index}`, name: `V${index}` } }));
    await Promise.all(people.map((caller, index) => house.bot.press(caller, `vote:${set}:${(index % 3) + 1}`)));
    await house.bot.press(ada(), `reveal:${set}`);
    expect((await house.comparisons.records.get(set))?.revealed?.tally).toEqual([17, 17, 16]);
  });

  it('is refused before the clips appear, for a clip that is not there, and to those who may not see it', async () => {
    const early = await compared(undefined);
    for (const event of DONE) early.house.happen(early.ids[0] as TaskId, event);
    expect(replyText(await early.house.bot.press(ada(), `vote:${early.set}:1`))).toContain('aren’t there yet');
    expect(replyText(await early.house.bot.press(ada(), `reveal:${early.set}`))).toContain('aren’t there yet');
    const { house, set } = await compared(undefined, DONE, DONE, FAILED);
    expect(replyText(await house.bot.press(ada(), `vote:${set}:3`))).toContain('isn’t there');
    expect(replyText(await house.bot.press(ada({ team: 'T2' }), `vote:${set}:1`))).toContain('refused');
  });
});

describe('the record of a model', () => {
  it('counts comparisons with a vote between two clips or more, once, and a tie for nobody', async () => {
    const { house, set, ids } = await compared(undefined, DONE, DONE, FAILED);
    const winner = house.task(ids[1] as TaskId).request.model;
    await house.bot.press(bob(), `vote:${set}:2`);
    await Promise.all([house.bot.press(ada(), `reveal:${set}`), house.bot.press(ada(), `reveal:${set}`)]);
    const other = house.task(ids[0] as TaskId).request.model;
    const wins = await house.comparisons.records.winsOf({ platform: 'slack', team: 'T1' });
    expect(wins).toEqual({ [winner]: { won: 1, of: 1 }, [other]: { won: 0, of: 1 } });
    expect(replyText(await house.bot.command(ada(), 'models', {}))).toContain('won 1 of 1 comparison');
    const unvoted = await compared(undefined, DONE, DONE, DONE);
    await unvoted.house.bot.press(ada(), `reveal:${unvoted.set}`);
    expect(await unvoted.house.comparisons.records.winsOf({ platform: 'slack', team: 'T1' })).toEqual({});
  });
});

describe('the default of a channel', () => {
  it('is set by who manages it, after the reveal, and yields to a personal one', async () => {
    const { house, set, ids } = await compared(undefined, DONE, DONE, DONE);
    const at = ids.findIndex((id) => house.task(id).request.model === 'reel-2') + 1;
    const manager = ada({ mayManage: true });
    expect(replyText(await house.bot.press(manager, `prefer:${set}:${at}`))).toContain('aren’t revealed yet');
    await house.bot.press(ada(), `reveal:${set}`);
    expect(replyText(await house.bot.press(ada(), `prefer:${set}:${at}`))).toContain('Only those who manage');
    const elsewhere = ada({ mayManage: true, channel: 'other' });
    expect(replyText(await house.bot.press(elsewhere, `prefer:${set}:${at}`))).toContain('Only those who manage');
    expect(replyText(await house.bot.press(manager, `prefer:${set}:${at}`))).toContain(
      'Reel 2 is this channel’s default',
    );
    const modelOf = async (caller = bob()) => (await house.bot.catalogFor(caller)).defaultModel.name;
    expect(await modelOf()).toBe('reel-2');
    expect(await modelOf(bob({ channel: 'thread', parentChannel: 'clips' }))).toBe('reel-2');
    expect(await modelOf(bob({ channel: 'other' }))).toBe('swift-1');
    await house.bot.command(bob(), 'defaults', { model: ['bare'] });
    expect(await modelOf()).toBe('bare');
    await house.bot.press(manager, `prefer:${set}:${at}`);
    const off = { off: ['channel'] };
    house.memberRights.set('clips', { view: true, post: true, manage: false });
    expect(replyText(await house.bot.command(ada(), 'defaults', off))).toContain('Only those who manage');
    expect(replyText(await house.bot.command(manager, 'defaults', { ...off, seconds: ['6'] }))).toContain('alone');
    // Slack's commands carry no rights: they are looked up.
    house.memberRights.set('clips:U1', { view: true, post: true, manage: true });
    expect(replyText(await house.bot.command(ada(), 'defaults', off))).toContain('Saved.');
    expect(replyText(await house.bot.command(ada(), 'defaults', off))).toContain('Nothing changed');
    const shown = replyText(await house.bot.command(ada({ mayAdminister: true }), 'audit', {}));
    expect(shown).toMatch(
      /removed the default model in .*clips.*, which was ‹Reel 2›[\s\S]*set the default model in .*clips.* to ‹Reel 2›/u,
    );
    expect(shown).toContain('2 entries');
  });
});

describe('the retry of a blind clip', () => {
  it('is asked about at the highest price, ordered once, and takes over its label', async () => {
    const { house, ids, set, place } = await compared(undefined, DONE, FAILED, DONE);
    const failed = house.task(ids[1] as TaskId);
    const card = await house.chat.setView({ ...place, kind: 'comparison', at: 1 });
    expect(card.comparison).toMatchObject({ stage: 'voting', clips: [1, 3] });
    const asked = await house.bot.press(ada(), `remake:${failed.id}:0.6USD`);
    expect(house.records.size).toBe(3);
    const [confirm] = buttons(asked);
    expect(confirm?.label).toBe('Make it for up to $0.60');
    expect(replyText(await house.bot.press(bob(), confirm?.id ?? ''))).toContain('Only Ada');
    const reply = await house.bot.press(ada(), confirm?.id ?? '');
    await house.bot.press(ada(), confirm?.id ?? '');
    expect(house.records.size).toBe(4);
    const retry = house.task(reply.kind === 'task' ? reply.task : ('' as TaskId));
    expect(retry).toMatchObject({ takeOf: { id: set, at: 2 }, price: failed.price, retryOf: failed.id });
    expect(retry.request.model).toBe(failed.request.model);
    for (const event of DONE) house.happen(retry.id, event);
    expect(replyText(await house.bot.press(bob(), `vote:${set}:2`))).toContain('clip B');
    await house.bot.press(ada(), `reveal:${set}`);
    for (const id of [...ids, retry.id]) expect(house.task(id).revealedAtMs).toBeDefined();
    expect((await house.comparisons.records.get(set))?.revealed?.tally).toEqual([0, 1, 0]);
  });

  it('buys nothing for a clip that is there, late, for another price, or that costs more by now', async () => {
    const { house, ids } = await compared(undefined, DONE, FAILED, DONE);
    const confirm = (id: TaskId | undefined, price = '0.6USD') => `remake:${id}:${price}:confirmed`;
    expect(replyText(await house.bot.press(ada(), confirm(ids[0])))).toContain('reveal');
    expect(buttons(await house.bot.press(ada(), confirm(ids[1], '0.1USD')))[0]?.id).toBe(confirm(ids[1]));
    const late = await house.bot.press(ada({ acknowledged: async () => false }), confirm(ids[1]));
    expect(late.kind).toBe('offer');
    expect(buttons(late)[0]?.id).toBe(confirm(ids[1]));
    house.replaceCatalog(parseCatalog({ models: [SWIFT, REEL, BARE].map((model) => ({ ...model, price: '0.90' })) }));
    expect(replyText(await house.bot.press(ada(), confirm(ids[1])))).toContain('reveal');
    expect(house.records.size).toBe(3);
    expect(house.orders).toHaveLength(1);
  });

  it('is refused without an amount where a rule is in the way', async () => {
    const { house, ids } = await compared(undefined, DONE, FAILED, DONE);
    const confirm = `remake:${ids[1]}:0.6USD:confirmed`;
    house.rules = { budgets: [], approveAbove: { amount: '0.5', currency: 'USD' } };
    expect(replyText(await house.bot.press(ada(), confirm))).toContain('may need an approval');
    house.rules = { budgets: [] };
    house.limit = { of: 'person', kind: 'open', max: 1, found: 1 };
    const reply = replyText(await house.bot.press(ada(), confirm));
    expect(reply).toContain('Nothing was bought');
    expect(reply).not.toContain('$');
    expect(house.records.size).toBe(3);
    // The export of a person has their drafts.
    const drafts = JSON.stringify(await Array.fromAsync(house.store.contents.records('drafts')));
    expect(drafts).toContain('a red fox');
    expect(drafts).not.toMatch(NAMES);
  });

  it('is refused by a setting that changes after it was judged by it, and says so', async () => {
    const { house, ids } = await compared(undefined, DONE, FAILED, DONE);
    const confirm = `remake:${ids[1]}:0.6USD:confirmed`;
    const limit = { approveAbove: { amount: '0.5', currency: 'USD' } };
    const acknowledged = async () => {
      await house.settings.change(ada(), { person: ada().user, surface: 'command' }, limit);
      return true;
    };
    const reply = await house.bot.press(ada({ acknowledged }), confirm);
    expect(replyText(reply)).toBe('refused: The team’s settings changed just now. Nothing was bought; try again.');
    expect(house.records.size).toBe(3);
    expect((await house.bot.press(ada(), confirm)).kind).toBe('task');
  });
});

it('in progress are shown by the id of any clip, with a link to the message of that one and the buttons of all', async () => {
  const { house, ids, set } = await compared();
  const reply = await house.bot.text(ada(), `status ${ids[1]}`);
  expect(replyText(reply)).toContain(`\`${ids[1]?.slice(0, 8)}\` · [its message → m-${ids[1]}]`);
  expect(buttons(reply).map(({ id }) => id)).toEqual([`cancel:set-${set}`, `details:set-${set}`, `show:set-${set}`]);
});

it('have details of their own, which name each clip by its label alone until the reveal', async () => {
  const { house, ids, set } = await compared(undefined, DONE, DONE, DONE);
  const hidden = await house.bot.press(ada(), `details:set-${set}`);
  expect(replyText(hidden)).not.toMatch(/swift|reel|bare|\$0\.60|\$0\.12/iu);
  expect(replyText(hidden)).toContain('Clip C');
  expect(buttons(hidden).map(({ id }) => id)).toEqual([...ids.map((id) => `details:${id}`), `show:set-${set}`]);
  await house.comparisons.reveal({ id: set, of: 3 });
  expect(replyText(await house.bot.press(ada(), `details:set-${set}`))).toMatch(/Clip A\W+‹(?:Swift|Reel|Bare)/u);
});
