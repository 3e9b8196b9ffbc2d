import {
  type APIInteraction,
  type APIPartialGuild,
  ApplicationIntegrationType,
  InteractionContextType,
  Routes,
} from 'discord.js';
import { type AccessRefusal, type AccessRules, accessRefusal } from '#src/chat/access.ts';
import type { Clock } from '#src/clock.ts';
import { type AccessConfig, rulesOf } from '#src/config/access.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageStore } from '../messages/message-store.ts';
import type { Identity } from '../registration/register.ts';
import type { DiscordRest } from '../rest/client.ts';
import { TtlCache } from '../rest/ttl-cache.ts';
import { PLATFORM } from './caller.ts';

/** Dependencies of {@link Access}. */
export interface AccessOptions {
  readonly config: AccessConfig;
  /** `DISCORD_GUILD_ID`: the one server that may use the bot. */
  readonly guildId?: string | undefined;
  readonly rest: DiscordRest;
  readonly memory: MessageStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The bot's own application and user. @throws DailiesError */
  readonly self: () => Promise<Identity>;
}

/** Who does something, and where. */
export interface AccessRequest {
  /** `undefined` in direct messages and groups. */
  readonly guild: string | undefined;
  readonly user: string;
  /** Whether nothing but the person's own installation let them reach the bot. */
  readonly isUserInstall: boolean;
}

/** Whether someone may use the bot, and on account of which team. */
export type Admission =
  | { readonly team: string; readonly refusal: null }
  | { readonly team: null; readonly refusal: AccessRefusal };

/** A server in which the bot is a member. */
export interface Server {
  readonly id: string;
  readonly name: string;
}

/** The servers in which the bot was a member when it was started first. */
interface FirstServers {
  readonly ids: readonly string[];
}

const KNOWN_FOR_MS = 60_000;
/** @see https://discord.com/developers/docs/resources/user#get-current-user-guilds */
const SERVERS_PER_PAGE = 200;
const ANY = '*';
const PUBLIC_APP =
  'The Discord app is public, so anyone can add it to a server. Turn off “Public Bot” in the developer portal, or set ALLOW_TEAMS.';

/**
 * Decides who may use the bot on Discord: people in an allowed server, and, in direct messages, members of one.
 * Without `ALLOW_TEAMS`, these are the servers in which the bot was a member at its first start.
 */
export class Access {
  readonly #options: AccessOptions;
  readonly #rules: TtlCache<AccessRules>;
  readonly #servers: TtlCache<ReadonlyMap<string, string>>;
  readonly #members: TtlCache<boolean>;
  #isPublic = false;
  #first: readonly string[] | null = null;
  /** Whether the bot was in no server when it looked last: the next one it is invited to counts at once. */
  #isUninvited = false;

  constructor(options: AccessOptions) {
    this.#options = options;
    const { clock } = options;
    this.#rules = new TtlCache(clock, KNOWN_FOR_MS, () => this.#readRules());
    this.#servers = new TtlCache(clock, KNOWN_FOR_MS, () => this.#askForServers());
    this.#members = new TtlCache(clock, KNOWN_FOR_MS, (key) => this.#askForMember(key));
  }

  /** What an operator has to change; `null`: nothing. */
  get problem(): string | null {
    return this.#isPublic && this.#isOpen ? PUBLIC_APP : null;
  }

  /** The servers in which the bot is a member: their names, by id. @throws DailiesError */
  servers(): Promise<ReadonlyMap<string, string>> {
    return this.#servers.of(ANY);
  }

