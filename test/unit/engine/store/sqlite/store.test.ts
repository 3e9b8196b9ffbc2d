import { hash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, link, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '#src/engine/store/sqlite/store.ts';
import type { Change, Store } from '#src/engine/store/store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { StoreChild } from '#test/fakes/store-child.ts';

const logger = pino({ level: 'silent' });
let directory: string;
let path: string;
let clock: ManualClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-sqlite-'));
  path = join(directory, 'store.db');
  clock = new ManualClock(Date.now());
});

afterEach(() => rm(directory, { recursive: true }));

/** Advances the clock in steps of 100 ms until `promise` settles. @returns its outcome and its duration. */
async function passing<T>(
  promise: Promise<T>,
): Promise<{ readonly outcome: PromiseSettledResult<T>; readonly ms: number }> {
  const startMs = clock.now();
  let outcome: PromiseSettledResult<T> | undefined;
  void Promise.allSettled([promise]).then(([settled]) => {
    outcome = settled;
  });
  while (outcome === undefined) {
    await setImmediate();
    if (clock.pending > 0) clock.advance(100);
  }
  return { outcome, ms: clock.now() - startMs };
}

async function opened(opening = openSqliteStore(path, { clock, logger })): Promise<Store> {
  const { outcome } = await passing(opening);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

function claim(key: string): Change {
  return { records: [{ namespace: 'tasks', key, value: { revision: 1 }, expected: 'absent' }] };
}

it('rejects a second process after 10 seconds while the first holds the store', async () => {
  const first = await StoreChild.start(`sqlite:${path}`, 'hold');
  try {
    const { outcome, ms } = await passing(openSqliteStore(path, { clock, logger }));
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_locked', retryable: false } });
    expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('STORE_URL') } });
    const holder = `another Dailies (pid ${first.pid}) uses ${await realpath(path)}`;
    expect(outcome).toMatchObject({ reason: { message: expect.stringContaining(holder) } });
    expect(ms).toBe(10_000);
  } finally {
    await first.kill();
  }
});

it('is the same store through every symbolic link', async () => {
  const linked = join(directory, 'linked.db');
  await symlink('store.db', linked);
  // The link exists before its target.
  const first = await opened(openSqliteStore(linked, { clock, logger }));
  const { outcome } = await passing(openSqliteStore(path, { clock, logger }));
  expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_locked' } });
  await first.close();
});

it('rejects a file with a hard link, since a second process may hold the other path', async () => {
  const first = await opened();
  await link(path, join(directory, 'hard.db'));
  const opening = openSqliteStore(join(directory, 'hard.db'), { clock, logger });
  await expect(opening).rejects.toMatchObject({
    code: 'store_unavailable',
    retryable: false,
    message: expect.stringContaining('2 hard links'),
  });
  await first.close();
});

it('rejects an empty file next to clips of an earlier store, but creates a new one there', async () => {
  await mkdir(join(directory, 'clips'));
  await writeFile(join(directory, 'clips', 'task.mp4'), 'clip');
  await writeFile(path, '');
  await expect(openSqliteStore(path, { clock, logger })).rejects.toMatchObject({
    retryable: false,
    message: expect.stringMatching(/is empty, but .*clips holds clips of an earlier store; restore/),
  });
  await rm(path);
  await (await opened()).close();
});

it.each(['store.db', 'store.db.lock'])(
  'rejects writes while %s is moved away, and recovers once it is back',
  async (name) => {
    const store = await opened();
    await store.commit(claim('before'));
    await rename(join(directory, name), join(directory, 'moved'));
    const moved = { code: 'store_unavailable', message: expect.stringContaining('was moved, replaced or deleted') };
    await expect(store.ping()).rejects.toMatchObject(moved);
    await expect(store.commit(claim('after'))).rejects.toMatchObject(moved);
    await writeFile(join(directory, name), 'another file');
    await expect(store.commit(claim('after'))).rejects.toMatchObject(moved);
    await rename(join(directory, 'moved'), join(directory, name));
    await store.ping();
    expect(await store.commit(claim('after'))).toBe(true);
    await store.close();
  },
);

it('opens the store as soon as its holder was killed', async () => {
  const first = await StoreChild.start(`sqlite:${path}`, 'hold');
  await first.kill();
  const { outcome, ms } = await passing(openSqliteStore(path, { clock, logger }));
  expect(outcome.status).toBe('fulfilled');
  expect(ms).toBe(0);
  if (outcome.status === 'fulfilled') await outcome.value.close();
});

