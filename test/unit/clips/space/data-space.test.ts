import { statfsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataSpace, dataLimit } from '#src/clips/data-space.ts';
import { OPEN_CUTS } from '#src/orders/cut.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '../../../fakes/chat-house.ts';
import { runJob } from '../../../fakes/jobs.ts';
import { TaskHouse } from '../../../fakes/task-house.ts';
import { ADA, CLIP, EVENTS, NOON_MS, newTask } from '../../../fakes/tasks.ts';
import { errorOf, status } from '../../../fakes/videos.ts';

const RELAY = `relay-${'a'.repeat(40)}`;
const HOUR_MS = 3_600_000;
let dir = '';
let chat: ChatHouse;
let events: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dailies-space-'));
  chat = new ChatHouse();
  events = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A file of the data folder, changed two days ago or `ageMs` ago. */
async function file(name: string, bytes: number, ageMs = 48 * HOUR_MS): Promise<void> {
  const path = join(dir, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, '');
  await truncate(path, bytes);
  const at = new Date(NOON_MS - ageMs);
  await utimes(path, at, at);
}

/** The data folder as one replica sees it. @param freeCopies default: a storage without local copies */
function spaceOf(
  maxDataBytes: number | null = 0,
  freeCopies: (bytes: number) => Promise<number> = async () => 0,
): DataSpace {
  const logger = pino({ level: 'info' }, { write: (line: string) => events.push(JSON.parse(line).event) });
  const config = { dataDir: dir, storeUrl: `sqlite:${join(dir, 'dailies.db')}`, maxDataBytes };
  return new DataSpace({ config, store: chat.store, clock: chat.clock, logger, freeCopies });
}

async function names(): Promise<readonly string[]> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

async function measured(space: DataSpace) {
  await space.start();
  await space.stop();
  return space.usage();
}

describe('the limit of the data folder', () => {
  it('is 80 % of its disk by default, also of one that is not there yet', () => {
    const { blocks, bsize } = statfsSync(dir);
    expect(spaceOf(null).maxBytes).toBe(Math.floor(0.8 * blocks * bsize));
    const limit = dataLimit({ dataDir: join(dir, 'not/there'), maxDataBytes: null });
    expect(limit).toBe(Math.floor(0.8 * blocks * bsize));
  });

  it('is what is set, or none', () => {
    expect(spaceOf(1_000).maxBytes).toBe(1_000);
    expect(spaceOf(0).maxBytes).toBeNull();
  });

  it('is none where the file system tells no size', () => {
    // proc(5) has no blocks.
    expect(dataLimit({ dataDir: '/proc', maxDataBytes: null })).toBeNull();
  });
});

describe('the space that the data takes', () => {
  it('is measured by kind; what has two names counts once', async () => {
    await file('dailies.db', 10);
    await file('dailies.db-wal', 5);
    await file('other.db', 1_000);
    await file('clips/a.mp4', 100);
    await file('clips/a.fitted-50.mp4', 50);
    await file('clips/cut-a.mp4', 11);
    await file('clips/a.poster.jpg', 7);
    await file('clips/a.last-frame.png', 6);
    await file(`relay/${RELAY}`, 20);
    await file('sandbox/sandbox.db', 3);
    await file('sandbox/clips/v.mp4', 4);
    await file('playground/copy', 9);
    await file('library/relay-1', 3);
    await link(join(dir, 'clips/a.mp4'), join(dir, 'playground/link')).catch(() => mkdir(join(dir, 'playground')));
    expect(await measured(spaceOf())).toEqual({
      clips: 100,
      library: 3,
      fitted: 50,
      cuts: 11,
      posters: 7,
      frames: 6,
      references: 20,
      playground: 9,
      sandbox: 7,
      temporary: 0,
      store: 15,
    });
  });

  it('is measured by each process, and again once that is ten minutes ago', async () => {
    await file('clips/a.mp4', 100);
    const space = spaceOf();
    expect(await measured(space)).toMatchObject({ clips: 100 });
    await file('clips/b.mp4', 100);
    expect(await measured(space)).toMatchObject({ clips: 100 });
    expect(await measured(spaceOf())).toMatchObject({ clips: 200 });
    chat.clock.step(11 * 60_000);
    expect(await measured(space)).toMatchObject({ clips: 200 });
    await file('clips/c.mp4', 100);
    for (const [laterMs, clips] of [
      [9 * 60_000, 200],
      [60_000, 300],
    ] as const) {
      chat.clock.step(laterMs);
      await runJob(space.job, chat);
      expect(space.usage()).toMatchObject({ clips });
    }
  });

  it('counts what is stored and removed in between', async () => {
    await file('clips/a.mp4', 100);
    const space = spaceOf(10_000);
    await measured(space);
    chat.repository.subscribe(space.observer);
    const id = await chat.done({}, { ...CLIP, bytes: 1_000 });
    expect(space.usage()).toMatchObject({ clips: 1_100 });
    await chat.happen(id, EVENTS.remove);
    expect(space.usage()).toMatchObject({ clips: 100 });
  });
});

