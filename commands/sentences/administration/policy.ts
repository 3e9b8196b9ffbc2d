import type { Approver } from '#src/tasks/index.ts';
import {
  channelRules,
  type Policy,
  type PolicyRules,
  type RuleName,
  type RuleValue,
  rulesAt,
} from '#src/teams/index.ts';
import {
  allowedSeconds,
  type Catalog,
  type PolicyRefusal,
  type Style,
  settingNamed,
  titleOf,
} from '#src/videos/index.ts';
import type { OptionDeclaration, OptionFields } from '../../bot-port.ts';
import { type Block, type Card, type Line, layOut, type Part } from '../../ui/card.ts';
import { all, either, shorten } from '../format.ts';
import { valueWords } from '../settings.ts';
import { savedBlocks } from './settings.ts';

// Plain text that includes user input: adapters escape all of it.

/** Names the rule that a value breaks, and what is allowed. @param command that changes it; `null`: without the advice to ask */
export function policyRefusal(refusal: PolicyRefusal, command: string | null): string {
  const ask = command === null ? '.' : `, or ask an administrator to change that (${command}).`;
  if (refusal.reason === 'forbidden_words') {
    const words = refusal.words.map((word) => `“${shorten(word, 40)}”`);
    const [are, another] = words.length === 1 ? ['isn’t', 'another word'] : ['aren’t', 'other words'];
    return `${refusal.option}: ${all(words)} ${are} allowed here. Use ${another}${ask}`;
  }
  const { option, given, allowed } = refusal;
  if (option === 'style' && given === '')
    return `style: clips here are made in the style ${either(allowed)}. Choose it${ask}`;
  const setting = settingNamed(option);
  const value = setting === undefined ? shorten(given, 80) : valueWords(setting, shorten(given, 80));
  const what = option === 'takes' ? `${value} clips in one order aren’t` : `${value} isn’t`;
  const choice = allowed.length === 0 ? 'Choose another' : `Choose ${either(allowed)}`;
  return `${option}: ${what} allowed here. ${choice}${ask}`;
}

/** Members of a role or user group who could not be looked up. */
type Unread = { readonly name: string; readonly reason: string | null } | null;

/** Refuses the creation of clips by a rule. */
export function mayNotCreate(allowed: readonly Approver[], fields: OptionFields | undefined, unread: Unread): string {
  return `You can’t create clips here: ${onlyAllowed(allowed, fields, unread)}`;
}

export function mayNotReviewHere(
  allowed: readonly Approver[],
  fields: OptionFields | undefined,
  unread: Unread,
): string {
  return `You can’t review clips here: ${onlyAllowed(allowed, fields, unread)}`;
}

function onlyAllowed(allowed: readonly Approver[], fields: OptionFields | undefined, unread: Unread): string {
  const only =
    allowed.length === 0
      ? 'only administrators may'
      : `only ${either(allowed.map(({ name }) => shorten(name, 60)))} may`;
  return `${only}. To change that, ask an administrator (${policyCommand(fields)}).${unreadMembers(unread)}`;
}

/** Refuses a decision on someone else’s clip by a rule. */
export function mayNotDecide(
  requester: string,
  allowed: readonly Approver[],
  fields: OptionFields | undefined,
  unread: Unread,
): string {
  const names = [requester, ...allowed.map(({ name }) => shorten(name, 60)), 'an administrator'];
  return `Only ${either(names)} can do that here. ${policyCommand(fields)} shows the rule.${unreadMembers(unread)}`;
}

export const LEAVES_NO_MODEL =
  'With these rules, no model could make a clip: /video models shows what each offers. Nothing was changed.';

/** Refuses a name that is not one of the known ones. */
export function notOneOf(option: string, given: string, known: readonly string[]): string {
  return `${option}: ${quoted(given)} isn’t known. Choose from ${all(known)}, separated by commas, or any.`;
}

/** Refuses a rule that names no style of the team. */
export function notAStyle(given: string, styles: readonly Style[]): string {
  const names = styles.map(({ name }) => name);
  const known = names.length === 0 ? 'Add it first with /video style' : `Choose ${either(names)}`;
  return `style: there is no style ${quoted(given)}. ${known}, or any.`;
}

/** Refuses lengths that are no whole numbers of seconds. */
export function notLengths(given: string): string {
  return `seconds: ${quoted(given)} isn’t a length. Write the longest one, such as 8, those allowed, such as 4, 6, or any.`;
}

export function notClips(given: string, max: number): string {
  return `clips: ${quoted(given)} isn’t a number of clips. Choose 1 to ${max}, or any.`;
}

/** Refuses forbidden words that are too many, too long or without a character. */
export function tooManyWords({ words, characters }: { readonly words: number; readonly characters: number }): string {
  return `words: write up to ${words} words or phrases of up to ${characters} characters, separated by commas.`;
}

function quoted(given: string): string {
  return `“${shorten(given, 40)}”`;
}

function unreadMembers(unread: Unread): string {
  if (unread === null) return '';
  const { name, reason } = unread;
  const what = ` I couldn’t find out who belongs to ${shorten(name, 60)}`;
  return reason === null ? `${what} just now; try again in a moment.` : `${what}: ${reason}.`;
}

/** Returns the command that shows and changes the policy, as it is typed on the platform. */
export function policyCommand(fields: OptionFields | undefined): string {
  return `${fields?.administration ?? '/video'} policy`;
}

/** Content of {@link policyCard}. */
interface PolicyShown {
  readonly policy: Policy;
  /** Channel whose rules are shown; `null`: the team's. */
  readonly channel: string | null;
  /** Whether that is the channel in which they are shown. */
  readonly isHere: boolean;
  /** Whether a rule was just changed; `null` if none was to be. */
  readonly isChanged: boolean | null;
  readonly mayChange: boolean;
  /** The command that changes a policy, as it is typed on the platform. */
  readonly command: string;
  readonly hasFlags: boolean;
  readonly catalog: Catalog;
}

