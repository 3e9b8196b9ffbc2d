import { MAX_DAYS } from '#src/clips/index.ts';
import { isTimeZone } from '#src/period.ts';
import { type Price, spendChannel } from '#src/tasks/index.ts';
import { type SettingValues, TEAM_SETTINGS, type TeamSettings } from '#src/teams/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { currenciesOf, typedAmount, unknownCurrency } from '../input/amounts.ts';
import { rightsIn } from '../input/member-rights.ts';
import { isAnyGiven, optionValue, type Read, readOptions } from '../input/options.ts';
import { type Panel, type PanelField, type PanelGroup, panelButtons } from '../input/panels.ts';
import { channelNamed } from '../input/people.ts';
import {
  type BotPorts,
  byCommand,
  privately,
  refused,
  refusedWith,
  type Subcommand,
  teamOf,
} from '../input/subcommand.ts';
import { timeZones } from '../input/time-zones.ts';
import { nameOf } from '../sentences/command-name.ts';
import { formatCount, quoted } from '../sentences/format.ts';
import { channelUnknown, missingRightSentence, notAChoice } from '../sentences/refusals.ts';
import {
  type OptionSetting,
  SETTING_GROUPS,
  type SettingsCommand,
  settingsCard,
  settingsOf,
  settingWords,
} from './setting-words.ts';

/** What the reading of a value depends on. */
interface ReadContext {
  /** Currency of an amount without one. */
  readonly currency: string;
  /** Currencies that models are billed in. */
  readonly currencies: readonly string[];
  readonly nowMs: number;
}

/** How the values of a kind are typed. */
interface TypedKind<Value> {
  readonly declared: Pick<OptionDeclaration, 'kind' | 'maxLength' | 'range' | 'autocomplete' | 'choices'>;
  /** Reads anything but `off`. */
  readonly read: (typed: string, context: ReadContext) => Read<Value>;
  /** Writes a value as it may be typed. */
  readonly write: (value: Value) => string;
}

/** Delay of a new retention period: removed clips cannot be brought back, and a typo should not cost any. */
const GRACE_MS = 24 * 3_600_000;

/** Kinds of settings, as they are typed. */
const KINDS: { readonly [Kind in (typeof TEAM_SETTINGS)[OptionSetting]['kind']]: TypedKind<SettingValues[Kind]> } = {
  time_zone: {
    declared: { kind: 'text', autocomplete: 'time_zone', maxLength: 100, range: 'a time zone such as Europe/Berlin' },
    read: (typed) =>
      readAs(
        zoneNamed(typed),
        `${quoted(typed, 40)} isn’t a time zone. Write a name such as Europe/Berlin or America/New_York.`,
      ),
    write: String,
  },
  currency: {
    declared: { kind: 'text', autocomplete: 'currency', maxLength: 100, range: 'a currency such as EUR' },
    read: (typed, { currencies }) => {
      const code = typed.toUpperCase();
      return readAs(currencies.includes(code) ? code : null, unknownCurrency(code, currencies));
    },
    write: String,
  },
  price: {
    declared: { kind: 'text', maxLength: 100, range: 'an amount such as 2 or 12.50 EUR, or off' },
    // A currency that is wrong itself is reported once.
    read: (typed, { currency, currencies }) => typedAmount(typed, currency, [...new Set([...currencies, currency])]),
    write: ({ amount, currency }) => `${amount} ${currency}`,
  },
  channel: {
    declared: { kind: 'channel' },
    read: (typed) => ({ value: channelNamed(typed) }),
    write: (channel) => `<#${channel}>`,
  },
  on_off: {
    declared: { kind: 'text', choices: ['on', 'off'].map((value) => ({ value, label: value })) },
    read: (typed) => readAs(typed.toLowerCase() === 'on' ? true : null, notAChoice(typed, ['on', 'off'])),
    write: (isOn) => (isOn ? 'on' : 'off'),
  },
  days: {
    declared: { kind: 'text', maxLength: 100 },
    read: (typed, { nowMs }) => {
      const days = Number(/^(\d{1,5})(?: days?)?$/i.exec(typed)?.[1] ?? '0');
      const isAllowed = days >= 1 && days <= MAX_DAYS;
      if (isAllowed) return { value: { days, fromMs: nowMs + GRACE_MS } };
      return { problem: `${quoted(typed, 40)} isn’t a number of days from 1 to ${MAX_DAYS}.` };
    },
    write: ({ days }) => String(days),
  },
};

