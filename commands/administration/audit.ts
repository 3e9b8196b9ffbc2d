import type { Resolution } from '#src/money/index.ts';
import { formatPrice } from '#src/tasks/index.ts';
import { type AuditAction, type LoggedEntry, type LoggedValue, type Surface, TEAM_SETTINGS } from '#src/teams/index.ts';
import { type Catalog, titleOf } from '#src/videos/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { isSet } from '../input/options.ts';
import { type BotPorts, isOperator, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { RESOLUTION_WORDS } from '../money/statement.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { formatLastDay, formatMoment, formatMonth } from '../sentences/dates.ts';
import { all, count, fullStop } from '../sentences/format.ts';
import { type PageOf, pageButtons } from '../ui/buttons.ts';
import { heading, item, joinLines, type Line, layOut, lineOf, type Part, small } from '../ui/card.ts';
import { RULE_WORDS } from './rule-words.ts';
import { type OptionSetting, settingsOf, settingWords } from './setting-words.ts';

const PAGE_LENGTH = 10;

const options: readonly OptionDeclaration[] = [
  { name: 'deployment', description: 'Shows what was changed in the environment of the bot instead', kind: 'flag' },
];

/** `/video audit`: who changed what, and when. */
export const audit: Subcommand = {
  declaration: {
    name: 'audit',
    description: 'Shows who changed settings, budgets and approvals, and when',
    example: '/video audit',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: (ports, caller, given) =>
    showAudit(ports, caller, { what: 'audit', offset: 0, isDeployment: isSet(given, 'deployment') }),
  presses: { 'page:audit': showAudit },
};

/** Shows a page of the audit log of the team, or of the deployment, to the caller only. */
async function showAudit(ports: BotPorts, caller: Caller, page: PageOf<'audit'>): Promise<Reply> {
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  const { offset, isDeployment } = page;
  // Its entries concern all teams. The playground's operator runs the bot.
  if (isDeployment && caller.platform !== 'playground' && !isOperator(ports, caller)) return refused(OPERATORS_ONLY);
  const log = isDeployment ? 'deployment' : teamOf(caller);
  const [{ entries, total }, { timeZone }] = await Promise.all([
    ports.audit.page(log, { offset, limit: PAGE_LENGTH }),
    ports.settings.get(teamOf(caller)),
  ]);
  const title = heading(`Changes of ${isDeployment ? 'the deployment' : 'this team'}`);
  if (total === 0) return privately(layOut([title, ['Nothing was changed yet.']]));
  const items = entries.map((entry) => item(entryLine(withTitles(entry, ports.catalog()), timeZone), smallLine(entry)));
  const buttons = pageButtons({ page, length: PAGE_LENGTH, hasMore: total > offset + PAGE_LENGTH });
  return privately(layOut([title, ...items, small(count(total, 'entry', 'entries'))], { buttons }));
}

/** Phrases the changes that are not those of a setting with an option. */
const PHRASES: Readonly<
  Record<
    Exclude<AuditAction, (typeof TEAM_SETTINGS)[OptionSetting]['action']>,
    (entry: LoggedEntry, timeZone: string) => Line
  >
> = {
  pause: pauseLine,
  budget: (entry) => budgetLine(entry, 'budget'),
  soft_budget: (entry) => budgetLine(entry, 'soft budget'),
  statement_import: ({ subject }) => [
    ' compared the video service’s statement',
    ...ofMonths(subject),
    ' with the books',
  ],
  removal: ({ subject: [task, requester] }) =>
    lineOf(' deleted ', genitive(requester), ' clip', task && [' ', valuePart(task)]),
  erasure: ({ subject: [person] }) => [
    ' had ',
    person?.kind === 'person' ? valuePart(person) : 'a person',
    ' forgotten, with their clips',
  ],
  policy: policyLine,
  channel_model: ({ subject, before, after }) =>
    changeLine(['the default model in ', ...listed(subject)], before, after),
  style: ({ subject, before, after }) => [
    before.length === 0 ? ' added' : after.length === 0 ? ' removed' : ' changed',
    ' the style ',
    ...listed(subject),
  ],
  statement_booking: bookingLine,
  statement_decision: decisionLine,
  approval: approvalLine,
  unconfirmed: unconfirmedLine,
  approver: approverLine,
  environment: ({ subject, before, after }) => changeLine(listed(subject), before, after),
};

/** Phrases an entry: `Ada changed the currency from USD to EUR.` */
function entryLine(entry: LoggedEntry, timeZone: string): Line {
  const change = phrase(entry, timeZone);
  const last = change.at(-1);
  return [author(entry), ...change, fullStop(typeof last === 'object' && 'untrusted' in last ? last.untrusted : '')];
}

function phrase(entry: LoggedEntry, timeZone: string): Line {
  const { action, subject, before, after } = entry;
  if (isPhrased(action)) return PHRASES[action](entry, timeZone);
  // An action of a later version has no words here.
  const name = settingsOf().find((one) => TEAM_SETTINGS[one].action === action);
  const words = name === undefined ? action.replaceAll('_', ' ') : settingWords(name).audited;
  if (typeof words === 'string') return changeLine([words], before, after);
  const turned = ` ${words[isText(after, 'on') ? 'on' : 'off']}`;
  return subject.length === 0 ? [turned] : [`${turned} in `, ...listed(subject)];
}

function isPhrased(action: string): action is keyof typeof PHRASES {
  return Object.hasOwn(PHRASES, action);
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

function withTitles(entry: LoggedEntry, catalog: Catalog): LoggedEntry {
  const { action, subject, before, after } = entry;
  if (action !== 'channel_model' && !(action === 'policy' && isText(subject, 'models'))) return entry;
  const titled = (values: readonly LoggedValue[]): readonly LoggedValue[] =>
    values.map((value) => (value.kind === 'text' ? { ...value, text: titleOf(catalog, value.text) } : value));
  return { ...entry, before: titled(before), after: titled(after) };
}

/** Phrases a change of a rule: ` set the models allowed in #ads to Swift 1`. */
function policyLine({ subject: [rule, ...place], before, after }: LoggedEntry): Line {
  const name = rule?.kind === 'text' ? rule.text : '';
  const what = Object.entries(RULE_WORDS).find(([rule]) => rule === name)?.[1].audited ?? `the rule ${name}`;
  return changeLine(place.length === 0 ? [what] : [what, ' in ', ...listed(place)], before, after);
}

function budgetLine({ subject, before, after, surface }: LoggedEntry, what: string): Line {
  const team = surface === 'environment' ? `the ${what} of all teams` : `the team’s ${what}`;
  const whose: Line = isText(subject, 'everyone') ? ['each person'] : listed(subject);
  return changeLine(subject.length === 0 ? [team] : [`the ${what} of `, ...whose], before, after);
}

/** Names the months of a statement: ` of October 2026 and November 2026`. */
function ofMonths(subject: readonly LoggedValue[]): Line {
  const months = subject.flatMap((value) => (value.kind === 'text' ? [formatMonth(value.text)] : []));
  return months.length === 0 ? [] : [` of ${all(months)}`];
}

function bookingLine({ subject, after }: LoggedEntry): Line {
  const [, matches] = after;
  const clips = matches?.kind === 'text' ? count(Number(matches.text), 'matching clip') : 'the matching clips';
  return [` booked ${clips} of the video service’s statement`, ...ofMonths(subject)];
}

function decisionLine({ subject, before, after }: LoggedEntry): Line {
  const [as] = after;
  const [ours, theirs] = before;
  const amounts: Line =
    ours === undefined || theirs === undefined
      ? listed(before)
      : [valuePart(ours), ' in the books, ', valuePart(theirs), ' in the statement'];
  return lineOf(
    ' decided on ',
    subject.length === 0 ? 'something on the video service’s statement' : ['the clip ', ...listed(subject)],
    amounts.length > 0 && [' (', ...amounts, ')'],
    as?.kind === 'text' && `: ${decisionWords(as.text)}`,
  );
}

/** Describes a logged decision; one of another version as it is. */
function decisionWords(as: string): string {
  return Object.hasOwn(RESOLUTION_WORDS, as) ? RESOLUTION_WORDS[as as Resolution] : as;
}

const DECISIONS: Readonly<Record<string, string>> = {
  approved: 'approved',
  denied: 'denied',
  repriced: 'could not approve',
};

/** Phrases a decision on a request: ` approved Cleo’s request 7f3a9c21 for $4.00, granting $0.20 over the budget`. */
function approvalLine({ subject, after }: LoggedEntry): Line {
  const [decision, price, ...details] = after;
  const [task, requester] = subject;
  const how = decision?.kind === 'text' ? decision.text : '';
  const [grant] = details.filter(({ kind }) => kind === 'price');
  const [note] = details.filter(({ kind }) => kind === 'note' || kind === 'erased');
  return lineOf(
    ` ${DECISIONS[how] ?? 'decided on'} `,
    genitive(requester),
    ' request ',
    task && valuePart(task),
    price && [' for ', valuePart(price)],
    grant && [', granting ', valuePart(grant), ' over the budget'],
    how === 'repriced' && ', since its price had risen',
    note && [': ', valuePart(note)],
  );
}

/** Phrases of the decisions on an unconfirmed clip, before and after the clip. */
const UNCONFIRMED: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'sent again': [' sent ', ' again for '],
  dismissed: [' dismissed ', ' for '],
  'ID entered': [' entered the service’s ID of ', ' for '],
};

/** Phrases a decision on an unconfirmed clip: ` sent Cleo’s unconfirmed clip 7f3a9c21 again for $0.30`. */
function unconfirmedLine({ subject, after }: LoggedEntry): Line {
  const [task, requester] = subject;
  const [decision, price] = after;
  const how = decision?.kind === 'text' ? decision.text : '';
  const [did, at] = UNCONFIRMED[how] ?? [' decided on ', ' for '];
  return lineOf(
    did,
    genitive(requester),
    ' unconfirmed clip ',
    task && valuePart(task),
    price && [at, valuePart(price)],
  );
}

function genitive(value: LoggedValue | undefined): Line {
  if (value === undefined) return ['the'];
  return value.kind === 'erased' ? ['a forgotten person’s'] : [valuePart(value), '’s'];
}

/** Phrases a change of the approvers: ` made Ben an approver until 24 December 2026`. */
function approverLine({ before, after }: LoggedEntry, timeZone: string): Line {
  const [was, is] = [before[0], after[0]];
  const [from, to] = [lastDay(before, timeZone), lastDay(after, timeZone)];
  if (is === undefined) return [' removed ', ...approverName(was), ' from the approvers'];
  if (was === undefined) return lineOf(' made ', approverName(is), ' an approver', to !== null && ` until ${to}`);
  const ends = `from ${from ?? 'none'} to ${to ?? 'none'}`;
  return [' changed the last day of ', ...approverName(is), ` as an approver ${ends}`];
}

function approverName(value: LoggedValue | undefined): Line {
  if (value === undefined || value.kind === 'erased') return ['someone who was forgotten'];
  return [valuePart(value)];
}

/** Returns the last day of an approver; `null` for no end. */
function lastDay(values: readonly LoggedValue[], timeZone: string): string | null {
  const end = values.find(({ kind }) => kind === 'time');
  return end?.kind === 'time' ? formatLastDay(end.atMs, timeZone) : null;
}

function pauseLine({ before, after }: LoggedEntry, timeZone: string): Line {
  if (after.length === 0) return [' ended the pause'];
  const { note, until } = pauseFacts(after, timeZone);
  if (before.length > 0)
    return [' changed the pause from ', ...pauseWords(before, timeZone), ' to ', ...pauseWords(after, timeZone)];
  return lineOf(' paused spending', until !== null && ` until ${until}`, note && [': ', valuePart(note)]);
}

/** Describes a pause that was changed: `“over the plan” until 30 November, 14:00 (Berlin time)`. */
function pauseWords(values: readonly LoggedValue[], timeZone: string): Line {
  const { note, until } = pauseFacts(values, timeZone);
  const reason: Line = note === undefined ? ['one'] : ['“', valuePart(note), '”'];
  return [...reason, until === null ? ' without an end' : ` until ${until}`];
}

function pauseFacts(values: readonly LoggedValue[], timeZone: string) {
  const note = values.find(({ kind }) => kind === 'note' || kind === 'erased');
  const end = values.find(({ kind }) => kind === 'time');
  return { note, until: end?.kind === 'time' ? formatMoment(end.atMs, timeZone) : null };
}

/** Lists values: `$100.00 and €80.00`. */
function listed(values: readonly LoggedValue[]): Line {
  const parts = values.map((value): Line => [valuePart(value)]);
  return joinLines(parts, ', ', ' and ');
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
      return { group: { id: value.role, name: value.role } };
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
