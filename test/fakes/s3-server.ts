import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { BucketAddress } from '#src/storage/bucket-address.ts';
import { refusalOf, type SignatureRefusal } from './aws-signature.ts';
import { freePort } from './ports.ts';

/**
 * An S3-compatible server of others (s3rver), with one private bucket. s3rver checks no signature of version 4, so
 * that is done before it.
 */
export interface S3Server {
  /** Origin, such as `http://127.0.0.1:4568`. */
  readonly endpoint: string;
  /** The bucket with the right key, and a prefix. */
  readonly address: BucketAddress;
  /** Folder in which the server has its files. */
  readonly directory: string;
  /** Called before each request; `false`: the connection is cut. Default: all are served. */
  before: (request: IncomingMessage) => boolean;
  /** `true`: requests without a signature are served, as in a bucket that is open to anyone. Default: false. */
  isPublic: boolean;
  /** Difference of the server's clock in ms. Default: 0. */
  skewMs: number;
  close(): Promise<void>;
}

/** Name of the bucket. */
const BUCKET = 'clips';
const REGION = 'us-east-1';
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** Starts a server on a free port, or on a given one. @param directory of an earlier one; absent: a new one. */
export async function startS3Server(
  at: { readonly port?: number; readonly directory?: string } = {},
): Promise<S3Server> {
  const directory = at.directory ?? (await mkdtemp(join(tmpdir(), 'dailies-s3-')));
  const configureBuckets = [{ name: BUCKET, configs: [] }];
  const s3 = new S3rver({ silent: true, directory, configureBuckets });
  await s3.configureBuckets();
  const handle = s3.callback();
  const check = (request: IncomingMessage): SignatureRefusal | null => {
    const isAnonymous = request.headers.authorization === undefined && request.url?.includes('X-Amz-') !== true;
    if (found.isPublic && isAnonymous) return null;
    return refusalOf(request, { ...CREDENTIALS, region: REGION, nowMs: Date.now() + found.skewMs });
  };
  const http = createServer((request, response) => {
    const refusal = check(request);
    if (!found.before(request)) request.socket.destroy();
    else if (refusal === null) handle(request, response);
    else refuse(request, response, refusal);
  });
  http.listen(at.port ?? (await freePort()), '127.0.0.1');
  await once(http, 'listening');
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const found: S3Server = {
    endpoint,
    address: { bucket: BUCKET, prefix: 'dailies/', region: REGION, endpoint, credentials: CREDENTIALS },
    directory,
    before: () => true,
    isPublic: false,
    skewMs: 0,
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

/** Answers as S3 does; the body of an answer to HEAD is empty. */
function refuse(request: IncomingMessage, response: ServerResponse, { status, code, message }: SignatureRefusal): void {
  request.resume();
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  );
}
