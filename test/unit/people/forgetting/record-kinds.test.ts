import '#src/app.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';

import { recordKinds } from '#src/engine/records/collection.ts';
import { GalleryAccess } from '#src/gallery/access.ts';
import { armedAlerts } from '#src/money/alerts/budget-alerts.ts';
import { Boards } from '#src/orders/board.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { References } from '#src/teams/references.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { CutHouse } from '#test/fakes/cut-house.ts';
import {
  actor,
  EVE,
  type ForgettingHouse,
  finish,
  livedIn,
  origin,
  request,
  TEAM,
  TRACES,
} from '#test/fakes/forgetting-house.ts';
import { BOB, CLIP, EVENTS, newTask } from '#test/fakes/tasks.ts';

/** Fits her budget. */
const PRICE = { amount: '0.01', currency: 'USD' };
const BOARD = { id: 'board' as TaskId, kind: 'storyboard', of: 2 } as const;

/** The kinds of all but the platforms, which forget a person by themselves. */
const KINDS = [...recordKinds.values()].filter(({ name }) => !/^(?:discord|slack|playground)_/u.test(name));

/** How a person is found in a kind of record. */
interface Named {
  /** Found before they are forgotten, and not after. Default: their id, name and prompts. */
  readonly traces?: RegExp;
  /** Makes a record that names them, for a kind that `livedIn` lacks. */
  readonly seed?: (parts: ForgettingHouse, cutting: CutHouse) => Promise<unknown>;
  /** Why nothing is found before. */
  readonly absent?: string;
}

/** The records of a clip of hers, which name only that. */
const OF_HER_CLIP: Named = { traces: /"(?:key|task)":"done"/u };

/** A row for each kind of record that may name people, or goes with a task. */
const NAMED: Readonly<Record<string, Named>> = {
  tasks: {},
  ledger: {},
  drafts: {},
  cards: OF_HER_CLIP,
  messages: OF_HER_CLIP,
  deliveries: OF_HER_CLIP,
  set_notices: { absent: 'she ordered no set that has ended' },
  posts: {},
  retractions: { absent: 'of an interrupted removal alone' },
  removals: { absent: 'of a removal that is in progress alone' },
  erasures: { absent: 'her request, which is deleted once she is forgotten' },
  relayed_files: { absent: 'deleted by the relay, which is a fake here' },
  environment: { absent: 'what the operator set stays' },
  subscriptions: {},
  approvers: {},
  defaults: {},
  settings: {},
  budgets: {},
  restored_spend: { absent: 'she was not forgotten before' },
  audit: {},
  armed_alerts: {
    seed: ({ house }) =>
      armedAlerts.set(house.store, `person:${TEAM.platform}:${TEAM.team}:${EVE.id}:2026-11:USD`, {
        revision: 1,
        limit: '1',
        percent: 50,
      }),
  },
  notices: {
    seed: ({ house }) =>
      house.store
        .keyv('notices')
        .set('n1', { revision: 1, of: TEAM, to: { person: EVE, kind: 'person' }, state: 'waiting' }),
  },
  statements: {
    seed: ({ house }) => house.store.keyv('statements').set('fake:T1:s1', { revision: 1, booking: { by: EVE } }),
  },
  statement_decisions: {
    seed: ({ house }) => house.store.keyv('statement_decisions').set('s1', { revision: 1, as: 'ours', by: EVE }),
  },
  gallery_links: { seed: async ({ house }) => accessOf(house).createLink(OPENER) },
  gallery_sessions: {
    seed: async ({ house }) => {
      const access = accessOf(house);
      await access.redeem((await access.createLink(OPENER)).key);
    },
  },
  references: {
    seed: ({ house: { store, clock } }) =>
      new References(store, clock).add(TEAM, { name: 'mug', url: 'https://a.test/mug.png', by: EVE }),
  },
  boards: {
    traces: /"key":"board"/u,
    seed: async ({ house }) => {
      const boards = await storyboard(house, BOARD);
      await boards.change(await boards.get({ ...BOARD, at: 1 }), { order: [2, 1] });
    },
  },
  inserted_shots: {
    traces: /"key":"other-board"/u,
    seed: async ({ house }) => {
      const set = { ...BOARD, id: 'other-board' as TaskId };
      const boards = await storyboard(house, set);
      const asked = { press: '0123456789abcdef', before: 1, nowMs: house.clock.now(), isOpen: async () => true };
      await boards.insert({ ...set, at: 1 }, asked);
    },
  },
  // Of Bob's clips.
  cuts: { seed: async (_parts, cutting) => cutting.cut(await cutting.shots(2, { user: BOB }), EVE) },
  comparisons: {
    seed: async ({ house }) => {
      const comparisons = new ComparisonRecords(house.store, house.clock);
      const id = 'compared' as TaskId;
      await comparisons.show({ id, kind: 'comparison', at: 1, of: 2 }, TEAM);
      await comparisons.vote(id, EVE.id, 2);
      await comparisons.vote(id, BOB.id, 1);
    },
  },
};