it('waits for a holder that is still draining', async () => {
  const first = await opened();
  const second = openSqliteStore(path, { clock, logger });
  while (clock.pending === 0) await setImmediate();
  clock.advance(3_000);
  await first.close();
  await (await opened(second)).close();
});

it('waits equally long when the system clock is changed, as happens right after boot', async () => {
  const first = await opened();
  const second = openSqliteStore(path, { clock, logger });
  while (clock.pending === 0) await setImmediate();
  clock.step(3_600_000);
  clock.advance(3_000);
  await first.close();
  await (await opened(second)).close();
});

it('keeps the process alive while it waits for the lock', async () => {
  const first = await StoreChild.start(`sqlite:${path}`, 'hold');
  const second = StoreChild.launch(`sqlite:${path}`, 'hold');
  await second.saying(1);
  expect(second.lines[0]).toContain('store_lock_waiting');
  await first.kill();
  await second.saying(2);
  expect(second.lines[1]).toBe('open');
  await second.kill();
});

it('waits for a tool that has locked a new file', async () => {
  const tool = new DatabaseSync(path);
  tool.exec('BEGIN EXCLUSIVE');
  const opening = openSqliteStore(path, { clock, logger });
  while (clock.pending === 0) await setImmediate();
  tool.close();
  const store = await opened(opening);
  expect(await store.commit({ records: [{ namespace: 'tasks', key: 'a', value: {}, expected: 'absent' }] })).toBe(true);
  await store.close();
});

it('releases the lock when opening failed', async () => {
  await writeFile(path, 'this is no database, however long one looks at it'.repeat(100));
  await expect(openSqliteStore(path, { clock, logger })).rejects.toMatchObject({ code: 'store_unavailable' });
  await rm(path);
  const store = await opened();
  await store.close();
});

it('names the reason when the file cannot be created', async () => {
  await writeFile(join(directory, 'file'), '');
  const opening = openSqliteStore(join(directory, 'file', 'store.db'), { clock, logger });
  await expect(opening).rejects.toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('file') });
});

it('can be read by other tools while it is held', async () => {
  const store = await opened();
  await store.commit({ records: [{ namespace: 'tasks', key: 'a', value: { revision: 1 }, expected: 'absent' }] });
  const tool = new DatabaseSync(path, { readOnly: true });
  expect(tool.prepare('SELECT namespace, key, value FROM records').all()).toEqual([
    { namespace: 'tasks', key: 'a', value: '{"value":{"revision":1}}' },
  ]);
  tool.close();
  await store.close();
});

it('keeps a write-ahead log', async () => {
  const store = await opened();
  await store.close();
  const tool = new DatabaseSync(path);
  expect(tool.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  tool.close();
});

it('deletes expired records at start', async () => {
  const first = await opened();
  await first.keyv('adapters').set('old', 1, 1_000);
  await first.keyv('adapters').set('fresh', 1, 3_600_000);
  await first.keyv('adapters').set('kept', 1);
  await first.keyv('adapters').set('written over', 1, 1_000);
  await first.commit({ records: [{ namespace: 'adapters', key: 'written over', value: {}, expected: 'any' }] });
  await first.close();
  clock.advance(60_000);
  const second = await opened();
  const tool = new DatabaseSync(path, { readOnly: true });
  const left = tool.prepare('SELECT key FROM records ORDER BY key').all();
  expect(left.map((row) => row['key'])).toEqual(['fresh', 'kept', 'written over']);
  tool.close();
  await second.close();
});

it('still reads while a commit waits for a tool that writes to the file', async () => {
  const store = await opened();
  await store.commit(claim('a'));
  const tool = new DatabaseSync(path);
  tool.exec('BEGIN IMMEDIATE');
  let isDone = false;
  const commit = store.commit(claim('b')).finally(() => {
    isDone = true;
  });
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  expect(await store.keyv('tasks').getMany(['a', 'b'])).toEqual([{ revision: 1 }, undefined]);
  expect(isDone).toBe(false);
  tool.close();
  expect(await commit).toBe(true);
  expect(await store.keyv('tasks').get('b')).toEqual({ revision: 1 });
  await store.close();
});

it('rejects every call once the writer thread has died, logs it once, and releases the file', async () => {
  const said: string[] = [];
  const listening = pino({ level: 'info' }, { write: (line: string) => void said.push(line) });
  const [store, [thread]] = await Promise.all([
    opened(openSqliteStore(path, { clock, logger: listening })),
    once(process, 'worker'),
  ]);
  await store.commit(claim('a'));
  const waiting = store.commit(claim('b'));
  await thread.terminate();
  const dead = { code: 'store_unavailable', message: expect.stringContaining('its thread ended') };
  await expect(waiting).rejects.toMatchObject(dead);
  await expect(store.commit(claim('c'))).rejects.toMatchObject(dead);
  await expect(store.keyv('tasks').get('a')).rejects.toMatchObject(dead);
  await expect(store.ping()).rejects.toMatchObject(dead);
  await store.close();
  expect(said.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, msg: expect.stringContaining('has died') }]);
  const next = await opened();
  expect(await next.keyv('tasks').get('a')).toEqual({ revision: 1 });
  await next.close();
});

