import { describe, expect, it } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';
import type { Store } from '#src/engine/store/store.ts';
import type { SetPlace, TaskId } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { NOON_MS } from '#test/fakes/tasks.ts';

const PLACE: SetPlace = { id: 'set-1' as TaskId, kind: 'comparison', at: 1, of: 3 };
const TEAM = { platform: 'fake', team: 'T1' };
const MODELS = new Map([
  [1, 'zebra-9'],
  [2, 'aardvark-1'],
  [3, 'mole-3'],
]);

/** The records of several replicas on one store, of a comparison that can be voted on. */
async function replicas(store: Store = new MemoryStore()) {
  const clock = new ManualClock(NOON_MS);
  const all = [new ComparisonRecords(store, clock), new ComparisonRecords(store, clock)] as const;
  await all[0].show(PLACE, TEAM);
  return { store, clock, all };
}

describe('votes', () => {
  it('all count, whichever replica takes them', async () => {
    const { all } = await replicas();
    const people = Array.from({ length: 50 }, (_, index) => `V${index}`);
    const votes = people.map((person, index) => all[index % 2 === 0 ? 0 : 1].vote(PLACE.id, person, (index % 3) + 1));
    expect(new Set(await Promise.all(votes))).toEqual(new Set(['counted']));
    expect((await all[0].reveal(PLACE.id, MODELS))?.revealed?.tally).toEqual([17, 17, 16]);
  });
});

describe('the wins of models', () => {
  it('are counted once by two reveals at once, and both of two comparisons of a team', async () => {
    const { all, store } = await replicas();
    const other = { ...PLACE, id: 'set-2' as TaskId };
    await all[1].show(other, TEAM);
    for (const { id } of [PLACE, other]) await all[0].vote(id, 'ada', 2);
    await Promise.all([
      all[0].reveal(PLACE.id, MODELS),
      all[1].reveal(PLACE.id, MODELS),
      all[0].reveal(other.id, MODELS),
      new ComparisonRecords(store, new ManualClock(NOON_MS)).reveal(other.id, MODELS),
    ]);
    expect(await all[0].winsOf(TEAM)).toEqual({
      'zebra-9': { won: 0, of: 2 },
      'aardvark-1': { won: 2, of: 2 },
      'mole-3': { won: 0, of: 2 },
    });
  });

  it.each([
    [
      'a tie',
      [1, 2],
      MODELS,
      { 'zebra-9': { won: 0, of: 1 }, 'aardvark-1': { won: 0, of: 1 }, 'mole-3': { won: 0, of: 1 } },
    ],
    ['one clip alone', [1, 1], new Map([[1, 'zebra-9']]), {}],
    ['a vote for a clip that is gone', [3, 3], new Map([...MODELS].slice(0, 2)), {}],
    ['no vote', [], MODELS, {}],
  ] as const)('after %s', async (_case, votes, models, wins) => {
    const { all } = await replicas();
    for (const [index, at] of votes.entries()) await all[0].vote(PLACE.id, `V${index}`, at);
    await all[0].reveal(PLACE.id, models);
    expect(await all[0].winsOf(TEAM)).toEqual(wins);
  });
});
