import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { asDailiesError } from '../errors.ts';
import { type Bucket, type BucketAddress, type MediaConfig, openBucket } from '../storage/index.ts';
import { type Findings, ok, warning, wrong } from './diagnosis.ts';

const CONTENT = 'Written by `npm run doctor`; it may be deleted.';

/** Checks the bucket of `MEDIA_URL`: writes, reads and deletes a small object, also as someone without a key. */
export async function checkStorage({ bucket: address }: MediaConfig, clock: Clock): Promise<Findings> {
  if (address === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), 'dailies-doctor-'));
  const bucket = await openBucket(address, () => clock.now());
  try {
    return await tryBucket(bucket, address, folder);
  } catch (thrown) {
    const { message, retryable } = asDailiesError(thrown, 'trying the bucket');
    const network = 'Check the endpoint, the network and the server, then run this again.';
    return wrong(message, retryable ? network : 'Correct this, then run this again.');
  } finally {
    bucket.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryBucket(bucket: Bucket, address: BucketAddress, folder: string): Promise<Findings> {
  const key = `doctor-${randomUUID()}.txt`;
  const [path, copy] = [join(folder, 'written'), join(folder, 'read')];
  await writeFile(path, CONTENT);
  await bucket.check();
  // Without the right to list, this is refused instead of answered.
  await bucket.sizeOf(key);
  await bucket.put(key, { path, bytes: Buffer.byteLength(CONTENT), contentType: 'text/plain' });
  let isPublic = false;
  try {
    await bucket.get(key, copy);
    if ((await readFile(copy, 'utf8')) !== CONTENT)
      return wrong('it returns something else than was written', 'Look at the server, or at a proxy before it.');
    isPublic = await isReadableByAnyone(bucket, key);
  } finally {
    await bucket.remove(key);
  }
  if ((await bucket.sizeOf(key)) !== null)
    return warning('a deleted object is still there', 'Allow the key s3:DeleteObject, and look for a lock of objects.');
  const place = `${address.bucket}/${address.prefix} at ${address.endpoint ?? `AWS (${address.region})`}`;
  const block = 'Make the bucket private: turn on “Block public access”, or remove its public policy.';
  return [
    ok(`${place}: wrote, read and deleted a small object; links lead to ${bucket.origin}`),
    isPublic
      ? wrong('anyone can read it without a key, so every clip is public to those who know its name', block)
      : null,
  ];
}

/** Returns whether an object can be read without a signature. Where links lead elsewhere, it may not be reachable. */
async function isReadableByAnyone(bucket: Bucket, key: string): Promise<boolean> {
  const { url } = await bucket.sign(key, { name: 'doctor.txt', contentType: 'text/plain' }, 60_000);
  const { origin, pathname } = new URL(url);
  return fetch(`${origin}${pathname}`, { signal: AbortSignal.timeout(3_000) }).then(
    (response) => response.ok,
    () => false,
  );
}
