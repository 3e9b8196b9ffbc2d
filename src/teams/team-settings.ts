import type { Keyv } from 'keyv';
import type { Store } from '../engine/index.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor, AuditEntry, AuditFact, AuditValue } from './audit/audit-entry.ts';
import { policyFacts } from './policy/policy-facts.ts';
import {
  DEFAULT_SETTINGS,
  type Pause,
  SETTING_NAMES,
  type SettingsPatch,
  type SettingValues,
  settingRow,
  TEAM_SETTINGS,
  type TeamSettingName,
  type TeamSettings,
} from './settings-schema.ts';

/** Team of a chat platform. */
export interface TeamKey {
  readonly platform: string;
  readonly team: string;
}

/** Pause, with the time zone of the team for the text about its end. */
export type PauseInEffect = Pause & Pick<TeamSettings, 'timeZone'>;

/** Returns the pause in effect at a time; null if nothing is paused. */
export function pauseAt(
  { pause, timeZone }: Pick<TeamSettings, 'pause' | 'timeZone'>,
  nowMs: number,
): PauseInEffect | null {
  if (pause === undefined || (pause.untilMs !== undefined && pause.untilMs <= nowMs)) return null;
  return { ...pause, timeZone };
}

/** Reads and changes the settings of teams. */
export class TeamSettingsRepository {
  readonly #audit: AuditTrail;
  readonly #records: Keyv;

  constructor(store: Pick<Store, 'keyv'>, audit: AuditTrail) {
    this.#audit = audit;
    this.#records = store.keyv('settings');
  }

  /** Returns the settings of a team; defaults if none were changed. @throws DailiesError `store_unavailable` */
  async get(team: TeamKey): Promise<TeamSettings> {
    return { ...DEFAULT_SETTINGS, ...(await this.#records.get<TeamSettings>(keyOf(team))) };
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
      const expected = before.revision === 0 ? 'absent' : before.revision;
      const records = [{ namespace: 'settings', key: keyOf(team), value, expected }] as const;
      const entries = entriesOf(before, value);
      return { change: { records }, entries, result: entries.length === 0 ? before : value };
    });
  }
}

function keyOf({ platform, team }: TeamKey): string {
  return `${platform}:${team}`;
}

function patched(before: TeamSettings, patch: SettingsPatch): TeamSettings {
  const { revision, ...kept } = before;
  const given = Object.entries({ ...kept, ...patch }).filter(([, value]) => value !== null);
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(given), revision: revision + 1 };
}

/** Returns an entry for each setting that differs, and for each channel, rule or style within one. */
function entriesOf(before: TeamSettings, after: TeamSettings): readonly AuditEntry[] {
  return SETTING_NAMES.flatMap((name) => {
    const [was, is] = [factsOf(name, before), factsOf(name, after)];
    const subjects = new Map([...was, ...is].map(({ subject = [] }) => [JSON.stringify(subject), subject]));
    const valuesIn = (facts: readonly AuditFact[], key: string) =>
      facts.find(({ subject = [] }) => JSON.stringify(subject) === key)?.values ?? [];
    return [...subjects]
      .map(([key, subject]) => ({ subject, before: valuesIn(was, key), after: valuesIn(is, key) }))
      .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.after))
      .map((entry) => ({ action: TEAM_SETTINGS[name].action, ...entry }));
  });
}

function factsOf(name: TeamSettingName, settings: TeamSettings): readonly AuditFact[] {
  const { kind, perChannel } = settingRow(name);
  const value = settings[name];
  if (value === undefined) return [];
  if (perChannel === true)
    return (value as readonly string[]).map((channel) => ({
      subject: [{ kind: 'channel', channel }],
      values: FACTS.on_off(true).flatMap(({ values }) => values),
    }));
  return (FACTS[kind] as (value: unknown) => readonly AuditFact[])(value);
}

/** What the audit log has of a value of each kind. */
const FACTS: { readonly [Kind in keyof SettingValues]: (value: SettingValues[Kind]) => readonly AuditFact[] } = {
  time_zone: (zone) => [{ values: [textOf(zone)] }],
  currency: (code) => [{ values: [textOf(code)] }],
  price: (price) => [{ values: [{ kind: 'price', price }] }],
  channel: (channel) => [{ values: [{ kind: 'channel', channel }] }],
  on_off: (isOn) => [{ values: [textOf(isOn ? 'on' : 'off')] }],
  days: ({ days }) => [{ values: [textOf(days === 1 ? '1 day' : `${days} days`)] }],
  pause: ({ reason, untilMs }) => [
    {
      values: [
        textOf('paused'),
        ...(reason === '' ? [] : [noteOf(reason)]),
        ...(untilMs === undefined ? [] : [{ kind: 'time', atMs: untilMs } as const]),
      ],
    },
  ],
  policy: policyFacts,
  styles: (styles) =>
    styles.map(({ name, ...parts }) => ({
      subject: [noteOf(name)],
      values: Object.entries(parts).map(([part, value]) => noteOf(`${part}: ${String(value)}`)),
    })),
};

function textOf(text: string): AuditValue {
  return { kind: 'text', text };
}

function noteOf(text: string): AuditValue {
  return { kind: 'note', text };
}
