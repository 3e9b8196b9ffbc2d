import { collection, type Store, type Versioned } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import type { Person, Price, ReviewRules } from '../tasks/index.ts';
import type { Style } from '../videos/index.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor, AuditAction, AuditEntry, AuditValue } from './audit/audit-entry.ts';
import { NO_POLICY, type Policy, policyWithout, rulesNaming } from './policy/policy.ts';
import { policyEntries } from './policy/policy-entries.ts';

/** Stop of all purchases of a team. */
export interface Pause {
  /** Written by the person who paused; may be empty. */
  readonly reason: string;
  readonly by: Person;
  readonly atMs: number;
  /** End of the pause. Default: until it is ended. */
  readonly untilMs?: number;
}

/** Time that something is kept. */
export interface Keep {
  readonly days: number;
  /** Time from which it applies, in ms since the Unix epoch: until then a mistake can be corrected. */
  readonly fromMs: number;
}

/** Settings of a team. */
export interface TeamSettings extends Versioned, ReviewRules {
  /** IANA name of the time zone in which the team's months begin and end. Default `UTC`. */
  readonly timeZone: string;
  /** Currency of amounts typed without one, ISO 4217. Default: that of the catalog's default model. */
  readonly currency?: string;
  /** Orders of more than this amount need a confirmation. Default: none. */
  readonly confirmAbove?: Price;
  /** Orders of more than this amount need an approval. Default: none. */
  readonly approveAbove?: Price;
  /** Id of the channel that gets alerts and monthly reports. Default: none. */
  readonly reportChannel?: string;
  /** Whether alerts are sent when a share of a budget is used. Default true. */
  readonly alerts: boolean;
  /** Least amount of a day that is reported as unusual. Default: unusual spend is not reported. */
  readonly unusualSpend?: Price;
  /** Time that clips are kept after their tasks ended. Default: as the operator set. */
  readonly keepClips?: Keep;
  /** Time that prompts are kept after their tasks ended; a clip goes with its prompt. Default: as the operator set. */
  readonly keepPrompts?: Keep;
  /** See {@link pauseAt}, which knows about its end. */
  readonly pause?: Pause;
  /** What the team allows. Default: everything. */
  readonly policy?: Policy;
  /** Styles of the team, by name. Default: none. */
  readonly styles?: readonly Style[];
}

/** Settings to change; `null` restores the default. */
export type SettingsPatch = {
  readonly [Key in Exclude<keyof TeamSettings, 'revision'>]?: TeamSettings[Key] | null;
};

/** Team of a chat platform. */
export interface TeamKey {
  readonly platform: string;
  readonly team: string;
}

export const DEFAULT_SETTINGS: TeamSettings = { revision: 0, timeZone: 'UTC', alerts: true };

/** Pause, with the time zone of the team for the text about its end. */
export type PauseInEffect = Pause & Pick<TeamSettings, 'timeZone'>;

/** Returns the pause in effect at a time; null if nothing is paused. */
export function pauseAt({ pause, timeZone }: TeamSettings, nowMs: number): PauseInEffect | null {
  if (pause === undefined || (pause.untilMs !== undefined && pause.untilMs <= nowMs)) return null;
  return { ...pause, timeZone };
}

/** Returns the key of a record that a team has one of. */
export function keyOfTeam({ platform, team }: TeamKey): string {
  return `${platform}:${team}`;
}

export const teamSettings = collection<TeamKey, TeamSettings>({
  name: 'settings',
  key: keyOfTeam,
  holds:
    'settings of a team; the text of a pause; its policy, with the persons, roles and user groups that a rule names; its styles, the words of which name nobody unless someone writes a name',
  personal: {
    keyFor: keyOfTeam,
    forget: (settings, { person, pseudonym }) => {
      const { pause, policy } = settings;
      return {
        ...settings,
        // They wrote the reason.
        ...(pause?.by.id === person.id ? { pause: { ...pause, reason: '', by: pseudonym } } : {}),
        ...(policy === undefined ? {} : { policy: policyWithout(policy, person.id) }),
      };
    },
    export: ({ pause, policy = NO_POLICY }, { person }) => [
      ...rulesNaming(policy, person.id).map(({ rule, channel }) => ({ record: 'policy', rule, channel })),
      ...(pause?.by.id === person.id ? [{ record: 'pause', reason: pause.reason, at: isoOf(pause.atMs) }] : []),
    ],
  },
});

/** Reads and changes the settings of teams. */
export class TeamSettingsRepository {
  readonly #store: Pick<Store, 'keyv'>;
  readonly #audit: AuditTrail;

  constructor(store: Pick<Store, 'keyv'>, audit: AuditTrail) {
    this.#store = store;
    this.#audit = audit;
  }

  /** Returns the settings of a team; defaults if none were changed. @throws DailiesError `store_unavailable` */
  async get(team: TeamKey): Promise<TeamSettings> {
    return (await teamSettings.get(this.#store, team)) ?? DEFAULT_SETTINGS;
  }

  /**
   * Changes settings, with an entry in the team's audit log for each one that differs.
   * @param patch a function gets the settings as they are, and is called again after a concurrent change.
   * @returns the new settings.
   */
  change(
    team: TeamKey,
    actor: Actor,
    patch: SettingsPatch | ((before: TeamSettings) => SettingsPatch),
  ): Promise<TeamSettings> {
    return this.#audit.commitAudited(team, actor, async () => {
      const before = await this.get(team);
      const value = patched(before, typeof patch === 'function' ? patch(before) : patch);
      const records = [teamSettings.replacing(team, before.revision === 0 ? undefined : before, value)];
      const entries = entriesOf(before, value);
      return { change: { records }, entries, result: entries.length === 0 ? before : value };
    });
  }
}

