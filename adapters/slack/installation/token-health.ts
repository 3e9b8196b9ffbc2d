import type { DailiesError } from '#src/errors.ts';
import { slackCodeOf } from '../web-api/errors.ts';

/** Scopes without which a clip cannot be posted, edited or uploaded. */
const REQUIRED: readonly string[] = ['chat:write', 'files:write', 'files:read'];

/** State of a workspace's bot token. */
interface Health {
  /** Slack's error code if it rejects the token; `null` if it accepts it. */
  readonly refusal: string | null;
  /** Granted scopes according to the latest response with scopes; `null` if there was none. */
  readonly scopes: ReadonlySet<string> | null;
}

/** The part of a Web API response that describes the token. @see https://docs.slack.dev/reference/methods/auth.test */
interface TokenResponse {
  readonly response_metadata?: { readonly scopes?: readonly string[] };
}

/** Tracks from Slack's responses whether each workspace's bot token works, and its scopes. */
export class TokenHealth {
  readonly #known = new Map<string, Health>();
  readonly #wanted: readonly string[];

  /** @param wanted scopes of the manifest */
  constructor(wanted: readonly string[]) {
    this.#wanted = wanted;
  }

  /** Records a successful call for a workspace, with the scopes in its header `x-oauth-scopes`. */
  accepted(workspace: string, response: unknown): void {
    const scopes = (response as TokenResponse | undefined)?.response_metadata?.scopes;
    const before = this.#known.get(workspace)?.scopes ?? null;
    this.#known.set(workspace, { refusal: null, scopes: scopes === undefined ? before : new Set(scopes) });
  }

  /** Records that Slack rejected a workspace's token. */
  refused(workspace: string, error: DailiesError): void {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    this.#known.set(workspace, { refusal: slackCodeOf(error) ?? error.code, scopes });
  }

  /** Removes a workspace that uninstalled the app. */
  forget(workspace: string): void {
    this.#known.delete(workspace);
  }

  /** Returns the required scopes that a workspace's token lacks; empty if its scopes are unknown. */
  missing(workspace: string): readonly string[] {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    return scopes === null ? [] : REQUIRED.filter((scope) => !scopes.has(scope));
  }

  /** Returns the optional scopes of the manifest that a workspace's token lacks. */
  missingOptional(workspace: string): readonly string[] {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    return scopes === null ? [] : this.#wanted.filter((scope) => !REQUIRED.includes(scope) && !scopes.has(scope));
  }

  /**
   * Returns the problem that an operator has to solve before clips can be created; `null`: none. Of several workspaces,
   * one that works is enough: users of the others see the problem when they create a clip.
   * @param token the token's name in the configuration
   */
  problem(token: string): string | null {
    const sentences = [...this.#known].map(([workspace, { refusal }]) => {
      if (refusal !== null) return `Slack does not accept ${token} any more (${refusal}).`;
      const missing = this.missing(workspace);
      return missing.length === 0 ? null : `${token} lacks ${missing.join(', ')}: reinstall the app.`;
    });
    return sentences.every((sentence) => sentence !== null) ? (sentences[0] ?? null) : null;
  }
}
