import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { DailiesError, diskFull } from '../errors.ts';
import { dispositionOf } from '../http/index.ts';
import type { Clip } from '../videos/index.ts';
import type { BucketAddress } from './bucket-address.ts';
import type { LinkedFile, StorageLink } from './clip-storage.ts';

/** Objects of an S3-compatible bucket, by their key without the prefix. Every method rejects with `storage_unavailable`. */
export interface Bucket {
  readonly origin: string;
  /** Returns the length of an object in bytes; `null` where there is none. */
  sizeOf(key: string): Promise<number | null>;
  /** Stores a file in one request: it appears as a whole or not at all. No ACL is sent, so that it is private. */
  put(key: string, file: Clip): Promise<void>;
  /** Writes an object to a new file. */
  get(key: string, path: string): Promise<void>;
  /** Deletes an object, if there is one. */
  remove(key: string): Promise<void>;
  /** Signs a link to an object, without a request to the bucket. */
  sign(key: string, file: LinkedFile, lifetimeMs: number): Promise<StorageLink>;
  /** Checks that the bucket exists and that the key may list it. */
  check(): Promise<void>;
  close(): void;
}

/** Key to sign a link with that is never opened. */
const ANY_KEY = { accessKeyId: 'none', secretAccessKey: 'none' };
const CONNECT_TIMEOUT_MS = 3_000;
/** Timeout of a connection on which nothing happens. */
const IDLE_TIMEOUT_MS = 30_000;
/** Requests of one call. A caller repeats it later; a person waits for some of them. */
const MAX_ATTEMPTS = 2;

/** Opens a bucket, and loads the client: it takes about 40 MB. Nothing is requested yet. */
export async function openBucket(address: BucketAddress, now: () => number): Promise<Bucket> {
  const [sdk, { getSignedUrl }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = new sdk.S3Client(clientOptions(address, address.endpoint));
  const linked = address.publicEndpoint ?? address.endpoint;
  const signer = new sdk.S3Client(clientOptions(address, linked));
  const { bucket: Bucket, prefix } = address;
  const example = new sdk.GetObjectCommand({ Bucket, Key: prefix });
  const anyone = new sdk.S3Client({ ...clientOptions(address, linked), credentials: ANY_KEY });
  const origin = await originOf(anyone, (one) => getSignedUrl(one, example));
  const at = (key: string) => ({ Bucket, Key: `${prefix}${key}` });
  const call = <Result>(doing: string, request: () => Promise<Result>): Promise<Result> =>
    request().catch((thrown: unknown) => {
      throw asStorageError(`${doing} in the bucket ${Bucket}`, thrown, address);
    });
  return {
    origin,
    sizeOf: (key) =>
      call('looking for a clip', async () => {
        const found = await client.send(new sdk.HeadObjectCommand(at(key))).catch(nullIfMissing);
        return found === null ? null : (found.ContentLength ?? 0);
      }),
    put: (key, file) =>
      call('storing a clip', async () => {
        const { path, bytes: ContentLength, contentType: ContentType } = file;
        const ContentMD5 = await digestOf(path);
        const Body = createReadStream(path);
        await client
          .send(new sdk.PutObjectCommand({ ...at(key), Body, ContentLength, ContentMD5, ContentType }))
          .finally(() => Body.destroy());
      }),
    get: (key, path) =>
      call('reading a clip', async () => {
        const { Body } = await client.send(new sdk.GetObjectCommand(at(key)));
        if (!(Body instanceof Readable)) throw new TypeError('no stream came');
        await pipeline(Body, createWriteStream(path, { flags: 'wx' }));
      }),
    remove: (key) =>
      call('deleting a clip', async () => void (await client.send(new sdk.DeleteObjectCommand(at(key))))),
    sign: (key, file, lifetimeMs) =>
      call('signing a link', async () => {
        const lastsMs = Math.min(lifetimeMs, await credentialsLastMs(signer, now()));
        const expiresIn = Math.max(1, Math.floor(lastsMs / 1_000));
        const command = new sdk.GetObjectCommand({ ...at(key), ...headersOf(file) });
        return { url: await getSignedUrl(signer, command, { expiresIn }), expiresAtMs: now() + expiresIn * 1_000 };
      }),
    check: () =>
      call('looking for clips', async () => {
        // The response to HeadBucket would not say what is wrong.
        await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }));
      }),
    close: () => {
      client.destroy();
      signer.destroy();
    },
  };
}