it('does not keep the process alive without pending writes', async () => {
  const child = await StoreChild.start(`sqlite:${path}`, 'leave');
  await child.ended();
  expect(child.lines).toEqual(['last']);
});

it('leaves one file behind that contains everything', async () => {
  const store = await opened();
  await store.commit({ records: [{ namespace: 'tasks', key: 'a', value: {}, expected: 'absent' }] });
  await store.close();
  const tool = new DatabaseSync(`file:${path}?immutable=1`, { readOnly: true });
  expect(tool.prepare('SELECT count(*) AS records FROM records').get()).toEqual({ records: 1 });
  tool.close();
});

it('writes the index entries of one task to the same page, beside one page of each index', async () => {
  const store = await opened();
  const names = ['history', 'history:ana', 'history-in', 'open', 'open:ana', 'open-in', 'state', 'spend'];
  const entries = (member: string, score: number) => names.map((index) => ({ index, member, score }));
  const members = Array.from({ length: 500 }, (_, number) => hash('sha256', `${number}`));
  await store.commit({ records: [], index: members.flatMap((member, number) => entries(member, number)) });
  const reader = new DatabaseSync(path);
  reader.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await store.commit({ records: [], index: entries(hash('sha256', 'another'), members.length) });
  const pages = reader.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log'];
  reader.close();
  expect(Number(pages)).toBeLessThan(2 * names.length);
  await store.close();
});

/** Returns everything in the files of a store, freed pages included. */
const bytesAt = async (file: string): Promise<string> => {
  const found = await Promise.all(['', '-wal', '-shm'].map((end) => readFile(file + end).catch(() => Buffer.alloc(0))));
  return Buffer.concat(found).toString('latin1');
};

/** Writes and removes a secret in every way: short and on pages of its own, by deleting, replacing, and in an index. */
async function removeSecrets(store: Store): Promise<void> {
  const records = store.keyv('tasks');
  const keys = Array.from({ length: 200 }, (_, at) => `t${at}`);
  for (const [at, key] of keys.entries()) await records.set(key, { text: 'secret '.repeat(at % 3 === 0 ? 2_000 : 3) });
  await store.commit({ records: [], index: keys.map((member) => ({ index: 'by:secret', member, score: 1 })) });
  for (const [at, key] of keys.entries()) {
    if (at % 2 === 0) await records.delete(key);
    else await records.set(key, { text: 'x' });
  }
  // Growing ones are moved between pages.
  const grown = Array.from({ length: 300 }, (_, at) => hash('sha256', `${at}`));
  for (const times of [1, 20, 60]) for (const key of grown) await records.set(key, { text: 'secret '.repeat(times) });
  for (const key of grown) await records.delete(key);
  await store.commit({ records: [], index: keys.map((member) => ({ index: 'by:secret', member, score: null })) });
}

it('leaves no byte of what was deleted once that is overwritten', async () => {
  const store = await opened();
  await removeSecrets(store);
  expect(await bytesAt(path)).toContain('secret');
  await store.contents.overwriteDeleted();
  expect(await bytesAt(path)).not.toContain('secret');
  await store.close();
});

it('leaves no byte of what was deleted once a killed process was started again', async () => {
  const store = await opened();
  await removeSecrets(store);
  const killed = join(directory, 'killed.db');
  for (const end of ['', '-wal']) await copyFile(path + end, killed + end);
  expect(await bytesAt(killed)).toContain('secret');
  const next = await opened(openSqliteStore(killed, { clock, logger }));
  expect(await bytesAt(killed)).not.toContain('secret');
  await next.close();
  await store.close();
});
