import type { UploadedFile } from './files.ts';
import type { World } from './world.ts';

/** A request that reached its endpoint. */
export interface Call {
  readonly world: World;
  /** Returns a path parameter by its name in the pattern. */
  readonly at: (name: string) => string;
  readonly query: URLSearchParams;
  readonly json: unknown;
  readonly files: readonly UploadedFile[];
}

/** Response of an endpoint; undefined: 204. */
export type Answer = { readonly status?: number; readonly json: unknown } | undefined;

/** Rate limit of an endpoint for one channel, server or token. */
export interface Bucket {
  readonly limit: number;
  readonly windowMs: number;
}

/** An endpoint. */
export interface Route {
  /**
   * `bot`: requires the bot's token and counts towards the global limit. `token`: the path contains an interaction's
   * token; neither.
   * @see discord docs: interactions/receiving-and-responding, "Endpoints"
   */
  readonly by: 'bot' | 'token';
  /** Key of the applicable rate limit. */
  readonly bucket: 'send' | 'edit' | 'webhook' | 'callback' | 'reaction' | 'other';
  readonly handle: (call: Call) => Answer;
}

/** Creates a 200 with a body. */
export const ok = (json: unknown): Answer => ({ json });
