import type { Approver, Person } from '#src/tasks/index.ts';
import {
  allowedCatalog,
  keyOfTeam,
  NO_POLICY,
  type PolicyPlace,
  type PolicyRules,
  rulesAt,
  type TeamKey,
  type TeamSettings,
  valueRules,
} from '#src/teams/index.ts';
import type { Catalog, PolicyRefusal } from '#src/videos/index.ts';
import type { Caller, OptionFields, Reply } from '../bot-port.ts';
import { membershipIn } from '../input/membership.ts';
import { type BotPorts, refused, teamOf } from '../input/subcommand.ts';
import { policyCommand } from '../sentences/command-name.ts';
import { either, shorten } from '../sentences/format.ts';
import { mayNot, refusalSentences } from '../sentences/refusals.ts';
import { mayDecide } from '../ui/buttons.ts';

/** Returns the rules that apply in the caller's team, in a channel or thread. Rejects with `store_unavailable`. */
async function rulesIn(ports: Pick<BotPorts, 'settings'>, caller: Caller, place: PolicyPlace): Promise<PolicyRules> {
  const { policy = NO_POLICY } = await ports.settings.get(teamOf(caller));
  return rulesAt(policy, place);
}

/**
 * Returns the ports with the catalog as the policy allows it where the caller is, and the team’s styles. Rejects with
 * `store_unavailable`.
 */
export async function withPolicy(ports: BotPorts, caller: Caller): Promise<BotPorts> {
  return underPolicy(ports, caller, await ports.settings.get(teamOf(caller)));
}

/** As {@link withPolicy}, for the settings of the caller's team. */
export function underPolicy(ports: BotPorts, caller: Caller, team: TeamSettings): BotPorts {
  const { policy = NO_POLICY, styles = [] } = team;
  const rules = valueRules(rulesAt(policy, caller));
  const isWhole = Object.keys(rules).length === 0;
  if (isWhole && styles.length === 0) return ports;
  const allowed = (catalog: Catalog) => (isWhole ? catalog : allowedCatalog(catalog, rules));
  return { ...ports, catalog: () => ({ ...allowed(ports.catalog()), styles }) };
}

/**
 * Returns the ports of one interaction, which reads the settings of a team once: they are all that its order is judged by,
 * from the rights of the caller to the claim, which compares them. They are read anew once the interaction has changed them.
 * @param first settings of a team that were read before. Default: none.
 */
export function judgingOnce(
  ports: BotPorts,
  first?: { readonly of: TeamKey; readonly settings: TeamSettings },
): BotPorts {
  const { settings } = ports;
  const read = new Map<string, Promise<TeamSettings>>();
  if (first !== undefined) read.set(keyOfTeam(first.of), Promise.resolve(first.settings));
  return {
    ...ports,
    settings: {
      get: (team) => {
        const reading = read.get(keyOfTeam(team)) ?? settings.get(team);
        read.set(keyOfTeam(team), reading);
        return reading;
      },
      change: (...change) => settings.change(...change).finally(() => read.clear()),
    },
  };
}

/** Returns the reply to a purchase that the policy does not allow. */
export function forbiddenReply({ fields }: Pick<Caller, 'fields'>, refusals: readonly PolicyRefusal[]): Reply {
  return refused(...refusalSentences(refusals, fields));
}

/** Returns why the caller may not create clips here; `null` if they may. Rejects with `store_unavailable`. */
export async function mayNotCreateHere(ports: BotPorts, caller: Caller): Promise<string | null> {
  const { create } = await rulesIn(ports, caller, caller);
  if (create === undefined || create === 'any' || caller.mayAdminister) return null;
  const { isAmong, unread } = await membershipIn(ports, caller, create);
  return isAmong ? null : `You can’t create clips here: ${onlyAllowed(create, caller.fields, unread)}`;
}

/** Members of a role or user group who could not be looked up. */
type Unread = { readonly name: string; readonly reason: string | null } | null;

function onlyAllowed(allowed: readonly Approver[], fields: OptionFields | undefined, unread: Unread): string {
  const only =
    allowed.length === 0
      ? 'only administrators may'
      : `only ${either(allowed.map(({ name }) => shorten(name, 60)))} may`;
  return `${only}. To change that, ask an administrator (${policyCommand(fields)}).${unreadMembers(unread)}`;
}

function unreadMembers(unread: Unread): string {
  if (unread === null) return '';
  const { name, reason } = unread;
  const what = ` I couldn’t find out who belongs to ${shorten(name, 60)}`;
  return reason === null ? `${what} just now; try again in a moment.` : `${what}: ${reason}.`;
}

/**
 * Returns why the caller may not decide on a task; `null` for its requester, and for those named in the policy, by
 * default the managers of its channel. Rejects with `store_unavailable`.
 * @param instead remedy, such as a command of their own.
 */
export async function mayNotDecideOn(
  ports: BotPorts,
  caller: Caller,
  origin: PolicyPlace & { readonly user: Person },
  instead: string | null = null,
): Promise<string | null> {
  if (caller.user.id === origin.user.id) return null;
  const { decide } = await rulesIn(ports, caller, origin);
  if (decide === 'any') return null;
  if (decide === undefined) return mayDecide(caller, origin) ? null : mayNot(origin.user, instead);
  if (caller.mayAdminister) return null;
  const { isAmong, unread } = await membershipIn(ports, caller, decide);
  if (isAmong) return null;
  const names = [origin.user.name, ...decide.map(({ name }) => shorten(name, 60)), 'an administrator'];
  const rule = `${policyCommand(caller.fields)} shows the rule.${unreadMembers(unread)}`;
  return `Only ${either(names)} can do that here. ${rule}${instead === null ? '' : ` ${instead}`}`;
}

/** Returns why the caller may not review a clip; `null` for those named in the policy, by default everyone who sees it. */
export async function mayNotReview(ports: BotPorts, caller: Caller, origin: PolicyPlace): Promise<string | null> {
  const { review } = await rulesIn(ports, caller, origin);
  if (review === undefined || review === 'any' || caller.mayAdminister) return null;
  const { isAmong, unread } = await membershipIn(ports, caller, review);
  return isAmong ? null : `You can’t review clips here: ${onlyAllowed(review, caller.fields, unread)}`;
}
