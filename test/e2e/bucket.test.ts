import { afterEach, beforeEach, expect, test } from 'vitest';
import { type S3Server, startS3Server } from '../fakes/s3-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, questionToDelete, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let bucket: S3Server;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  bucket = await startS3Server();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await Promise.all([upstream.close(), bucket.close()]);
  await dir.remove();
});

/** Starts the program with the bucket. @param change of its environment */
function start(change: Readonly<Record<string, string>> = {}): Promise<RunningDailies> {
  const { endpoint, address } = bucket;
  const MEDIA_URL = `s3://${address.bucket}/dailies?endpoint=${endpoint}`;
  const { accessKeyId = '', secretAccessKey = '' } = address.credentials ?? {};
  const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  return startDailies({ dir: dir.path, upstream, env: { MEDIA_URL, ...keys, ...change } });
}

const downloads = () => upstream.requests.filter(({ path }) => path.endsWith('/content')).length;

async function readiness(): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${dailies.url}/readyz`);
  return { status: response.status, text: await response.text() };
}

/** Waits for the clip in a message, which says that it is completed before the clip is fetched. */
async function delivered(message: string) {
  await expect.poll(async () => (await dailies.message(message)).attachments.length).toBe(1);
  return dailies.message(message);
}

test('a clip is in the bucket over a kill before its upload, plays from there, and is deleted there', async () => {
  dailies = await start();
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  bucket.before = ({ method }) => {
    if (method !== 'PUT') return true;
    bucket.before = () => true;
    void dailies.kill().then(resolve);
    return false;
  };
  const order = { id: 'the order' };
  const ordered = answered(await dailies.interact('/video create a red fox', order));
  await killed;
  expect(downloads()).toBe(1);
  dailies = await start();
  expect(answered(await dailies.interact('/video create a red fox', order))).toBe(ordered);
  const { task, attachments } = await delivered(ordered);
  expect({ posts: upstream.posts, creates: upstream.creates }).toEqual({ posts: 1, creates: 1 });
  expect(await readiness()).toMatchObject({ status: 200 });

  const link = new URL(attachments[0]?.url ?? '', dailies.url);
  const part = await fetch(link, { headers: { range: 'bytes=100-199' } });
  expect({ origin: new URL(part.url).origin, status: part.status }).toEqual({ origin: bucket.endpoint, status: 206 });
  expect(Buffer.from(await part.arrayBuffer())).toEqual(upstream.clip.subarray(100, 200));
  expect((await fetch(part.url.replace(/\?.*/, ''))).status).toBe(403);

  const question = await questionToDelete(dailies, task ?? '');
  await dailies.press(question.id, buttonOf(question, 'delete'));
  await expect.poll(async () => (await fetch(part.url)).status).toBe(404);
  expect(upstream.posts).toBe(1);
});

test('a wrong secret and a missing bucket are named by readyz, and a clip of that time is not lost', async () => {
  dailies = await start({ AWS_SECRET_ACCESS_KEY: 'hunter2' });
  const refused = await readiness();
  expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('correct AWS_SECRET_ACCESS_KEY') });
  expect(refused.text).not.toContain('hunter2');
  const ordered = answered(await dailies.interact('/video create a red fox'));
  const { attachments } = await delivered(ordered);
  const link = new URL(attachments[0]?.url ?? '', dailies.url);
  expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(upstream.clip);
  await dailies.stop();

  dailies = await start({ MEDIA_URL: `s3://other/dailies?endpoint=${bucket.endpoint}` });
  expect(await readiness()).toMatchObject({ status: 503, text: expect.stringContaining('there is no such bucket') });
  expect(upstream.posts).toBe(1);
});