interface RuleWords<Value> {
  /** Its option, of the same name. */
  readonly option: Omit<OptionDeclaration, 'name'>;
  /** Begins its line on the card. */
  readonly label: string;
  readonly shown: (value: Value, catalog: Catalog) => Line;
  /** Subject of a sentence about its change. */
  readonly audited: string;
}

/** Words of the rules, in the order in which they are shown. */
export const RULE_WORDS: { readonly [Name in RuleName]: RuleWords<RuleValue<Name>> } = {
  models: {
    option: listed('Models allowed, separated by commas; any for all', 1000),
    label: 'Models',
    shown: (names, catalog) => [{ untrusted: all(names.map((name) => titleOf(catalog, name))) }],
    audited: 'the models allowed',
  },
  seconds: {
    option: listed('Longest clip in seconds, or the lengths allowed, such as 4, 6; any for all', 200),
    label: 'Length',
    shown: (seconds) => [`${either(allowedSeconds(seconds))} s`],
    audited: 'the lengths allowed',
  },
  resolutions: {
    option: listed('Resolutions allowed, such as 480p, 720p; any for all', 100),
    label: 'Resolution',
    shown: (names) => [either(names)],
    audited: 'the resolutions allowed',
  },
  clips: {
    option: { description: 'Most clips in one order, 1 to 12; any for no rule', kind: 'text', maxLength: 10 },
    label: 'Clips per order',
    shown: (most) => [`up to ${most}`],
    audited: 'the most clips per order',
  },
  style: {
    option: { description: 'Style that every clip has; any for no rule', kind: 'text', autocomplete: 'style' },
    label: 'Style of every clip',
    shown: (name) => [name],
    audited: 'the style of every clip',
  },
  create: {
    option: approvers('create clips'),
    label: 'Who may create clips',
    shown: (some) => [...people(some), 'administrators'],
    audited: 'who may create clips',
  },
  decide: {
    option: approvers('cancel, retry and decide on others’ clips'),
    label: 'Who may decide on others’ clips',
    shown: (some) => ['the requester, ', ...people(some), 'administrators'],
    audited: 'who may decide on others’ clips',
  },
  review: {
    option: approvers('sign off clips or request changes'),
    label: 'Who may review clips',
    shown: (some) => [...people(some), 'administrators'],
    audited: 'who may review clips',
  },
  words: {
    option: listed('Adds forbidden words, separated by commas', 2000),
    label: 'Forbidden words',
    shown: (words) => [{ untrusted: words.join(', ') || 'none' }],
    audited: 'the forbidden words',
  },
};

function listed(description: string, maxLength: number): RuleWords<never>['option'] {
  return { description, kind: 'text', isList: true, maxLength };
}

function approvers(may: string): RuleWords<never>['option'] {
  return {
    description: `Adds who may ${may}; everyone for no rule`,
    kind: 'approver',
    range: `a person, role or user group who may ${may}, or everyone`,
  };
}

/** Shows the rules of a channel or of the team, with where each comes from. */
export function policyCard(shown: PolicyShown): Card {
  const { policy, channel, isHere, isChanged } = shown;
  const rules = channel === null ? policy.team : rulesAt(policy, { channel });
  const own = channel === null ? {} : channelRules(policy, channel);
  const names = (Object.keys(RULE_WORDS) as RuleName[]).filter((name) => rules[name] !== undefined);
  const lines = names.map((name): Block => {
    const source: Line = own[name] === undefined ? [] : [' · this channel’s own rule'];
    return {
      kind: 'text',
      line: [{ strong: RULE_WORDS[name].label }, ': ', ...ruleLine(name, rules, shown.catalog), ...source],
    };
  });
  const heading: Line =
    channel === null ? ['Allowed in this team'] : isHere ? ['Allowed here'] : ['Allowed in ', { channel }];
  const none: Block = { kind: 'text', line: ['Everything that the models offer, for everyone.'] };
  return layOut([
    { kind: 'heading', line: heading },
    ...savedBlocks(isChanged),
    ...(lines.length === 0 ? [none] : lines),
    ...closingLines(shown).map((line): Block => ({ kind: 'small', line })),
  ]);
}

function ruleLine(name: RuleName, rules: PolicyRules, catalog: Catalog): Line {
  const value = rules[name];
  if (value === 'any') return [RULE_WORDS[name].option.kind === 'approver' ? 'everyone' : 'any'];
  return (RULE_WORDS[name].shown as (value: unknown, catalog: Catalog) => Line)(value, catalog);
}

function people(some: readonly Approver[]): Line {
  return some.flatMap(({ kind, id, name }): Line => {
    const part: Part = kind === 'person' ? { person: { id, name } } : { group: { id, name } };
    return [part, ', '];
  });
}

function closingLines({ policy, channel, mayChange, command, hasFlags }: PolicyShown): readonly Line[] {
  const others = Object.keys(policy.channels).filter((one) => one !== channel);
  if (!mayChange) return [['Administrators change this with ', { code: command }, '.']];
  const example = hasFlags ? `${command} --seconds 8` : `${command} seconds:8`;
  const channels: Line = [
    'Channels with rules of their own: ',
    ...others.flatMap((one, index): Line => [index === 0 ? '' : ', ', { channel: one }]),
    '.',
  ];
  return [
    ...(others.length === 0 ? [] : [channels]),
    [
      'To change a rule: ',
      { code: example },
      '. With ',
      { code: 'channel' },
      ' it is that channel’s own; ',
      { code: 'off' },
      ' removes it.',
    ],
  ];
}
