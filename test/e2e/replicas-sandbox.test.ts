import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RedisServer } from '../fakes/redis-server.ts';
import { answered, makeDir, type RunningDailies, runToEnd, startDailies } from './dailies.ts';

/** Prepares a Redis and a folder for the test, and the one variable that a replica on them needs. */
async function ground() {
  const redis = await RedisServer.start('--maxmemory-policy', 'noeviction');
  onTestFinished(() => redis.remove());
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  return { dir: dir.path, env: { STORE_URL: redis.url } };
}

async function start(options: Awaited<ReturnType<typeof ground>>): Promise<RunningDailies> {
  const replica = await startDailies(options);
  onTestFinished(() => replica.kill());
  return replica;
}

/** Returns the charges of a folder's sandbox, by task. */
async function charged(dir: string): Promise<readonly string[]> {
  const { port, token } = JSON.parse(await readFile(join(dir, 'data/sandbox/address.json'), 'utf8'));
  const answer = await fetch(`http://127.0.0.1:${port}/sandbox/ledger`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { entries } = (await answer.json()) as { entries: readonly { task: string; kind: string }[] };
  return entries.filter(({ kind }) => kind === 'charge').map(({ task }) => task);
}

test('two replicas in one folder share the sandbox; its host dies in mid-render, and every clip arrives', async () => {
  const options = await ground();
  const first = await start(options);
  const second = await start(options);
  const order = async (replica: RunningDailies, prompt: string): Promise<string> =>
    answered(
      await replica.interact(`/video create ${prompt} --model sketch-480p --seconds 1`, {
        id: prompt.replaceAll(' ', '-'),
      }),
    );
  const before = [await order(first, 'a red fox'), await order(second, 'a blue bird')];
  // Both are accepted: a request without a response could only be reported as uncertain.
  await expect.poll(async () => (await charged(options.dir)).length, { timeout: 60_000 }).toBe(2);
  for (const id of before) {
    await expect.poll(async () => (await second.message(id)).state, { timeout: 60_000 }).not.toBe('sending');
  }
  await first.kill();
  const after = [await order(second, 'a green frog'), await order(second, 'a white owl')];
  for (const id of [...before, ...after]) {
    await second.reaches(id, 'completed');
    await expect.poll(async () => (await second.message(id)).attachments, { timeout: 60_000 }).toHaveLength(1);
  }
  const tasks = await charged(options.dir);
  expect(new Set(tasks).size).toBe(4);
  expect(tasks).toHaveLength(4);
});

test('a replica in another folder reports why it cannot start, and what to set', async () => {
  const options = await ground();
  await start(options);
  const elsewhere = await makeDir();
  onTestFinished(() => elsewhere.remove());
  const { code, output } = await runToEnd({ ...options, dir: elsewhere.path });
  expect(code).toBe(1);
  expect(output).toMatch(/VIDEO_API_BASE_URL and VIDEO_API_TOKEN of a video service that all of them reach/);
});
