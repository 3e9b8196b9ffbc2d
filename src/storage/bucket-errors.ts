import { DailiesError } from '../errors.ts';
import type { BucketAddress } from './bucket-address.ts';

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
export function nullIfMissing(thrown: unknown): null {
  const { name, $metadata } = thrown as ClientError;
  if (name === 'NoSuchKey' || (name === 'NotFound' && $metadata?.httpStatusCode === 404)) return null;
  throw thrown;
}

/**
 * Converts an error of the S3 client to `storage_unavailable`; not retryable where a person has to act first. Errors of
 * the local file system become `disk_full` or `internal`.
 */
export function asStorageError(operation: string, thrown: unknown, address: BucketAddress): DailiesError {
  const { name = '', message = '', code: system = '', $metadata } = thrown as ClientError;
  if (system === 'ENOSPC' || system === 'EDQUOT')
    return new DailiesError(`${operation}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
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
