import type { Approver } from '../../tasks/index.ts';
import { allowedSeconds } from '../../videos/index.ts';
import type { Policy, PolicyRules, RuleName, RuleValue } from '../policy/policy.ts';
import { type SettingValues, TEAM_SETTINGS, type TeamSettings } from '../settings-schema.ts';
import { type AuditEntry, type AuditValue, noteFact, priceFacts, textFact } from './audit-entry.ts';

type SettingName = keyof typeof TEAM_SETTINGS;

/** State of a subject, such as a rule in a channel, whose changes are logged; without a subject that of the team. */
type Fact = readonly [subject: readonly AuditValue[], values: readonly AuditValue[]];

/** Returns an entry for each setting that differs, and for each channel, rule or style within one. */
export function settingEntries(before: TeamSettings, after: TeamSettings): readonly AuditEntry[] {
  return (Object.keys(TEAM_SETTINGS) as SettingName[]).flatMap((name) => {
    const [was, is] = [factsOf(before, name), factsOf(after, name)];
    const subjects = new Map([...was, ...is].map(([subject]) => [JSON.stringify(subject), subject]));
    const [valuesBefore, valuesAfter] = [was, is].map(
      (facts) => new Map(facts.map(([subject, values]) => [JSON.stringify(subject), values])),
    );
    return [...subjects]
      .map(([key, subject]) => ({ subject, before: valuesBefore?.get(key) ?? [], after: valuesAfter?.get(key) ?? [] }))
      .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after))
      .map((entry) => ({ action: TEAM_SETTINGS[name].action, ...entry }));
  });
}

function factsOf(settings: TeamSettings, name: SettingName): readonly Fact[] {
  const { kind, perChannel } = TEAM_SETTINGS[name];
  const value = settings[name];
  if (value === undefined) return [];
  if (perChannel === true)
    return (value as readonly string[]).map((channel) => [[{ kind: 'channel', channel }], [textFact('on')]]);
  return (FACTS[kind] as (value: unknown) => readonly Fact[])(value);
}

/** What the log has of a value of each kind. */
const FACTS: { readonly [Kind in keyof SettingValues]: (value: SettingValues[Kind]) => readonly Fact[] } = {
  time_zone: (zone) => [[[], [textFact(zone)]]],
  currency: (code) => [[[], [textFact(code)]]],
  price: (price) => [[[], priceFacts(price)]],
  channel: (channel) => [[[], [{ kind: 'channel', channel }]]],
  on_off: (isOn) => [[[], [textFact(isOn ? 'on' : 'off')]]],
  days: ({ days }) => [[[], [textFact(days === 1 ? '1 day' : `${days} days`)]]],
  pause: ({ reason, untilMs }) => {
    const note = reason === '' ? [] : [noteFact(reason)];
    return [
      [[], [textFact('paused'), ...note, ...(untilMs === undefined ? [] : [{ kind: 'time', atMs: untilMs } as const])]],
    ];
  },
  policy: ({ team, channels }: Policy) => [
    ...ruleFacts(team, []),
    ...Object.entries(channels).flatMap(([channel, rules]) => ruleFacts(rules, [{ kind: 'channel', channel }])),
  ],
  styles: (styles) =>
    styles.map(({ name, ...parts }) => [
      [noteFact(name)],
      Object.entries(parts).map(([part, value]) => noteFact(`${part}: ${String(value)}`)),
    ]),
  channel_models: (models) =>
    Object.entries(models).map(([channel, model]) => [[{ kind: 'channel', channel }], [textFact(model)]]),
};

function ruleFacts(rules: PolicyRules, place: readonly AuditValue[]): readonly Fact[] {
  const known = (Object.keys(RULES) as RuleName[]).filter((rule) => rules[rule] !== undefined);
  return known.map((rule) => {
    const value = rules[rule];
    const values =
      value === 'any' ? [textFact('any')] : (RULES[rule] as (value: unknown) => readonly AuditValue[])(value);
    return [[textFact(rule), ...place], values.length === 0 ? [textFact('none')] : values];
  });
}

const RULES: { readonly [Name in RuleName]: (value: RuleValue<Name>) => readonly AuditValue[] } = {
  models: (names) => names.map(textFact),
  resolutions: (names) => names.map(textFact),
  seconds: (seconds) => allowedSeconds(seconds).map((words) => textFact(`${words} s`)),
  clips: (most) => [textFact(String(most))],
  style: (name) => [noteFact(name)],
  words: (words) => (words.length === 0 ? [] : [noteFact(words.join(', '))]),
  create: peopleOf,
  decide: peopleOf,
  review: peopleOf,
};

function peopleOf(some: readonly Approver[]): readonly AuditValue[] {
  return some.map(({ kind, id, name }) =>
    kind === 'person' ? { kind, person: { id, name } } : { kind: 'role', role: id },
  );
}
