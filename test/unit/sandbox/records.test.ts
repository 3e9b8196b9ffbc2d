import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SandboxRecords, type SandboxTask } from '#src/sandbox/records.ts';
import { temporaryFolder } from '#test/fakes/sandbox-client.ts';

const TASK: SandboxTask = {
  id: 'video_1',
  status: 'queued',
  model: 'swift-1',
  prompt: 'a fox',
  seconds: 4,
  aspectRatio: '16:9',
  resolution: '480p',
  media: { image: [], audio: [], video: [] },
  steering: null,
  createdAtMs: 1_700_000_000_000,
};

async function open(path?: string): Promise<{ records: SandboxRecords; path: string }> {
  const file = path ?? join(await temporaryFolder(), 'sandbox.db');
  return { records: new SandboxRecords(file), path: file };
}

it('persists a task and its charge across processes', async () => {
  const { records, path } = await open();
  records.create(TASK, '0.20', 'USD');
  records.close();
  const { records: again } = await open(path);
  onTestFinished(() => again.close());
  expect(again.find('video_1')).toEqual(TASK);
  expect(again.open()).toEqual([TASK]);
  expect(again.ledger()).toEqual([
    { task: 'video_1', kind: 'charge', amount: '0.20', currency: 'USD', atMs: TASK.createdAtMs },
  ]);
});

it('refunds a failed task once and a completed one never', async () => {
  const { records } = await open();
  onTestFinished(() => records.close());
  records.create(TASK, '0.20', 'USD');
  records.create({ ...TASK, id: 'video_2' }, '0.10', 'USD');
  const failed: SandboxTask = { ...TASK, status: 'failed', endedAtMs: TASK.createdAtMs + 1 };
  records.update(failed);
  expect(() => records.update(failed)).toThrow();
  records.update({ ...TASK, id: 'video_2', status: 'completed' });
  expect(records.ledger().map(({ task, kind, amount }) => `${task} ${kind} ${amount}`)).toEqual([
    'video_1 charge 0.20',
    'video_2 charge 0.10',
    'video_1 refund 0.20',
  ]);
  expect(records.open()).toEqual([]);
});

it('rolls back the task and its charge when either write fails', async () => {
  const { records } = await open();
  onTestFinished(() => records.close());
  records.create(TASK, '0.20', 'USD');
  expect(() => records.create(TASK, '0.20', 'USD')).toThrow();
  expect(records.ledger()).toHaveLength(1);
});

it('throws store_unavailable when the file cannot be used', async () => {
  expect(() => new SandboxRecords('/nowhere/sandbox.db')).toThrow(
    expect.objectContaining({ code: 'store_unavailable' }),
  );
});
