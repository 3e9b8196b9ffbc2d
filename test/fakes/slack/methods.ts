import type { RateLimits, Tier } from './limits.ts';
import type { Json, Team } from './records.ts';
import type { World } from './world.ts';

/** A call of the Web API that reached its method. */
export interface Call {
  readonly world: World;
  readonly method: string;
  /** Workspace of the token. */
  readonly team: Team;
  /** Arguments as received: text of a form, or JSON. */
  readonly args: Json;
  readonly limits: RateLimits;
  /** Returns the URL of the next Socket Mode connection. */
  readonly socketAddress: () => string;
  /** Credentials of `Authorization: Basic` on oauth.v2.access; null without the header. */
  readonly basic: string | null;
}

/** A method of the Web API. */
export interface Method {
  /** Required token. @see docs.slack.dev/authentication/tokens */
  readonly by: 'bot' | 'app' | 'none';
  /** Required scopes of the installation; any one of them is enough. */
  readonly scopes: readonly string[];
  /** @see docs.slack.dev/apis/web-api/rate-limits */
  readonly tier: Tier;
  /** Returns the response without `ok`. */
  readonly handle: (call: Call) => Json;
}
