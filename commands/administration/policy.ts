import { spendChannel } from '#src/tasks/index.ts';
import {
  allowedCatalog,
  changedPolicy,
  NO_POLICY,
  type Policy,
  type PolicyRules,
  type RulesPatch,
  rulesAt,
  valueRules,
} from '#src/teams/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { rightsIn } from '../input/member-rights.ts';
import { optionValue } from '../input/options.ts';
import { channelNamed } from '../input/people.ts';
import { type BotPorts, privately, refused, refusedWith, type Subcommand, teamOf } from '../input/subcommand.ts';
import { RULES, readRules } from '../policy/read-rules.ts';
import { LEAVES_NO_MODEL } from '../sentences/administration/policy.ts';
import { policyCard } from '../sentences/administration/policy-card.ts';
import { channelUnknown } from '../sentences/refusals.ts';

const administrative = (option: OptionDeclaration): OptionDeclaration => ({ ...option, isAdministrative: true });

const options: readonly OptionDeclaration[] = [
  {
    name: 'channel',
    description: 'Channel whose rules are shown, or changed instead of the team’s',
    kind: 'channel',
    defaultWords: 'this channel',
  },
  ...(
    [
      {
        name: 'models',
        description: 'Models allowed, separated by commas; any for all',
        kind: 'text',
        isList: true,
        maxLength: 1000,
      },
      {
        name: 'seconds',
        description: 'Longest clip in seconds, or the lengths allowed, such as 4, 6; any for all',
        kind: 'text',
        isList: true,
        maxLength: 200,
      },
      {
        name: 'resolutions',
        description: 'Resolutions allowed, such as 480p, 720p; any for all',
        kind: 'text',
        isList: true,
        maxLength: 100,
      },
      { name: 'clips', description: 'Most clips in one order, 1 to 12; any for no rule', kind: 'text', maxLength: 10 },
      { name: 'style', description: 'Style that every clip has; any for no rule', kind: 'text', autocomplete: 'style' },
      {
        name: 'create',
        description: 'Adds who may create clips; everyone for no rule',
        kind: 'approver',
        range: 'a person, role or user group who may create clips, or everyone',
      },
      {
        name: 'decide',
        description: 'Adds who may cancel, retry and decide on others’ clips; everyone for no rule',
        kind: 'approver',
        range: 'a person, role or user group who may cancel, retry and decide on others’ clips, or everyone',
      },
      {
        name: 'review',
        description: 'Adds who may sign off clips or request changes; everyone for no rule',
        kind: 'approver',
        range: 'a person, role or user group who may sign off clips or request changes, or everyone',
      },
      {
        name: 'words',
        description: 'Adds forbidden words, separated by commas',
        kind: 'text',
        isList: true,
        maxLength: 2000,
      },
      {
        name: 'change',
        description: 'Whether people and words are added or removed',
        kind: 'text',
        choices: [
          { value: 'add', label: 'Add' },
          { value: 'remove', label: 'Remove' },
        ],
        defaultWords: 'add',
      },
      {
        name: 'off',
        description: 'Removes this rule; in a channel, the team’s applies again',
        kind: 'text',
        choices: [...RULES, 'all'].map((value) => ({ value, label: value })),
      },
    ] satisfies readonly OptionDeclaration[]
  ).map(administrative),
];

/** `/video policy`: shows what is allowed, and changes it. */
export const policy: Subcommand = {
  declaration: {
    name: 'policy',
    description: 'What is allowed here: models, lengths, words and people',
    example: '/video policy',
    options,
    visibility: 'private',
    isAdministrative: 'options',
  },
  run: async (ports, caller, given) => {
    const place = await placeOf(ports, caller, optionValue(given, 'channel'));
    if (place === null) return refused(channelUnknown('channel'));
    const isChange = Object.entries(given).some(([name, values]) => name !== 'channel' && values.length > 0);
    return isChange ? change(ports, caller, given, place) : show(ports, caller, place, null);
  },
};

/** Channel that was named, or `null` with the one of the caller; undefined: none was named. */
interface PolicyPlaceGiven {
  readonly named: string | null;
  readonly here: string;
}

/** Returns the channel to show or change; `null` for one that the caller does not see. */
async function placeOf(ports: BotPorts, caller: Caller, typed: string | undefined): Promise<PolicyPlaceGiven | null> {
  const here = spendChannel(caller);
  if (typed === undefined) return { named: null, here };
  const channel = channelNamed(typed);
  if (channel === caller.channel) return { named: here, here };
  const { view, parent } = await rightsIn(ports, caller, channel);
  return view ? { named: parent ?? channel, here } : null;
}

async function change(ports: BotPorts, caller: Caller, given: GivenOptions, place: PolicyPlaceGiven): Promise<Reply> {
  const read = await readRules(ports, caller, given);
  if (!read.ok) return refusedWith(read.problems);
  const patchOf = (before: Policy): RulesPatch => read.change(rulesOf(before, place));
  const { policy: stored = NO_POLICY, revision } = await ports.settings.get(teamOf(caller));
  const next = changedPolicy(stored, place.named, patchOf(stored));
  if (leavesNoModel(ports, next, place)) return refused(LEAVES_NO_MODEL);
  const actor = { person: caller.user, surface: 'command' } as const;
  const after = await ports.settings.change(teamOf(caller), actor, ({ policy: before = NO_POLICY }) => ({
    policy: changedPolicy(before, place.named, patchOf(before)),
  }));
  return show(ports, caller, place, after.revision !== revision);
}

function rulesOf(policy: Policy, { named }: PolicyPlaceGiven): PolicyRules {
  return named === null ? policy.team : rulesAt(policy, { channel: named });
}

/** Returns whether a policy leaves nothing of the catalog, so that nothing could be ordered. */
function leavesNoModel({ catalog }: BotPorts, policy: Policy, place: PolicyPlaceGiven): boolean {
  return allowedCatalog(catalog(), valueRules(rulesOf(policy, place))).withheld === undefined;
}

/** @param isChanged whether a rule was just changed; `null` if none was to be. */
async function show(
  ports: BotPorts,
  caller: Caller,
  { named, here }: PolicyPlaceGiven,
  isChanged: boolean | null,
): Promise<Reply> {
  const { policy: stored = NO_POLICY } = await ports.settings.get(teamOf(caller));
  const channel = named ?? (isChanged === null ? here : null);
  return privately(
    policyCard({
      policy: stored,
      channel,
      isHere: channel === here,
      isChanged,
      mayChange: caller.mayAdminister,
      command: `${caller.fields?.administration ?? '/video'} policy`,
      hasFlags: caller.fields === undefined,
      catalog: ports.catalog(),
    }),
  );
}
