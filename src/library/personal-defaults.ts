import type { Keyv } from 'keyv';
import type { Store, Versioned } from '../store/store.ts';
import type { Defaults } from '../videos/personal-defaults.ts';

/** Person in a team. */
export interface MemberKey {
  readonly platform: string;
  readonly team: string;
  /** Platform id. */
  readonly user: string;
}

/** Changes of a person's defaults: `null` removes a value, an absent one stays. */
export type DefaultsPatch = { readonly [Name in keyof Defaults]?: Defaults[Name] | null | undefined };

type DefaultsRecord = Defaults & Versioned;

/** The defaults of people: one record for each person and team who has any. */
export class PersonalDefaults {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;
  readonly #records: Keyv;

  constructor(store: Pick<Store, 'keyv' | 'commit'>) {
    this.#store = store;
    this.#records = store.keyv('defaults');
  }

  /** Returns a person's defaults, which are not checked against the catalog. @throws `store_unavailable` */
  async get(person: MemberKey): Promise<Defaults> {
    return defaultsOf(await this.#records.get<DefaultsRecord>(defaultsKey(person)));
  }

  /** Changes a person's defaults. @returns all of them. @throws `store_unavailable` */
  async change(person: MemberKey, patch: DefaultsPatch): Promise<Defaults> {
    const key = defaultsKey(person);
    for (;;) {
      const before = await this.#records.get<DefaultsRecord>(key);
      const changed = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      const merged = Object.entries({ ...defaultsOf(before), ...changed }).filter(([, value]) => value !== null);
      const after: Defaults = Object.fromEntries(merged);
      const revision = (before?.revision ?? 0) + 1;
      const value = merged.length === 0 ? null : ({ ...after, revision } satisfies DefaultsRecord);
      const expected = before?.revision ?? 'absent';
      if (await this.#store.commit({ records: [{ namespace: 'defaults', key, value, expected }] })) return after;
    }
  }
}

function defaultsOf(record: DefaultsRecord | undefined): Defaults {
  const { model, seconds, aspect } = record ?? {};
  return {
    ...(model === undefined ? {} : { model }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(aspect === undefined ? {} : { aspect }),
  };
}

/** Returns the key of a person's record in the namespace `defaults`. */
export function defaultsKey({ platform, team, user }: MemberKey): string {
  return `${platform}:${team}:${user}`;
}