function patched(before: TeamSettings, patch: SettingsPatch): TeamSettings {
  const { revision, ...kept } = before;
  const given = Object.entries(patch);
  const removed = new Set(given.filter(([, value]) => value === null).map(([key]) => key));
  const rest = Object.fromEntries(Object.entries({ ...kept, ...patch }).filter(([key]) => !removed.has(key)));
  return { ...DEFAULT_SETTINGS, ...rest, revision: revision + 1 };
}

/** Audit action of each setting, and its value as an entry shows it. */
const AUDITED: Readonly<
  Record<
    Exclude<keyof TeamSettings, 'revision' | 'policy' | 'reviewIn' | 'styles'>,
    { readonly action: AuditAction; readonly values: (settings: TeamSettings) => readonly AuditValue[] }
  >
> = {
  timeZone: { action: 'time_zone', values: ({ timeZone }) => textValue(timeZone) },
  currency: { action: 'currency', values: ({ currency }) => textValue(currency) },
  confirmAbove: { action: 'confirm_above', values: ({ confirmAbove }) => priceValue(confirmAbove) },
  approveAbove: { action: 'approve_above', values: ({ approveAbove }) => priceValue(approveAbove) },
  reportChannel: {
    action: 'report_channel',
    values: ({ reportChannel: channel }) => (channel === undefined ? [] : [{ kind: 'channel', channel }]),
  },
  alerts: { action: 'alerts', values: ({ alerts }) => textValue(alerts ? 'on' : 'off') },
  unusualSpend: { action: 'unusual_spend', values: ({ unusualSpend }) => priceValue(unusualSpend) },
  keepClips: { action: 'keep_clips', values: ({ keepClips }) => daysValue(keepClips) },
  keepPrompts: { action: 'keep_prompts', values: ({ keepPrompts }) => daysValue(keepPrompts) },
  signOffOwn: {
    action: 'sign_off_own',
    values: ({ signOffOwn = true }) => textValue(signOffOwn ? 'on' : 'off'),
  },
  signedOffChannel: {
    action: 'signed_off_channel',
    values: ({ signedOffChannel: channel }) => (channel === undefined ? [] : [{ kind: 'channel', channel }]),
  },
  keepSignedOff: {
    action: 'keep_signed_off',
    values: ({ keepSignedOff = false }) => textValue(keepSignedOff ? 'on' : 'off'),
  },
  pause: { action: 'pause', values: ({ pause }) => (pause === undefined ? [] : pauseValues(pause)) },
};

function entriesOf(before: TeamSettings, after: TeamSettings): readonly AuditEntry[] {
  const changed = Object.values(AUDITED)
    .map(({ action, values }) => ({ action, before: values(before), after: values(after) }))
    .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after));
  return [
    ...changed,
    ...policyEntries(before.policy, after.policy),
    ...reviewEntries(before, after),
    ...styleEntries(before.styles, after.styles),
  ];
}

/** Returns an entry for each channel whose review was turned on or off. */
function reviewEntries(
  { reviewIn: before = [] }: ReviewRules,
  { reviewIn: after = [] }: ReviewRules,
): readonly AuditEntry[] {
  const isOn = (channels: readonly string[], channel: string) => textValue(channels.includes(channel) ? 'on' : 'off');
  return [...new Set(before).symmetricDifference(new Set(after))].map((channel) => ({
    action: 'review',
    subject: [{ kind: 'channel', channel }],
    before: isOn(before, channel),
    after: isOn(after, channel),
  }));
}

/** Returns an entry for each style that was added, changed or removed. */
function styleEntries(before: readonly Style[] = [], after: readonly Style[] = []): readonly AuditEntry[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  const valuesOf = (styles: readonly Style[], wanted: string): readonly AuditValue[] =>
    styles
      .filter(({ name }) => name === wanted)
      .flatMap((style) => Object.entries(style).filter(([part]) => part !== 'name'))
      .map(([part, value]) => ({ kind: 'note', text: `${part}: ${String(value)}` }));
  return names
    .map((name) => ({
      action: 'style' as const,
      subject: [{ kind: 'note' as const, text: name }],
      before: valuesOf(before, name),
      after: valuesOf(after, name),
    }))
    .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after));
}

function textValue(text: string | undefined): readonly AuditValue[] {
  return text === undefined ? [] : [{ kind: 'text', text }];
}

function daysValue(keep: Keep | undefined): readonly AuditValue[] {
  return keep === undefined ? [] : [{ kind: 'text', text: keep.days === 1 ? '1 day' : `${keep.days} days` }];
}

function priceValue(price: Price | undefined): readonly AuditValue[] {
  return price === undefined ? [] : [{ kind: 'price', price }];
}

function pauseValues({ reason, untilMs }: Pause): readonly AuditValue[] {
  return [
    { kind: 'text', text: 'paused' },
    ...(reason === '' ? [] : [{ kind: 'note', text: reason } as const]),
    ...(untilMs === undefined ? [] : [{ kind: 'time', atMs: untilMs } as const]),
  ];
}
