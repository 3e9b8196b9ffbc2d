import { formatPrice, type Price } from '#src/tasks/index.ts';
import { type SettingValues, TEAM_SETTINGS, type TeamSettings } from '#src/teams/index.ts';
import { formatCount } from '../sentences/format.ts';
import { savedLine } from '../sentences/saved.ts';
import {
  type Card,
  type CardButton,
  heading,
  joinLines,
  type Line,
  labelled,
  layOut,
  present,
  small,
} from '../ui/card.ts';

/** Setting that an option sets and a line of a card shows; the others have commands of their own. */
export type OptionSetting = Exclude<keyof typeof TEAM_SETTINGS, 'pause' | 'policy' | 'styles' | 'channelModels'>;

export type SettingsCommand = 'settings' | 'review';

/** Groups of settings that one form sets, with the titles of their forms, of at most 24 characters. */
export const SETTING_GROUPS = {
  settings: { amounts: 'Amounts', months: 'Months and reports', clips: 'Clips' },
  review: { reviews: 'Reviews' },
} as const satisfies Readonly<Record<SettingsCommand, Readonly<Record<string, string>>>>;

type SettingGroup = { [Name in SettingsCommand]: keyof (typeof SETTING_GROUPS)[Name] }[SettingsCommand];

/** Words of a setting that an option sets, by the values of its kind. */
interface SettingWords<Value> {
  /** Default: `settings`. */
  readonly command?: SettingsCommand;
  /** Form that it is in. Default: `reviews` for those of `/video review`, else `clips`. */
  readonly group?: SettingGroup;
  /** Name of the option. Default: the action in the audit log. */
  readonly option?: string;
  /** Of the option, at most 100 characters. */
  readonly description: string;
  /** Values of the option. Default: by kind. */
  readonly range?: string;
  readonly positional?: true;
  /** Begins its line on the card. */
  readonly label: string;
  readonly shown: (value: Value | undefined) => Line;
  /** Subject of a sentence about its change; of one that is on or off, what a person did. */
  readonly audited: string | Readonly<Record<'on' | 'off', string>>;
  /** Said after a change. */
  readonly note?: string;
  /** What is on in several channels, of a setting that each channel has for itself. */
  readonly plural?: string;
  /** What is posted in a channel. Default: words. */
  readonly posts?: 'clip';
}

/** Words of the settings that options set. */
const WORDS: {
  readonly [Name in OptionSetting]: SettingWords<SettingValues[(typeof TEAM_SETTINGS)[Name]['kind']]>;
} = {
  timeZone: {
    group: 'months',
    description: 'Time zone in which months begin and end, such as Europe/Berlin',
    label: 'Time zone',
    shown: (zone = '') => [zone, '. Months begin and end there.'],
    audited: 'the time zone',
    note: 'Clips ordered from now on count in the months of the new time zone; earlier ones stay where they are.',
  },
  currency: {
    group: 'amounts',
    description: 'Currency of amounts typed without one',
    label: 'Currency',
    shown: (currency = '') => [currency, ' for amounts typed without one.'],
    audited: 'the currency',
  },
  confirmAbove: {
    group: 'amounts',
    description: 'Clips that cost more ask for a confirmation, such as 2 or 12.50 EUR; off for none',
    label: 'Confirm above',
    shown: above('ask for a confirmation', 'No clip asks for a confirmation because of its price.'),
    audited: 'the confirmation threshold',
  },
  approveAbove: {
    group: 'amounts',
    description: 'Clips that cost more need an approval, such as 5 or 12.50 EUR; off for none',
    label: 'Approve above',
    shown: above('need an approval', 'No clip needs an approval because of its price.'),
    audited: 'the approval threshold',
  },
  reportChannel: {
    group: 'months',
    description: 'Channel for alerts and monthly reports',
    label: 'Report channel',
    shown: (channel) =>
      channel === undefined
        ? ['none. Alerts and reports go to administrators and approvers by direct message.']
        : [{ channel }, ' gets alerts and reports.'],
    audited: 'the report channel',
  },
  alerts: {
    group: 'months',
    description: 'Whether to report when 50, 80 and 100 % of a budget are used',
    label: 'Alerts',
    shown: onOff('on, at 50, 80 and 100 % of each budget.', 'off'),
    audited: { on: 'turned alerts on', off: 'turned alerts off' },
  },
  unusualSpend: {
    group: 'amounts',
    description: 'Reports a day with three times the usual amount, from this amount on; off for never',
    label: 'Unusual spend',
    shown: (price) => [
      price === undefined ? 'off' : `reported on a day with three times the usual amount, from ${formatPrice(price)}.`,
    ],
    audited: 'the threshold for unusual spend',
  },
  aiLabel: {
    description: 'Whether the cards of finished clips have the word AI',
    label: 'AI label',
    shown: onOff('on. The cards of finished clips have the word AI.', 'off'),
    audited: { on: 'turned the AI label on', off: 'turned the AI label off' },
    note: 'Cards that are posted already follow with their next change.',
  },
  keepClips: {
    description: 'Days after which clips are removed from the bot’s storage, such as 90; off for the operator’s rule',
    range: 'a number of days such as 90, or off',
    label: 'Keep clips',
    shown: kept('Then the bot removes its copy of a clip; the chat’s stays.'),
    audited: 'the time that clips are kept',
  },
  keepPrompts: {
    description: 'Days after which clips are removed with their prompts, such as 365; off for the operator’s rule',
    range: 'a number of days such as 365, or off',
    label: 'Keep prompts',
    shown: kept('Then the bot removes the prompt with its copy of the clip.'),
    audited: 'the time that prompts are kept',
  },
  reviewIn: {
    command: 'review',
    option: 'state',
    positional: true,
    description: 'Turns Sign off and Request changes on or off under the clips of this channel',
    label: 'Here',
    shown: onOff('on. Finished clips have Sign off and Request changes, for everyone who sees them here.', 'off.'),
    audited: { on: 'turned review on', off: 'turned review off' },
    plural: 'reviews',
  },
  signOffOwn: {
    command: 'review',
    option: 'own',
    description: 'Whether people may sign off their own clips, in the whole team',
    label: 'Own clips',
    shown: onOff('people may sign off their own.', 'someone else than the requester signs them off.'),
    audited: { on: 'allowed people to sign off their own clips', off: 'had clips signed off by others only' },
  },
  signedOffChannel: {
    command: 'review',
    option: 'post_to',
    description: 'Channel in which every signed-off clip of the team is posted once',
    label: 'Signed-off clips',
    shown: (channel) =>
      channel === undefined
        ? ['posted nowhere else.']
        : ['each is posted once in ', { channel }, ', except those of private channels.'],
    audited: 'the channel of signed-off clips',
    posts: 'clip',
  },
  keepSignedOff: {
    command: 'review',
    option: 'keep',
    description: 'Whether signed-off clips are kept when others expire',
    label: 'Keeping',
    shown: onOff('signed-off clips are kept when others expire.', 'signed-off clips expire like others.'),
    audited: { on: 'had signed-off clips kept', off: 'had signed-off clips expire like others' },
  },
};

