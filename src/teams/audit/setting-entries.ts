import type { Approver } from '../../tasks/index.ts';
import { allowedSeconds } from '../../videos/index.ts';
import type { Policy, PolicyRules, RuleName, RuleValue } from '../policy/policy.ts';
import { type SettingValues, TEAM_SETTINGS, type TeamSettings } from '../settings-schema.ts';
import type { AuditEntry, AuditValue } from './audit-entry.ts';

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
    return (value as readonly string[]).map((channel) => [[{ kind: 'channel', channel }], [textOf('on')]]);
  return (FACTS[kind] as (value: unknown) => readonly Fact[])(value);
}

/** What the log has of a value of each kind. */
const FACTS: { readonly [Kind in keyof SettingValues]: (value: SettingValues[Kind]) => readonly Fact[] } = {
  time_zone: (zone) => [[[], [textOf(zone)]]],
  currency: (code) => [[[], [textOf(code)]]],
  price: (price) => [[[], [{ kind: 'price', price }]]],
  channel: (channel) => [[[], [{ kind: 'channel', channel }]]],
  on_off: (isOn) => [[[], [textOf(isOn ? 'on' : 'off')]]],
  days: ({ days }) => [[[], [textOf(days === 1 ? '1 day' : `${days} days`)]]],
  pause: ({ reason, untilMs }) => {
    const note = reason === '' ? [] : [noteOf(reason)];
    return [
      [[], [textOf('paused'), ...note, ...(untilMs === undefined ? [] : [{ kind: 'time', atMs: untilMs } as const])]],
    ];
  },
  policy: ({ team, channels }: Policy) => [
    ...ruleFacts(team, []),
    ...Object.entries(channels).flatMap(([channel, rules]) => ruleFacts(rules, [{ kind: 'channel', channel }])),
  ],
  styles: (styles) =>
    styles.map(({ name, ...parts }) => [
      [noteOf(name)],
      Object.entries(parts).map(([part, value]) => noteOf(`${part}: ${String(value)}`)),
    ]),
  channel_models: (models) =>
    Object.entries(models).map(([channel, model]) => [[{ kind: 'channel', channel }], [textOf(model)]]),
};

function ruleFacts(rules: PolicyRules, place: readonly AuditValue[]): readonly Fact[] {
  const known = (Object.keys(RULES) as RuleName[]).filter((rule) => rules[rule] !== undefined);
  return known.map((rule) => {
    const value = rules[rule];
    const values =
      value === 'any' ? [textOf('any')] : (RULES[rule] as (value: unknown) => readonly AuditValue[])(value);
    return [[textOf(rule), ...place], values.length === 0 ? [textOf('none')] : values];
  });
}

const RULES: { readonly [Name in RuleName]: (value: RuleValue<Name>) => readonly AuditValue[] } = {
  models: (names) => names.map(textOf),
  resolutions: (names) => names.map(textOf),
  seconds: (seconds) => allowedSeconds(seconds).map((words) => textOf(`${words} s`)),
  clips: (most) => [textOf(String(most))],
  style: (name) => [noteOf(name)],
  words: (words) => (words.length === 0 ? [] : [noteOf(words.join(', '))]),
  create: peopleOf,
  decide: peopleOf,
  review: peopleOf,
};

function peopleOf(some: readonly Approver[]): readonly AuditValue[] {
  return some.map(({ kind, id, name }) =>
    kind === 'person' ? { kind, person: { id, name } } : { kind: 'role', role: id },
  );
}

function textOf(text: string): AuditValue {
  return { kind: 'text', text };
}

function noteOf(text: string): AuditValue {
  return { kind: 'note', text };
}
