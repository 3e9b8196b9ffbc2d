import { expect, it } from 'vitest';
import { refusalOf, type SignedRequest } from '#test/fakes/aws-signature.ts';

/** The examples of AWS. @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html */
const CHECK = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  nowMs: Date.UTC(2013, 4, 24),
};
const SCOPE = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
const HOST = { host: 'examplebucket.s3.amazonaws.com' };
const LINK: SignedRequest = {
  method: 'GET',
  url: `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  headers: HOST,
};
/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const SIGNED = 'host;range;x-amz-content-sha256;x-amz-date';
const SIGNATURE = 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41';
const REQUEST: SignedRequest = {
  method: 'GET',
  url: '/test.txt',
  headers: {
    ...HOST,
    range: 'bytes=0-9',
    'x-amz-content-sha256': EMPTY,
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=${SIGNED},Signature=${SIGNATURE}`,
  },
};

const codeOf = (request: SignedRequest, change: Partial<typeof CHECK> = {}) =>
  refusalOf(request, { ...CHECK, ...change })?.code ?? null;

it('accepts the examples of AWS', () => {
  expect([codeOf(LINK), codeOf(REQUEST)]).toEqual([null, null]);
});

it.each<[string, SignedRequest, Partial<typeof CHECK>, string]>([
  ['no signature', { ...LINK, url: '/test.txt' }, {}, 'AccessDenied'],
  ['another object', { ...LINK, url: LINK.url?.replace('test', 'other') ?? '' }, {}, 'SignatureDoesNotMatch'],
  ['another method', { ...LINK, method: 'DELETE' }, {}, 'SignatureDoesNotMatch'],
  ['a longer lifetime', { ...LINK, url: LINK.url?.replace('86400', '86401') ?? '' }, {}, 'SignatureDoesNotMatch'],
  ['another response type', { ...LINK, url: `${LINK.url}&response-content-type=a` }, {}, 'SignatureDoesNotMatch'],
  ['another secret', REQUEST, { secretAccessKey: 'other' }, 'SignatureDoesNotMatch'],
  ['another key', REQUEST, { accessKeyId: 'OTHER' }, 'InvalidAccessKeyId'],
  ['another region', REQUEST, { region: 'eu-west-1' }, 'AuthorizationHeaderMalformed'],
  ['a link after its end', LINK, { nowMs: CHECK.nowMs + 86_401_000 }, 'AccessDenied'],
  ['a wrong clock', REQUEST, { nowMs: CHECK.nowMs + 16 * 60_000 }, 'RequestTimeTooSkewed'],
  ['an unsigned header', { ...LINK, headers: { ...HOST, 'x-amz-acl': 'public-read' } }, {}, 'AccessDenied'],
])('refuses %s', (_what, request, change, code) => {
  expect(codeOf(request, change)).toBe(code);
});
