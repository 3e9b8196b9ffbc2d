import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';
import { NAMESPACES, type Namespace } from '#src/engine/store/store.ts';
import { GalleryAccess } from '#src/gallery/access.ts';
import { Boards } from '#src/orders/boards.ts';
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

/** How the erasure of a person handles a namespace. A new namespace needs a row, and one that names people a record here. */
type Handling =
  /** It has `traces` before, and none after. Default: the person's id, name and prompts. `seed`: for those that `livedIn` lacks. */
  | {
      readonly is: 'erased';
      readonly traces?: RegExp;
      readonly seed?: (parts: ForgettingHouse, cutting: CutHouse) => Promise<unknown>;
    }
  /** Its platform erases the person (`Platform.forget`), as `test/contract` and the adapters' own tests check. */
  | { readonly is: 'left to the platform' }
  /** It never names anybody. `why`: what it holds. */
  | { readonly is: 'about nobody'; readonly why: string };

/** Erased, and {@link livedIn} has a record of it. */
const ERASED: Handling = { is: 'erased' };

const HANDLING: Readonly<Record<Namespace, Handling>> = {
  tasks: ERASED,
  // Which messages show her clip; they are deleted.
  cards: { is: 'erased', traces: /"key":"done"/u },
  deliveries: ERASED,
  ledger: ERASED,
  drafts: ERASED,
  upstream: { is: 'about nobody', why: 'ids of the service, and of tasks' },
  subscriptions: ERASED,
  waits: { is: 'about nobody', why: 'generation times by model, cursors of sweeps' },
  sandbox: { is: 'about nobody', why: 'unused' },
  playground: { is: 'left to the platform' },
  adapters: { is: 'left to the platform' },
  budgets: ERASED,
  settings: ERASED,
  audit: ERASED,
  approvals: ERASED,
  notices: {
    is: 'erased',
    seed: ({ house }) =>
      house.store.keyv('notices').set('n1', { revision: 1, of: TEAM, to: { person: EVE }, state: 'waiting' }),
  },
  statements: {
    is: 'erased',
    seed: ({ house }) => house.store.keyv('statements').set('s1', { revision: 1, ...TEAM, decision: { by: EVE } }),
  },
  gallery: {
    is: 'erased',
    seed: async ({ house: { store, clock, platform } }) => {
      const access = new GalleryAccess({ store, clock, admins: [], platforms: new Map([[platform.name, platform]]) });
      await access.createLink({ ...TEAM, channel: 'clips', address: {}, user: EVE });
    },
  },
  defaults: ERASED,
  references: {
    is: 'erased',
    seed: ({ house: { store, clock } }) =>
      new References(store, clock).add(TEAM, { name: 'mug', url: 'https://a.test/mug.png', by: EVE }),
  },
  boards: {
    is: 'erased',
    traces: /"key":"board"/u,
    seed: async ({ house }) => {
      const members = memberIds(BOARD).map((id, at) =>
        newTask({ id, origin, request, price: PRICE, set: { ...BOARD, at: at + 1 } }),
      );
      await house.repository.claimAll(members);
      const done = [
        { kind: 'completed', atMs: house.clock.now() },
        { kind: 'fetched', clip: CLIP },
      ] as const;
      for (const { id } of members) await house.happen(id, EVENTS.send, EVENTS.accepted, ...done);
      await house.pass(0);
      const boards = new Boards(house.store);
      await boards.change(await boards.get({ ...BOARD, at: 1 }), { order: [2, 1] });
    },
  },
  // Of Bob's clips.
  cuts: { is: 'erased', seed: async (_parts, cutting) => cutting.cut(await cutting.shots(2, { user: BOB }), EVE) },
  comparisons: {
    is: 'erased',
    seed: async ({ house }) => {
      const comparisons = new ComparisonRecords(house.store, house.clock);
      const id = 'compared' as TaskId;
      await comparisons.show({ id, kind: 'comparison', at: 1, of: 2 }, TEAM);
      await comparisons.vote(id, EVE.id, 2);
      await comparisons.vote(id, BOB.id, 1);
    },
  },
};

/** Returns the records of each namespace, as JSON. */
async function recordsIn(house: ChatHouse): Promise<ReadonlyMap<Namespace, string>> {
  const found = new Map<Namespace, string>();
  for (const namespace of NAMESPACES) {
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

describe('forgetting a person, namespace by namespace', () => {
  let before: ReadonlyMap<Namespace, string>;
  let after: ReadonlyMap<Namespace, string>;
  let parts: ForgettingHouse;
  let cutting: CutHouse;

  beforeEach(async () => {
    const house = new ChatHouse();
    const { store, platform, clock } = house;
    cutting = new CutHouse({ store, platform, clock });
    parts = await livedIn(house, cutting.cuts);
    for (const handling of Object.values(HANDLING)) if ('seed' in handling) await handling.seed?.(parts, cutting);
    before = await recordsIn(house);
    await parts.forgetting.request({ ...TEAM, person: EVE, actor: actor(EVE) });
    await finish(parts);
    after = await recordsIn(house);
  });

  afterEach(() => cutting.remove());

  it('does in each what the table says', () => {
    for (const [namespace, handling] of Object.entries(HANDLING) as [Namespace, Handling][]) {
      const [was, left] = [before.get(namespace) ?? '', after.get(namespace) ?? ''];
      const isErased = handling.is === 'erased';
      const traces = (isErased ? handling.traces : undefined) ?? TRACES;
      expect([namespace, traces.test(was), traces.test(left)]).toEqual([namespace, isErased, false]);
      expect([namespace, TRACES.test(left)]).toEqual([namespace, false]);
    }
    expect(parts.house.platform.forgotten).toEqual([EVE.id]);
    // The vote of another stays.
    expect(after.get('comparisons')).toContain(`"votes":{"${BOB.id}":1}`);
  });
});