/** Returns the name of a typed time zone, whose case and blanks may differ; `null` for an unknown one. */
function zoneNamed(typed: string): string | null {
  const name = typed.trim().replace(/\s+/gu, '_');
  const known = timeZones().find((zone) => zone.toLowerCase() === name.toLowerCase());
  return known ?? (isTimeZone(name) ? name : null);
}

/** Channels of one team in which a setting is on, at most: they are one record. */
const MAX_CHANNELS = 200;

/** `/video settings`: shows and changes the settings of a team. */
export const settings = settingsCommand({
  name: 'settings',
  description: 'Shows or changes the team’s time zone, thresholds, report channel and alerts',
  example: '/video settings --time_zone Europe/Berlin --confirm_above 2',
  off: 'Removes the value of this setting',
  removable: settingsOf('settings'),
});

/** `/video review`: shows and changes where, and how, a team reviews its clips. */
export const review = settingsCommand({
  name: 'review',
  description: 'Turns reviews of finished clips on or off in this channel, and sets their rules',
  example: '/video review on --own off',
  off: 'Removes the value of this option',
  removable: ['signedOffChannel'],
});

interface CommandOptions extends Pick<Command, 'description' | 'example'> {
  readonly name: SettingsCommand;
  /** Description of the option `off`. */
  readonly off: string;
  /** Settings whose values that option removes. */
  readonly removable: readonly OptionSetting[];
}

/** Creates a command that shows settings, and changes them by options. */
function settingsCommand({ off, removable, ...words }: CommandOptions): Subcommand {
  const names = settingsOf(words.name);
  const choices = removable.map((name) => settingWords(name).option).map((value) => ({ value, label: value }));
  const options = [...names.map(declared), { name: 'off', description: off, kind: 'text', choices } as const];
  const declaration: Command = { ...words, options, visibility: 'private', isAdministrative: true };
  const panel = settingsPanel(words.name);
  return {
    declaration,
    panel,
    run: async (ports, caller, given) => {
      const [team, channel] = [teamOf(caller), spendChannel(caller)];
      const before = await ports.settings.get(team);
      const show = (now: TeamSettings, changed: readonly OptionSetting[] | null, lacksApprover = false): Reply => {
        const shown = { ...now, currency: now.currency ?? ports.catalog().defaultModel.currency };
        const typed = nameOf(declaration, caller.fields);
        const buttons = panelButtons(caller, declaration, panel);
        return privately(
          settingsCard(words.name, { settings: shown, channel, changed, typed, lacksApprover, buttons }),
        );
      };
      if (!isAnyGiven(given)) return show(before, null);
      const { values, problems } = await readSettings(ports, given, { names, removable, before, channel });
      if (problems.length > 0) return refusedWith(problems);
      for (const [name, value] of values) {
        const problem = await channelProblem(ports, caller, name, value);
        if (problem !== null) return refused(problem);
      }
      const after = await ports.settings.change(team, byCommand(caller), (now) =>
        Object.fromEntries([...values].map(([name, value]) => [name, inChannel(now, name, value, channel)])),
      );
      const changed = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
      const isUnheard = changed.includes('approveAbove') && after.approveAbove !== undefined;
      return show(after, changed, isUnheard && (await ports.approvers.list(team)).length === 0);
    },
  };
}

/** Returns the settings of a command as forms, one for each group of them. */
function settingsPanel(command: SettingsCommand): Panel {
  const groups = Object.entries(SETTING_GROUPS[command]).map(([name, title]): readonly [string, PanelGroup] => {
    const fields: PanelGroup['fields'] = async ({ settings: stored }, caller) => {
      const now = await stored.get(teamOf(caller));
      return settingsOf(command)
        .filter((one) => settingWords(one).group === name)
        .map((one) => panelField(one, now, spendChannel(caller)));
    };
    return [name, { label: `${title}…`, title, fields }];
  });
  return Object.fromEntries(groups);
}

