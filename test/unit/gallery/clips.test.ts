import { expect, it } from 'vitest';
import type { ClipFilter, Cursor, ViewScope } from '#src/gallery/clips.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { isVisible } from '#src/tasks/visibility.ts';
import { GalleryHouse } from '#test/fakes/gallery-house.ts';
import { ADA, BOB, NOON_MS } from '#test/fakes/tasks.ts';

const scopeOf = (user: string, channel: string, isExternal = false): ViewScope => ({
  platform: 'fake',
  team: 'T1',
  viewer: { user, channel, isExternal },
});

/** Reads all pages. @returns ids, newest first */
async function idsOf(house: GalleryHouse, scope: ViewScope, filter: ClipFilter = {}, limit = 7) {
  const ids: string[] = [];
  let cursor: Cursor | null = null;
  let pages = 0;
  do {
    const page = await house.clips.page(scope, filter, { cursor, limit });
    expect(page.clips.length).toBeLessThanOrEqual(limit);
    ids.push(...page.clips.map(({ id }) => id));
    cursor = page.next;
    pages += 1;
    expect(pages).toBeLessThan(1_000);
  } while (cursor !== null);
  return ids;
}

/** Clips of two people in three channels, one in seven private, every fifth with the time of the one before. */
async function filled(count: number) {
  const house = new GalleryHouse();
  const tasks: Task[] = [];
  for (let at = 0; at < count; at += 1) {
    const origin = {
      user: at % 3 === 0 ? ADA : BOB,
      channel: ['clips', 'secret', 'general'][at % 3 === 1 ? 1 : at % 2 === 0 ? 0 : 2] ?? '',
      audience: at % 7 === 0 ? ('channel' as const) : ('team' as const),
    };
    const createdAtMs = NOON_MS + Math.floor(at / 5) * 1_000;
    const state = at % 11 === 0 ? ({ state: 'failed' } as const) : {};
    const request = { model: at % 4 === 0 ? 'epic-pro' : 'swift-1', prompt: `Red Fox number ${at}`, seconds: 6 };
    const media = { image: [], audio: [], video: [] };
    tasks.push(await house.add(origin, { createdAtMs, ...state, request: { ...request, media } }));
  }
  return { house, tasks };
}

const newestFirst = (tasks: readonly Task[]): readonly TaskId[] =>
  tasks
    .filter(({ state }) => state === 'completed')
    .toSorted((one, other) => other.createdAtMs - one.createdAtMs || (one.id < other.id ? 1 : -1))
    .map(({ id }) => id);

it('returns each visible clip once, newest first, whatever the viewer and the length of the page', async () => {
  const { house, tasks } = await filled(500);
  const viewers = [
    scopeOf('ada', 'clips'),
    scopeOf('ada', 'secret'),
    scopeOf('bob', ''),
    scopeOf('eve', 'general'),
    scopeOf('eve', ''),
    scopeOf('eve', 'clips', true),
    scopeOf('eve', '', true),
  ];
  for (const [at, scope] of viewers.entries()) {
    const seen = tasks.filter(({ origin }) => isVisible(origin, scope.viewer));
    expect(await idsOf(house, scope, {}, 5 + at * 9)).toEqual(newestFirst(seen));
  }
});

it('applies every filter, alone and together', async () => {
  const { house, tasks } = await filled(400);
  const scope = scopeOf('ada', 'general');
  const seen = tasks.filter(({ origin }) => isVisible(origin, scope.viewer));
  const filters: readonly (readonly [ClipFilter, (task: Task) => boolean])[] = [
    [{ user: 'bob' }, ({ origin }) => origin.user.id === 'bob'],
    [{ user: 'ada' }, ({ origin }) => origin.user.id === 'ada'],
    [{ channel: 'secret' }, ({ origin }) => origin.channel === 'secret'],
    [{ user: 'bob', channel: 'general' }, ({ origin }) => origin.user.id === 'bob' && origin.channel === 'general'],
    [{ model: 'epic-pro' }, ({ request }) => request.model === 'epic-pro'],
    [{ text: 'fOX NUMBER 12' }, ({ request }) => /Fox number \d*12/.test(request.prompt)],
    [{ text: ' 12  red' }, ({ request }) => /^Red .*12/.test(request.prompt)],
    [
      { fromMs: NOON_MS + 10_000, toMs: NOON_MS + 20_000 },
      ({ createdAtMs: at }) => at >= NOON_MS + 10_000 && at <= NOON_MS + 20_000,
    ],
    [{ user: 'eve' }, () => false],
    [
      { user: 'bob', toMs: NOON_MS + 30_000, text: '7' },
      ({ origin, createdAtMs, request }) =>
        origin.user.id === 'bob' && createdAtMs <= NOON_MS + 30_000 && request.prompt.includes('7'),
    ],
  ];
  for (const [filter, fits] of filters)
    expect(await idsOf(house, scope, filter)).toEqual(newestFirst(seen.filter(fits)));
});

