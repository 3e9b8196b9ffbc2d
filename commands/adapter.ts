import type { FastifyInstance } from 'fastify';
import type { Platform, WithMessageLock } from '#src/chat/index.ts';
import type { Clock } from '#src/clock.ts';
import type { Config } from '#src/config/index.ts';
import type { Check } from '#src/doctor/index.ts';
import type { Job, Membership, Store } from '#src/engine/index.ts';
import type { Entrance } from '#src/http/index.ts';
import type { Logger } from '#src/logger.ts';
import type { ClipLinks, Relay } from '#src/media/index.ts';
import type { ReadLink } from '#src/own-links.ts';
import type { TaskId } from '#src/tasks/index.ts';
import type { Catalog, Clip } from '#src/videos/index.ts';
import type { Bot } from './bot-port.ts';

/** Platform whose interactions the bot handles. The app creates it before the bot, which sends through it. */
export interface Adapter extends Platform {
  /** Periodic jobs. They run with all others, also where the platform starts late, and end before it stops. */
  readonly jobs: readonly Job[];
  /** Sets up the handlers of interactions and their HTTP routes. Called once, before `start` and before HTTP listens. */
  serve(bot: Bot): void;
}

export interface AdapterDeps {
  readonly config: Config;
  /** HTTP server of the bot; adapters add their routes, and neither start nor stop it. */
  readonly http: FastifyInstance;
  readonly store: Store;
  readonly membership: Pick<Membership, 'isGone'>;
  readonly clock: Clock;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly catalog: () => Catalog;
  /** Stores reference files and serves them to the video service. */
  readonly relay: Relay;
  /** Returns the clip of a task, downloading it again where its file is missing; `null` where that is impossible. */
  readonly clipOf: (task: TaskId) => Promise<Clip | null>;
  /** Returns the path of a picture by its id, as in `PictureLink`; `null` where there is none. Never rejects. */
  readonly posterOf: (id: string) => Promise<string | null>;
  /** Reads what a link of the bot's own leads to, for its preview. */
  readonly readLink: ReadLink;
  /** Links to clips at their storage, where browsers play them. */
  readonly clipLinks: Pick<ClipLinks, 'redirectFor' | 'origin'>;
  /** Called when a task's message can be edited again, so that an undelivered clip can be retried now. */
  readonly reachable: (task: TaskId, platform: string) => void;
  /** Serialises edits of a task's message with those by the core. */
  readonly withMessageLock: WithMessageLock;
  /** Counts a wrong access token. */
  readonly countWrongToken: (entrance: Entrance) => void;
}

export interface CheckDeps extends Pick<AdapterDeps, 'config' | 'clock' | 'logger'> {
  readonly fetch: typeof fetch;
}

export interface ConfiguredPlatform {
  /** As in `Origin.platform`. */
  readonly name: string;
  /** Name of the platform in texts. */
  readonly title: string;
  /** Loads the adapter with its SDK, and creates it. */
  readonly open: (deps: AdapterDeps) => Promise<Adapter>;
  /** Returns the checks of `npm run doctor`: they only read, and are safe beside a running bot. */
  readonly checks: (deps: CheckDeps) => Promise<readonly Check[]>;
}
