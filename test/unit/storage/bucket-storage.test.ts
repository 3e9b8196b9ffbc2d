import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Bucket, openBucket } from '#src/storage/bucket.ts';
import type { BucketAddress } from '#src/storage/bucket-address.ts';
import { BucketStorage } from '#src/storage/bucket-storage.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { Clip } from '#src/videos/service.ts';
import { type S3Server, startS3Server } from '#test/fakes/s3-server.ts';

const ID = 'task' as TaskId;
const HOUR_MS = 3_600_000;

let server: S3Server;
let root: string;
let runs = 0;
let open: Bucket[] = [];

beforeAll(async () => {
  server = await startS3Server();
});

afterAll(() => server.close());

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dailies-bucket-'));
  runs += 1;
  open = [];
});

afterEach(async () => {
  for (const bucket of open) bucket.close();
  await rm(root, { recursive: true });
});

async function bucketOf(change: Partial<BucketAddress> = {}): Promise<Bucket> {
  const bucket = await openBucket({ ...server.address, prefix: `run-${runs}/`, ...change }, Date.now);
  open.push(bucket);
  return bucket;
}

/** The storage of a machine of its own. */
async function machine(name: string, change: Partial<Bucket> = {}, maxLocalBytes = 1e9): Promise<BucketStorage> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  const bucket = { ...(await bucketOf()), ...change };
  return new BucketStorage({ bucket, folder, maxLocalBytes, logger: pino({ level: 'silent' }) });
}

async function keep(storage: BucketStorage, text: string, id = ID): Promise<Clip> {
  const path = storage.pathOf(id);
  await writeFile(path, text);
  return storage.keep(id, { path, bytes: text.length, contentType: 'video/mp4' });
}

const filesOf = async (name: string) => (await readdir(join(root, name))).toSorted();

describe('storing', () => {
  it('keeps what another machine stored first', async () => {
    const [one, other] = [await machine('one'), await machine('other')];
    await keep(one, 'first');
    const kept = await keep(other, 'another one');
    expect(kept.bytes).toBe('first'.length);
    expect(await readFile(kept.path, 'utf8')).toBe('first');
    expect(await (await bucketOf()).sizeOf('task.mp4')).toBe('first'.length);
  });

  it('does not count an object of another length, and stores it again', async () => {
    const bucket = await bucketOf();
    const put = async (key: string, file: Clip): Promise<void> => {
      await writeFile(join(root, 'half'), 'ha');
      await bucket.put(key, { ...file, path: join(root, 'half'), bytes: 2 });
    };
    await expect(keep(await machine('one', { put }), 'halved')).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await bucket.sizeOf('task.mp4')).toBeNull();
    await keep(await machine('one'), 'halved');
    expect(await bucket.sizeOf('task.mp4')).toBe(6);
  });

  it('leaves no half of a clip where reading breaks off', async () => {
    const clip = await keep(await machine('one'), 'a whole clip');
    const get = (_key: string, path: string) => writeFile(path, 'a who');
    const other = await machine('other', { get });
    await expect(other.find(ID, clip)).rejects.toMatchObject({ code: 'storage_unavailable', retryable: true });
    expect(await filesOf('other')).toEqual([]);
  });

  it('removes nothing here before the bucket has removed it', async () => {
    const remove = () => Promise.reject(new TypeError('away'));
    const storage = await machine('one', { remove });
    await keep(storage, 'a clip');
    await expect(storage.remove(ID)).rejects.toThrow('away');
    expect(await filesOf('one')).toEqual(['task.mp4']);
  });
});

describe('local copies', () => {
  /** Makes a file as old as if it had been used that long ago. */
  const age = (path: string, ms: number) => utimes(path, new Date(Date.now() - ms), new Date(Date.now() - ms));

  it('are deleted above the size, the one used longest ago first, and brought back', async () => {
    const storage = await machine('one', {}, 25);
    const clips = [];
    for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) {
      const clip = await keep(storage, `clip of ${id} `, id as TaskId);
      await age(clip.path, (4 - at) * HOUR_MS);
      clips.push(clip);
    }
    await storage.find('a' as TaskId, clips[0] as Clip);
    await storage.copies.evict();
    expect(await filesOf('one')).toEqual(['a.mp4', 'd.mp4']);
    expect(await storage.find('b' as TaskId, clips[1] as Clip)).toMatchObject({ bytes: 10 });
  });

  it('make room for other files, those that the bucket has', async () => {
    const storage = await machine('one');
    for (const [at, id] of ['a', 'b', 'c'].entries())
      await age((await keep(storage, `clip of ${id} `, id as TaskId)).path, (4 - at) * HOUR_MS);
    await writeFile(join(root, 'one', 'pending.mp4'), 'not uploaded');
    await age(join(root, 'one', 'pending.mp4'), 9 * HOUR_MS);
    expect(await storage.copies.free(15)).toBe(20);
    expect(await filesOf('one')).toEqual(['c.mp4', 'pending.mp4']);
  });

  it('stay where the bucket does not have them, is away, or they were just used', async () => {
    const storage = await machine('one', {}, 1);
    await keep(storage, 'a clip');
    await writeFile(join(root, 'one', 'pending.mp4'), 'not uploaded');
    await age(join(root, 'one', 'pending.mp4'), HOUR_MS);
    await writeFile(join(root, 'one', 'other.poster.jpg'), 'a picture');
    await storage.copies.evict();
    expect(await filesOf('one')).toEqual(['other.poster.jpg', 'pending.mp4', 'task.mp4']);
    await age(join(root, 'one', 'task.mp4'), HOUR_MS);
    const sizeOf = () => Promise.reject(new TypeError('away'));
    await (await machine('one', { sizeOf }, 1)).copies.evict();
    expect(await filesOf('one')).toContain('task.mp4');
    await storage.copies.evict();
    expect(await filesOf('one')).toEqual(['other.poster.jpg', 'pending.mp4']);
  });
});

