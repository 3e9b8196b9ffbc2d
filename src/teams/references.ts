import type { Clock } from '../clock.ts';
import { collection, type Store, type Versioned } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import { type Person, withoutPerson } from '../tasks/index.ts';
import { keyOfTeam, type TeamKey } from './team-settings.ts';

/** Image of a team’s library, used as `@name`. */
export interface ReferenceImage {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Address on the web, or one of the bot's own, whose signature is renewed with each order. */
  readonly url: string;
  readonly by: Person;
  readonly addedAtMs: number;
}

export const MAX_IMAGES = 100;

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/u;

/** Returns the name that a word such as `@Mug` stands for; `null` if it is none. */
export function referenceNameOf(word: string): string | null {
  const name = word.replace(/^@/u, '').toLowerCase();
  return NAME.test(name) ? name : null;
}

type Shelf = Versioned & { readonly images: readonly ReferenceImage[] };

/** The reference images of teams: one record for each team that has any. */
const shelves = collection<TeamKey, Shelf>({
  name: 'references',
  key: keyOfTeam,
  holds: 'names and addresses of a team’s reference images, with who added each',
  kept: 'until `/video library remove`; of a forgotten person, under the pseudonym',
  personal: {
    keyFor: keyOfTeam,
    forget: (shelf, { person, pseudonym }) => withoutPerson(shelf, person.id, pseudonym),
    export: ({ images }, { person }) =>
      images
        .filter(({ by }) => by.id === person.id)
        .map(({ name, url, addedAtMs }) => ({ record: 'library', name, url, at: isoOf(addedAtMs) })),
  },
});

/** Reads and changes the reference images of teams. */
export class References {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: Pick<Store, 'keyv' | 'commit'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns the images of a team, by name. @throws `store_unavailable` */
  async list(team: TeamKey): Promise<readonly ReferenceImage[]> {
    return (await shelves.get(this.#store, team))?.images ?? [];
  }

  /** Adds an image under a name that is free. @throws `store_unavailable` */
  async add(team: TeamKey, { name, url, by }: Omit<ReferenceImage, 'addedAtMs'>): Promise<'added' | 'taken' | 'full'> {
    const image = { name, url, by: { id: by.id, name: by.name }, addedAtMs: this.#clock.now() };
    const refusal = await this.#change<'taken' | 'full'>(team, (images) => {
      if (images.some((one) => one.name === name)) return 'taken';
      if (images.length >= MAX_IMAGES) return 'full';
      return [...images, image].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    });
    return refusal ?? 'added';
  }

  /** Removes an image, if it is still the same. @throws `store_unavailable` */
  async remove(team: TeamKey, { name, addedAtMs }: ReferenceImage): Promise<void> {
    await this.#change(team, (images) => images.filter((one) => one.name !== name || one.addedAtMs !== addedAtMs));
  }

  #change<Refusal extends string>(
    team: TeamKey,
    change: (images: readonly ReferenceImage[]) => readonly ReferenceImage[] | Refusal,
  ): Promise<Refusal | null> {
    return shelves.change<Refusal | null>(this.#store, team, (before) => {
      const images = change(before?.images ?? []);
      if (typeof images === 'string') return { result: images };
      return { value: images.length === 0 ? null : { images }, result: null };
    });
  }
}
