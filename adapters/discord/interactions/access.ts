import { type APIPartialGuild, Routes } from 'discord.js';
import { TtlCache } from '#src/bounded-map.ts';
import { type AccessRefusal, type AccessRules, accessRefusal } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { type AccessConfig, rulesOf } from '#src/teams/index.ts';
import type { DiscordSettings } from '../config.ts';
import type { Parts } from '../parts.ts';
import type { DiscordRest } from '../rest/client.ts';
import { PLATFORM } from './caller.ts';

interface AccessOptions extends Parts, Pick<DiscordSettings, 'guildId'> {
  readonly config: AccessConfig;
}

export interface AccessRequest {
  /** Server id; `undefined` in direct messages and groups. */
  readonly guild: string | undefined;
  readonly user: string;
  /** True if the user reaches the bot only through their own installation. */
  readonly isUserInstall: boolean;
}

/** Outcome of an access check: the team whose account is charged, or the refusal. */
type Admission =
  | { readonly team: string; readonly refusal: null }
  | { readonly team: null; readonly refusal: AccessRefusal };

export interface Server {
  readonly id: string;
  readonly name: string;
}

interface Spread {
  readonly allowed: readonly Server[];
  readonly refused: readonly Server[];
}

const CACHE_TTL_MS = 60_000;
/** @see https://discord.com/developers/docs/resources/user#get-current-user-guilds */
const SERVERS_PER_PAGE = 200;
const ANY = '*';
const PUBLIC_APP =
  'The Discord app is public, so anyone can add it to a server. Turn off “Public Bot” in the developer portal, or set ALLOW_TEAMS.';

/**
 * Decides who may use the bot on Discord: users in an allowed server, and, in direct messages, members of one.
 * Without `ALLOW_TEAMS`, these are the servers in which the bot was a member at its first start.
 */
export class Access {
  readonly #options: AccessOptions;
  readonly #rules: TtlCache<AccessRules>;
  readonly #servers: TtlCache<ReadonlyMap<string, string>>;
  readonly #members: TtlCache<boolean>;
  #isPublic = false;
  #first: readonly string[] | null = null;
  /** True if the bot was in no server at the last check: the first one that invites it is allowed at once. */
  #isUninvited = false;

  constructor(options: AccessOptions) {
    this.#options = options;
    const { clock } = options;
    this.#rules = new TtlCache(clock, CACHE_TTL_MS);
    this.#servers = new TtlCache(clock, CACHE_TTL_MS);
    this.#members = new TtlCache(clock, CACHE_TTL_MS);
  }

  /** Configuration problem for an operator to fix; `null` if there is none. */
  get problem(): string | null {
    return this.#isPublic && this.#isOpen ? PUBLIC_APP : null;
  }

  /** Returns the names of the servers in which the bot is a member, by id. @throws DailiesError */
  servers(): Promise<ReadonlyMap<string, string>> {
    return this.#servers.of(ANY, () => serversOf(this.#options.rest));
  }

