import { asDailiesError, type DailiesError } from '#src/errors.ts';
import { slackCodeOf } from '../web-api/errors.ts';
import { BOT_SCOPES } from './manifest.ts';

/** Scopes without which a clip cannot be posted, edited or uploaded. */
const REQUIRED: readonly string[] = ['chat:write', 'files:write', 'files:read'];

/** What is known of a workspace's bot token. */
interface Health {
  /** Slack's own code where it refuses the token; `null` where it accepts it. */
  readonly refusal: string | null;
  /** As the latest answer says; `null` where none said. */
  readonly scopes: ReadonlySet<string> | null;
}

/** An answer of the Web API, as far as it tells of the token. @see https://docs.slack.dev/reference/methods/auth.test */
interface Answer {
  readonly response_metadata?: { readonly scopes?: readonly string[] };
}

/** Keeps what Slack's answers say about each workspace's bot token: whether it works, and what it may do. */
export class TokenHealth {
  readonly #known = new Map<string, Health>();

  /** Notes an answer to a call for a workspace: its token works, and the header `x-oauth-scopes` says for what. */
  accepted(workspace: string, answer: unknown): void {
    const scopes = (answer as Answer | undefined)?.response_metadata?.scopes;
    const before = this.#known.get(workspace)?.scopes ?? null;
    this.#known.set(workspace, { refusal: null, scopes: scopes === undefined ? before : new Set(scopes) });
  }

  /** Notes that Slack refuses a workspace's token. */
  refused(workspace: string, error: DailiesError): void {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    this.#known.set(workspace, { refusal: slackCodeOf(error) ?? error.code, scopes });
  }

  /** Forgets a workspace that removed the app. */
  forget(workspace: string): void {
    this.#known.delete(workspace);
  }

  /** Required scopes that a workspace's token lacks; empty where Slack did not say. */
  missing(workspace: string): readonly string[] {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    return scopes === null ? [] : REQUIRED.filter((scope) => !scopes.has(scope));
  }

  /** Scopes of the manifest that a workspace's token lacks, and without which the bot works with less. */
  missingOptional(workspace: string): readonly string[] {
    const scopes = this.#known.get(workspace)?.scopes ?? null;
    return scopes === null ? [] : BOT_SCOPES.filter((scope) => !REQUIRED.includes(scope) && !scopes.has(scope));
  }

  /**
   * What an operator has to change before anything can be ordered; `null`: nothing. Where there are several workspaces, one that
   * works is enough: the others are told when they order.
   * @param token what the configuration calls the token
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

/** Whether a call failed because Slack refuses the token. */
export function isRefusedToken(thrown: unknown): boolean {
  return asDailiesError(thrown, 'calling Slack').code === 'unauthorised';
}
