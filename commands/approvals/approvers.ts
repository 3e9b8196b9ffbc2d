import { asDailiesError } from '#src/errors.ts';
import { endOfDay } from '#src/period.ts';
import { type Approver, formatPrice, type Price } from '#src/tasks/index.ts';
import type { TeamApprover } from '#src/teams/index.ts';
import type { Caller, Command, GivenOptions, Reply } from '../bot-port.ts';
import { isMemberHere } from '../input/membership.ts';
import { optionValue } from '../input/options.ts';
import { type Panel, panelButtons } from '../input/panels.ts';
import { anyoneNamed, mentionOf, withoutMarkup } from '../input/people.ts';
import { type BotPorts, byCommand, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { nameOf } from '../sentences/command-name.ts';
import { formatLastDay } from '../sentences/dates.ts';
import { quoted, shorten } from '../sentences/format.ts';
import { hasLeft } from '../sentences/refusals.ts';
import { type Card, facts, heading, type Line, layOut, type Part, small } from '../ui/card.ts';

/** Option that adds, or removes. */
export const ADD_OR_REMOVE = {
  kind: 'text',
  choices: [
    { value: 'add', label: 'Add' },
    { value: 'remove', label: 'Remove' },
  ],
  defaultWords: 'add',
} as const;

const declaration: Command = {
  name: 'approvers',
  description: 'Shows or changes who approves expensive clips',
  example: '/video approvers @ben --until 2026-12-24',
  options: [
    {
      name: 'who',
      description: 'Person, role or user group; until a date, if you add one',
      kind: 'approver',
      positional: true,
    },
    {
      name: 'change',
      description: 'Adds or removes',
      ...ADD_OR_REMOVE,
    },
    {
      name: 'until',
      description: 'Last day of a deputy, such as 2026-12-24',
      kind: 'text',
      maxLength: 20,
      range: 'a day such as 2026-12-24',
    },
  ],
  isAdministrative: true,
  visibility: 'private',
};

const panel: Panel = {
  approvers: {
    label: 'Approvers…',
    title: 'Approvers',
    fields: async (ports, caller) => {
      const values = (await ports.approvers.list(teamOf(caller))).map(approverValue);
      const note = 'Without any, administrators approve. Add one who is to stand in as a deputy';
      return [{ option: 'who', label: 'Who approves', values, list: 'each', note }];
    },
  },
  deputy: {
    label: 'Add a deputy…',
    title: 'Add a deputy',
    fields: () => [
      { option: 'who', label: 'Who', values: [], note: 'Approves until the last day', required: true },
      { option: 'until', label: 'Last day', values: [], required: true },
    ],
  },
};

/** `/video approvers`: shows and changes who approves expensive clips. */
export const approvers: Subcommand = {
  declaration,
  panel,
  run: async (ports, caller, given) => {
    const { change, who, until } = wordsOf(given);
    if (who === null)
      return change === null && until === null
        ? overview(ports, caller, null)
        : refused(`who: name a person, role or user group, such as ${nameOf(declaration, caller.fields)} @ben`);
    const approver = await approverNamed(ports, caller, who);
    if (approver === null) return refused(unknownApprover(withoutMarkup(who)));
    if (change === 'remove') {
      const isChanged = await ports.approvers.remove(teamOf(caller), byCommand(caller), approver);
      return overview(ports, caller, { kind: isChanged ? 'removed' : 'absent', approver });
    }
    const problem = await approverProblem(ports, caller, approver);
    if (problem !== null) return refused(problem);
    const untilMs = until === null ? undefined : await dayEnd(ports, caller, until);
    if (typeof untilMs === 'string') return refused(untilMs);
    const isChanged = await ports.approvers.add(teamOf(caller), byCommand(caller), approver, untilMs);
    return overview(ports, caller, { kind: isChanged ? 'added' : 'there_already', approver });
  },
};

/** Parses the options; in a typed command, `who` may contain the others: `remove @ben`, `@ben until 2026-12-24`. */
function wordsOf(given: GivenOptions) {
  const typed = optionValue(given, 'who') ?? '';
  const [, verb, rest = '', day] =
    /^(?:(add|remove|list)(?=\s|$))?\s*([\s\S]*?)(?:\s+(?:until\s+)?(\d{4}-\S*))?$/iu.exec(typed.trim()) ?? [];
  const change = optionValue(given, 'change') ?? verb?.toLowerCase();
  return {
    change: change === 'list' ? null : (change ?? null),
    who: rest === '' ? null : rest,
    until: optionValue(given, 'until') ?? day ?? null,
  };
}

const GROUP = /^<(?:@&|!subteam\^)(?<id>[^|>]+)(?:\|(?<name>[^>]*))?>$/u;

/** Returns the person, role or user group that an option of the kind `approver` names; `null` for none that is known. */
export async function approverNamed(ports: BotPorts, caller: Caller, text: string): Promise<Approver | null> {
  const group = GROUP.exec(text)?.groups;
  if (group !== undefined) {
    const { id = '', name = '' } = group;
    const shown = name === '' ? `@${id}` : name.startsWith('@') ? name : `@${name}`;
    return { kind: text.startsWith('<@&') ? 'role' : 'group', id, name: shown };
  }
  const person = await anyoneNamed(ports, caller, text);
  return person === null || person === 'everyone' ? null : { kind: 'person', ...person };
}

/** Refuses the role of all members: with it, every press would count, and none would be named. */
const EVERYONE = 'who: @everyone can’t approve. Choose a role that only some have.';

/**
 * Returns why someone can't be named in an option: a person who left, a group whose members can't be looked up, the role
 * of all members; `null` if they can.
 */
export async function approverProblem(
  ports: BotPorts,
  caller: Caller,
  { kind, id, name }: Approver,
  option = 'who',
): Promise<string | null> {
  // Everyone's role on Discord, which no member carries and no message may ping.
  if (kind === 'role') return id === caller.team ? EVERYONE : null;
  if (kind === 'group') return unreadable(ports.chat, caller, { id, name }, option);
  return id === caller.user.id || (await isMemberHere(ports, caller, id)) ? null : hasLeft(option, name);
}

/**
 * Returns why a user group can't approve whose members can't be looked up, as on Slack without the scope for it; `null`
 * if they can. @throws DailiesError where the platform does not respond
 */
async function unreadable(
  chat: BotPorts['chat'],
  { platform, team, channel, address, user }: Caller,
  { id, name }: Pick<Approver, 'id' | 'name'>,
  option: string,
): Promise<string | null> {
  try {
    await chat.platform(platform).channels.isInGroup({ team, channel, address }, id, user.id);
    return null;
  } catch (thrown) {
    const error = asDailiesError(thrown, 'looking up the members of a group');
    if (error.code !== 'missing_permission') throw error;
    const reason = error.words ?? 'I’m missing a permission';
    return `${option}: I can’t read who belongs to ${shorten(name, 80)}: ${reason}. Until then, add people instead. Nothing was changed.`;
  }
}

/** Returns the end of a day in the team's time zone; a sentence where it is none, or in the past. */
async function dayEnd({ settings, clock }: BotPorts, caller: Caller, day: string): Promise<number | string> {
  const { timeZone } = await settings.get(teamOf(caller));
  const endMs = endOfDay(day, timeZone);
  if (endMs === null) return `until: ${quoted(day, 40)} isn’t a day. Write year, month and day, such as 2026-12-24.`;
  return endMs <= clock.now() ? `until: ${shorten(day, 40)} is over. Name today or a later day.` : endMs;
}

/** Shows a change's outcome, if any, and the approvers. */
async function overview(ports: BotPorts, caller: Caller, outcome: Parameters<typeof approversCard>[0]): Promise<Reply> {
  const [all, { approveAbove = null, timeZone }] = await Promise.all([
    ports.approvers.list(teamOf(caller)),
    ports.settings.get(teamOf(caller)),
  ]);
  const buttons = panelButtons(caller, declaration, panel);
  return privately({ ...approversCard(outcome, all, { above: approveAbove, timeZone }), buttons });
}

interface ApproversOutcome {
  readonly kind: 'added' | 'there_already' | 'removed' | 'absent';
  readonly approver: Approver;
}

/** Shows the outcome of a change, if any, and the approvers with their rights. */
function approversCard(
  outcome: ApproversOutcome | null,
  approvers: readonly TeamApprover[],
  { above, timeZone }: { readonly above: Price | null; readonly timeZone: string },
): Card {
  const threshold =
    above === null
      ? 'No clip needs an approval by its price; over a budget, anyone may ask for one.'
      : `Clips above ${formatPrice(above)} need an approval; over a budget, anyone may ask for one.`;
  return layOut([
    outcome && outcomeLine(outcome),
    heading('Approvers'),
    approvers.length === 0 && ['There are no approvers, so administrators approve.'],
    ...approvers.map((one) => approverLine(one, timeZone)),
    small(`${threshold} No one approves their own clips.`),
  ]);
}

function approverLine(approver: TeamApprover, timeZone: string): Line {
  return facts(
    ['• ', approverWords(approver)],
    approver.untilMs !== undefined && `until ${formatLastDay(approver.untilMs, timeZone)}`,
    ['added by ', { person: approver.by }],
  );
}

/** Writes an approver as the adapters pass one. */
export function approverValue({ kind, id, name }: Approver): string {
  if (kind === 'person') return mentionOf({ id, name });
  return `${kind === 'role' ? '<@&' : '<!subteam^'}${id}|${name.replace(/[<>|\n]/gu, '')}>`;
}

export function approverWords({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { person: { id, name } } : { group: { id, name } };
}

/** Discord drops the ping of a role silently otherwise. @see https://discord.com/developers/docs/topics/permissions */
const PINGED =
  ' A request pings them if anyone may mention the role, or if I have “Mention @everyone, @here, and All Roles”.';

function outcomeLine({ kind, approver }: ApproversOutcome): Line {
  const who = approverWords(approver);
  switch (kind) {
    case 'added':
      return [who, ' may approve from now on.', ...(approver.kind === 'role' ? [PINGED] : [])];
    case 'there_already':
      return [who, ' may approve already. Nothing was changed.'];
    case 'removed':
      return [who, ' no longer approves.'];
    case 'absent':
      return [who, ' was no approver. Nothing was changed.'];
  }
}

/** Refuses a name that is no known person, role or user group. */
export function unknownApprover(given: string, option = 'who'): string {
  return `${option}: I don’t know ${quoted(given)} here. Mention a person, a role or a user group, such as @ben.`;
}