function onOff(on: string, off: string): (isOn: boolean | undefined) => Line {
  return (isOn) => [isOn === true ? on : off];
}

function above(does: string, none: string): (price: Price | undefined) => Line {
  return (price) => [price === undefined ? `off. ${none}` : `${formatPrice(price)}. Clips that cost more ${does}.`];
}

function kept(does: string): (keep: SettingValues['days'] | undefined) => Line {
  return (keep) => {
    if (keep === undefined) return ['as long as this installation is set to.'];
    const days = keep.days === 1 ? '1 day' : `${keep.days} days`;
    return [
      `${days}, or less where this installation is set to less. ${does} Applies from `,
      { timeMs: keep.fromMs },
      '.',
    ];
  };
}

export function settingWords(
  name: OptionSetting,
): SettingWords<never> & Required<Pick<SettingWords<never>, 'option' | 'group'>> {
  const { command = 'settings' } = WORDS[name];
  const group = command === 'review' ? 'reviews' : 'clips';
  return { option: TEAM_SETTINGS[name].action, group, ...WORDS[name] };
}

/** Returns the settings of a command, or of all, in the order in which it shows them. */
export function settingsOf(command?: SettingsCommand): readonly OptionSetting[] {
  const names = Object.keys(WORDS) as readonly OptionSetting[];
  return names.filter((name) => command === undefined || (WORDS[name].command ?? 'settings') === command);
}

/** Content of {@link settingsCard}. */
interface SettingsShown {
  /** With the currency of amounts typed without one. */
  readonly settings: TeamSettings;
  /** Channel whose own settings are shown. */
  readonly channel: string;
  /** Settings that were just changed; `null` if none was to be. */
  readonly changed: readonly OptionSetting[] | null;
  /** The command as it is typed on the platform. */
  readonly typed: string;
  /** A threshold for approvals was just set, and there is no approver. */
  readonly lacksApprover: boolean;
  readonly buttons: readonly CardButton[];
}

/** Heading, what a change that is none is about, and how to make one. */
const CARDS: Readonly<Record<SettingsCommand, readonly [string, string, (command: string) => Line]>> = {
  settings: [
    'Settings of this team',
    'the settings were',
    (code) => ['To change one: ', { code }, ' with an option. ', { code: 'off' }, ' removes a value.'],
  ],
  review: ['Reviews', 'it was', (code) => ['To change it: ', { code }, ' on or off, or with an option.']],
};

/** Shows the settings of a command; those that were just changed first. */
export function settingsCard(command: SettingsCommand, shown: SettingsShown): Card {
  const { changed, typed, lacksApprover, buttons } = shown;
  const [title, subject, hint] = CARDS[command];
  const linesOf = (names: readonly OptionSetting[]) => names.flatMap((name) => settingLines(name, shown));
  return layOut(
    [
      heading(title),
      savedLine(changed && changed.length > 0, { subject }),
      ...linesOf(changed ?? []),
      ...(changed ?? []).flatMap((name) => settingWords(name).note ?? []).map((note) => [note]),
      lacksApprover && [
        'Nobody is an approver yet: a request waits until an administrator looks. ',
        `Name who is to be told with ${typed.replace(/settings$/u, 'approvers')}.`,
      ],
      changed && { kind: 'divider' },
      ...linesOf(settingsOf(command).filter((name) => changed?.includes(name) !== true)),
      small(...hint(typed)),
    ],
    { buttons },
  );
}

/** Other channels that are named at most. */
const MAX_NAMED = 20;

function settingLines(name: OptionSetting, { settings, channel }: SettingsShown): readonly Line[] {
  const { label, shown } = settingWords(name);
  const channels = TEAM_SETTINGS[name].perChannel === true ? ((settings[name] ?? []) as readonly string[]) : null;
  const value: unknown = channels === null ? settings[name] : channels.includes(channel);
  const others = (channels ?? []).filter((one) => one !== channel).map((one) => [{ channel: one }]);
  const more = others.length > MAX_NAMED ? ` and ${formatCount(others.length - MAX_NAMED)} more` : '';
  return present([
    labelled(label, ...(shown as (value: unknown) => Line)(value)),
    others.length > 0 && labelled('Also on in', ...joinLines(others.slice(0, MAX_NAMED)), more, '.'),
  ]);
}
