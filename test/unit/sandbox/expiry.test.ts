import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SANDBOX_KEEPS_MS, sandboxExpiry } from '#src/sandbox/expiry.ts';
import { SandboxRecords, type SandboxTask } from '#src/sandbox/records.ts';
import { startJobs } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { NOON_MS } from '#test/fakes/tasks.ts';

const HOUR_MS = 3_600_000;
const NEW_MS = NOON_MS + SANDBOX_KEEPS_MS;

const task = (id: string, status: SandboxTask['status'], endedAtMs?: number): SandboxTask => ({
  id,
  status,
  model: 'swift-1',
  prompt: `a red fox of ${id}`,
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: ['https://fox.example/1.png'], audio: [], video: [] },
  steering: null,
  createdAtMs: NOON_MS,
  ...(endedAtMs === undefined ? {} : { endedAtMs }),
});

it('deletes clips and prompts after a week, an hour after the start at the earliest; the ledger stays', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-expiry-'));
  const clipsDir = join(dir, 'clips');
  await mkdir(clipsDir);
  const records = new SandboxRecords(join(dir, 'sandbox.db'));
  const clock = new ManualClock(NEW_MS + HOUR_MS);
  onTestFinished(async () => {
    records.close();
    await rm(dir, { recursive: true });
  });
  const tasks = [
    task('old', 'completed', NOON_MS),
    task('failed', 'failed', NOON_MS),
    task('new', 'completed', NEW_MS),
    task('running', 'in_progress'),
  ];
  for (const one of tasks) records.create(one, '0.30', 'USD');
  for (const [id, atMs] of [
    ['old', NOON_MS],
    ['new', NEW_MS],
  ] as const) {
    await writeFile(join(clipsDir, `${id}.mp4`), id);
    await utimes(join(clipsDir, `${id}.mp4`), new Date(atMs), new Date(atMs));
  }
  const before = records.ledger();
  const jobs = startJobs({ clock }, sandboxExpiry({ records, clipsDir, clock }));
  onTestFinished(() => jobs.stop());
  clock.advance(HOUR_MS - 1);
  expect(await readdir(clipsDir)).toHaveLength(2);
  clock.advance(1);
  await expect.poll(() => readdir(clipsDir)).toEqual(['new.mp4']);
  const { media, ...old } = task('old', 'completed', NOON_MS);
  expect(records.find('old')).toEqual({ ...old, prompt: '', media: { ...media, image: [] } });
  expect(records.find('failed')?.prompt).toBe('');
  for (const id of ['new', 'running']) expect(records.find(id)).toEqual(tasks.find((one) => one.id === id));
  expect(records.ledger()).toEqual(before);
});
