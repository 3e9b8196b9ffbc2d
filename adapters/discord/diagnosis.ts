import type { CheckDeps } from '#commands/adapter.ts';
import { declarations } from '#commands/registry.ts';
import { type Check, type Finding, type Findings, ok, warning, wrong } from '#src/doctor/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { rulesOf } from '#src/teams/index.ts';
import type { DiscordSettings } from './config.ts';
import { askForGateway } from './gateway/identify.ts';
import { isMemberOf, type Server, serversOf, splitServers, withServer } from './interactions/access.ts';
import { PLATFORM } from './interactions/caller.ts';
import { type Identity, inviteLink, ownIdentity, stateOfCommands } from './registration/register.ts';
import { DiscordRest, DiscordTime } from './rest/client.ts';
import { Permissions } from './rest/permissions.ts';

const PORTAL = 'https://discord.com/developers/applications › your app';
/** Session starts left of a day's 1,000 from which a crash loop is likely. */
const FEW_SESSIONS = 50;
/** Most servers whose permissions are looked up. */
const MAX_SERVERS = 25;

/** Facts that the checks share. */
interface Found {
  readonly rest: DiscordRest;
  readonly identity: Identity;
  readonly allowed: readonly Server[];
  readonly refused: readonly Server[];
}

/** Returns the checks of Discord. They only read. */
export function discordChecks(settings: DiscordSettings, deps: CheckDeps): readonly Check[] {
  const rest = new DiscordRest({ ...settings, time: new DiscordTime(deps.clock) });
  const identity = ownIdentity(rest);
  const found = identity.then(async (self): Promise<Found> => {
    return { rest, identity: self, ...(await spread(rest, settings, deps)) };
  });
  // Only the check of the token, and that of the servers, report a failure of what the others need.
  const quietly = (run: (facts: Found) => Findings | Promise<Findings>) => () => found.then(run, () => null);
  identity.catch(() => undefined);
  return [
    { subject: 'Discord token', run: () => checkToken(rest, identity, settings, deps) },
    {
      subject: 'Discord servers',
      run: () =>
        identity.then(
          () => found.then((facts) => checkServers(facts, deps)),
          () => null,
        ),
    },
    { subject: 'Discord commands', run: quietly((facts) => checkCommands(facts, settings, deps)) },
    { subject: 'Discord permissions', run: quietly((facts) => checkPermissions(facts, deps)) },
    { subject: 'ADMINS', run: quietly((facts) => checkAdmins(facts, deps)) },
  ];
}

async function checkToken(
  rest: DiscordRest,
  identity: Promise<Identity>,
  { guildId }: DiscordSettings,
  { config }: CheckDeps,
): Promise<Findings> {
  try {
    const { name, application, isPublic } = await identity;
    const { shards, session_start_limit: limit } = await askForGateway(rest);
    const isOpen = isPublic && config.access.teams === null && guildId === undefined;
    return [
      ok(`accepted as ${name} (application ${application}), ${shards} shard(s); no privileged intent is needed`),
      limit.remaining > FEW_SESSIONS ? null : fewSessions(limit.remaining, limit.reset_after),
      isOpen
        ? wrong(
            'it is public, so anyone can add it to a server and spend your money',
            `${PORTAL} › Installation › Install Link: None; then Bot › Public Bot: off. Or set ALLOW_TEAMS.`,
            'Discord app',
          )
        : null,
    ];
  } catch (thrown) {
    const { code, message } = asDailiesError(thrown, 'asking Discord');
    return code === 'unauthorised'
      ? wrong('Discord does not accept it', `Put a new one into DISCORD_TOKEN: ${PORTAL} › Bot › Reset Token.`)
      : wrong(message, 'Check the network, a proxy on the way and https://discordstatus.com.');
  }
}

function fewSessions(remaining: number, resetAfterMs: number): Finding {
  const subject = 'Discord gateway';
  const found = `${remaining} session starts are left, until a reset in ${Math.ceil(resetAfterMs / 60_000)} min`;
  const fix = 'Look for a bot in a crash loop, or another process with this token.';
  return remaining === 0 ? wrong(found, fix, subject) : warning(found, fix, subject);
}