function panelField(name: OptionSetting, now: TeamSettings, channel: string): PanelField {
  const { option, label } = settingWords(name);
  const { kind, perChannel } = TEAM_SETTINGS[name] as { kind: keyof typeof KINDS; perChannel?: true };
  const value: unknown = perChannel === true ? ((now[name] ?? []) as readonly string[]).includes(channel) : now[name];
  const values = value === undefined ? [] : [(KINDS[kind].write as (value: unknown) => string)(value)];
  // A number alone keeps the currency that is there.
  const unit = kind === 'price' ? (value as Price | undefined)?.currency : undefined;
  return { option, label, values, emptied: { [option]: ['off'] }, ...(unit === undefined ? {} : { unit }) };
}

/** Declares the option of a setting. */
function declared(name: OptionSetting): OptionDeclaration {
  const { option, description, range, positional } = settingWords(name);
  const { default: standard } = TEAM_SETTINGS[name];
  return {
    name: option,
    description,
    ...KINDS[TEAM_SETTINGS[name].kind].declared,
    ...(range === undefined ? {} : { range }),
    ...(positional === undefined ? {} : { positional }),
    ...(typeof standard === 'boolean' ? { defaultWords: standard ? 'on' : 'off' } : {}),
    ...(typeof standard === 'string' ? { defaultWords: standard } : {}),
  };
}

/** What the values of options depend on, besides the options. */
interface CommandContext extends Pick<CommandOptions, 'removable'> {
  readonly names: readonly OptionSetting[];
  readonly before: TeamSettings;
  readonly channel: string;
}

function readSettings(
  { catalog, clock }: BotPorts,
  given: GivenOptions,
  { names, removable, before, channel }: CommandContext,
) {
  const currencies = currenciesOf(catalog());
  const typedCurrency = optionValue(given, 'currency')?.toUpperCase();
  const typed = typedCurrency === 'OFF' ? undefined : (typedCurrency ?? before.currency);
  const currency = typed ?? catalog().defaultModel.currency;
  const valueOfOff = (name: OptionSetting) => (TEAM_SETTINGS[name].kind === 'on_off' ? false : null);
  return readOptions<OptionSetting, unknown>(given, {
    names,
    removable,
    optionOf: (name) => settingWords(name).option,
    valueOfOff,
    read: (name, typed) => {
      if (typed.toLowerCase() === 'off') return { value: valueOfOff(name) };
      const { option } = settingWords(name);
      const read = KINDS[TEAM_SETTINGS[name].kind].read(typed, { currency, currencies, nowMs: clock.now() });
      if ('problem' in read) return { problem: `${option}: ${read.problem}` };
      const isFull = [inChannel(before, name, read.value, channel)].flat().length > MAX_CHANNELS;
      if (!isFull) return read;
      const full = `${settingWords(name).plural} are on in ${formatCount(MAX_CHANNELS)} channels already`;
      return { problem: `${option}: ${full}. Turn them off in another one first.` };
    },
  });
}

/** Returns the value to store: of a setting that each channel has for itself, all channels in which it is on. */
function inChannel(now: TeamSettings, name: OptionSetting, value: unknown, channel: string): unknown {
  if (TEAM_SETTINGS[name].perChannel !== true) return value;
  const others = ((now[name] ?? []) as readonly string[]).filter((one) => one !== channel);
  return value === true ? [...others, channel].toSorted() : others;
}

/**
 * Returns why nothing can be posted in the channel that a setting names; `null` if it can, or it names none. Rejects where
 * the platform does not respond.
 */
async function channelProblem(
  ports: BotPorts,
  caller: Caller,
  name: OptionSetting,
  channel: unknown,
): Promise<string | null> {
  if (TEAM_SETTINGS[name].kind !== 'channel' || typeof channel !== 'string') return null;
  const { option, posts = 'words' } = settingWords(name);
  const { platform, team, address } = caller;
  if (!(await rightsIn(ports, caller, channel)).view) return channelUnknown(option);
  const isHere = channel === caller.channel;
  const lacking = await ports.chat
    .platform(platform)
    .channels.missingRight({ team, channel, address: isHere ? address : {} }, posts);
  return lacking === null ? null : missingRightSentence(lacking, { hasButton: false, isHere });
}

/** @param value `null`: it cannot be read. */
function readAs<Value>(value: Value | null, problem: string): Read<Value> {
  return value === null ? { problem } : { value };
}
