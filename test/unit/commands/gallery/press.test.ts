import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { createGalleryPress } from '#commands/gallery/press.ts';
import type { MemberRights } from '#src/chat/platform.ts';
import type { GalleryPress } from '#src/gallery/routes.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { Price, Task } from '#src/tasks/task.ts';
import type { PolicyRules } from '#src/teams/policy/policy.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../../videos/models.ts';

const PRICE: Price = { amount: '0.2', currency: 'USD' };

const ROOT = { id: 'root', name: 'Root' };
const ADMINS = [{ platform: 'slack', user: ROOT.id }];

async function setUp() {
  const log: string[] = [];
  const house = new BotHouse(CATALOG);
  house.admins = ADMINS;
  let rights: MemberRights | Error = { view: true, post: true, manage: false };
  const channels = {
    rights: async () => {
      if (rights instanceof Error) throw rights;
      return rights;
    },
    lastingAddress: () => ({ thread: '1' }),
  };
  const press = createGalleryPress({
    bot: house.bot,
    platforms: new Map([['slack', { channels }]]),
    admins: ADMINS,
    logger: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
  });
  const task = await house.seed(
    ada(),
    'a red fox',
    { kind: 'send', owner: 'x', atMs: 0 },
    { kind: 'refused', failure: { code: 'bad_request', words: null }, atMs: NOON_MS },
  );
  house.happen(task.id, { kind: 'presented', revision: task.revision });
  const by = (caller: Caller, of: Task, action: GalleryPress['action'], id = '1'): ReturnType<typeof press> => {
    const { platform: name, team, channel, address, user } = caller;
    const session = { id: 's', platform: name, team, channel, address, user };
    return press({ session, task: of, id, action });
  };
  const deny = () => {
    rights = { view: true, post: false, manage: false };
  };
  const grant = (given: MemberRights | Error) => {
    rights = given;
  };
  return { house, task, by, deny, grant, log };
}

