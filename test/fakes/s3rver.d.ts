/** The part of s3rver that the tests use; it has no types of its own. */
declare module 's3rver' {
  import type { RequestListener } from 'node:http';

  interface Options {
    readonly silent: boolean;
    readonly directory: string;
    readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
  }

  export default class S3rver {
    constructor(options: Options);
    configureBuckets(): Promise<void>;
    callback(): RequestListener;
  }
}
