import type { Person } from '#src/tasks/task.ts';
import type { TeamRef } from '../web-api/client.ts';
import type { Profiles } from '../web-api/profiles.ts';

/** Stands for a name that Slack does not tell. */
const NAMELESS = 'someone';

/** What people are called: by the name that they chose to be shown, wherever it can be had, and never by their id. */
export class UserNames {
  readonly #profiles: Profiles;

  constructor(profiles: Profiles) {
    this.#profiles = profiles;
  }

  /** @param handle the name that came along, for want of a better one. Never rejects. */
  async find(to: TeamRef, id: string, handle?: string): Promise<Person> {
    const known = await this.#profiles.of(to, id).catch(() => null);
    return { id, name: known?.name ?? (handle === undefined || handle === '' ? NAMELESS : handle) };
  }
}
