import { expect, it, vi } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { withDefaults } from '#commands/orders/defaults.ts';
import { GATES } from '#commands/orders/gates.ts';
import { orderKey } from '#commands/orders/offers.ts';
import { placeOrder } from '#commands/orders/place-order.ts';
import { judgingOnce } from '#commands/policy/rules-here.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { refusedBy } from '#src/teams/policy/purchase-check.ts';
import { pauseAt } from '#src/teams/team-settings.ts';
import { LAST_FRAME } from '#src/videos/chain.ts';
import { checkRequest } from '#src/videos/check.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../../videos/models.ts';

const FOX: RequestDraft = { prompt: 'a red fox', seconds: 4 };
const TEAM = { platform: 'slack', team: 'T1' };
const ADMIN = { person: { id: 'U8', name: 'Grace' }, surface: 'command' } as const;

/** Order that one gate stops, and no earlier one. */
interface Obstacle {
  readonly request?: RequestDraft;
  readonly caller?: Partial<Caller>;
  readonly prepare?: (house: BotHouse, caller: Caller) => Promise<unknown>;
}

const OBSTACLES: Readonly<Record<(typeof GATES)[number]['name'], Obstacle>> = {
  chain: { request: { ...FOX, image: [LAST_FRAME] } },
  names: {
    request: { ...FOX, prompt: 'a red fox beside @logoo' },
    prepare: (house) =>
      house.references.add(TEAM, { name: 'logo', url: 'https://a.example/logo.png', by: ADMIN.person }),
  },
  guests: { request: { ...FOX, takes: 2 }, caller: { isGuest: true } },
  policy: {
    prepare: (house) => house.settings.change(TEAM, ADMIN, { policy: { team: { create: [] }, channels: {} } }),
  },
  rights: {
    prepare: async (house) => {
      house.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @Dailies' };
    },
  },
  references: {
    prepare: async (house) => {
      house.checkReferences = async () => [{ reason: 'unknown_host', option: 'image', given: 'a.example' }];
    },
  },
  spending: {
    prepare: async (house) => {
      house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
    },
  },
  redelivery: {
    prepare: async (house, caller) => {
      const { platform, team, channel, user: by } = caller;
      const key = orderKey(caller);
      await house.drafts.save({ id: taskIdOf(key), key, platform, team, channel, by, request: FOX });
    },
  },
  acknowledgement: { caller: { acknowledged: async () => false } },
};

async function place(house: BotHouse, caller: Caller, request = FOX) {
  const ports = await withDefaults(judgingOnce(house), caller);
  return placeOrder(ports, caller, checkRequest(ports.catalog(), request));
}

const names = Object.keys(OBSTACLES) as (keyof typeof OBSTACLES)[];

it('an order passes the gates in this order', () => {
  expect(GATES.map(({ name }) => name)).toEqual(names);
});

it.each(names)('the gate %s stops an order, and buys nothing', async (name) => {
  const { request, caller: changes = {}, prepare } = OBSTACLES[name];
  const house = new BotHouse(CATALOG);
  const caller = ada(changes);
  await prepare?.(house, caller);
  expect(await place(house, caller, request)).toMatchObject({ ok: false, code: name });
  expect(house.orders).toEqual([]);
});

it.each(names)('the gate %s passes an order that was claimed before', async (name) => {
  const { request, caller: changes = {}, prepare } = OBSTACLES[name];
  const house = new BotHouse(CATALOG);
  const caller = ada(changes);
  const first = await place(house, { ...caller, acknowledged: async () => true });
  await prepare?.(house, caller);
  const task = first.ok ? first.task : null;
  expect(await place(house, caller, request)).toEqual({ ok: true, task, isNew: false });
});

it.each([
  ['a setting', {}, 'The team’s settings changed just now. Nothing was bought; try again.'],
  ['a pause', { pause: { reason: 'enough', by: ADMIN.person, atMs: 0 } }, 'Grace paused spending: enough.'],
])('%s that changed before the claim refuses it; its button confirms by the new rules', async (_name, patch, said) => {
  const house = new BotHouse(CATALOG);
  const above = { amount: '0.10', currency: 'USD' };
  const submit = vi.spyOn(house.tasks, 'submit').mockImplementationOnce(async () => {
    house.rules = { confirmAbove: above, budgets: [] };
    const outdated = await house.settings.change(TEAM, ADMIN, { confirmAbove: above, ...patch });
    return { ok: false, outdated, paused: pauseAt(outdated, house.clock.now()), forbidden: [] };
  });
  const placed = await place(house, ada());
  expect(placed).toMatchObject({ ok: false, code: 'outdated', buttons: [{ label: 'Try again · $0.20' }] });
  expect('sentences' in placed && placed.sentences.join(' ')).toContain(said);
  expect('sentences' in placed && placed.sentences.join(' ')).toContain('above $0.10');
  expect(submit.mock.lastCall?.[1]).toMatchObject({ revision: 0 });
});

it('a policy that changed before the claim refuses the values that it forbids, with a form for others', async () => {
  const house = new BotHouse(CATALOG);
  vi.spyOn(house.tasks, 'submit').mockImplementationOnce(async ({ origin, request }) => {
    const outdated = await house.settings.change(TEAM, ADMIN, { policy: { team: { words: ['fox'] }, channels: {} } });
    return { ok: false, outdated, paused: null, forbidden: refusedBy(outdated, origin, [request]) };
  });
  const placed = await place(house, ada());
  expect(placed).toMatchObject({ ok: false, code: 'outdated', buttons: [{ label: 'Fix it' }] });
  expect('sentences' in placed && placed.sentences.join(' ')).toContain('fox');
});

it('checks the reference media of every shot, also where a storyboard is repeated, whose shots are on no lines', async () => {
  const house = new BotHouse(CATALOG);
  const shotOf = (host: string) => ({ prompt: 'a red fox', seconds: 4, image: [`https://${host}/1.png`] });
  house.checkReferences = async ({ media: { image } }) =>
    image.some((url) => url.includes('gone'))
      ? [{ reason: 'unknown_host', option: 'image', given: 'gone.example' }]
      : [];
  const placed = await place(house, ada(), { shots: [shotOf('there.example'), shotOf('gone.example')] });
  expect(placed).toMatchObject({ ok: false, code: 'references' });
});

it('judges an order by one reading of the settings, the budgets and the draft', async () => {
  const house = new BotHouse(CATALOG);
  const [settings, budgets, drafts] = [
    vi.spyOn(house.settings, 'get'),
    vi.spyOn(house, 'spendingRules'),
    vi.spyOn(house.drafts, 'get'),
  ];
  expect(await place(house, ada({ acknowledged: async () => true }))).toMatchObject({ ok: true });
  // The submission of the fake reads the settings once more, to refuse during a pause.
  expect([settings, budgets, drafts].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 1]);
});

it('reads the settings of each team once, and anew after a change', async () => {
  const house = new BotHouse(CATALOG);
  const get = vi.spyOn(house.settings, 'get');
  const { settings } = judgingOnce(house, { of: TEAM, settings: { ...(await house.settings.get(TEAM)), revision: 7 } });
  expect((await settings.get(TEAM)).revision).toBe(7);
  const other = { ...TEAM, team: 'T2' };
  for (const _time of [1, 2]) expect((await settings.get(other)).revision).toBe(0);
  expect(get.mock.calls).toEqual([[TEAM], [other]]);
  await settings.change(TEAM, ADMIN, { alerts: false });
  expect((await settings.get(TEAM)).alerts).toBe(false);
});
