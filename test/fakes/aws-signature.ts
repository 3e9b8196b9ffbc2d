import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What S3 answers a request with that it does not accept. @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
export interface SignatureRefusal {
  readonly status: 400 | 403;
  readonly code: string;
  readonly message: string;
}

/** What a server checks the signature of a request with. */
export interface SignatureCheck {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly nowMs: number;
}

/** Parts of a request that are signed. */
export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** A signature with what it says about itself. */
interface Signature {
  readonly kind: 'header' | 'query';
  /** `<key id>/<date>/<region>/s3/aws4_request`. */
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly value: string;
  /** Time of the signature, as `20130524T000000Z`. */
  readonly at: string;
  readonly payload: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** Longest lifetime of a presigned link. @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html */
const MAX_EXPIRES_SECONDS = 604_800;
/** Longest difference between the clocks, for signatures in a header. */
const MAX_SKEW_MS = 15 * 60_000;

const DENIED: SignatureRefusal = { status: 403, code: 'AccessDenied', message: 'Access Denied' };
const MISMATCH: SignatureRefusal = {
  status: 403,
  code: 'SignatureDoesNotMatch',
  message: 'The request signature we calculated does not match the signature you provided.',
};

/**
 * Checks a request as a private bucket does, by signature version 4 as AWS describes it, apart from any SDK.
 * @returns `null` where it is accepted.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function refusalOf(request: SignedRequest, check: SignatureCheck): SignatureRefusal | null {
  const url = new URL(request.url ?? '/', 'http://bucket');
  const signature = signatureOf(request, url);
  if (signature === null) return DENIED;
  const [keyId, date, region, service, end] = signature.credential.split('/');
  if (keyId !== check.accessKeyId)
    return { status: 403, code: 'InvalidAccessKeyId', message: 'The AWS Access Key Id you provided does not exist.' };
  const isScope = date === signature.at.slice(0, 8) && service === 's3' && end === 'aws4_request';
  if (region !== check.region || !isScope) return malformed(signature, 'the region or the date is wrong');
  return timeRefusal(signature, url, check.nowMs) ?? contentRefusal(request, url, signature, check);
}

function signatureOf({ headers }: SignedRequest, url: URL): Signature | null {
  const query = (name: string) => url.searchParams.get(name) ?? '';
  if (query('X-Amz-Algorithm') === ALGORITHM) {
    const signedHeaders = query('X-Amz-SignedHeaders').split(';');
    const [credential, value, at] = [query('X-Amz-Credential'), query('X-Amz-Signature'), query('X-Amz-Date')];
    return { kind: 'query', credential, signedHeaders, value, at, payload: 'UNSIGNED-PAYLOAD' };
  }
  const { authorization = '' } = headers;
  if (!authorization.startsWith(`${ALGORITHM} `)) return null;
  const part = (name: string) => new RegExp(`${name}=([^,\\s]+)`).exec(authorization)?.[1] ?? '';
  const [at, payload] = ['x-amz-date', 'x-amz-content-sha256'].map((name) => String(headers[name])) as [string, string];
  const signedHeaders = part('SignedHeaders').split(';');
  return { kind: 'header', credential: part('Credential'), signedHeaders, value: part('Signature'), at, payload };
}

function timeRefusal(signature: Signature, url: URL, nowMs: number): SignatureRefusal | null {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(signature.at) ?? [];
  const pairs = (digits: string) => digits.match(/../g) ?? [];
  const [century, year, month, day] = pairs(date);
  const atMs = Date.parse(`${century}${year}-${month}-${day}T${pairs(time).join(':')}Z`);
  if (Number.isNaN(atMs)) return malformed(signature, 'the time is malformed');
  if (signature.kind === 'header') {
    if (Math.abs(nowMs - atMs) <= MAX_SKEW_MS) return null;
    return { status: 403, code: 'RequestTimeTooSkewed', message: 'The difference between the clocks is too large.' };
  }
  const expires = Number(url.searchParams.get('X-Amz-Expires') ?? Number.NaN);
  if (!(expires >= 1 && expires <= MAX_EXPIRES_SECONDS)) return malformed(signature, 'X-Amz-Expires is out of range');
  return nowMs <= atMs + expires * 1_000 ? null : { ...DENIED, message: 'Request has expired' };
}

function contentRefusal(
  { method = 'GET', headers }: SignedRequest,
  url: URL,
  { credential, signedHeaders, value, at, payload }: Signature,
  { secretAccessKey }: SignatureCheck,
): SignatureRefusal | null {
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (mustBeSigned.some((name) => !signedHeaders.includes(name)))
    return { ...DENIED, message: 'There were headers present in the request which were not signed' };
  const canonical = [
    method,
    url.pathname.split('/').map(decodeURIComponent).map(escaped).join('/'),
    [...url.searchParams]
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, text]) => [escaped(name), escaped(text)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map((pair) => pair.join('='))
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    payload,
  ].join('\n');
  const [, ...scope] = credential.split('/');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = [ALGORITHM, at, scope.join('/'), digest].join('\n');
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  return hmac(key, text).toString('hex') === value ? null : MISMATCH;
}

function malformed({ kind }: Signature, message: string): SignatureRefusal {
  const code = kind === 'header' ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError';
  return { status: 400, code, message };
}

/** Escapes every character but the unreserved ones. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
