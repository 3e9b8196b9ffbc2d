import { collection, type RecordWrite, type Store } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor } from './audit/audit-entry.ts';
import { settingEntries } from './audit/setting-entries.ts';
import { NO_POLICY, policyWithout, rulesNaming } from './policy/policy.ts';
import { DEFAULT_SETTINGS, type Pause, type SettingsPatch, type TeamSettings } from './settings-schema.ts';

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

/** Returns the key of a record that a team has one of. */
export function keyOfTeam({ platform, team }: TeamKey): string {
  return `${platform}:${team}`;
}

const teamSettings = collection<TeamKey, TeamSettings>({
  name: 'settings',
  key: keyOfTeam,
  holds:
    'settings of a team; the text of a pause; its policy, with the persons, roles and user groups that a rule names; its styles, the words of which name nobody unless someone writes a name; the default models of its channels',
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

/** Returns the precondition of a commit that the settings of a team are still those that were read. */
export function settingsUnchanged(team: TeamKey, read: TeamSettings): RecordWrite {
  return teamSettings.comparing(team, read.revision === 0 ? undefined : read);
}

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
    return { ...DEFAULT_SETTINGS, ...(await teamSettings.get(this.#store, team)) };
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
      const entries = settingEntries(before, value);
      return { change: { records }, entries, result: entries.length === 0 ? before : value };
    });
  }
}

function patched(before: TeamSettings, patch: SettingsPatch): TeamSettings {
  const { revision, ...kept } = before;
  const given = Object.entries({ ...kept, ...patch }).filter(([, value]) => value !== null);
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(given), revision: revision + 1 };
}
