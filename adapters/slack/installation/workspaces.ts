import type { Authorize, Installation, InstallationQuery, InstallationStore } from '@slack/bolt';
import { accessSentence } from '#commands/sentences/access.ts';
import { type AccessRules, accessRefusal } from '#src/chat/access.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Store } from '#src/store/store.ts';
import type { TokenCipher } from './token-cipher.ts';

/** A workspace (or a whole organisation) in which the app is installed. */
export interface Workspace {
  /** The workspace's id; of an organisation, the enterprise's. */
  readonly id: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
  /** Such as `https://acme.slack.com/`; `null` as long as it is not known. */
  readonly url: string | null;
  readonly name?: string;
  /** The bot user's name, without `@`. */
  readonly botName?: string;
  /** The organisation it belongs to (Enterprise Grid), where it does. */
  readonly enterprise?: string;
}

/** Says who the bearer of a token is (`auth.test`). */
export type Introduce = (token: string) => Promise<Omit<Workspace, 'botToken'>>;

/** Collaborators of {@link Workspaces}. */
export interface WorkspacesOptions {
  readonly store: Store;
  /** The one workspace's token; absent: those that installed the app. */
  readonly botToken?: string | undefined;
  /** Where tokens of installations are kept; absent with one workspace alone. */
  readonly vault?: TokenCipher | undefined;
  readonly introduce: Introduce;
  /** Which workspaces and organisations may install the app. Default: all. */
  readonly rules?: AccessRules;
  /** Told which workspace removed the app. */
  readonly forgotten?: (id: string) => void;
}

/** An installation as it is stored: the whole of it, sealed. */
interface StoredInstallation {
  readonly sealed: string;
}

/** The id of a workspace whose installation changed. */
const TOPIC = 'slack:installations';

/** Who may be spoken for: the one workspace of a token, or every one that installed the app. */
export class Workspaces implements InstallationStore {
  readonly #options: WorkspacesOptions;
  readonly #known = new Map<string, Workspace>();
  /** Of workspaces in which a whole organisation's installation is at work: the organisation. */
  readonly #organisations = new Map<string, string>();
  #only: Promise<Workspace> | undefined;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    options.store.broadcast.subscribe(TOPIC, (id) => this.#known.delete(id));
  }

  /** Finds out who the one token belongs to; nothing to do where there are installations. @throws `unauthorised` */
  async check(): Promise<void> {
    if (this.#options.botToken !== undefined) await this.of('');
  }

  /**
   * The workspace of a team, or of its organisation.
   * @throws `unauthorised` where the app is not installed there (any more).
   */
  async of(team: string, enterprise?: string): Promise<Workspace> {
    const { botToken } = this.#options;
    if (botToken !== undefined) return this.#theOnly(botToken);
    const own = await this.#find(team);
    const found = own ?? (await this.#find(enterprise ?? (await this.#organisationOf(team))));
    if (found !== null) return found;
    throw new DailiesError(`speaking to workspace ${team}: the app is not installed there`, {
      code: 'unauthorised',
      retryable: true,
    });
  }

  /** Bolt's way of asking the same. */
  readonly authorize: Authorize<boolean> = async ({ teamId, enterpriseId }) => {
    const { id, botToken, botId, botUserId } = await this.of(teamId ?? '', enterpriseId);
    const isOrganisation = id.startsWith('E');
    if (isOrganisation && teamId !== undefined) await this.#remember(teamId, id);
    return { botToken, botId, botUserId, teamId: isOrganisation ? (teamId ?? id) : id };
  };

  readonly storeInstallation: InstallationStore['storeInstallation'] = async (installation) => {
    const id = idOf(installation);
    this.#assertAllowed(installation);
    const sealed = this.#vault.seal(id, JSON.stringify(installation));
    await this.#records.set(recordKey(id), { sealed } satisfies StoredInstallation);
    this.#changed(id);
  };

  readonly fetchInstallation: InstallationStore['fetchInstallation'] = async (query) => {
    const found = await this.#read(queryId(query));
    if (found !== null) return found;
    throw new DailiesError('reading an installation: there is none', { code: 'unauthorised', retryable: false });
  };

  readonly deleteInstallation = async (query: InstallationQuery<boolean>): Promise<void> => {
    await this.#forget(queryId(query));
  };

  /**
   * The app was removed from a workspace, or its token revoked: what is kept of it goes. Unless it works: that was said
   * of an earlier installation, and heard after the next one.
   */
  async forget(id: string): Promise<void> {
    this.#known.delete(id);
    this.#only = undefined;
    const token = this.#options.botToken ?? (await this.#read(id))?.bot?.token;
    if (token !== undefined && (await this.#works(token))) return;
    await this.#forget(id);
  }

  /** What is known of a workspace may be out of date. */
  doubt({ team, enterprise = '' }: { readonly team: string; readonly enterprise?: string | undefined }): void {
    this.#known.delete(team);
    this.#known.delete(enterprise);
    this.#known.delete(this.#organisations.get(team) ?? '');
  }

  /** @throws DailiesError `missing_permission` naming the workspace that may not install the app */
  #assertAllowed({ team, enterprise }: Installation): void {
    const { rules } = this.#options;
    const teams = [team?.id, enterprise?.id].filter((id) => id !== undefined);
    const refusal = rules === undefined ? null : accessRefusal('slack', rules, { teams, exceptions: [] });
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
    const found = this.#known.get(id) ?? (await this.#installed(id));
    if (found !== null) this.#known.set(id, found);
    return found;
  }

  /** Not everything that names a workspace names its organisation too: a subscription does not. */
  async #remember(team: string, organisation: string): Promise<void> {
    if (this.#organisations.get(team) === organisation) return;
    await this.#records.set(organisationKey(team), organisation);
    this.#organisations.set(team, organisation);
  }

  async #organisationOf(team: string): Promise<string | undefined> {
    return this.#organisations.get(team) ?? (await this.#records.get<string>(organisationKey(team)));
  }

  async #forget(id: string): Promise<void> {
    await this.#records.delete(recordKey(id));
    this.#options.forgotten?.(id);
    this.#changed(id);
  }

  /** Every replica reads it anew. */
  #changed(id: string): void {
    this.#known.delete(id);
    this.#options.store.broadcast.publish(TOPIC, id);
  }

  #works(token: string): Promise<boolean> {
    return this.#options.introduce(token).then(
      () => true,
      (thrown: unknown) => {
        if (asDailiesError(thrown, 'trying a token').code === 'unauthorised') return false;
        throw thrown;
      },
    );
  }

  #theOnly(botToken: string): Promise<Workspace> {
    this.#only ??= this.#options.introduce(botToken).then((introduced) => ({ ...introduced, botToken }));
    const only = this.#only;
    only.catch(() => {
      if (this.#only === only) this.#only = undefined;
    });
    return only;
  }

  async #installed(id: string): Promise<Workspace | null> {
    const token = (await this.#read(id))?.bot?.token;
    if (token === undefined) return null;
    return { ...(await this.#options.introduce(token)), id, botToken: token };
  }

  async #read(id: string): Promise<Installation | null> {
    const stored = await this.#records.get<StoredInstallation>(recordKey(id));
    const text = stored === undefined ? null : this.#vault.open(id, stored.sealed);
    return text === null ? null : (JSON.parse(text) as Installation);
  }

  get #records() {
    return this.#options.store.keyv('adapters');
  }

  get #vault(): TokenCipher {
    const { vault } = this.#options;
    if (vault !== undefined) return vault;
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

function organisationKey(team: string): string {
  return `slack:organisation:${team}`;
}

function recordKey(id: string): string {
  return `slack:installation:${id}`;
}
