import { MAX_DAYS } from '#src/clips/index.ts';
import type { Price } from '#src/tasks/index.ts';
import type { Keep, SettingsPatch, TeamSettings } from '#src/teams/index.ts';
import type { Caller, FieldProblem, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { currenciesOf, typedAmount } from '../input/amounts.ts';
import { postingProblem } from '../input/member-rights.ts';
import { optionValue, switchedOff } from '../input/options.ts';
import { channelNamed } from '../input/people.ts';
import { type BotPorts, privately, refused, refusedWith, type Subcommand, teamOf } from '../input/subcommand.ts';
import { zoneNamed } from '../input/time-zones.ts';
import { notDays, type ShownSetting, settingsCard, unknownZone } from '../sentences/administration/settings.ts';
import { unknownCurrency } from '../sentences/amounts.ts';
import { nameOf } from '../sentences/cards/help.ts';

/** Settings by the name of their option. */
const SETTINGS: Readonly<Record<string, ShownSetting>> = {
  time_zone: 'timeZone',
  currency: 'currency',
  confirm_above: 'confirmAbove',
  approve_above: 'approveAbove',
  report_channel: 'reportChannel',
  alerts: 'alerts',
  unusual_spend: 'unusualSpend',
  keep_clips: 'keepClips',
  keep_prompts: 'keepPrompts',
};
const NAMES = Object.keys(SETTINGS);
const AMOUNTS: ReadonlySet<string> = new Set(['confirm_above', 'approve_above', 'unusual_spend']);
const PERIODS: ReadonlySet<string> = new Set(['keep_clips', 'keep_prompts']);
/** Delay of a new retention period: removed clips cannot be brought back, and a typo should not cost any. */
const GRACE_MS = 24 * 3_600_000;

const AMOUNT = 'an amount such as 2 or 12.50 EUR, or off';

const options: readonly OptionDeclaration[] = [
  {
    name: 'time_zone',
    description: 'Time zone in which months begin and end, such as Europe/Berlin',
    kind: 'text',
    autocomplete: 'time_zone',
    maxLength: 100,
    range: 'a time zone such as Europe/Berlin',
  },
  {
    name: 'currency',
    description: 'Currency of amounts typed without one',
    kind: 'text',
    autocomplete: 'currency',
    maxLength: 100,
    range: 'a currency such as EUR',
  },
  {
    name: 'confirm_above',
    description: 'Clips that cost more ask for a confirmation, such as 2 or 12.50 EUR; off for none',
    kind: 'text',
    maxLength: 100,
    range: AMOUNT,
  },
  {
    name: 'approve_above',
    description: 'Clips that cost more need an approval, such as 5 or 12.50 EUR; off for none',
    kind: 'text',
    maxLength: 100,
    range: AMOUNT,
  },
  { name: 'report_channel', description: 'Channel for alerts and monthly reports', kind: 'channel' },
  {
    name: 'alerts',
    description: 'Whether to report when 50, 80 and 100 % of a budget are used',
    kind: 'text',
    choices: ['on', 'off'].map((value) => ({ value, label: value })),
  },
  {
    name: 'unusual_spend',
    description: 'Reports a day with three times the usual amount, from this amount on; off for never',
    kind: 'text',
    maxLength: 100,
    range: AMOUNT,
  },
  {
    name: 'keep_clips',
    description: 'Days after which clips are removed from the bot’s storage, such as 90; off for the operator’s rule',
    kind: 'text',
    maxLength: 100,
    range: 'a number of days such as 90, or off',
  },
  {
    name: 'keep_prompts',
    description: 'Days after which clips are removed with their prompts, such as 365; off for the operator’s rule',
    kind: 'text',
    maxLength: 100,
    range: 'a number of days such as 365, or off',
  },
  {
    name: 'off',
    description: 'Removes the value of this setting',
    kind: 'text',
    choices: NAMES.map((value) => ({ value, label: value })),
  },
];

/** `/video settings`: shows and changes the settings of a team. */
export const settings: Subcommand = {
  declaration: {
    name: 'settings',
    description: 'Shows or changes the team’s time zone, thresholds, report channel and alerts',
    example: '/video settings --time_zone Europe/Berlin --confirm_above 2',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: async (ports, caller, given) => {
    const before = await ports.settings.get(teamOf(caller));
    if (Object.values(given).every((values) => values.length === 0)) return show(ports, caller, before, null);
    const { patch, problems } = readPatch(ports, given, before);
    if (problems.length > 0) return refusedWith(problems);
    const channel = patch.reportChannel ?? null;
    const report = { option: 'report_channel', what: 'words' } as const;
    const problem = channel === null ? null : await postingProblem(ports, caller, { ...report, channel });
    if (problem !== null) return refused(problem);
    const after = await ports.settings.change(teamOf(caller), { person: caller.user, surface: 'command' }, patch);
    const isChanged = (name: ShownSetting): boolean => JSON.stringify(after[name]) !== JSON.stringify(before[name]);
    const changed = Object.values(SETTINGS).filter(isChanged);
    const isUnheard = changed.includes('approveAbove') && after.approveAbove !== undefined;
    const lacksApprover = isUnheard && (await ports.approvers.list(teamOf(caller))).length === 0;
    return show(ports, caller, after, changed, lacksApprover);
  },
};

function show(
  { catalog }: BotPorts,
  { fields }: Caller,
  shown: TeamSettings,
  changed: readonly ShownSetting[] | null,
  lacksApprover = false,
): Reply {
  const currency = currencyOf(shown, catalog().defaultModel.currency);
  const command = nameOf(settings.declaration, fields);
  return privately(settingsCard({ settings: shown, currency, changed, command, lacksApprover }));
}

/** Returns the currency of amounts typed without one. @param standard that of the catalog's default model. */
function currencyOf({ currency }: Pick<TeamSettings, 'currency'>, standard: string): string {
  return currency ?? standard;
}

/** Reads the options; everything that is wrong at once. */
function readPatch(
  { catalog, clock }: BotPorts,
  given: GivenOptions,
  before: TeamSettings,
): { readonly patch: SettingsPatch; readonly problems: readonly FieldProblem[] } {
  const patch: Record<string, string | boolean | Price | Keep | null> = {};
  const problems: FieldProblem[] = [];
  const currencies = currenciesOf(catalog());
  const typedCurrency = optionValue(given, 'currency')?.toUpperCase();
  const currency = typedCurrency ?? currencyOf(before, catalog().defaultModel.currency);
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const typed = optionValue(given, name);
    if (typed === undefined) continue;
    // A currency that is wrong itself is reported once.
    const known = currencies.includes(currency) ? currencies : [...currencies, currency];
    const read = AMOUNTS.has(name)
      ? readAmount(typed, currency, known)
      : PERIODS.has(name)
        ? readPeriod(typed, clock.now())
        : readSetting(name, typed, currencies);
    if ('problem' in read) problems.push({ field: name, sentence: prefixed(name, read.problem) });
    else patch[setting] = read.value;
  }
  const off = switchedOff(given, NAMES);
  for (const name of off.removed) patch[SETTINGS[name] ?? name] = name === 'alerts' ? false : null;
  return { patch, problems: [...problems, ...off.problems] };
}

type Read = { readonly value: string | boolean | Price | Keep | null } | { readonly problem: string };

function readAmount(typed: string, currency: string, currencies: readonly string[]): Read {
  const read = typedAmount(typed, currency, currencies);
  if (read.kind === 'refused') return { problem: read.sentence };
  return { value: read.kind === 'off' ? null : read.price };
}

function readPeriod(typed: string, nowMs: number): Read {
  if (typed.toLowerCase() === 'off') return { value: null };
  const days = Number(/^(\d{1,5})(?: days?)?$/i.exec(typed)?.[1] ?? '0');
  const isAllowed = days >= 1 && days <= MAX_DAYS;
  return isAllowed ? { value: { days, fromMs: nowMs + GRACE_MS } } : { problem: notDays(typed, MAX_DAYS) };
}

function readSetting(name: string, typed: string, currencies: readonly string[]): Read {
  const word = typed.toLowerCase();
  if (name === 'alerts') return { value: word === 'on' };
  if (word === 'off') return { value: null };
  if (name === 'report_channel') return { value: channelNamed(typed) };
  if (name === 'currency') {
    const code = typed.toUpperCase();
    return currencies.includes(code) ? { value: code } : { problem: unknownCurrency(code, currencies) };
  }
  const zone = zoneNamed(typed);
  return zone === null ? { problem: unknownZone(typed) } : { value: zone };
}

function prefixed(name: string, sentence: string): string {
  return sentence.startsWith(`${name}: `) ? sentence : `${name}: ${sentence}`;
}