async function spread(rest: DiscordRest, { guildId }: DiscordSettings, { config }: CheckDeps) {
  const { teams } = withServer(guildId, rulesOf(PLATFORM, config.access, 'all'));
  return splitServers(await serversOf(rest), teams);
}

function checkServers({ identity, allowed, refused }: Found, { config }: CheckDeps): Findings {
  const invite = `Open ${inviteLink(identity.application)}`;
  const { teams } = rulesOf(PLATFORM, config.access, 'all');
  const member = new Set([...allowed, ...refused].map(({ id }) => id));
  const absent = teams === 'all' ? [] : [...teams].filter((id) => !member.has(id));
  const names = allowed.map(({ name, id }) => `${name} (${id})`).join(', ');
  const first =
    config.access.teams === null
      ? '; of these, those of its first start may use it, until ALLOW_TEAMS says otherwise'
      : '';
  return [
    allowed.length === 0
      ? wrong('the bot is in none that may use it', `${invite}, and choose a server.`)
      : ok(`${names}${first}`),
    ...refused.map(({ name, id }) =>
      warning(
        `${name} (${id}) may not use the bot`,
        `Add discord:${id} to ALLOW_TEAMS (mind DISCORD_GUILD_ID), or remove the bot there.`,
      ),
    ),
    ...absent.map((id) => warning(`the bot is not in discord:${id}`, `${invite}, or correct the id.`, 'ALLOW_TEAMS')),
  ];
}

async function checkCommands(
  { rest, identity, allowed }: Found,
  { guildId }: DiscordSettings,
  { config }: CheckDeps,
): Promise<Findings> {
  const guild = guildId ?? null;
  if (guild !== null && allowed.length === 0) return null;
  const hasUserInstall = config.access.admits.includes('user_install');
  const { application } = identity;
  const state = await stateOfCommands({ rest, application, guild, commands: declarations, hasUserInstall });
  const where = guild === null ? 'for all servers' : `in server ${guild}`;
  const fix = 'npm start registers them, as does npm run commands.';
  switch (state) {
    case 'current':
      return ok(`those of this version are registered ${where}`);
    case 'none':
      return warning(`none are registered ${where} yet`, fix);
    case 'other':
      return warning(`those registered ${where} are not those of this version`, fix);
    case 'unknown':
      return warning('Discord does not say which are registered', 'Run this again later.');
  }
}

async function checkPermissions({ rest, identity, allowed }: Found, { clock }: CheckDeps): Promise<Findings> {
  const permissions = new Permissions({ rest, clock, self: async () => identity });
  const looked = allowed.slice(0, MAX_SERVERS);
  const all = await Promise.all(
    looked.map(async ({ id, name }) => {
      const subject = `Discord permissions in ${name}`;
      const missing = await permissions.missingInServer(id);
      if (missing.length === 0) return ok('all that it needs, unless a channel denies some', subject);
      const fix = 'Server Settings › Roles › the bot’s role, or open the invite link again.';
      return wrong(`its roles lack ${missing.join(', ')}`, fix, subject);
    }),
  );
  const others = allowed.length - looked.length;
  const fix = 'Their channels name what is missing at each order.';
  return [...all, others === 0 ? null : warning(`${others} more servers were not looked at`, fix)];
}

async function checkAdmins({ rest, allowed }: Found, { config }: CheckDeps): Promise<Findings> {
  const admins = config.admins.filter(({ platform }) => platform === PLATFORM);
  const servers = allowed.slice(0, MAX_SERVERS);
  const strangers = await Promise.all(
    admins.map(async ({ user }) => {
      const found = await Promise.all(servers.map(({ id }) => isMemberOf(rest, id, user)));
      return found.includes(true) ? [] : [user];
    }),
  );
  const missing = strangers.flat();
  if (admins.length > 0 && missing.length === 0) return ok(`${admins.length} on Discord, all found`);
  return missing.map((user) =>
    warning(
      `discord:${user} is a member of no server that may use the bot`,
      'Correct the id (Developer Mode on, right-click the person › Copy User ID), or invite the person.',
    ),
  );
}
