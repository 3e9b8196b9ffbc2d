import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { faultOf } from '#src/engine/store/sqlite/errors.ts';
import { type SqliteThread, SqliteWriter, startSqliteThread } from '#src/engine/store/sqlite/writer.ts';
import type { SqliteBatch, SqliteWrite } from '#src/engine/store/sqlite/writes.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

/** A thread whose replies come from the test; messages are cloned, as between threads. */
class FakeThread extends EventEmitter implements SqliteThread {
  readonly posted: (SqliteBatch | null)[] = [];
  /** True while it keeps the process alive. */
  isReferenced = true;

  postMessage(batch: SqliteBatch | null): void {
    this.posted.push(structuredClone(batch));
  }

  answer(outcome: unknown): void {
    this.emit('message', structuredClone(outcome));
  }

  ref(): void {
    this.isReferenced = true;
  }

  unref(): void {
    this.isReferenced = false;
  }

  /** Number of writes in each batch so far. */
  get sizes(): readonly (number | undefined)[] {
    return this.posted.map((batch) => batch?.writes.length);
  }
}

const clock = new ManualClock(1_000_000);
let said: string[];
let thread: FakeThread;
let writer: SqliteWriter;

beforeEach(() => {
  said = [];
  thread = new FakeThread();
  writer = new SqliteWriter(thread, { clock, logger: pino({}, { write: (line: string) => void said.push(line) }) });
});

function write(key: string): Promise<boolean> {
  const deletion: SqliteWrite = { kind: 'delete', namespace: 'tasks', key };
  return writer.write(deletion);
}

function writeMany(count: number): Promise<readonly boolean[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => write(`${at}`)));
}

it('batches the writes of one turn of the event loop, in order, with the current time', async () => {
  const answers = Promise.all([write('a'), write('b')]);
  expect(thread.posted).toEqual([]);
  await setImmediate();
  const writes = ['a', 'b'].map((key) => ({ kind: 'delete', namespace: 'tasks', key }));
  expect(thread.posted).toEqual([{ writes, nowMs: clock.now() }]);
  thread.answer([true, false]);
  expect(await answers).toEqual([true, false]);
});

it('collects writes while a batch is in flight, and posts them when it is settled', async () => {
  void writeMany(1);
  await setImmediate();
  const later = [writeMany(20), setImmediate().then(() => writeMany(30))];
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(thread.sizes).toEqual([1]);
  thread.answer([true]);
  expect(thread.sizes).toEqual([1, 50]);
  thread.answer(Array.from({ length: 50 }, () => true));
  expect((await Promise.all(later)).flat()).toHaveLength(50);
});

it('resolves the first of many writes before the last are written', async () => {
  const answers = writeMany(2_500);
  await setImmediate();
  for (const size of [1_000, 1_000, 500]) {
    expect(thread.sizes.at(-1)).toBe(size);
    thread.answer(Array.from({ length: size }, () => true));
  }
  expect(await answers).toHaveLength(2_500);
});

it('resolves no write before the batch is on disk', async () => {
  let isAnswered = false;
  const answer = write('a').finally(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(isAnswered).toBe(false);
  thread.answer([true]);
  expect(await answer).toBe(true);
});

it.each([
  ['disk_full', 13],
  ['store_unavailable', 10 | (4 << 8)],
])('rejects every write of a failed batch with %s, and continues', async (code, errcode) => {
  const results = Promise.allSettled([write('a'), write('b')]);
  await setImmediate();
  thread.answer(faultOf(Object.assign(new Error('what SQLite said'), { errcode })));
  const refusal = { status: 'rejected', reason: { code, retryable: true, cause: { message: 'what SQLite said' } } };
  expect(await results).toMatchObject([refusal, refusal]);
  const next = write('c');
  await setImmediate();
  thread.answer([true]);
  expect(await next).toBe(true);
});

it('rejects pending and new writes once the thread has died, and logs the reason', async () => {
  const underWay = write('a');
  await setImmediate();
  const waiting = write('b');
  thread.emit('error', new Error('out of memory'));
  thread.emit('exit', 1);
  const dead = { code: 'store_unavailable', retryable: true, message: expect.stringContaining('out of memory') };
  for (const lost of [underWay, waiting, write('c')]) await expect(lost).rejects.toMatchObject(dead);
  expect(() => writer.assertAlive('asking')).toThrow('asking: out of memory');
  expect(said.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, err: { message: 'out of memory' } }]);
  await writer.close();
});

it('keeps the process alive only while a batch is in flight', async () => {
  expect(thread.isReferenced).toBe(false);
  const answer = write('a');
  await setImmediate();
  expect(thread.isReferenced).toBe(true);
  thread.answer([true]);
  expect(thread.isReferenced).toBe(false);
  await answer;
});

it('closes after all writes settled, without logging', async () => {
  const first = write('a');
  await setImmediate();
  const rest = writeMany(1_200);
  const closing = writer.close();
  expect(thread.sizes).toEqual([1, 1_200, undefined]);
  expect(thread.posted.at(-1)).toBeNull();
  thread.answer([true]);
  expect(thread.isReferenced).toBe(true);
  thread.answer(Array.from({ length: 1_200 }, () => true));
  thread.emit('exit', 0);
  await closing;
  expect(await first).toBe(true);
  expect(await rest).toHaveLength(1_200);
  expect(said).toEqual([]);
});

it('fails with the error of SQLite when the thread cannot open the file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-writer-'));
  try {
    await expect(startSqliteThread(join(directory, 'missing', 'store.db'))).rejects.toMatchObject({ errcode: 14 });
  } finally {
    await rm(directory, { recursive: true });
  }
});
