import type { TeamApprover } from '#src/money/approvers.ts';
import type { Approver } from '#src/tasks/approval.ts';
import { formatPrice } from '#src/tasks/price.ts';
import type { Price } from '#src/tasks/task.ts';
import { type Block, type Card, type Line, layOut, type Part } from '../../ui/card.ts';
import { shorten } from '../format.ts';

/** Outcome of a change of the approvers. */
export interface ApproversOutcome {
  readonly kind: 'added' | 'there_already' | 'removed' | 'absent';
  readonly approver: Approver;
}

/** Shows the outcome of a change, if any, and the approvers with their rights. */
export function approversCard(
  outcome: ApproversOutcome | null,
  approvers: readonly TeamApprover[],
  above: Price | null,
): Card {
  const threshold =
    above === null
      ? 'No clip needs an approval by its price; over a budget, anyone may ask for one.'
      : `Clips above ${formatPrice(above)} need an approval; over a budget, anyone may ask for one.`;
  const nobody: Block = { kind: 'text', line: ['There are no approvers, so administrators approve.'] };
  return layOut([
    ...(outcome === null ? [] : [{ kind: 'text', line: outcomeLine(outcome) } as const]),
    { kind: 'heading', line: ['Approvers'] },
    ...(approvers.length === 0 ? [nobody] : approvers.map((one): Block => ({ kind: 'text', line: approverLine(one) }))),
    { kind: 'small', line: [`${threshold} No one approves their own clips.`] },
  ]);
}

function outcomeLine({ kind, approver }: ApproversOutcome): Line {
  const who = nameOf(approver);
  switch (kind) {
    case 'added':
      return [who, ' may approve from now on.'];
    case 'there_already':
      return [who, ' may approve already. Nothing was changed.'];
    case 'removed':
      return [who, ' no longer approves.'];
    case 'absent':
      return [who, ' was no approver. Nothing was changed.'];
  }
}

function approverLine(approver: TeamApprover): Line {
  const until: Line = approver.untilMs === undefined ? [] : [' · until ', { timeMs: approver.untilMs }];
  return ['• ', nameOf(approver), ...until, ' · added by ', { person: approver.by }];
}

function nameOf({ kind, id, name }: Approver): Part {
  return kind === 'person' ? { person: { id, name } } : { untrusted: name };
}

/** Refuses a change without an approver. */
export const whichApprover = 'who: name a person, role or user group, such as /video approvers add @ben';

/** Refuses a name that is no known person, role or user group. */
export function unknownApprover(given: string): string {
  return `who: I don’t know “${shorten(given, 80)}” here. Mention a person, a role or a user group, such as @ben.`;
}

/** Refuses a text that is no day. */
export function notADay(given: string): string {
  return `until: “${shorten(given, 40)}” isn’t a day. Write year, month and day, such as 2026-12-24.`;
}

/** Refuses a day in the past. */
export function pastDay(given: string): string {
  return `until: ${shorten(given, 40)} is over. Name today or a later day.`;
}
