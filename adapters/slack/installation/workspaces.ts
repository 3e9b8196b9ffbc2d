import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Authorize, Installation, InstallationQuery, InstallationStore } from '@slack/bolt';
import { accessSentence } from '#commands/sentences/access.ts';
import { type AccessRules, accessRefusal } from '#src/chat/index.ts';
import { collection, type Store } from '#src/engine/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { type AccessConfig, rulesOf } from '#src/teams/index.ts';
import type { SlackSettings } from '../config.ts';
import { PLATFORM } from '../interactions/listeners.ts';
import { createClient } from '../web-api/client.ts';
import { translate } from '../web-api/errors.ts';

/** A workspace, or an organisation, where the app is installed. */
export interface Workspace {
  /** The workspace's id; the enterprise's for an organisation-wide installation. */
  readonly id: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
  /** Such as `https://acme.slack.com/`; `null` if unknown. */
  readonly url: string | null;
  readonly name?: string;
  /** The bot user's name, without `@`. */
  readonly botName?: string;
  /** The id of its organisation (Enterprise Grid), if any. */
  readonly enterprise?: string;
}

/** Looks up a token's workspace and bot user (`auth.test`). */
type Identify = (token: string) => Promise<Omit<Workspace, 'botToken'>>;

interface WorkspacesOptions extends Pick<SlackSettings, 'botToken' | 'apiUrl' | 'installation'> {
  readonly access: AccessConfig;
  readonly store: Store;
  readonly logger: Logger;
  /** Called with the id of a workspace that removed the app. */
  readonly onRemoved?: (id: string) => void;
  /** Default: asks Slack. */
  readonly identify?: Identify;
}

/** A stored installation, encrypted as a whole. */
interface StoredInstallation {
  readonly sealed: string;
}

/** By the ids of their workspaces, or organisations. */
const slackInstallations = collection<string, StoredInstallation>({
  name: 'slack_installations',
  holds: 'tokens of Slack workspaces installed by OAuth, encrypted, with the id of who installed the app',
  kept: 'until the app is removed from the workspace',
  personal: { byOwner: true },
});

/** The organisation of a workspace that it covers. */
const slackOrganisations = collection<string, { readonly id: string }>({
  name: 'slack_organisations',
  holds: 'the organisation of each Slack workspace',
  personal: 'nobody',
});

/** Topic for the ids of workspaces whose installation changed. */
const TOPIC = 'slack:installations';

/** The workspaces that use the app: the single one of a token, or all that installed it. */
export class Workspaces implements InstallationStore {
  readonly #options: WorkspacesOptions;
  readonly #identify: Identify;
  readonly #cache = new Map<string, Workspace>();
  /** Organisation ids of workspaces covered by an organisation-wide installation, by team id. */
  readonly #organisations = new Map<string, string>();
  #single: Promise<Workspace> | undefined;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.#identify = options.identify ?? ((token) => identify(token, options));
    options.store.broadcast.subscribe(TOPIC, (id) => this.#cache.delete(id));
  }