function headersOf({ name, contentType, isDownload = false }: LinkedFile) {
  return { ResponseContentType: contentType, ResponseContentDisposition: dispositionOf(name, isDownload) };
}

const silent = (): void => undefined;
const SILENT = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };

function clientOptions({ region, credentials }: BucketAddress, endpoint: string | undefined) {
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: MAX_ATTEMPTS,
    // Failures are logged by the callers.
    logger: SILENT,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    // Content-MD5 is checked by every server; the newer checksums are refused by some.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } as const;
}

/** Returns the origin of links; the client knows how AWS names its buckets. */
async function originOf(client: S3Client, sign: (client: S3Client) => Promise<string>): Promise<string> {
  const { origin } = new URL(await sign(client));
  client.destroy();
  return origin;
}

/** Returns the time until the credentials expire: a link that they signed ends with them. */
async function credentialsLastMs(client: S3Client, nowMs: number): Promise<number> {
  const { expiration } = await client.config.credentials();
  return expiration === undefined ? Number.POSITIVE_INFINITY : expiration.getTime() - nowMs;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('md5');
  await pipeline(createReadStream(path), hash);
  return hash.digest('base64');
}

/** Reasons that only a person can remove, with the way out, by the code of S3 or of the client. */
const MISCONFIGURED: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket; create it, or correct MEDIA_URL',
  InvalidBucketName: 'that is no name of a bucket; correct MEDIA_URL',
  PermanentRedirect: 'the bucket is in another region; correct AWS_REGION',
  AuthorizationHeaderMalformed: 'the bucket is in another region; correct AWS_REGION',
  InvalidAccessKeyId: 'the key is unknown; correct AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret does not belong to the key; correct AWS_SECRET_ACCESS_KEY',
  ExpiredToken: 'the temporary credentials have expired; renew AWS_SESSION_TOKEN',
  InvalidToken: 'the session token is not accepted; correct AWS_SESSION_TOKEN',
  AccessDenied:
    'the key may not do that; allow it s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject in it',
  AllAccessDisabled: 'the bucket is disabled',
  RequestTimeTooSkewed: 'this machine’s clock is wrong; set it by NTP',
  CredentialsProviderError:
    'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role',
};

/** Codes of responses without a body, which say no more. */
const BY_STATUS: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  400: 'AuthorizationHeaderMalformed',
  401: 'AccessDenied',
  403: 'AccessDenied',
};

/** An error of the client, as far as it is read here. @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
interface ClientError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Returns `null` for an error that says that there is no such object. @throws any other error */
function nullIfMissing(thrown: unknown): null {
  const { name, $metadata } = thrown as ClientError;
  if (name === 'NoSuchKey' || (name === 'NotFound' && $metadata?.httpStatusCode === 404)) return null;
  throw thrown;
}

/**
 * Converts an error of the S3 client to `storage_unavailable`; not retryable where a person has to act first. Errors of
 * the local file system become `disk_full` or `internal`.
 */
function asStorageError(operation: string, thrown: unknown, address: BucketAddress): DailiesError {
  const { name = '', message = '', code: system = '', $metadata } = thrown as ClientError;
  const full = diskFull(thrown, operation);
  if (full !== null) return full;
  if (thrown instanceof Error && 'syscall' in thrown && 'path' in thrown)
    return new DailiesError(`${operation}: ${message}`, { code: 'internal', retryable: false, cause: thrown });
  const status = $metadata?.httpStatusCode ?? 0;
  const code =
    status === 404 && name === 'NotFound' ? 'NoSuchBucket' : name in MISCONFIGURED ? name : BY_STATUS[status];
  const reason = code === undefined ? undefined : MISCONFIGURED[code];
  const from = address.endpoint ?? `AWS (${address.region})`;
  const what = reason ?? ([system || name, message].filter((part) => part !== '').join(': ') || 'it does not answer');
  return new DailiesError(`${operation} at ${from}: ${what}`, {
    code: 'storage_unavailable',
    retryable: reason === undefined,
    cause: thrown,
  });
}
