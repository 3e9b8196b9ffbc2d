import { type Approver, formatPrice, type Price } from '#src/tasks/index.ts';
import type { TeamApprover } from '#src/teams/index.ts';
import { type Block, type Card, type Line, layOut, type Part } from '../../ui/card.ts';
import { shorten } from '../format.ts';
import { formatLastDay } from '../money/months.ts';

interface ApproversOutcome {
  readonly kind: 'added' | 'there_already' | 'removed' | 'absent';
  readonly approver: Approver;
}

/** Shows the outcome of a change, if any, and the approvers with their rights. */
export function approversCard(
  outcome: ApproversOutcome | null,
  approvers: readonly TeamApprover[],
  { above, timeZone }: { readonly above: Price | null; readonly timeZone: string },
): Card {
  const threshold =
    above === null
      ? 'No clip needs an approval by its price; over a budget, anyone may ask for one.'
      : `Clips above ${formatPrice(above)} need an approval; over a budget, anyone may ask for one.`;
  const nobody: Block = { kind: 'text', line: ['There are no approvers, so administrators approve.'] };
  return layOut([
    ...(outcome === null ? [] : [{ kind: 'text', line: outcomeLine(outcome) } as const]),
    { kind: 'heading', line: ['Approvers'] },
    ...(approvers.length === 0
      ? [nobody]
      : approvers.map((one): Block => ({ kind: 'text', line: approverLine(one, timeZone) }))),
    { kind: 'small', line: [`${threshold} No one approves their own clips.`] },
  ]);
}

/** Discord drops the ping of a role silently otherwise. @see https://discord.com/developers/docs/topics/permissions */
const PINGED =
  ' A request pings them if anyone may mention the role, or if I have “Mention @everyone, @here, and All Roles”.';

function outcomeLine({ kind, approver }: ApproversOutcome): Line {
  const who = nameOf(approver);
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

function approverLine(approver: TeamApprover, timeZone: string): Line {
  const until: Line = approver.untilMs === undefined ? [] : [` · until ${formatLastDay(approver.untilMs, timeZone)}`];
  return ['• ', nameOf(approver), ...until, ' · added by ', { person: approver.by }];
}

function nameOf({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { person: { id, name } } : { group: { id, name } };
}

/** Refuses a change without an approver. @param command such as `/video approvers` */
export function whichApprover(command: string): string {
  return `who: name a person, role or user group, such as ${command} @ben`;
}

/** Refuses a name that is no known person, role or user group. */
export function unknownApprover(given: string, option = 'who'): string {
  return `${option}: I don’t know “${shorten(given, 80)}” here. Mention a person, a role or a user group, such as @ben.`;
}

/** Refuses the role of all members: with it, every press would count, and none would be named. */
export const EVERYONE = 'who: @everyone can’t approve. Choose a role that only some have.';

/** Refuses a group whose members cannot be looked up, and so could not approve. @param reason continues a sentence */
export function unreadableGroup(name: string, reason: string, option = 'who'): string {
  return `${option}: I can’t read who belongs to ${shorten(name, 80)}: ${reason}. Until then, add people instead. Nothing was changed.`;
}

/** Refuses a text that is no day. */
export function notADay(given: string): string {
  return `until: “${shorten(given, 40)}” isn’t a day. Write year, month and day, such as 2026-12-24.`;
}

export function pastDay(given: string): string {
  return `until: ${shorten(given, 40)} is over. Name today or a later day.`;
}
