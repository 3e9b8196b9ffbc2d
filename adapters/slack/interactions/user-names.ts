import type { Person } from '#src/tasks/task.ts';
import type { TeamRef } from '../web-api/client.ts';
import type { Profiles } from '../web-api/profiles.ts';

/** Name of a user whose name is unavailable. */
const UNKNOWN_NAME = 'someone';

/** Looks up users' display names; never falls back to an id. */
export class UserNames {
  readonly #profiles: Profiles;

  constructor(profiles: Profiles) {
    this.#profiles = profiles;
  }

  /** Returns a user with a name; never rejects. @param handle the fallback from the payload */
  async find(to: TeamRef, id: string, handle?: string): Promise<Person> {
    const known = await this.#profiles.of(to, id).catch(() => null);
    return { id, name: known?.name ?? (handle === undefined || handle === '' ? UNKNOWN_NAME : handle) };
  }
}
