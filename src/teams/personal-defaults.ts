import { collection, type Store, type Versioned } from '../engine/index.ts';
import type { Defaults } from '../videos/index.ts';
import type { AuditTrail } from './audit/audit.ts';
import type { Actor, AuditValue } from './audit/audit-entry.ts';

/** Person in a team. */
export interface MemberKey {
  readonly platform: string;
  readonly team: string;
  /** Platform id. */
  readonly user: string;
}

/** Channel of a team; that of a thread is the channel that it belongs to. */
export interface ChannelKey {
  readonly platform: string;
  readonly team: string;
  readonly channel: string;
}

/** Author of a change of a channel's default, and the log that it is entered in. */
interface ChannelChange {
  readonly audit: Pick<AuditTrail, 'commitAudited'>;
  readonly actor: Actor;
}

/** Changes of a person's defaults: `null` removes a value, an absent one stays. */
type DefaultsPatch = { readonly [Name in keyof Defaults]?: Defaults[Name] | null | undefined };

type DefaultsRecord = Defaults & Versioned;

export const personalDefaults = collection<MemberKey, DefaultsRecord>({
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

export const channelDefaults = collection<ChannelKey, DefaultsRecord>({
  name: 'channel_defaults',
  key: ({ platform, team, channel }) => `${platform}:${team}:${channel}`,
  holds: 'a channel’s default model',
  kept: 'until `off:channel`',
  personal: 'nobody',
});

/** The defaults of people and channels: one record for each who has any. */
export class PersonalDefaults {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;

  constructor(store: Pick<Store, 'keyv' | 'commit'>) {
    this.#store = store;
  }

  /** Returns a person's defaults, which are not checked against the catalog. @throws `store_unavailable` */
  async get(person: MemberKey): Promise<Defaults> {
    return defaultsOf(await personalDefaults.get(this.#store, person));
  }

  /** Returns the model that orders in a channel get which name none. @throws `store_unavailable` */
  async channelModel(channel: ChannelKey): Promise<string | undefined> {
    return (await channelDefaults.get(this.#store, channel))?.model;
  }

  /**
   * Sets the default model of a channel, with an entry in the team's audit log; `null` removes it.
   * @throws `store_unavailable`
   */
  async setChannelModel(channel: ChannelKey, model: string | null, { audit, actor }: ChannelChange): Promise<void> {
    await audit.commitAudited(channel, actor, async () => {
      const before = await this.channelModel(channel);
      const records = [channelDefaults.overwriting(channel, model === null ? null : { model, revision: 1 })];
      // To readers of the log, one of the channel's rules.
      const entry = {
        action: 'policy',
        subject: [textOf('default model'), { kind: 'channel', channel: channel.channel }],
        before: before === undefined ? [] : [textOf(before)],
        after: model === null ? [] : [textOf(model)],
      } as const;
      return { change: { records }, entries: before === (model ?? undefined) ? [] : [entry], result: undefined };
    });
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

function textOf(text: string): AuditValue {
  return { kind: 'text', text };
}

function defaultsOf(record: DefaultsRecord | undefined): Defaults {
  const { model, seconds, aspect } = record ?? {};
  return {
    ...(model === undefined ? {} : { model }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(aspect === undefined ? {} : { aspect }),
  };
}

function keyOfMember({ platform, team, user }: MemberKey): string {
  return `${platform}:${team}:${user}`;
}