describe('at the limit', () => {
  it('nothing is refused where there is none, or room is left', async () => {
    await file('clips/a.mp4', 100);
    await spaceOf().assertRoom();
    await spaceOf(101).assertRoom();
    await expect(spaceOf(100).assertRoom()).rejects.toMatchObject({ code: 'data_full' });
  });

  it('only what can be rebuilt is deleted, oldest first, until there is room', async () => {
    await file('clips/a.mp4', 1_000);
    await file('playground/a', 100);
    await file('clips/a.fitted-50.mp4', 100, 9 * HOUR_MS);
    await file('clips/b.fitted-50.mp4', 100, 8 * HOUR_MS);
    await file('clips/a.poster.jpg', 100, 7 * HOUR_MS);
    await file(`relay/${RELAY}`, 100, 6 * HOUR_MS);
    await spaceOf(1_400).assertRoom();
    expect((await names()).toSorted()).toEqual(['a', 'a.mp4', 'a.poster.jpg', RELAY].toSorted());
    expect(events).toEqual(['data_evicted']);
    chat.clock.step(6_000);
    await expect(spaceOf(1_000).assertRoom()).rejects.toMatchObject({ code: 'data_full' });
    expect((await names()).toSorted()).toEqual(['a', 'a.mp4']);
  });

  it('local copies of clips that are in a bucket are deleted first, as many as have to be', async () => {
    await file('clips/a.mp4', 1_000);
    await file('clips/a.fitted-50.mp4', 100);
    const wanted: number[] = [];
    const freeCopies = async (bytes: number): Promise<number> => {
      wanted.push(bytes);
      await rm(join(dir, 'clips/a.mp4'));
      return 1_000;
    };
    const space = spaceOf(1_000, freeCopies);
    await space.assertRoom();
    expect([wanted, space.usage()?.clips, await names()]).toEqual([[150], 0, ['a.fitted-50.mp4']]);
  });

  it('what an open or undelivered task needs stays, as does what is new', async () => {
    const url = `https://dailies.example/media/${RELAY}?expires=1&signature=2`;
    const request = { ...newTask().request, media: { image: [url], audio: [], video: [] } };
    await chat.running({ id: 'running' as TaskId, request });
    chat.platform.stalls('attach');
    await chat.done({ id: 'undelivered' as TaskId });
    const ofCut = { index: OPEN_CUTS, member: 'cut-open', score: 1 };
    await chat.store.commit({ records: [], index: [ofCut] });
    const ofTasks = ['clips/undelivered.fitted-50.mp4', 'clips/running.poster.jpg'];
    const kept = [`relay/${RELAY}`, ...ofTasks, 'clips/cut-open.mp4'];
    for (const name of kept) await file(name, 1_000);
    await file('clips/new.fitted-50.mp4', 1_000, HOUR_MS / 2);
    await file('clips/done.fitted-50.mp4', 1_000);
    await file('clips/cut-done.mp4', 1_000);
    await expect(spaceOf(5_000).assertRoom()).rejects.toMatchObject({ code: 'data_full' });
    expect(await names()).toHaveLength(5);
    expect(await names()).not.toContain('done.fitted-50.mp4');
    expect(await names()).not.toContain('cut-done.mp4');
  });

  it('orders are taken again once clips were removed, and the log says both once', async () => {
    await file('clips/a.mp4', 1_000);
    const space = spaceOf(1_000);
    for (let order = 0; order < 3; order += 1) {
      await expect(space.assertRoom()).rejects.toMatchObject({ code: 'data_full' });
      chat.clock.step(6_000);
    }
    await rm(join(dir, 'clips/a.mp4'));
    await space.assertRoom();
    expect(events).toEqual(['data_full', 'data_has_room']);
  });

  it('a folder that cannot be read refuses nothing', async () => {
    await file('clips', 1);
    await spaceOf(1_000_000).assertRoom();
    expect(events).toEqual(['data_not_measured']);
  });

  it('new orders and Send again are refused, with nothing claimed; what runs goes on', async () => {
    await file('clips/a.mp4', 1_000);
    let space = spaceOf(2_000);
    const house = new TaskHouse({ store: chat.store, assertWritable: () => space.assertRoom() }).start();
    const running = await house.order();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const uncertain = await house.order({ key: 'fake:i2' });
    space = spaceOf(1_000);
    await expect(house.submit({ key: 'fake:i3' })).rejects.toMatchObject({ code: 'data_full' });
    const again = { afterSends: 1, price: { amount: '0.3', currency: 'USD' } };
    await expect(house.service.resubmit(uncertain, ADA, again)).rejects.toMatchObject({ code: 'data_full' });
    expect(await house.store.count('history:fake:T1')).toBe(2);
    // A redelivered interaction leads to its task.
    expect(await house.submit()).toMatchObject({ isNew: false, task: { id: running } });
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(10_000);
    expect(await house.task(running)).toMatchObject({ state: 'completed', clip: {} });
    expect(house.videos.posts).toHaveLength(2);
  });
});
