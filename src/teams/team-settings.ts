import type { Keyv } from 'keyv';
import type { Store } from '../engine/index.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor } from './audit/audit-entry.ts';
import { settingEntries } from './audit/setting-entries.ts';
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
      const entries = settingEntries(before, value);
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
