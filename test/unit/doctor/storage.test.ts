import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkStorage } from '#src/doctor/storage.ts';
import type { BucketAddress } from '#src/storage/index.ts';
import { type S3Server, startS3Server } from '#test/fakes/s3-server.ts';

const maxLocalBytes = 1e9;

const check = (bucket: BucketAddress) =>
  runChecks(
    [{ subject: 'Bucket', run: () => checkStorage({ bucket, maxLocalBytes }, systemClock) }],
    systemClock,
    60_000,
  );

let server: S3Server;

beforeAll(async () => {
  server = await startS3Server();
});

afterAll(() => server.close());

it('is silent about a folder', async () => {
  expect(await checkStorage({ maxLocalBytes }, systemClock)).toBeNull();
});

it('writes, reads and deletes', async () => {
  const found = await check(server.address);
  expect(found).toMatchObject([{ level: 'ok', found: expect.stringContaining('wrote, read and deleted') }]);
  const left = await readdir(server.directory, { recursive: true });
  expect(left.filter((name) => name.includes('doctor-'))).toEqual([]);
});

it('finds that anyone can read', async () => {
  server.isPublic = true;
  const found = await check(server.address);
  server.isPublic = false;
  expect(found).toMatchObject([
    { level: 'ok', found: expect.stringContaining('wrote, read and deleted') },
    { level: 'wrong', found: expect.stringContaining('anyone can read') },
  ]);
});

it.each([
  ['a missing bucket', { bucket: 'no-such-bucket' }, 'there is no such bucket'],
  ['a wrong key', { credentials: { accessKeyId: 'WRONG', secretAccessKey: 'S3RVER' } }, 'AWS_ACCESS_KEY_ID'],
  ['a wrong secret', { credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'x' } }, 'AWS_SECRET_ACCESS_KEY'],
  ['a wrong region', { region: 'eu-west-1' }, 'AWS_REGION'],
  ['a server that is away', { endpoint: 'http://127.0.0.1:9' }, 'ECONNREFUSED'],
])('names %s', async (_what, change, reason) => {
  const [found] = await check({ ...server.address, ...change });
  expect(found).toMatchObject({ level: 'wrong', found: expect.stringContaining(reason) });
});
