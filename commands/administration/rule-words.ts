import type { Approver } from '#src/tasks/index.ts';
import type { RuleName, RuleValue } from '#src/teams/index.ts';
import { allowedSeconds, type Catalog, titleOf } from '#src/videos/index.ts';
import { approverWords } from '../approvals/approvers.ts';
import type { OptionDeclaration } from '../bot-port.ts';
import { all, either } from '../sentences/format.ts';
import { joinLines, type Line } from '../ui/card.ts';

// Plain text that includes user input: adapters escape all of it.

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
    shown: (some) => joinLines([...people(some), ['administrators']]),
    audited: 'who may create clips',
  },
  decide: {
    option: approvers('cancel, retry and decide on others’ clips'),
    label: 'Who may decide on others’ clips',
    shown: (some) => joinLines([['the requester'], ...people(some), ['administrators']]),
    audited: 'who may decide on others’ clips',
  },
  review: {
    option: approvers('sign off clips or request changes'),
    label: 'Who may review clips',
    shown: (some) => joinLines([...people(some), ['administrators']]),
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

function people(some: readonly Approver[]): readonly Line[] {
  return some.map((one) => [approverWords(one)]);
}
