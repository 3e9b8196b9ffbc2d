import { z } from 'zod';
import { type BucketVariables, type MediaConfig, readBucketAddress } from '../storage/index.ts';
import { text, wholeNumber } from '../variables.ts';

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
/** Least size of the local copies: a few large clips, each of which is needed as a file while it is delivered. */
const MIN_LOCAL_BYTES = 64 * 1024 ** 2;
const LOCAL_BYTES = 4 * 1024 ** 3;

const A_ROLE = 'a role of the machine, the pod or the container';

/** Variables about the place where clips are kept. */
export const mediaVariables = {
  MEDIA_URL: z
    .string()
    .optional()
    .meta({
      description:
        'keeps clips in an S3-compatible bucket, which browsers play them from: `s3://BUCKET/PREFIX`, with ' +
        '`?endpoint=https://…` (a server other than AWS), `&public_endpoint=https://…` (where browsers reach it elsewhere) ' +
        'and `&region=…`. See [operations](operations.md#clips-in-a-bucket)',
      unset: 'the folder `clips` in `data/`',
    }),
  MEDIA_CACHE_BYTES: wholeNumber(MIN_LOCAL_BYTES, MAX_BYTES)
    .default(LOCAL_BYTES)
    .describe(
      'with `MEDIA_URL`: size above which local copies are deleted, the one used longest ago first; all of them count ' +
        'towards the limit of the data folder, where they go first',
    ),
  AWS_ACCESS_KEY_ID: text.optional().meta({ description: 'with `MEDIA_URL`: id of the key', unset: A_ROLE }),
  AWS_SECRET_ACCESS_KEY: text.optional().meta({ description: 'with `MEDIA_URL`: the key', unset: A_ROLE }),
  AWS_SESSION_TOKEN: text.optional().meta({ description: 'with `MEDIA_URL`: token of a temporary key', unset: 'none' }),
  AWS_REGION: text.optional().meta({ description: 'with `MEDIA_URL`: region of the bucket', unset: 'required on AWS' }),
  AWS_DEFAULT_REGION: text.optional().meta({ description: 'the same, where `AWS_REGION` is not set', unset: 'none' }),
  AWS_ENDPOINT_URL_S3: text.optional().meta({ description: 'with `MEDIA_URL`: as its `endpoint`', unset: 'AWS' }),
  AWS_ENDPOINT_URL: text
    .optional()
    .meta({ description: 'the same, where `AWS_ENDPOINT_URL_S3` is not set', unset: 'AWS' }),
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
