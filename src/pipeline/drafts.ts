import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import type { Origin, Person, TaskId } from '../tasks/task.ts';
import type { RequestDraft } from '../videos/request.ts';

/**
 * A request that a person has not confirmed: an offer, a slip, a refused command. Nothing is sent for it. Confirmed, it
 * is claimed under {@link key}, so that however often it is confirmed, and by whichever button, it makes one task.
 */
export interface Draft extends Pick<Origin, 'platform' | 'team' | 'channel'> {
  /** The id of the task that it becomes, `taskIdOf(key)`; of an {@link alternative}, one of its own. */
  readonly id: TaskId;
  /** The key of the order, as in `Order.key`: the interaction of the request, or `retry:<task>`. */
  readonly key: string;
  /** The requester. Nobody else may confirm or discard it. */
  readonly by: Person;
  readonly request: RequestDraft;
  readonly retryOf?: TaskId;
  /** The message that the new one answers. */
  readonly replyTo?: string;
  /** The command that was probably meant, as typed after `/video`; it spends nothing. */
  readonly command?: string;
  /** Another reading of the same request, under the same key: one of the two makes the task. */
  readonly alternative?: TaskId;
  /** The interaction for which it was about to be bought: the one whose acknowledgement the platform has to accept. */
  readonly interaction?: string;
  readonly isDiscarded?: boolean;
  readonly createdAtMs: number;
}

/** Requests that wait for their requester's confirmation. Every method rejects with `store_unavailable`. */
export interface Drafts {
  /**
   * Stores a draft for 24 hours, over an earlier one of the same key; a discarded one stays discarded, except that of a
   * task's Retry, which every press of it asks for anew.
   * @returns the draft as stored, and the earlier one.
   */
  save(draft: NewDraft): Promise<{ readonly draft: Draft; readonly before: Draft | undefined }>;
  get(id: TaskId): Promise<Draft | undefined>;
  /** Marks a draft as discarded; a redelivery of its request does not offer it again. */
  discard(draft: Draft): Promise<void>;
  /**
   * Finds the draft that stands for all equal ones of one person in a channel: an earlier one where `isOpen`, else this
   * one from now on. Calls for equal drafts run one after the other within a process.
   */
  standingFor(draft: Draft, isOpen: (earlier: Draft) => Promise<boolean>): Promise<Draft>;
}

/** A draft that is to be stored. */
export type NewDraft = Omit<Draft, 'createdAtMs'>;

/** Lifetime of a draft in milliseconds. */
const TTL_MS = 24 * 3_600_000;

/** Drafts in the `drafts` namespace of a store. */
export function createDrafts(store: Pick<Store, 'keyv'>, clock: Pick<Clock, 'now'>): Drafts {
  const records = store.keyv('drafts');
  const get = (id: TaskId): Promise<Draft | undefined> => records.get<Draft>(id);
  const standing = new Map<string, Promise<Draft>>();

  const findStanding = async (
    key: string,
    draft: Draft,
    isOpen: (earlier: Draft) => Promise<boolean>,
  ): Promise<Draft> => {
    const pointer = await records.get<{ readonly id: TaskId }>(key);
    const earlier = pointer === undefined ? undefined : await get(pointer.id);
    if (earlier !== undefined && earlier.isDiscarded !== true && (await isOpen(earlier))) return earlier;
    await records.set(key, { id: draft.id }, TTL_MS);
    return draft;
  };

  return {
    get,
    standingFor(draft, isOpen) {
      const key = equalityKey(draft);
      const before = standing.get(key)?.catch(() => undefined) ?? Promise.resolve();
      const found = before.then(() => findStanding(key, draft, isOpen));
      const running = found.finally(() => standing.get(key) === running && standing.delete(key));
      standing.set(key, running);
      return running;
    },
    async save(given) {
      const known = await get(given.id);
      const isFinal = known?.isDiscarded === true && !isOfPress(given);
      const discarded = isFinal ? { isDiscarded: true } : {};
      const draft: Draft = { ...given, ...discarded, createdAtMs: known?.createdAtMs ?? clock.now() };
      await records.set(draft.id, draft, TTL_MS);
      return { draft, before: known };
    },
    async discard(draft) {
      await records.set(draft.id, { ...draft, isDiscarded: true }, TTL_MS);
    },
  };
}

/** Whether the key is that of a task's Retry, and not of one interaction alone. */
function isOfPress({ key }: Pick<Draft, 'key'>): boolean {
  return key.startsWith('retry:');
}

/** The key under which equal drafts of one person in a channel meet. */
function equalityKey({ platform, team, channel, by, request, retryOf }: Draft): string {
  const { prompt, model, seconds, aspect, resolution, image = [], audio = [], video = [] } = request;
  const settings = [prompt, model, seconds?.toString(), aspect, resolution].map((value) => value ?? null);
  const parts = [platform, team, channel, by.id, retryOf ?? null, ...settings, image, audio, video];
  return `equal:${hash('sha256', JSON.stringify(parts), 'hex')}`;
}
