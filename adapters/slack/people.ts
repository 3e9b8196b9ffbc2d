import { BoundedMap } from '#src/bounded-map.ts';
import type { Person } from '#src/tasks/task.ts';
import type { Clients, TeamRef } from './clients.ts';

const MOST_KNOWN = 5_000;

/** What people are called. Commands and buttons say it; events give an id alone. */
export class People {
  readonly #clients: Clients;
  readonly #names = new BoundedMap<string, string>(MOST_KNOWN);

  constructor(clients: Clients) {
    this.#clients = clients;
  }

  /** Somebody whose name came along. */
  known(to: TeamRef, id: string, name: string | undefined): Person {
    if (name === undefined || name === '') return { id, name: this.#names.get(key(to, id)) ?? id };
    this.#names.set(key(to, id), name);
    return { id, name };
  }

  /** Somebody of whom the id is known; where Slack does not tell the name, the id stands for it. */
  async find(to: TeamRef, id: string): Promise<Person> {
    const name = this.#names.get(key(to, id));
    if (name !== undefined) return { id, name };
    try {
      const { user } = await this.#clients.call({
        to,
        lane: 'answer',
        doing: 'asking for a name',
        run: (client) => client.users.info({ user: id }),
      });
      const found = user?.profile?.display_name;
      return this.known(to, id, found === undefined || found === '' ? (user?.real_name ?? user?.name) : found);
    } catch {
      // Names are told by a scope of its own.
      return { id, name: id };
    }
  }
}

function key({ team }: TeamRef, id: string): string {
  return `${team}:${id}`;
}
