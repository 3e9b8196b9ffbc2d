import type { RateLimits, Tier } from './limits.ts';
import type { Json, Team } from './records.ts';
import type { World } from './world.ts';

/** A call of the Web API that got through to its method. */
export interface Call {
  readonly world: World;
  readonly method: string;
  /** Whose token it came with. */
  readonly team: Team;
  /** As they came: text of a form, or JSON. */
  readonly args: Json;
  readonly limits: RateLimits;
  /** Socket Mode's next address. */
  readonly socketAddress: () => string;
  /** `Authorization: Basic` of oauth.v2.access; null where there was none. */
  readonly basic: string | null;
}

/** A method of the Web API. */
export interface Method {
  /** Which token it wants. @see docs.slack.dev/authentication/tokens */
  readonly by: 'bot' | 'app' | 'none';
  /** What the installation needs; one of several is enough. */
  readonly scopes: readonly string[];
  /** @see docs.slack.dev/apis/web-api/rate-limits */
  readonly tier: Tier;
  /** The answer besides `ok`. */
  readonly handle: (call: Call) => Json;
}
