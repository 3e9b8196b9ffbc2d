import type { UploadedFile } from './files.ts';
import type { World } from './world.ts';

/** A request to the API that got through to its endpoint. */
export interface Call {
  readonly world: World;
  /** The parts of the path that its pattern names. */
  readonly at: (name: string) => string;
  readonly query: URLSearchParams;
  readonly json: unknown;
  readonly files: readonly UploadedFile[];
}

/** What is answered; nothing: 204. */
export type Answer = { readonly status?: number; readonly json: unknown } | undefined;

/** How often an endpoint may be called for one channel, server or token. */
export interface Bucket {
  readonly limit: number;
  readonly windowMs: number;
}

/** An endpoint. */
export interface Route {
  /**
   * `bot`: wants the bot's token and counts for the global limit. `token`: the path holds an interaction's token, neither.
   * @see discord docs: interactions/receiving-and-responding, "Endpoints"
   */
  readonly by: 'bot' | 'token';
  /** Which of the configured limits holds. */
  readonly bucket: 'send' | 'edit' | 'webhook' | 'callback' | 'reaction' | 'other';
  readonly handle: (call: Call) => Answer;
}

/** A 200 with a body. */
export const ok = (json: unknown): Answer => ({ json });