it('pages through clips of the same millisecond', async () => {
  const house = new GalleryHouse();
  const tasks: Task[] = [];
  for (let at = 0; at < 450; at += 1)
    tasks.push(await house.add({ user: at % 2 === 0 ? ADA : BOB }, { createdAtMs: NOON_MS }));
  expect(await idsOf(house, scopeOf('ada', 'clips'))).toEqual(newestFirst(tasks));
  const bobs = tasks.filter(({ origin }) => origin.user.id === 'bob');
  expect(await idsOf(house, scopeOf('ada', 'clips'), { user: 'bob' })).toEqual(newestFirst(bobs));
});

it('reads the record of no hidden task', async () => {
  const { house } = await filled(100);
  const read: string[] = [];
  const records = house.store.keyv('tasks');
  const getMany = records.getMany.bind(records);
  Object.assign(records, {
    getMany: (keys: string[]) => {
      read.push(...keys);
      return getMany(keys);
    },
  });
  const ids = await idsOf(house, scopeOf('eve', ''), { user: 'bob' });
  expect(ids.length).toBeGreaterThan(10);
  const hidden = await house.repository.get(read.find((id) => id === 't0002') as TaskId);
  expect(hidden?.origin.audience).toBe('team');
  for (const id of read) expect((await house.repository.get(id as TaskId))?.origin).toMatchObject({ audience: 'team' });
});

it('stops a search after 2,000 records, and continues where it stopped', async () => {
  const { house, tasks } = await filled(2_600);
  const scope = scopeOf('bob', 'secret');
  const page = await house.clips.page(scope, { text: 'number 17' }, { cursor: null, limit: 5_000 });
  expect(page.searchedToMs).toBeGreaterThan(NOON_MS);
  expect(page.next).not.toBeNull();
  const seen = tasks.filter(({ origin }) => isVisible(origin, scope.viewer));
  const fits = seen.filter(({ request }) => /number .*17/.test(request.prompt));
  expect(await idsOf(house, scope, { text: 'number 17' }, 5_000)).toEqual(newestFirst(fits));
});

it('shows neither what has no clip any more, nor other teams’ clips', async () => {
  const house = new GalleryHouse();
  await house.add({}, { state: 'cancelled' });
  const { clip: _, ...removed } = await house.add();
  await house.store.commit({
    records: [{ namespace: 'tasks', key: removed.id, value: { ...removed, revision: 2 }, expected: 1 }],
  });
  await house.add({ team: 'T2' });
  const kept = await house.add();
  expect(await idsOf(house, scopeOf('ada', 'clips'))).toEqual([kept.id]);
});

it('finds the takes before and after a clip, as far as the viewer may see them', async () => {
  const house = new GalleryHouse();
  const first = await house.add();
  const second = await house.add({}, { retryOf: first.id });
  const hidden = await house.add({ user: BOB, channel: 'secret', audience: 'channel' }, { retryOf: second.id });
  const third = await house.add({ user: BOB }, { retryOf: second.id });
  const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id);
  const takes = await house.clips.takesOf(scopeOf('ada', 'clips'), second);
  expect([ids(takes.before), ids(takes.after)]).toEqual([[first.id], [third.id]]);
  const bobs = await house.clips.takesOf(scopeOf('bob', 'clips'), second);
  expect(ids(bobs.after)).toEqual([hidden.id, third.id]);
  expect(ids((await house.clips.takesOf(scopeOf('ada', 'clips'), third)).before)).toEqual([first.id, second.id]);
});

it('finds no take by its id alone that the viewer may not see', async () => {
  const house = new GalleryHouse();
  const first = await house.add();
  const secret = { user: BOB, channel: 'secret', audience: 'channel' } as const;
  const hidden = await house.add(secret, { id: taskIdOf(`retry:${first.id}`), retryOf: first.id });
  const later = await house.add(secret, { retryOf: hidden.id });
  const seen = async (scope: ViewScope) => {
    const { before, after } = await house.clips.takesOf(scope, first);
    return new Set([...before, ...after].map(({ id }) => id));
  };
  expect(await seen(scopeOf('ada', 'clips'))).toEqual(new Set());
  expect(await seen(scopeOf('bob', 'clips'))).toEqual(new Set([hidden.id, later.id]));
});

it('finds every take of a clip, by button and by command, from each of them', async () => {
  const house = new GalleryHouse();
  const first = await house.add();
  const byButton = await house.add({ user: BOB }, { id: taskIdOf(`retry:${first.id}`), retryOf: first.id });
  const running = { state: 'polling', clip: undefined } as const;
  const again = await house.add({}, { id: taskIdOf(`retry:${first.id}:2`), retryOf: first.id, ...running } as never);
  const ofThat = await house.add({}, { retryOf: byButton.id });
  const scope = scopeOf('ada', 'clips');
  const all = [first, byButton, again, ofThat].map(({ id }) => id);
  for (const [at, task] of [first, byButton, again, ofThat].entries()) {
    const { before, after } = await house.clips.takesOf(scope, task);
    expect([...before, task, ...after].map(({ id }) => id)).toEqual(all);
    expect(before).toHaveLength(at);
  }
});
