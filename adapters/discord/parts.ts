import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageStore } from './messages/message-store.ts';
import type { Identity } from './registration/register.ts';
import type { DiscordRest } from './rest/client.ts';

/** Parts that most others of this adapter build on. */
export interface Parts {
  readonly rest: DiscordRest;
  readonly records: MessageStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves to the bot's own application and user. @throws DailiesError */
  readonly self: () => Promise<Identity>;
}
