import { z } from 'zod';
import { type BucketVariables, readBucketAddress } from '../storage/bucket-address.ts';
import type { MediaConfig } from '../storage/open.ts';
import { text, wholeNumber } from './variables.ts';

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
/** Least size of the local copies: a few large clips, each of which is needed as a file while it is delivered. */
const MIN_LOCAL_BYTES = 64 * 1024 ** 2;
const LOCAL_BYTES = 4 * 1024 ** 3;

/** Variables about the place where clips are kept. */
export const mediaVariables = {
  MEDIA_URL: z.string().optional(),
  MEDIA_CACHE_BYTES: wholeNumber(MIN_LOCAL_BYTES, MAX_BYTES).default(LOCAL_BYTES),
  AWS_ACCESS_KEY_ID: text.optional(),
  AWS_SECRET_ACCESS_KEY: text.optional(),
  AWS_SESSION_TOKEN: text.optional(),
  AWS_REGION: text.optional(),
  AWS_DEFAULT_REGION: text.optional(),
  AWS_ENDPOINT_URL_S3: text.optional(),
  AWS_ENDPOINT_URL: text.optional(),
};

type MediaVariables = BucketVariables & { readonly MEDIA_URL?: string | undefined };

/** Returns a sentence for each problem of the bucket. Without `MEDIA_URL`, the variables of AWS have no effect. */
export function mediaProblems(env: MediaVariables): readonly string[] {
  return env.MEDIA_URL === undefined ? [] : readBucketAddress(env.MEDIA_URL, env).problems;
}

/** Returns where clips are kept, of variables without a problem. */
export function mediaOf(env: MediaVariables & { readonly MEDIA_CACHE_BYTES: number }): MediaConfig {
  const { MEDIA_URL: url, MEDIA_CACHE_BYTES: maxLocalBytes } = env;
  const address = url === undefined ? null : readBucketAddress(url, env).address;
  return address === null ? { maxLocalBytes } : { bucket: address, maxLocalBytes };
}