  /** Verifies the single workspace's token, if configured. @throws `unauthorised` */
  async check(): Promise<void> {
    if (this.#options.botToken !== undefined) await this.of('');
  }

  /**
   * Returns the installation of a team, or of its organisation.
   * @throws `unauthorised` if the app is not installed there.
   */
  async of(team: string, enterprise?: string): Promise<Workspace> {
    const { botToken } = this.#options;
    if (botToken !== undefined) return this.#singleWorkspace(botToken);
    const own = await this.#find(team);
    const found = own ?? (await this.#find(enterprise ?? (await this.#organisationOf(team))));
    if (found !== null) return found;
    throw new DailiesError(`speaking to workspace ${team}: the app is not installed there`, {
      code: 'unauthorised',
      retryable: true,
    });
  }

  /** Implements Bolt's `authorize` with {@link of}. */
  readonly authorize: Authorize<boolean> = async ({ teamId, enterpriseId }) => {
    const { id, botToken, botId, botUserId } = await this.of(teamId ?? '', enterpriseId);
    const isOrganisation = id.startsWith('E');
    if (isOrganisation && teamId !== undefined) await this.#rememberOrganisation(teamId, id);
    return { botToken, botId, botUserId, teamId: isOrganisation ? (teamId ?? id) : id };
  };

  readonly storeInstallation: InstallationStore['storeInstallation'] = async (installation) => {
    const id = idOf(installation);
    this.#assertAllowed(installation);
    const sealed = this.#cipher.seal(id, JSON.stringify(installation));
    await slackInstallations.set(this.#options.store, id, { sealed });
    this.#changed(id);
  };

  readonly fetchInstallation: InstallationStore['fetchInstallation'] = async (query) => {
    const found = await this.#read(queryId(query));
    if (found !== null) return found;
    throw new DailiesError('reading an installation: there is none', { code: 'unauthorised', retryable: false });
  };

  readonly deleteInstallation = async (query: InstallationQuery<boolean>): Promise<void> => {
    await this.#delete(queryId(query));
  };

  /**
   * Deletes the installation of a workspace that removed the app or revoked its token; keeps it if its token still
   * works, since a late event may concern an earlier installation.
   */
  async forget(id: string): Promise<void> {
    this.#cache.delete(id);
    this.#single = undefined;
    const token = this.#options.botToken ?? (await this.#read(id))?.bot?.token;
    if (token !== undefined && (await this.#works(token))) return;
    await this.#delete(id);
  }

  /** Invalidates a workspace's cache entries. */
  invalidate({ team, enterprise = '' }: { readonly team: string; readonly enterprise?: string | undefined }): void {
    this.#cache.delete(team);
    this.#cache.delete(enterprise);
    this.#cache.delete(this.#organisations.get(team) ?? '');
  }

  /** Checks the access rules. @throws DailiesError `missing_permission` naming a workspace that may not install it */
  #assertAllowed({ team, enterprise }: Installation): void {
    const teams = [team?.id, enterprise?.id].filter((id) => id !== undefined);
    const refusal = accessRefusal('slack', rulesFor(this.#options), { teams, exceptions: [] });
    if (refusal === null) return;
    const words = accessSentence(refusal);
    throw new DailiesError(`installing in ${teams.join(', ')}: ALLOW_TEAMS does not name it`, {
      code: 'missing_permission',
      retryable: false,
      words,
    });
  }

  async #find(id: string | undefined): Promise<Workspace | null> {
    if (id === undefined || id === '') return null;
    const found = this.#cache.get(id) ?? (await this.#installed(id));
    if (found !== null) this.#cache.set(id, found);
    return found;
  }

  /** Stores a workspace's organisation, since not every lookup has it: a subscription has only the workspace. */
  async #rememberOrganisation(team: string, organisation: string): Promise<void> {
    if (this.#organisations.get(team) === organisation) return;
    await slackOrganisations.set(this.#options.store, team, { id: organisation });
    this.#organisations.set(team, organisation);
  }

  async #organisationOf(team: string): Promise<string | undefined> {
    return this.#organisations.get(team) ?? (await slackOrganisations.get(this.#options.store, team))?.id;
  }

  async #delete(id: string): Promise<void> {
    await slackInstallations.delete(this.#options.store, id);
    this.#options.onRemoved?.(id);
    this.#changed(id);
  }

  /** Invalidates the cache of every replica. */
  #changed(id: string): void {
    this.#cache.delete(id);
    this.#options.store.broadcast.publish(TOPIC, id);
  }

  #works(token: string): Promise<boolean> {
    return this.#identify(token).then(
      () => true,
      (thrown: unknown) => {
        if (asDailiesError(thrown, 'trying a token').code === 'unauthorised') return false;
        throw thrown;
      },
    );
  }

  #singleWorkspace(botToken: string): Promise<Workspace> {
    this.#single ??= this.#identify(botToken).then((identity) => ({ ...identity, botToken }));
    const single = this.#single;
    single.catch(() => {
      if (this.#single === single) this.#single = undefined;
    });
    return single;
  }

  async #installed(id: string): Promise<Workspace | null> {
    const token = (await this.#read(id))?.bot?.token;
    if (token === undefined) return null;
    return { ...(await this.#identify(token)), id, botToken: token };
  }

  async #read(id: string): Promise<Installation | null> {
    const stored = await slackInstallations.get(this.#options.store, id);
    const text = stored === undefined ? null : this.#cipher.open(id, stored.sealed);
    return text === null ? null : (JSON.parse(text) as Installation);
  }

  get #cipher(): TokenCipher {
    const { installation } = this.#options;
    if (installation !== undefined) return new TokenCipher(installation.stateSecret);
    throw new TypeError('keeping an installation of Slack: there is no key to keep it with');
  }
}

function idOf({ isEnterpriseInstall, enterprise, team }: Installation): string {
  const id = isEnterpriseInstall === true ? enterprise?.id : (team?.id ?? enterprise?.id);
  if (id === undefined) throw new TypeError('keeping an installation of Slack: it is of no workspace');
  return id;
}

function queryId({ isEnterpriseInstall, enterpriseId, teamId }: InstallationQuery<boolean>): string {
  return (isEnterpriseInstall ? enterpriseId : teamId) ?? '';
}

const IDENTIFY_TIMEOUT_MS = 10_000;

/** Without `ALLOW_TEAMS`, admits the workspace of a single token; of several installations, none. */
export function rulesFor({ access, botToken }: Pick<WorkspacesOptions, 'access' | 'botToken'>): AccessRules {
  return rulesOf(PLATFORM, access, botToken === undefined ? new Set() : 'all');
}

async function identify(token: string, { apiUrl, logger }: WorkspacesOptions): ReturnType<Identify> {
  const client = createClient(token, { apiUrl, logger, timeoutMs: IDENTIFY_TIMEOUT_MS });
  const identity = await client.auth.test().catch((thrown: unknown) => {
    throw translate(thrown, 'introducing the bot to Slack');
  });
  const {
    team_id: id = '',
    user_id: botUserId = '',
    bot_id: botId = '',
    url = null,
    enterprise_id: enterprise,
    team: name,
    user: botName,
  } = identity;
  const names = { ...(name === undefined ? {} : { name }), ...(botName === undefined ? {} : { botName }) };
  return { id, botUserId, botId, url, ...names, ...(enterprise === undefined ? {} : { enterprise }) };
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets (AES-256-GCM), so that access to the store alone does not reveal them. */
export class TokenCipher {
  readonly #key: Buffer;

  /** @param secret the configured secret that the key is derived from */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, 'dailies', 'slack installations', 32));
  }

  /** Encrypts `text`; only {@link open} with the same `name` decrypts it. */
  seal(name: string, text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(name));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
  }

  /** Decrypts a text. @returns `null` if it was sealed with another key or name, or tampered with. */
  open(name: string, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64');
    const tagEnd = IV_BYTES + TAG_BYTES;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(IV_BYTES, tagEnd));
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}