const OPENER = { ...TEAM, channel: 'clips', address: {}, user: EVE };

function accessOf({ store, clock, platform }: ChatHouse): GalleryAccess {
  return new GalleryAccess({ store, clock, admins: [], platforms: new Map([[platform.name, platform]]) });
}

/** Returns the records of each kind, as JSON. */
/** Orders a storyboard of two finished shots. */
async function storyboard(house: ChatHouse, set: typeof BOARD): Promise<Boards> {
  const members = memberIds(set).map((id, at) =>
    newTask({ id, origin, request, price: PRICE, set: { ...set, at: at + 1 } }),
  );
  await house.repository.claim(members);
  const done = [
    { kind: 'completed', atMs: house.clock.now() },
    { kind: 'fetched', clip: CLIP },
  ] as const;
  for (const { id } of members) await house.happen(id, EVENTS.send, EVENTS.accepted, ...done);
  await house.pass(0);
  return new Boards(house.store);
}

async function recordsIn(house: ChatHouse): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { name: namespace } of KINDS) {
    const pages = await Array.fromAsync(house.store.contents.records(namespace));
    found.set(
      namespace,
      pages
        .flat()
        .map((record) => JSON.stringify(record))
        .join('\n'),
    );
  }
  return found;
}

describe('forgetting a person, by kind of record', () => {
  let before: ReadonlyMap<string, string>;
  let after: ReadonlyMap<string, string>;
  let parts: ForgettingHouse;
  let cutting: CutHouse;

  beforeEach(async () => {
    const house = new ChatHouse();
    const { store, platform, clock } = house;
    cutting = new CutHouse({ store, platform, clock });
    parts = await livedIn(house, cutting.cuts);
    for (const { seed } of Object.values(NAMED)) await seed?.(parts, cutting);
    before = await recordsIn(house);
    await parts.forgetting.request({ ...TEAM, person: EVE, actor: actor(EVE) });
    await finish(parts);
    after = await recordsIn(house);
  });

  afterEach(() => cutting.remove());

  it('has a row for each kind that may name people', () => {
    const named = KINDS.filter(({ personal }) => personal !== 'nobody').map(({ name }) => name);
    expect(Object.keys(NAMED).toSorted()).toEqual(named.toSorted());
  });

  it('leaves no trace in any kind', () => {
    for (const { name } of KINDS) {
      const { traces = TRACES, absent } = NAMED[name] ?? { absent: 'about nobody' };
      const [was, left] = [before.get(name) ?? '', after.get(name) ?? ''];
      expect([name, traces.test(was), traces.test(left)]).toEqual([name, absent === undefined, false]);
      expect([name, TRACES.test(left)]).toEqual([name, false]);
    }
    expect(parts.house.platform.forgotten).toEqual([EVE.id]);
    // The vote of another stays.
    expect(after.get('comparisons')).toContain(`"votes":{"${BOB.id}":1}`);
  });
});
