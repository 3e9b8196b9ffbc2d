import { type ReviewRules, spendChannel } from '#src/tasks/index.ts';
import type { SettingsPatch, TeamSettings } from '#src/teams/index.ts';
import type { Caller, FieldProblem, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { postingProblem } from '../input/member-rights.ts';
import { optionValue, switchedOff } from '../input/options.ts';
import { channelNamed } from '../input/people.ts';
import { privately, refused, refusedWith, type Subcommand, teamOf } from '../input/subcommand.ts';
import { nameOf } from '../sentences/cards/help.ts';
import { notAChoice } from '../sentences/refusals.ts';
import { reviewSettingsCard, tooManyChannels } from '../sentences/review/settings.ts';

/** Channels with reviews in one team at most: they are one record. */
const MAX_CHANNELS = 200;

const onOff = ['on', 'off'].map((value) => ({ value, label: value }));
const options: readonly OptionDeclaration[] = [
  {
    name: 'state',
    description: 'Turns Sign off and Request changes on or off under the clips of this channel',
    kind: 'text',
    positional: true,
    choices: onOff,
  },
  {
    name: 'own',
    description: 'Whether people may sign off their own clips, in the whole team',
    kind: 'text',
    choices: onOff,
    defaultWords: 'on',
  },
  {
    name: 'post_to',
    description: 'Channel in which every signed-off clip of the team is posted once',
    kind: 'channel',
  },
  {
    name: 'keep',
    description: 'Whether signed-off clips are kept when others expire',
    kind: 'text',
    choices: onOff,
    defaultWords: 'off',
  },
  {
    name: 'off',
    description: 'Removes the value of this option',
    kind: 'text',
    choices: [{ value: 'post_to', label: 'post_to' }],
  },
];

/** `/video review`: shows and changes where, and how, a team reviews its clips. */
export const review: Subcommand = {
  declaration: {
    name: 'review',
    description: 'Turns reviews of finished clips on or off in this channel, and sets their rules',
    example: '/video review on --own off',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: async (ports, caller, given) => {
    const before = await ports.settings.get(teamOf(caller));
    if (Object.values(given).every((values) => values.length === 0)) return show(caller, before, null);
    const { patch, problems } = readPatch(caller, given, before);
    if (problems.length > 0) return refusedWith(problems);
    const channel = patch.signedOffChannel ?? null;
    const post = { option: 'post_to', what: 'clip' } as const;
    const problem = channel === null ? null : await postingProblem(ports, caller, { ...post, channel });
    if (problem !== null) return refused(problem);
    const after = await ports.settings.change(teamOf(caller), { person: caller.user, surface: 'command' }, patch);
    return show(caller, after, after.revision !== before.revision);
  },
};

function show(caller: Caller, settings: TeamSettings, isChanged: boolean | null): Reply {
  const command = nameOf(review.declaration, caller.fields);
  return privately(reviewSettingsCard({ rules: settings, channel: spendChannel(caller), isChanged, command }));
}

/** Reads the options; everything that is wrong at once. */
function readPatch(
  caller: Caller,
  given: GivenOptions,
  { reviewIn = [] }: ReviewRules,
): { readonly patch: SettingsPatch; readonly problems: readonly FieldProblem[] } {
  const [state, own, keep] = ['state', 'own', 'keep'].map((name) => optionValue(given, name)?.toLowerCase());
  const others = reviewIn.filter((one) => one !== spendChannel(caller));
  const { removed, problems } = switchedOff(given, ['post_to']);
  const wrong = stateProblem(state, others.length);
  const postTo = optionValue(given, 'post_to');
  const patch: SettingsPatch = {
    ...(state === undefined
      ? {}
      : { reviewIn: state === 'on' ? [...others, spendChannel(caller)].toSorted() : others }),
    ...(own === undefined ? {} : { signOffOwn: own === 'on' ? null : false }),
    ...(keep === undefined ? {} : { keepSignedOff: keep === 'on' ? true : null }),
    ...(postTo === undefined ? {} : { signedOffChannel: channelNamed(postTo) }),
    ...(removed.length === 0 ? {} : { signedOffChannel: null }),
  };
  return { patch, problems: wrong === null ? problems : [{ field: 'state', sentence: wrong }, ...problems] };
}

function stateProblem(state: string | undefined, others: number): string | null {
  if (state !== undefined && state !== 'on' && state !== 'off') return notAChoice('state', state, ['on', 'off']);
  return state === 'on' && others >= MAX_CHANNELS ? tooManyChannels(MAX_CHANNELS) : null;
}