describe('a press in the gallery', () => {
  it('orders the requester’s retry once, in the clip’s channel, without the address of the interaction before', async () => {
    const { house, task, by } = await setUp();
    const caller = ada({ channel: 'elsewhere' });
    const [one, again] = [
      await by(caller, task, { kind: 'retry', price: PRICE }),
      await by(caller, task, { kind: 'retry', price: PRICE }),
    ];
    expect(one).toEqual({ kind: 'ordered', task: expect.any(String) });
    expect(again).toEqual(one);
    const [order] = house.orders;
    expect(order).toMatchObject({ key: `retry:${task.id}`, retryOf: task.id, price: PRICE });
    expect(order?.origin).toMatchObject({ channel: 'clips', address: { thread: '1' }, user: ada().user });
  });

  it('makes another person’s take under their own name', async () => {
    const { house, task, by } = await setUp();
    expect(await by(bob(), task, { kind: 'retry', price: PRICE })).toMatchObject({ kind: 'ordered' });
    expect(house.orders[0]).toMatchObject({ retryOf: task.id, origin: { user: bob().user, channel: 'clips' } });
    expect(house.orders[0]?.key).toContain('gallery:');
    // The key is in the log.
    expect(house.orders[0]?.key).not.toContain(bob().user.id);
    await by(bob(), task, { kind: 'retry', price: PRICE });
    expect(new Set(house.orders.map(({ key }) => key)).size).toBe(1);
  });

  it('logs no id or name of the person who pressed, not even at the level debug', async () => {
    const { task, by, deny, log } = await setUp();
    const carol = { ...bob(), user: { id: 'U0CAROL003', name: 'Carol Example' } };
    await by(carol, task, { kind: 'retry', price: PRICE });
    await by(carol, task, { kind: 'button', button: `details:${task.id}` }, '2');
    await by(carol, task, { kind: 'delete' }, '3');
    deny();
    await by(carol, task, { kind: 'retry', price: PRICE }, '4');
    expect(log.map((line) => JSON.parse(line).event)).toEqual([
      'interaction_handled',
      'interaction_handled',
      'interaction_handled',
    ]);
    expect(log.join('')).not.toMatch(/U0CAROL003|Carol/u);
  });

  it('asks once where the price has changed, and orders for the price on the button', async () => {
    const { house, task, by } = await setUp();
    const asked = await by(bob(), task, { kind: 'retry', price: { ...PRICE, amount: '0.1' } });
    expect(house.orders).toEqual([]);
    if (asked.kind !== 'text') throw new TypeError('nothing was asked');
    expect(asked.lines.join('\n')).toContain('$0.20');
    const [button] = asked.buttons;
    expect(button?.label).toContain('$0.20');
    expect(await by(bob(), task, { kind: 'button', button: button?.id ?? '' }, '2')).toMatchObject({ kind: 'ordered' });
    expect(house.orders).toHaveLength(1);
  });

  it('asks for the confirmation that the chat asks for', async () => {
    const { house, task, by } = await setUp();
    house.rules = { confirmAbove: { amount: '0.1', currency: 'USD' }, budgets: [] };
    const asked = await by(ada(), task, { kind: 'retry', price: PRICE });
    expect(house.orders).toEqual([]);
    expect(asked).toMatchObject({ kind: 'text', buttons: [{ label: expect.stringContaining('$0.20') }, {}] });
  });

  it('makes a retry of a board’s shot a take of it, and holds the policy of the channel', async () => {
    const { house, task, by } = await setUp();
    const set = { id: task.id, kind: 'storyboard', at: 1, of: 2 } as const;
    const shot: Task = { ...task, set };
    house.records.set(task.id, shot);
    const retry = { kind: 'retry', price: PRICE } as const;
    const allow = (rules: PolicyRules) => {
      const policy = { team: {}, channels: { clips: rules } };
      return house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
    };
    for (const [rules, caller, named] of [
      [{ models: ['epic-pro'] }, ada(), 'model: swift-1 isn’t allowed here.'],
      [{ words: ['fox'] }, ada(), 'prompt: “fox” isn’t allowed here.'],
      [{ create: [] }, bob(), 'You can’t create clips here'],
    ] as const) {
      await allow(rules);
      expect(JSON.stringify(await by(caller, shot, retry, named))).toContain(named);
    }
    expect(house.orders).toEqual([]);
    await allow({});
    expect(await by(ada(), shot, retry)).toMatchObject({ kind: 'ordered' });
    expect(house.orders).toMatchObject([{ retryOf: task.id, takeOf: set, price: PRICE }]);
  });

  it('moves a shot of a board, and says whether that was refused', async () => {
    const { house, task, by } = await setUp();
    const set = { id: task.id, kind: 'storyboard', at: 1, of: 2 } as const;
    for (const [index, id] of memberIds(set).entries())
      house.records.set(id, { ...task, id, set: { ...set, at: index + 1 } });
    const move = (revision: number) => ({ kind: 'button', button: `move:${task.id}:${revision}:1:0` }) as const;
    const moved = await by(ada(), task, move(0));
    expect(moved).toMatchObject({ kind: 'text', buttons: [] });
    const refused = await by(bob(), task, move(1), '2');
    expect(refused).toMatchObject({ kind: 'text', isRefused: true });
    expect(await by(ada(), task, { kind: 'button', button: `join:set-${task.id}` }, '3')).toMatchObject({
      isRefused: true,
      lines: [expect.stringContaining('at least two shots')],
    });
  });

  it('orders nothing where the person may not post', async () => {
    const { house, task, by, deny } = await setUp();
    deny();
    expect(await by(ada(), task, { kind: 'retry', price: PRICE })).toMatchObject({
      lines: [expect.stringContaining('can’t post')],
    });
    expect(house.orders).toEqual([]);
  });

  it('presses no button of a message in the chat', async () => {
    const { house, task, by } = await setUp();
    for (const button of [
      `retry:${task.id}`,
      `cancel:${task.id}`,
      `approve:${task.id}:0.20USD`,
      'notify:on',
      'nonsense',
    ])
      expect(await by(ada(), task, { kind: 'button', button })).toMatchObject({ kind: 'text', buttons: [] });
    expect([house.orders, house.approved, house.subscribed]).toEqual([[], [], []]);
  });

  describe('that deletes a clip', () => {
    const DELETE = { kind: 'delete' } as const;

    it('asks first, as the chat does', async () => {
      const { house, task, by } = await setUp();
      const asked = await by(ada(), task, DELETE);
      if (asked.kind !== 'text') throw new TypeError('nothing was asked');
      expect([asked.lines[0], asked.buttons.map(({ label }) => label)]).toEqual(['Delete this clip?', ['Delete']]);
      expect(house.removed).toEqual([]);
      const button = asked.buttons[0]?.id ?? '';
      const deleted = await by(ada(), task, { kind: 'button', button }, '2');
      expect(deleted).toEqual({ kind: 'deleted', lines: [expect.stringContaining('Deleted')] });
      expect(house.removed).toMatchObject([{ reason: 'deleted', by: ada().user }]);
      expect(await by(ada(), task, { kind: 'button', button }, '3')).toMatchObject({
        kind: 'text',
        lines: ['This clip was deleted.'],
      });
      expect(house.removed).toHaveLength(1);
    });

    it('is for its requester, also without any right in its channel, and for those who manage that', async () => {
      const { house, task, by, grant } = await setUp();
      const button = { kind: 'button', button: `delete:${task.id}` } as const;
      const refused = async (): Promise<void> => {
        for (const [at, action] of [DELETE, button].entries())
          expect(await by(bob(), task, action, `no${at}`)).toMatchObject({ kind: 'text', buttons: [] });
        expect(house.removed).toEqual([]);
      };
      await refused();
      grant({ view: false, post: false, manage: true });
      await refused();
      grant({ view: true, post: false, manage: true });
      expect(await by(bob(), task, DELETE)).toMatchObject({ buttons: [{ label: 'Delete' }] });
      grant({ view: false, post: false, manage: false });
      expect(await by(ada(), task, DELETE)).toMatchObject({ buttons: [{ label: 'Delete' }] });
      // As in the chat, administrators need no right in a channel.
      expect(await by(bob({ user: ROOT }), task, DELETE, 'root')).toMatchObject({ buttons: [{ label: 'Delete' }] });
      grant(new TypeError('the channel is gone'));
      expect(await by(ada(), task, button)).toMatchObject({ kind: 'deleted' });
    });
  });
});
