import type { CancelTimer, Clock } from '#src/clock.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';
import type { TokenHealth } from './token-health.ts';
import type { Workspaces } from './workspaces.ts';

interface AuthenticationOptions {
  readonly workspaces: Workspaces;
  readonly clients: Clients;
  readonly health: TokenHealth;
  /** Token of a single workspace; absent: tokens come from installations. */
  readonly botToken?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_MS = 5_000;
const CHECK_INTERVAL_MS = 60_000;
const TOKEN_PAGES = {
  SLACK_BOT_TOKEN:
    'Take the Bot User OAuth Token (xoxb-…) from https://api.slack.com/apps › your app › OAuth & Permissions.',
  SLACK_APP_TOKEN:
    'Take the App-Level Token (xapp-…) with connections:write from https://api.slack.com/apps › your app › Basic Information.',
} as const;

/** Authenticates the bot with Slack, and tests its configured token and scopes every minute until stopped. */
export class Authentication {
  readonly #options: AuthenticationOptions;
  #state: 'new' | 'open' | 'stopped' = 'new';
  /** Error of the last authentication; `null`: it succeeded. */
  #error: DailiesError | null = null;
  /** Token problem found by the last check; `undefined`: not checked yet. */
  #lastProblem: string | null | undefined;
  readonly #timers = new Set<CancelTimer>();

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** The reason why the bot cannot use Slack; `null`: none. */
  get problem(): string | null {
    if (this.#error !== null) return `Slack cannot be spoken to: ${this.#error.message}`;
    const { botToken, health } = this.#options;
    return health.problem(botToken === undefined ? 'the token of an installation' : 'SLACK_BOT_TOKEN');
  }

  /** Authenticates and checks the token; retries in the background if Slack is unreachable. @throws `unauthorised` */
  async start(): Promise<void> {
    await this.#authenticate();
    this.#state = 'open';
    await this.#checkToken();
  }

  stop(): void {
    this.#state = 'stopped';
    for (const cancel of this.#timers) cancel();
  }

  async #authenticate(): Promise<void> {
    const { workspaces, logger } = this.#options;
    try {
      await workspaces.check();
      this.#error = null;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'introducing the bot to Slack');
      if (error.code === 'unauthorised' && this.#state === 'new') throw withTokenHint(error, 'SLACK_BOT_TOKEN');
      this.#error = error;
      logger.warn({ event: 'slack_authentication_failed', err: error }, 'failed to authenticate with Slack; retrying');
      this.#schedule(error.retryAfterMs ?? RETRY_MS, () => this.#authenticate());
    }
  }

  async #checkToken(): Promise<void> {
    const { botToken, clients, health, logger } = this.#options;
    if (botToken === undefined) return;
    const workspace = await clients.test({ team: '' }).catch(() => null);
    const problem = health.problem('SLACK_BOT_TOKEN');
    const last = this.#lastProblem;
    if (problem !== null && problem !== last)
      logger.error({ event: 'slack_token', problem }, 'the Slack bot token is rejected or lacks required scopes');
    else if (problem === null && typeof last === 'string')
      logger.info({ event: 'slack_token_restored' }, 'the Slack bot token works again');
    if (last === undefined && workspace !== null) this.#warnOfScopes(workspace);
    this.#lastProblem = problem;
    this.#schedule(CHECK_INTERVAL_MS, () => this.#checkToken());
  }

  #warnOfScopes(workspace: string): void {
    const { health, logger } = this.#options;
    const missing = health.missingOptional(workspace);
    if (missing.length === 0) return;
    logger.warn({ event: 'slack_scopes', missing }, 'the Slack bot token lacks optional scopes');
  }

  #schedule(delayMs: number, run: () => Promise<void>): void {
    if (this.#state === 'stopped') return;
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      void run();
    });
    this.#timers.add(cancel);
  }
}

/** Adds the variable's name and the page with the right token to the error of a rejected one. */
export function withTokenHint(thrown: unknown, name: keyof typeof TOKEN_PAGES): DailiesError {
  const error = asDailiesError(thrown, 'connecting to Slack');
  if (error.code !== 'unauthorised') return error;
  const reason = slackCodeOf(error) ?? 'unauthorised';
  const message = `Slack does not accept ${name} (${reason}). ${TOKEN_PAGES[name]}`;
  return new DailiesError(message, { code: 'unauthorised', retryable: false, cause: error });
}
