import type { AccessRules } from '#src/chat/index.ts';
import type { Store } from '#src/engine/index.ts';
import type { Logger } from '#src/logger.ts';
import { type AccessConfig, rulesOf } from '#src/teams/index.ts';
import type { SlackSettings } from '../config.ts';
import { PLATFORM } from '../interactions/listeners.ts';
import { createClient } from '../web-api/client.ts';
import { translate } from '../web-api/errors.ts';
import { TokenCipher } from './token-cipher.ts';
import { type Identify, Workspaces } from './workspaces.ts';

const IDENTIFY_TIMEOUT_MS = 10_000;

/** Options of {@link openWorkspaces}. */
interface WorkspacesSource extends Pick<SlackSettings, 'botToken' | 'apiUrl' | 'installation'> {
  readonly access: AccessConfig;
  readonly store: Store;
  readonly logger: Logger;
}

/** Without `ALLOW_TEAMS`, admits the workspace of a single token; of several installations, none. */
export function rulesFor({ access, botToken }: Pick<WorkspacesSource, 'access' | 'botToken'>): AccessRules {
  return rulesOf(PLATFORM, access, botToken === undefined ? new Set() : 'all');
}

/** Creates the workspaces of the configured token, or those that installed the app. */
export function openWorkspaces(options: WorkspacesSource, onRemoved: (id: string) => void): Workspaces {
  const { store, logger, apiUrl, botToken, installation } = options;
  const identify: Identify = async (token) => {
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
  };
  const cipher = installation === undefined ? undefined : new TokenCipher(installation.stateSecret);
  return new Workspaces({ store, botToken, cipher, identify, rules: rulesFor(options), onRemoved });
}
