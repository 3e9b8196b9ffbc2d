import {
  type APIInteraction,
  Client,
  DiscordjsErrorCodes,
  Events,
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  GatewayIntentBits,
  type GatewayMessageReactionAddDispatchData,
  Options,
} from 'discord.js';
import type { CancelTimer, Clock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { translate } from './errors.ts';
import { keepSessions } from './sessions.ts';

/** What comes in through the gateway, as Discord sends it. */
export interface GatewayEvents {
  interaction(interaction: APIInteraction): void;
  reaction(reaction: GatewayMessageReactionAddDispatchData): void;
  /** Connected anew, as this application. */
  ready(application: string): void;
}

/** Collaborators of {@link Gateway}. */
export interface GatewayOptions {
  readonly token: string;
  readonly apiUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: GatewayEvents;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** How long a start waits for Discord before the rest of the house begins without it. */
const START_TIMEOUT_MS = 10_000;

/**
 * The connection to Discord's gateway. Events are taken as they arrive: discord.js's own would wait until every server
 * has been told of, and leave out reactions to messages it does not know.
 *
 * None of the intents is privileged. @see https://discord.com/developers/docs/events/gateway#gateway-intents
 */
export class Gateway {
  readonly #options: GatewayOptions;
  #client: Client | null = null;
  #problem: string | null = 'Discord is not connected yet.';
  #failures = 0;
  #retry: CancelTimer | null = null;
  #isStopped = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** The servers, channels and roles that Discord told of; null while there is no connection. */
  get client(): Client | null {
    return this.#client;
  }

  /** What is missing for a connection; `null` when nothing is. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Connects; where Discord cannot be reached, it goes on trying in the background.
   * @throws DailiesError `unauthorised` where Discord does not know the token.
   */
  async start(): Promise<void> {
    const { promise: givenUp, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(START_TIMEOUT_MS, resolve);
    await Promise.race([this.#connect(), givenUp]).finally(cancel);
  }

  /** Takes no more events. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#problem = 'Discord is being left.';
    this.#retry?.();
    await this.#client?.destroy();
  }

  async #connect(): Promise<void> {
    const client = this.#makeClient();
    this.#client = client;
    try {
      await client.login(this.#options.token);
      this.#failures = 0;
    } catch (thrown) {
      if (isWrongToken(thrown)) throw this.#wrongToken(thrown);
      this.#connectLater(thrown);
    }
  }

  #connectLater(thrown: unknown): void {
    if (this.#isStopped) return;
    const { clock, logger } = this.#options;
    const error = translate(thrown, 'connecting to Discord');
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#problem = 'Discord cannot be reached.';
    logger.warn({ err: error, delayMs }, 'Discord cannot be reached; trying again');
    this.#retry = clock.after(delayMs, () => {
      this.#connect().catch((again: unknown) => logger.error({ err: again }, 'Discord is not connected'));
    });
  }

  #wrongToken(thrown: unknown): DailiesError {
    this.#problem = 'Discord does not know DISCORD_TOKEN.';
    const cause = translate(thrown, 'connecting to Discord');
    return new DailiesError(
      'connecting to Discord: it does not know DISCORD_TOKEN; take a new one from the developer portal',
      {
        code: 'unauthorised',
        retryable: false,
        cause,
      },
    );
  }

  #makeClient(): Client {
    const { apiUrl, events, logger } = this.#options;
    const client = new Client({
      intents: [
        GatewayIntentBits.Guilds,
        GatewayIntentBits.GuildMessageReactions,
        GatewayIntentBits.DirectMessageReactions,
      ],
      // Servers, channels and roles say what may be done where; nothing else is looked at.
      makeCache: Options.cacheWithLimits({
        MessageManager: 0,
        ReactionManager: 0,
        ReactionUserManager: 0,
        PresenceManager: 0,
      }),
      ...(apiUrl === undefined ? {} : { rest: { api: apiUrl } }),
      ws: { buildStrategy: keepSessions },
    });
    client.on(Events.Raw, (packet: GatewayDispatchPayload) => this.#take(packet));
    client.ws.on(GatewayDispatchEvents.Ready, (data: { readonly application: { readonly id: string } }) => {
      this.#connected('connected to Discord');
      events.ready(data.application.id);
    });
    client.ws.on(GatewayDispatchEvents.Resumed, () => this.#connected('connected to Discord again'));
    client.on(Events.ShardReconnecting, () => {
      this.#problem = 'Discord is being reconnected.';
      logger.info('connecting to Discord again');
    });
    client.on(Events.ShardDisconnect, ({ code }) => {
      this.#problem = `Discord ended the connection for good (${code}).`;
      logger.error(
        { code },
        'Discord ended the connection for good; whoever runs me has to look at the token and the intents',
      );
    });
    client.on(Events.ShardError, (error) => logger.warn({ err: error }, 'the connection to Discord had an error'));
    client.on(Events.Error, (error) => logger.warn({ err: error }, 'discord.js had an error'));
    return client;
  }

  /** Takes what is taken raw away from discord.js: it would build objects of it, and one field less kills the process. */
  #take(packet: GatewayDispatchPayload): void {
    const { events } = this.#options;
    if (packet.t === GatewayDispatchEvents.InteractionCreate) events.interaction(packet.d);
    else if (packet.t === GatewayDispatchEvents.MessageReactionAdd) events.reaction(packet.d);
    else return;
    Object.assign(packet, { t: null });
  }

  #connected(what: string): void {
    if (this.#isStopped) return;
    this.#problem = null;
    this.#options.logger.info(what);
  }
}

function isWrongToken(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === DiscordjsErrorCodes.TokenInvalid;
}
