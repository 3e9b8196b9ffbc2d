import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { BucketAddress } from '#src/storage/bucket-address.ts';

/** An S3-compatible server of others (s3rver), with one bucket. */
export interface S3Server {
  /** Origin, such as `http://127.0.0.1:4568`. */
  readonly endpoint: string;
  /** The bucket with the right key, and a prefix. */
  readonly address: BucketAddress;
  /** Folder in which the server has its files. */
  readonly directory: string;
  /** Called before each request; `false`: the connection is cut. Default: all are served. */
  before: (request: IncomingMessage) => boolean;
  close(): Promise<void>;
}

/** Name of the bucket. */
const BUCKET = 'clips';

/** Starts a server on an ephemeral port, or on a given one. @param directory of an earlier one; absent: a new one. */
export async function startS3Server(
  at: { readonly port?: number; readonly directory?: string } = {},
): Promise<S3Server> {
  const directory = at.directory ?? (await mkdtemp(join(tmpdir(), 'dailies-s3-')));
  const configureBuckets = [{ name: BUCKET, configs: [] }];
  const s3 = new S3rver({ silent: true, directory, configureBuckets });
  await s3.configureBuckets();
  const handle = s3.callback();
  const http = createServer((request, response) => {
    if (found.before(request)) handle(request, response);
    else request.socket.destroy();
  });
  http.listen(at.port ?? 0, '127.0.0.1');
  await once(http, 'listening');
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const found: S3Server = {
    endpoint,
    address: { bucket: BUCKET, prefix: 'dailies/', region: 'us-east-1', endpoint, credentials },
    directory,
    before: () => true,
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
      if (at.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
  return found;
}