describe('errors', () => {
  it.each<[string, Partial<BucketAddress>, string]>([
    ['a missing bucket', { bucket: 'no-such-bucket' }, 'there is no such bucket'],
    ['a wrong key', { credentials: { accessKeyId: 'WRONG', secretAccessKey: 'S3RVER' } }, 'AWS_ACCESS_KEY_ID'],
    ['a wrong secret', { credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'x' } }, 'AWS_SECRET_ACCESS_KEY'],
    ['a wrong region', { region: 'eu-west-1' }, 'AWS_REGION'],
  ])('name %s, which a person has to correct', async (_what, change, reason) => {
    const bucket = await bucketOf(change);
    const clip = { path: join(root, 'clip.mp4'), bytes: 4, contentType: 'video/mp4' };
    await writeFile(clip.path, 'clip');
    const thrown = await bucket.put('task.mp4', clip).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'storage_unavailable', retryable: false });
    expect((thrown as Error).message).toContain(reason);
  });

  it('say that a bucket is away, which passes', async () => {
    const bucket = await bucketOf({ endpoint: 'http://127.0.0.1:9' });
    await expect(bucket.check()).rejects.toMatchObject({ code: 'storage_unavailable', retryable: true });
    await expect(bucket.sizeOf('task.mp4')).rejects.toThrow('ECONNREFUSED');
  });

  it('say that the clock of this machine is wrong', async () => {
    const bucket = await bucketOf();
    server.skewMs = 20 * 60_000;
    const checked = bucket.check();
    await expect(checked.finally(() => Object.assign(server, { skewMs: 0 }))).rejects.toThrow('clock is wrong');
  });

  it('do not take a missing bucket for a missing clip when it is checked', async () => {
    const bucket = await bucketOf({ bucket: 'no-such-bucket' });
    await expect(bucket.check()).rejects.toThrow('there is no such bucket');
  });

  it('never name the secret', async () => {
    const bucket = await bucketOf({ credentials: { accessKeyId: 'WRONG', secretAccessKey: 'hunter2-hunter2' } });
    const thrown = await bucket.check().catch((error: unknown) => error);
    expect(JSON.stringify([thrown, String(thrown), basename(root)])).not.toContain('hunter2');
  });
});

describe('links', () => {
  it('lead to the public endpoint, and end with the credentials', async () => {
    const bucket = await bucketOf({ publicEndpoint: 'https://s3.example.com' });
    expect(bucket.origin).toBe('https://s3.example.com');
    const file = { name: 'a.mp4', contentType: 'text/html', isDownload: true };
    const storage = await machine('one', bucket);
    const { url, expiresAtMs } = await storage.link(ID, file, 60_000);
    const { origin, pathname, searchParams } = new URL(url);
    expect({ origin, pathname }).toEqual({ origin: 'https://s3.example.com', pathname: `/clips/run-${runs}/task.mp4` });
    expect(searchParams.get('X-Amz-Expires')).toBe('60');
    expect(searchParams.get('response-content-type')).toBe('application/octet-stream');
    expect(searchParams.get('response-content-disposition')).toBe("attachment; filename*=UTF-8''a.mp4");
    expect(expiresAtMs).toBeGreaterThan(Date.now());
  });

  it('show one clip alone, until they expire, and are the only way to it', async () => {
    const storage = await machine('one');
    await keep(storage, 'a clip');
    await keep(storage, 'another one', 'other' as TaskId);
    const { url } = await storage.link(ID, { name: 'a.mp4', contentType: 'video/mp4' }, 60_000);
    const bare = url.slice(0, url.indexOf('?'));
    const statusOf = async (address: string, method = 'GET') => (await fetch(address, { method })).status;
    expect(await Promise.all([statusOf(url), statusOf(bare)])).toEqual([200, 403]);
    const changed = [
      url.replace('/task.mp4', '/other.mp4'),
      url.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'),
      url.replace('video%2Fmp4', 'text%2Fhtml'),
    ];
    for (const other of changed) expect([other === url, await statusOf(other)]).toEqual([false, 403]);
    expect(await statusOf(url, 'DELETE')).toBe(403);
    server.skewMs = 61_000;
    const later = await fetch(url).finally(() => Object.assign(server, { skewMs: 0 }));
    expect([later.status, await later.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
  });

  it('name the host of AWS by bucket and region', async () => {
    const { endpoint: _endpoint, ...aws } = { ...server.address, region: 'eu-west-1' };
    const bucket = await openBucket(aws, Date.now);
    open.push(bucket);
    expect(bucket.origin).toBe('https://clips.s3.eu-west-1.amazonaws.com');
  });
});