  /** Splits the bot's servers into those that may use it and the others. @throws DailiesError */
  async spread(): Promise<Spread> {
    const [{ teams }, servers] = await Promise.all([this.#rules.of(ANY, this.#readRules), this.servers()]);
    return splitServers(servers, teams);
  }

  /** Loads the servers that may use the bot, and logs them. @throws DailiesError */
  async prepare(): Promise<void> {
    const { logger, self } = this.#options;
    this.#isPublic = (await self()).isPublic;
    await this.#rules.of(ANY, this.#readRules);
    const { allowed, refused } = await this.spread().catch(() => ({ allowed: [], refused: [] }));
    const named = (list: readonly Server[]): readonly string[] => list.map(({ id, name }) => `${name} (discord:${id})`);
    logger.info({ event: 'discord_servers', servers: named(allowed) }, 'servers that may use the bot');
    if (refused.length > 0)
      logger.warn(
        { event: 'discord_servers_refused', servers: named(refused) },
        'servers that ALLOW_TEAMS does not list',
      );
    if (this.problem !== null) logger.error({ event: 'discord_app_public' }, this.problem);
  }

  /** Decides on a request. @throws DailiesError if Discord or the store is unavailable. */
  async of({ guild, user, isUserInstall }: AccessRequest): Promise<Admission> {
    if (this.#isUninvited) {
      this.#rules.forget(ANY);
      this.#servers.forget(ANY);
    }
    const rules = await this.#rules.of(ANY, this.#readRules);
    const isAllowed = (id: string): boolean => rules.teams === 'all' || rules.teams.has(id);
    const here = guild !== undefined && (!isUserInstall || isAllowed(guild)) ? guild : null;
    // Looked up only if needed: finding a user's server takes API calls.
    const isAdmitted = !isUserInstall || rules.admits.has('user_install');
    const team = here ?? (isAdmitted ? await this.#serverOf(user, rules) : null);
    const facts = { teams: team === null ? [] : [team], exceptions: isUserInstall ? (['user_install'] as const) : [] };
    const refusal = accessRefusal(PLATFORM, rules, facts);
    return refusal === null && team !== null
      ? { team, refusal: null }
      : { team: null, refusal: refusal ?? { reason: 'team', platform: PLATFORM, team } };
  }

  /** True if only the developer portal restricts the servers that the bot can be added to. */
  get #isOpen(): boolean {
    return this.#options.config.teams === null && this.#options.guildId === undefined;
  }

  readonly #readRules = async (): Promise<AccessRules> => {
    const { config, guildId } = this.#options;
    const standard = config.teams === null && guildId === undefined ? await this.#firstServers() : 'all';
    return withServer(guildId, rulesOf(PLATFORM, config, standard));
  };

  /** Returns the servers of the first start: from the store, or else the current ones. */
  async #firstServers(): Promise<AccessRules['teams']> {
    if (this.#first !== null) return new Set(this.#first);
    const { records, self, logger } = this.#options;
    const { application, isPublic } = await self();
    const key = `servers:${application}`;
    const known = await records.recall<{ readonly ids: readonly string[] }>(key);
    if (known !== undefined) {
      this.#first = known.ids;
      return new Set(known.ids);
    }
    try {
      const ids = [...(await this.servers()).keys()];
      // A bot started before its first invitation waits for that server, provided that only its owner can add it.
      this.#isUninvited = ids.length === 0 && !isPublic;
      if (this.#isUninvited) return new Set();
      await records.remember(key, { ids });
      this.#first = ids;
      return new Set(ids);
    } catch (thrown) {
      const error = asDailiesError(thrown, 'listing the servers of the bot');
      if (error.retryable) throw error;
      logger.warn(
        { event: 'discord_server_list_unavailable', err: error },
        'Discord does not list the servers of the bot, set ALLOW_TEAMS to list them',
      );
      // An app that only its owner can add to a server is only in servers that the owner chose.
      return isPublic ? new Set() : 'all';
    }
  }

  /** Returns the first allowed server of which the user is a member. */
  async #serverOf(user: string, { teams }: AccessRules): Promise<string | null> {
    const ids = teams === 'all' ? [...(await this.servers()).keys()] : [...teams];
    for (const id of ids) if (await this.#isMember(id, user)) return id;
    return null;
  }

  #isMember(guild: string, user: string): Promise<boolean> {
    return this.#members.of(`${guild}:${user}`, () => isMemberOf(this.#options.rest, guild, user));
  }
}

/** Returns whether a user is a member of a server; false also where the bot is not one. @throws DailiesError if retryable */
export function isMemberOf(rest: DiscordRest, guild: string, user: string): Promise<boolean> {
  const doing = 'looking for a member';
  return rest.get(Routes.guildMember(guild, user), doing).then(
    () => true,
    (thrown: unknown) => {
      const error = asDailiesError(thrown, doing);
      if (error.retryable) throw error;
      return false;
    },
  );
}

/** Returns the rules where one server alone may use the bot; as they are without one. */
export function withServer(guildId: string | undefined, rules: AccessRules): AccessRules {
  if (guildId === undefined) return rules;
  const isAllowed = rules.teams === 'all' || rules.teams.has(guildId);
  return { ...rules, teams: new Set(isAllowed ? [guildId] : []) };
}

/** Splits servers into those that may use the bot and the others. */
export function splitServers(servers: ReadonlyMap<string, string>, teams: AccessRules['teams']): Spread {
  const named = [...servers].map(([id, name]): Server => ({ id, name }));
  const isAllowed = ({ id }: Server): boolean => teams === 'all' || teams.has(id);
  return { allowed: named.filter(isAllowed), refused: named.filter((one) => !isAllowed(one)) };
}

/** Fetches the names of the servers in which the bot is a member, by id. @throws DailiesError */
export async function serversOf(rest: DiscordRest): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let after = '0'; ; after = [...found.keys()].at(-1) ?? after) {
    const query = { after, limit: `${SERVERS_PER_PAGE}` };
    const doing = 'listing the servers of the bot';
    const page = await rest.get<readonly APIPartialGuild[]>(Routes.userGuilds(), doing, query);
    for (const { id, name } of page) found.set(id, name);
    if (page.length < SERVERS_PER_PAGE) return found;
  }
}
