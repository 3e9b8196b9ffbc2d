import type { AuditAction, LoggedEntry, LoggedValue, Surface } from '#src/money/audit-entry.ts';
import { formatPrice } from '#src/tasks/price.ts';
import { type Block, type Card, type CardButton, type Line, layOut, type Part } from '../../ui/card.ts';
import { count } from '../format.ts';

/** Content of {@link auditCard}. */
export interface AuditShown {
  readonly entries: readonly LoggedEntry[];
  readonly total: number;
  readonly isDeployment: boolean;
  readonly buttons: readonly CardButton[];
}

/** Shows a page of an audit log, newest first. */
export function auditCard({ entries, total, isDeployment, buttons }: AuditShown): Card {
  const whose = isDeployment ? 'the deployment' : 'this team';
  const heading: Block = { kind: 'heading', line: [`Changes of ${whose}`] };
  if (total === 0) return layOut([heading, { kind: 'text', line: ['Nothing was changed yet.'] }]);
  const items = entries.map((entry): Block => ({ kind: 'item', title: entryLine(entry), small: smallLine(entry) }));
  return layOut([heading, ...items, { kind: 'small', line: [count(total, 'entry', 'entries')] }], { buttons });
}

/** Subject of a sentence for each action, such as `the time zone`. A function phrases the whole change. */
const WORDS: Readonly<Record<AuditAction, string | ((entry: LoggedEntry) => Line)>> = {
  time_zone: 'the time zone',
  currency: 'the currency',
  confirm_above: 'the confirmation threshold',
  approve_above: 'the approval threshold',
  report_channel: 'the report channel',
  alerts: ({ after }) => [isText(after, 'off') ? ' turned alerts off' : ' turned alerts on'],
  unusual_spend: 'the threshold of unusual spend',
  pause: pauseLine,
  budget: (entry) => budgetLine(entry, 'budget'),
  soft_budget: (entry) => budgetLine(entry, 'soft budget'),
  statement_import: (entry) => statementLine(entry, ' compared a statement of the video service with the books'),
  statement_booking: (entry) => statementLine(entry, ' booked the matches of a statement'),
  statement_decision: (entry) => statementLine(entry, ' decided on a discrepancy of a statement'),
  approval: approvalLine,
  approver: ({ before, after }) =>
    after.length === 0
      ? [' removed the approver ', ...listed(before)]
      : [before.length === 0 ? ' added the approver ' : ' changed the approver ', ...listed(after)],
  environment: ({ subject, before, after }) => changeLine(listed(subject), before, after),
};

/** Phrases an entry: `Ada changed the currency from USD to EUR.` */
function entryLine(entry: LoggedEntry): Line {
  const words = WORDS[entry.action];
  const change = typeof words === 'string' ? changeLine([words], entry.before, entry.after) : words(entry);
  return [author(entry), ...change, '.'];
}

function smallLine({ atMs, surface }: LoggedEntry): Line {
  return [{ timeMs: atMs }, ` · ${SURFACES[surface]}`];
}

const SURFACES: Readonly<Record<Surface, string>> = {
  command: 'by command',
  button: 'by button',
  form: 'by form',
  environment: 'in the environment',
  command_line: 'on the command line',
};

function author({ by }: LoggedEntry): Part {
  if (by === null) return 'The operator';
  return by === 'erased' ? 'Someone who was forgotten' : { person: by };
}

function changeLine(what: Line, before: readonly LoggedValue[], after: readonly LoggedValue[]): Line {
  if (before.length === 0) return [' set ', ...what, ' to ', ...listed(after)];
  if (after.length === 0) return [' removed ', ...what, ', which was ', ...listed(before)];
  return [' changed ', ...what, ' from ', ...listed(before), ' to ', ...listed(after)];
}

function budgetLine({ subject, before, after, surface }: LoggedEntry, what: string): Line {
  const team = surface === 'environment' ? `the ${what} of all teams` : `the team’s ${what}`;
  return changeLine(subject.length === 0 ? [team] : [`the ${what} of `, ...listed(subject)], before, after);
}

function statementLine({ subject, after }: LoggedEntry, did: string): Line {
  const values = [...subject, ...after];
  return values.length === 0 ? [did] : [did, ': ', ...listed(values)];
}

/** Phrases a decision on a request: ` approved 7f3a9c21, Cleo: $4.00`. */
function approvalLine({ subject, after }: LoggedEntry): Line {
  const [decision, ...details] = after;
  const did = decision === undefined ? [' decided on '] : [' ', valuePart(decision), ' '];
  return [...did, ...listed(subject), ...(details.length === 0 ? [] : [': ', ...listed(details)])];
}

function pauseLine({ before, after }: LoggedEntry): Line {
  if (after.length === 0) return [' ended the pause'];
  const did = before.length === 0 ? ' paused spending' : ' changed the pause';
  const note = after.find(({ kind }) => kind === 'note' || kind === 'erased');
  const until = after.find(({ kind }) => kind === 'time');
  return [
    did,
    ...(until === undefined ? [] : [' until ', valuePart(until)]),
    ...(note === undefined ? [] : [': ', valuePart(note)]),
  ];
}

function listed(values: readonly LoggedValue[]): Line {
  return values.flatMap((value, index) => (index === 0 ? [valuePart(value)] : [', ', valuePart(value)]));
}

function valuePart(value: LoggedValue): Part {
  switch (value.kind) {
    case 'price':
      return formatPrice(value.price);
    case 'channel':
      return { channel: value.channel };
    case 'time':
      return { timeMs: value.atMs };
    case 'person':
      return { person: value.person };
    case 'task':
      return { code: value.task.slice(0, 8) };
    case 'role':
      return { code: value.role };
    case 'note':
    case 'text':
      return { untrusted: value.text };
    case 'erased':
      return 'something that was erased';
  }
}

function isText(values: readonly LoggedValue[], text: string): boolean {
  return values.some((value) => value.kind === 'text' && value.text === text);
}

/** Refuses the log of the deployment to others than those named in `ADMINS`. */
export const OPERATORS_ONLY = 'Only people named in ADMINS can see the changes of the deployment.';
