import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { type Bucket, openBucket } from '#src/storage/bucket.ts';
import { BucketStorage } from '#src/storage/bucket-storage.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { type S3Server, startS3Server } from '#test/fakes/s3-server.ts';
import { clipStorageContract } from './clip-storage.contract.ts';

const logger = pino({ level: 'silent' });

describe('clips in a folder', () => {
  clipStorageContract(() => ({ open: (folder) => new FolderStorage(folder), sharesFolder: true }));
});

describe('clips in a bucket', () => {
  let server: S3Server;
  let bucket: Bucket;
  let runs = 0;

  beforeAll(async () => {
    server = await startS3Server();
  });

  beforeEach(async () => {
    runs += 1;
    bucket = await openBucket({ ...server.address, prefix: `run-${runs}/` }, Date.now);
    return () => bucket.close();
  });

  afterAll(() => server.close());

  clipStorageContract(() => ({
    open: (folder) => new BucketStorage({ bucket, folder, maxLocalBytes: 1e9, logger }),
    sharesFolder: false,
  }));
});