  /** The bot's servers: those that may use it, and the others. @throws DailiesError */
  async spread(): Promise<{ readonly allowed: readonly Server[]; readonly refused: readonly Server[] }> {
    const [{ teams }, servers] = await Promise.all([this.#rules.of(ANY), this.servers()]);
    const named = [...servers].map(([id, name]): Server => ({ id, name }));
    const isAllowed = ({ id }: Server): boolean => teams === 'all' || teams.has(id);
    return { allowed: named.filter(isAllowed), refused: named.filter((one) => !isAllowed(one)) };
  }

  /** Reads which servers may use the bot, and names them in the log. @throws DailiesError */
  async prepare(): Promise<void> {
    const { logger, self } = this.#options;
    this.#isPublic = (await self()).isPublic;
    await this.#rules.of(ANY);
    const { allowed, refused } = await this.spread().catch(() => ({ allowed: [], refused: [] }));
    const named = (list: readonly Server[]): readonly string[] => list.map(({ id, name }) => `${name} (discord:${id})`);
    logger.info({ event: 'discord_servers', servers: named(allowed) }, 'servers that may use the bot');
    if (refused.length > 0)
      logger.warn(
        { event: 'discord_servers_refused', servers: named(refused) },
        'servers that ALLOW_TEAMS does not name',
      );
    if (this.problem !== null) logger.error({ event: 'discord_app_public' }, this.problem);
  }

  /** @throws DailiesError where that cannot be found out just now. */
  async of({ guild, user, isUserInstall }: AccessRequest): Promise<Admission> {
    if (this.#isUninvited) {
      this.#rules.forget(ANY);
      this.#servers.forget(ANY);
    }
    const rules = await this.#rules.of(ANY);
    const isAllowed = (id: string): boolean => rules.teams === 'all' || rules.teams.has(id);
    const here = guild !== undefined && (!isUserInstall || isAllowed(guild)) ? guild : null;
    // Asked only where it matters: finding the server of somebody takes calls.
    const isAdmitted = !isUserInstall || rules.admits.has('user_install');
    const team = here ?? (isAdmitted ? await this.#serverOf(user, rules) : null);
    const facts = { teams: team === null ? [] : [team], exceptions: isUserInstall ? (['user_install'] as const) : [] };
    const refusal = accessRefusal(PLATFORM, rules, facts);
    return refusal === null && team !== null
      ? { team, refusal: null }
      : { team: null, refusal: refusal ?? { reason: 'team', platform: PLATFORM, team } };
  }

  /** Whether nothing but the developer portal says who may add the bot to a server. */
  get #isOpen(): boolean {
    return this.#options.config.teams === null && this.#options.guildId === undefined;
  }

  async #readRules(): Promise<AccessRules> {
    const { config, guildId } = this.#options;
    const standard = config.teams === null && guildId === undefined ? await this.#firstServers() : 'all';
    const rules = rulesOf(PLATFORM, config, standard);
    if (guildId === undefined) return rules;
    const isAllowed = rules.teams === 'all' || rules.teams.has(guildId);
    return { ...rules, teams: new Set(isAllowed ? [guildId] : []) };
  }

  /** The servers of the first start: from the store, or those of now. */
  async #firstServers(): Promise<AccessRules['teams']> {
    if (this.#first !== null) return new Set(this.#first);
    const { memory, self, logger } = this.#options;
    const { application, isPublic } = await self();
    const key = `servers:${application}`;
    const known = await memory.recall<FirstServers>(key);
    if (known !== undefined) {
      this.#first = known.ids;
      return new Set(known.ids);
    }
    try {
      const ids = [...(await this.#servers.of(ANY)).keys()];
      // A bot that is started before it is invited waits for its first server, as long as only its owner can add it.
      this.#isUninvited = ids.length === 0 && !isPublic;
      if (this.#isUninvited) return new Set();
      await memory.remember(key, { ids } satisfies FirstServers);
      this.#first = ids;
      return new Set(ids);
    } catch (thrown) {
      const error = asDailiesError(thrown, 'listing the servers of the bot');
      if (error.retryable) throw error;
      logger.warn({ err: error }, 'Discord does not list the servers of the bot; set ALLOW_TEAMS to name them');
      // An app that only its owner can add to a server is in no server that the owner does not want.
      return isPublic ? new Set() : 'all';
    }
  }

  /** The first allowed server of which somebody is a member. */
  async #serverOf(user: string, { teams }: AccessRules): Promise<string | null> {
    const ids = teams === 'all' ? [...(await this.#servers.of(ANY)).keys()] : [...teams];
    for (const id of ids) if (await this.#members.of(`${id}:${user}`)) return id;
    return null;
  }

  async #askForServers(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (let after = '0'; ; after = [...found.keys()].at(-1) ?? after) {
      const page = await this.#options.rest.call<readonly APIPartialGuild[]>({
        method: 'GET',
        route: Routes.userGuilds(),
        query: { after, limit: `${SERVERS_PER_PAGE}` },
        doing: 'listing the servers of the bot',
      });
      for (const { id, name } of page) found.set(id, name);
      if (page.length < SERVERS_PER_PAGE) return found;
    }
  }

  async #askForMember(key: string): Promise<boolean> {
    const [guild = '', user = ''] = key.split(':');
    const route = Routes.guildMember(guild, user);
    return this.#options.rest.call({ method: 'GET', route, doing: 'looking for a member' }).then(
      () => true,
      (thrown: unknown) => {
        const error = asDailiesError(thrown, 'looking for a member');
        // Unknown Member, or a server that the bot has left.
        if (!error.retryable) return false;
        throw error;
      },
    );
  }
}

/** Who caused an interaction, and on whose authority. */
export function accessRequestOf(interaction: APIInteraction): AccessRequest {
  const { guild_id: guild, member, user, context, authorizing_integration_owners: owners } = interaction;
  const isByGuild = owners?.[ApplicationIntegrationType.GuildInstall] !== undefined;
  const isByUser = owners?.[ApplicationIntegrationType.UserInstall] !== undefined;
  const isGroup = guild === undefined && context === InteractionContextType.PrivateChannel;
  return { guild, user: (member?.user ?? user)?.id ?? '', isUserInstall: isGroup || (isByUser && !isByGuild) };
}
