import type { Approver } from '#src/tasks/index.ts';
import { channelRules, type Policy, type PolicyRules, rulesAt } from '#src/teams/index.ts';
import { allowedSeconds, type Catalog, titleOf } from '#src/videos/index.ts';
import { type Block, type Card, type Line, layOut, type Part } from '../../ui/card.ts';
import { all, either } from '../format.ts';
import { savedBlocks } from './settings.ts';

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

/** Rules that are shown, in this order. */
const LABELS = {
  models: 'Models',
  seconds: 'Length',
  resolutions: 'Resolution',
  clips: 'Clips per order',
  style: 'Style of every clip',
  create: 'Who may create clips',
  decide: 'Who may decide on others’ clips',
  review: 'Who may review clips',
  words: 'Forbidden words',
} as const satisfies Partial<Record<keyof PolicyRules, string>>;
type Shown = keyof typeof LABELS;
const PEOPLE: ReadonlySet<string> = new Set(['create', 'decide', 'review']);

/** Shows the rules of a channel or of the team, with where each comes from. */
export function policyCard(shown: PolicyShown): Card {
  const { policy, channel, isHere, isChanged } = shown;
  const rules = channel === null ? policy.team : rulesAt(policy, { channel });
  const own = channel === null ? {} : channelRules(policy, channel);
  const names = (Object.keys(LABELS) as Shown[]).filter((name) => rules[name] !== undefined);
  const lines = names.map((name): Block => {
    const source: Line = own[name] === undefined ? [] : [' · this channel’s own rule'];
    return { kind: 'text', line: [{ strong: LABELS[name] }, ': ', ...ruleLine(name, rules, shown.catalog), ...source] };
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

function ruleLine(name: Shown, rules: PolicyRules, catalog: Catalog): Line {
  const value = rules[name];
  if (value === 'any') return [PEOPLE.has(name) ? 'everyone' : 'any'];
  switch (name) {
    case 'models':
      return [{ untrusted: all(listOf<string>(rules.models).map((name) => titleOf(catalog, name))) }];
    case 'seconds':
      return [`${either(allowedSeconds(rules.seconds === 'any' ? undefined : rules.seconds))} s`];
    case 'resolutions':
      return [either(listOf<string>(rules.resolutions))];
    case 'clips':
      return [`up to ${rules.clips}`];
    case 'style':
      return [rules.style ?? 'any'];
    case 'words':
      return [{ untrusted: listOf<string>(rules.words).join(', ') || 'none' }];
    case 'create':
    case 'review':
      return [...people(listOf<Approver>(rules[name])), 'administrators'];
    case 'decide':
      return ['the requester, ', ...people(listOf<Approver>(rules.decide)), 'administrators'];
  }
}

function listOf<Item>(value: readonly Item[] | 'any' | undefined): readonly Item[] {
  return value === undefined || value === 'any' ? [] : value;
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
