import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { afterDays, bytesOfDatabase, clipAt, openLibrary } from '#test/fakes/expiring-library.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { newTask, originOf } from '#test/fakes/tasks.ts';

/** `npm run bench -- retention` does the same with 10,000, and with Redis. */
const CLIPS = 1_000;
const TEN_YEARS = 3_650;
const logger = pino({ level: 'silent' });
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dailies-shrinks-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('shrinks files and the SQLite store to what has to stay, and a claim still guards after ten years', async () => {
  const path = join(dir, 'dailies.db');
  const clock = new ManualClock(afterDays(0));
  let store = await openStore(`sqlite:${path}`, { logger });
  let library = await openLibrary(store, dir, clock);
  await library.fill(CLIPS);
  const { house } = library;
  const running = await house.running({ id: 'running' as TaskId });
  const release = house.platform.stalls('attach');
  const undelivered = await house.done({ id: 'undelivered' as TaskId });
  const before = { first: await house.record(clipAt(0)), running: await house.record(running) };
  await store.close();
  const full = await bytesOfDatabase(path);

  store = await openStore(`sqlite:${path}`, { logger });
  clock.step(afterDays(30) - clock.now());
  library = await openLibrary(store, dir, clock);
  for (const name of [`${clipAt(1)}.fitted-9.mp4`, `${clipAt(1)}.poster.jpg`])
    await writeFile(join(dir, 'clips', name), 'made from a clip');
  expect(await library.files()).toHaveLength(CLIPS + 2);
  expect(await library.sweep()).toBe(true);
  expect(await library.files()).toEqual([]);
  // Once per page of a history: it may have 10,000 files.
  expect(library.listings()).toBe(1);
  const claim = await library.house.record(clipAt(0));
  expect(claim).toMatchObject({ request: before.first.request, removal: { hasContent: true } });

  clock.step(TEN_YEARS * 24 * 3_600_000);
  expect(await library.sweep()).toBe(true);
  // What was redelivered: the order as it was.
  const { revision: _revision, ...order } = newTask({ ...before.first, state: 'claimed' });
  const again = await library.house.repository.claim([{ ...order, revision: 1 }]);
  expect(again).toMatchObject({ kind: 'known', task: { state: 'completed', removal: { hasContent: false } } });
  expect(JSON.stringify(again)).not.toContain('red fox');
  expect(await library.house.record(running)).toEqual(before.running);
  expect(await library.house.record(undelivered)).toMatchObject({ presented: false, clip: {} });
  release();
  await store.close();
  expect(await bytesOfDatabase(path)).toBeLessThan(0.6 * full);
});

it('removes nothing of what runs, whatever its age', async () => {
  const store = await openStore(`sqlite:${join(dir, 'dailies.db')}`, { logger });
  const library = await openLibrary(store, dir, new ManualClock(afterDays(0)));
  const task = newTask({ id: 'old' as TaskId, origin: originOf({ audience: 'team' }), createdAtMs: 1 });
  await library.house.repository.claim([task]);
  expect(await library.sweep()).toBe(true);
  expect((await library.house.record(task.id)).removal).toBeUndefined();
  await store.close();
});
