import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Boards } from '#src/orders/board.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { Origin, SetKind, Task, TaskId } from '#src/tasks/task.ts';
import { CutHouse, SHOT_BYTES } from '#test/fakes/cut-house.ts';
import { GalleryHouse, OPENER } from '#test/fakes/gallery-house.ts';
import { ADA, BOB, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const BOBS = { ...OPENER, user: BOB };
const PRIVATE = { channel: 'secret', audience: 'channel', user: BOB } as const;
const SET = 'set' as TaskId;

const opened: CutHouse[] = [];

afterEach(() => {
  for (const house of opened.splice(0)) house.remove();
});

/** The gallery with cuts on one store, and a set of three clips. */
async function setUp(kind: SetKind, origin: Partial<Origin> = {}, changes: Partial<Task> = {}) {
  const house = new GalleryHouse();
  const cutting = new CutHouse({ store: house.store });
  opened.push(cutting);
  await house.serve(null, { sets: house.setsWith(cutting.cuts), cutFileOf: (id) => cutting.cuts.find(id) });
  const place = { id: SET, kind, of: 3 } as const;
  const clipOf = (id: string) => {
    const path = join(cutting.folder, `${id}.mp4`);
    writeFileSync(path, Buffer.alloc(SHOT_BYTES));
    return { path, bytes: SHOT_BYTES, contentType: 'video/mp4' };
  };
  const tasks: Task[] = [];
  for (const [at, id] of memberIds(place).entries())
    tasks.push(await house.add(origin, { id, clip: clipOf(id), set: { ...place, at: at + 1 }, ...changes }));
  return { house, cutting, tasks, place, clipOf };
}

const idsIn = async (house: GalleryHouse, path: string, cookie: string): Promise<readonly string[]> =>
  (await house.get(path, cookie)).json<{ clips: { id: string }[] }>().clips.map(({ id }) => id);

describe('the set of a clip', () => {
  it('is a filter: its clips in the order of its board, with their later takes, by cursor and with other filters', async () => {
    const { house, tasks, place, clipOf } = await setUp('storyboard');
    await house.add();
    const later: string[] = [];
    for (let at = 0; at < 30; at += 1) {
      const id = `take${at}` as TaskId;
      later.push(id);
      await house.add({ user: BOB }, { id, clip: clipOf(id), takeOf: { ...place, at: 2 } });
    }
    const boards = new Boards(house.store);
    await boards.change(await boards.get({ ...place, at: 1 }), { order: [3, 2, 1], skipped: [] });
    const cookie = await house.open();
    const [one, two, three] = tasks.map(({ id }) => id);
    const all = [three, two, ...later, one];
    const first = (await house.get(`api/clips?set=${SET}`, cookie)).json();
    expect(first.clips).toHaveLength(24);
    expect(first.clips[1].set).toEqual({ id: SET, kind: 'storyboard', at: 2, of: 3 });
    const rest = await idsIn(house, `api/clips?set=${SET}&cursor=${first.next}`, cookie);
    expect([...first.clips.map(({ id }: { id: string }) => id), ...rest]).toEqual(all);
    expect(await idsIn(house, `api/clips?set=${SET}&person=ada`, cookie)).toEqual([three, two, one]);
    expect(await idsIn(house, `api/clips?set=${tasks[1]?.id}`, cookie)).toEqual([]);
  });

  it('shows nothing of a comparison before its reveal, on no path and by no filter', async () => {
    const blind = await setUp('comparison');
    const cookie = await blind.house.open();
    const [one] = blind.tasks as [Task];
    for (const query of ['', `set=${SET}`, 'model=swift-1', `set=${SET}&model=swift-1`, 'person=ada'])
      expect([query, await idsIn(blind.house, `api/clips?${query}`, cookie)]).toEqual([query, []]);
    for (const path of [
      `api/sets/${SET}`,
      `api/clips/${one.id}`,
      `clips/${one.id}`,
      `posters/${one.id}`,
      `zip?ids=${one.id}`,
    ])
      expect([path, (await blind.house.get(path, cookie)).statusCode]).toEqual([path, 404]);
    expect((await blind.house.get('api/facets', cookie)).json()).toEqual({ people: [], channels: [], models: [] });
    const { house, tasks } = await setUp('comparison', {}, { revealedAtMs: 1 });
    const hers = await house.open();
    expect(await idsIn(house, `api/clips?set=${SET}`, hers)).toEqual(tasks.map(({ id }) => id));
    expect((await house.get(`api/sets/${SET}`, hers)).json()).toEqual({
      kind: 'comparison',
      of: 3,
      revision: 0,
      mayChange: false,
      shots: tasks.map(({ id }, index) => ({
        at: index + 1,
        isSkipped: false,
        seconds: 6,
        phase: 'done',
        clip: { id, prompt: tasks[0]?.request.prompt, model: 'Swift 1' },
      })),
      cuts: [],
    });
  });
});

describe('the set of a storyboard', () => {
  it('has the order of its board, and the cuts that were joined, with their files', async () => {
    const request = { ...newTask().request, prompt: 'a fox, on film', typed: 'a fox', style: 'film' };
    const { house, cutting, tasks, place } = await setUp('storyboard', {}, { request });
    const [one, two, three] = tasks as [Task, Task, Task];
    const boards = new Boards(house.store);
    await boards.change(await boards.get({ ...place, at: 1 }), { order: [3, 1, 2], skipped: [2] });
    const cut = await cutting.cut([three.id, one.id], BOB);
    const cookie = await house.open();
    const prompt = 'a fox';
    const shot = { isSkipped: false, seconds: 6, phase: 'done' };
    expect((await house.get(`api/sets/${SET}`, cookie)).json()).toEqual({
      kind: 'storyboard',
      of: 3,
      revision: 1,
      mayChange: true,
      shots: [
        { ...shot, at: 3, clip: { id: three.id, prompt, model: 'Swift 1' } },
        { ...shot, at: 1, clip: { id: one.id, prompt, model: 'Swift 1' } },
        { ...shot, at: 2, isSkipped: true, clip: { id: two.id, prompt, model: 'Swift 1' } },
      ],
      cuts: [
        {
          id: cut,
          shots: 2,
          bytes: 2 * SHOT_BYTES,
          seconds: 12,
          by: BOB.name,
          requestedAtMs: expect.any(Number),
          isCurrent: true,
        },
      ],
    });
    expect((await house.get(`cuts/${cut}`)).statusCode).toBe(401);
    const part = await house.get(`cuts/${cut}?download`, cookie, { range: 'bytes=0-99' });
    expect([part.statusCode, part.headers['content-range']]).toEqual([206, `bytes 0-99/${2 * SHOT_BYTES}`]);
    expect(part.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'content-security-policy': 'sandbox',
      'content-disposition': expect.stringMatching(/^attachment; .*\.mp4$/u),
    });
    // It is made again where its file is gone, and goes with any of its clips.
    cutting.joiner.joins.length = 0;
    await cutting.joiner.remove([three.id, one.id]);
    expect((await house.get(`cuts/${cut}`, cookie)).statusCode).toBe(503);
    await cutting.work();
    expect([(await house.get(`cuts/${cut}`, cookie)).statusCode, cutting.joiner.joins.length]).toEqual([200, 1]);
    await cutting.cuts.removeWith(one.id, 'deleted');
    expect((await house.get(`api/sets/${SET}`, cookie)).json().cuts).toEqual([]);
    expect((await house.get(`cuts/${cut}`, cookie)).statusCode).toBe(404);
  });

  it('says whether a cut still is what the board shows, and who may change that', async () => {
    const { house, cutting, tasks, place, clipOf } = await setUp('storyboard');
    await cutting.cut(
      tasks.map(({ id }) => id),
      BOB,
    );
    house.platform.memberRights.set('clips', { view: true, post: true, manage: false });
    const read = async (cookie: string) => (await house.get(`api/sets/${SET}`, cookie)).json();
    const [own, other] = [await house.open(), await house.open({ ...OPENER, user: { id: 'eve', name: 'Eve' } })];
    expect([(await read(own)).mayChange, (await read(other)).mayChange]).toEqual([true, false]);
    const later = { takeOf: { ...place, at: 4 }, clip: clipOf('inserted') };
    await house.add({ user: { id: 'eve', name: 'Eve' } }, { id: 'inserted' as TaskId, ...later });
    const boards = new Boards(house.store);
    await boards.change(await boards.get({ ...place, at: 1 }), { order: [4, 1, 2, 3] });
    expect([(await read(own)).mayChange, (await read(other)).mayChange]).toEqual([true, false]);
    await boards.change(await boards.get({ ...place, at: 1 }), { order: [1, 2, 3], skipped: [4] });
    const isCurrent = async () => (await read(own)).cuts.map((cut: { isCurrent: boolean }) => cut.isCurrent);
    expect(await isCurrent()).toEqual([true]);
    await boards.change(await boards.get({ ...place, at: 1 }), { order: [2, 1, 3] });
    expect(await isCurrent()).toEqual([false]);
  });

  it('is hidden from those who may not see its clips, by id as well', async () => {
    const { house, cutting, tasks } = await setUp('storyboard', PRIVATE);
    const requested = await cutting.request(
      tasks.map(({ id }) => id),
      PRIVATE,
    );
    await cutting.work();
    const cut = requested.kind === 'accepted' ? requested.cut : '';
    const paths = [`api/sets/${SET}`, `cuts/${cut}`];
    const statuses = async (cookie: string) =>
      Promise.all(paths.map(async (path) => (await house.get(path, cookie)).statusCode));
    expect(await statuses(await house.open())).toEqual([404, 404]);
    expect(await idsIn(house, `api/clips?set=${SET}`, await house.open())).toEqual([]);
    expect(await statuses(await house.open({ ...BOBS, team: 'T2' }))).toEqual([404, 404]);
    expect(await statuses(await house.open({ ...OPENER, isExternal: true }))).toEqual([404, 404]);
    expect(await statuses(await house.open(BOBS))).toEqual([200, 200]);
    expect(await statuses(await house.open({ ...OPENER, channel: 'secret' }))).toEqual([200, 200]);
  });

  it('hides a cut with one clip that the viewer may not see', async () => {
    const { house, cutting, tasks, place, clipOf } = await setUp('storyboard');
    const hidden = 'hidden' as TaskId;
    // The latest take, which is in the cut.
    const take = { id: hidden, clip: clipOf(hidden), takeOf: { ...place, at: 2 }, endedAtMs: NOON_MS + 600_000 };
    const task = await house.add(PRIVATE, take);
    const cut = await cutting.cut([tasks[0]?.id ?? SET, task.id]);
    const cookie = await house.open();
    const { shots, cuts } = (await house.get(`api/sets/${SET}`, cookie)).json();
    expect([shots.length, cuts]).toEqual([3, []]);
    expect(shots[1]).toEqual({ at: 2, isSkipped: false, seconds: 6, phase: null, clip: null });
    expect((await house.get(`cuts/${cut}`, cookie)).statusCode).toBe(404);
    const bobs = (await house.get(`api/sets/${SET}`, await house.open(BOBS))).json();
    expect(bobs.cuts).toMatchObject([{ id: cut }]);
    expect(bobs.shots[1].clip).toMatchObject({ id: hidden });
  });

  it('hides a cut that another person had made in a private channel, also of clips of one’s own', async () => {
    const { house, cutting, tasks } = await setUp('storyboard', { ...PRIVATE, user: ADA });
    const requested = await cutting.request(
      tasks.map(({ id }) => id),
      PRIVATE,
    );
    await cutting.work();
    const cut = requested.kind === 'accepted' ? requested.cut : '';
    const seen = async (cookie: string) => [
      (await house.get(`api/sets/${SET}`, cookie)).json().cuts.length,
      (await house.get(`cuts/${cut}`, cookie)).statusCode,
    ];
    expect(await seen(await house.open())).toEqual([0, 404]);
    expect(await seen(await house.open({ ...OPENER, channel: 'secret' }))).toEqual([1, 200]);
  });
});
