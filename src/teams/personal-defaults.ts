import { collection, type Store, type Versioned } from '../engine/index.ts';
import type { Defaults } from '../videos/index.ts';

/** Person in a team. */
export interface MemberKey {
  readonly platform: string;
  readonly team: string;
  /** Platform id. */
  readonly user: string;
}

/** Changes of a person's defaults: `null` removes a value, an absent one stays. */
type DefaultsPatch = { readonly [Name in keyof Defaults]?: Defaults[Name] | null | undefined };

type DefaultsRecord = Defaults & Versioned;

/** The defaults of people: one record for each who has any. */
const personalDefaults = collection<MemberKey, DefaultsRecord>({
  name: 'defaults',
  key: keyOfMember,
  holds: 'a person’s default model, length and aspect ratio, by team',
  kept: 'until `/video defaults off:all`',
  personal: {
    keyFor: ({ platform, team, person }) => keyOfMember({ platform, team, user: person.id }),
    withdraw: () => null,
    export: (record) => [{ record: 'defaults', ...defaultsOf(record) }],
  },
});

/** Reads and changes the defaults of people. */
export class PersonalDefaults {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;

  constructor(store: Pick<Store, 'keyv' | 'commit'>) {
    this.#store = store;
  }

  /** Returns a person's defaults, which are not checked against the catalog. @throws `store_unavailable` */
  async get(person: MemberKey): Promise<Defaults> {
    return defaultsOf(await personalDefaults.get(this.#store, person));
  }

  /** Changes a person's defaults. @returns all of them. @throws `store_unavailable` */
  async change(person: MemberKey, patch: DefaultsPatch): Promise<Defaults> {
    return personalDefaults.change<Defaults>(this.#store, person, (before) => {
      const changed = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      const merged = Object.entries({ ...defaultsOf(before), ...changed }).filter(([, value]) => value !== null);
      const after: Defaults = Object.fromEntries(merged);
      return { value: merged.length === 0 ? null : after, result: after };
    });
  }
}

function defaultsOf(record: Partial<DefaultsRecord> = {}): Defaults {
  const { revision: _, ...defaults } = record;
  return defaults;
}

/** Returns the key of a record that a person of a team has one of. */
export function keyOfMember({ platform, team, user }: MemberKey): string {
  return `${platform}:${team}:${user}`;
}
