import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { collection, type Member, type Store } from '../engine/index.ts';
import { isoOf } from '../period.ts';
import { Serial } from '../serial.ts';
import type { Origin, Person, SetPlace, Task, TaskId } from '../tasks/index.ts';
import { MEDIA_KINDS, type RequestDraft } from '../videos/index.ts';
import { taskIdOf } from './task-ids.ts';

/**
 * A request that its requester has not confirmed: an offer, a probable typo, a refused command. Nothing is submitted
 * for it. Once confirmed, it is claimed under its idempotency key, {@link key}: any number of confirmations, by any
 * button, create one task.
 */
export interface Draft extends Pick<Origin, 'platform' | 'team' | 'channel'> {
  /** Id of the task that it becomes, `taskIdOf(key)`; an {@link alternative} has an id of its own. */
  readonly id: TaskId;
  /** Idempotency key of the order, as in `Order.key`: the interaction of the request, or `retry:<task>`. */
  readonly key: string;
  /** The requester, the only user who may confirm or discard it. */
  readonly by: Person;
  readonly request: RequestDraft;
  readonly retryOf?: TaskId;
  /** As in `Task.takeOf`: of a shot that is inserted into a storyboard. */
  readonly takeOf?: SetPlace;
  /** As in `Task.press`: of the press that was asked about. */
  readonly press?: string;
  /** Message that the task's message replies to. */
  readonly replyTo?: string;
  /** Command that was probably meant, as typed after `/video`; running it costs nothing. */
  readonly command?: string;
  /** Another reading of the same request, under the same key: only one of the two becomes a task. */
  readonly alternative?: TaskId;
  /** Interaction that was about to place the order: the one whose acknowledgement the platform has to accept. */
  readonly interaction?: string;
  readonly isDiscarded?: boolean;
  readonly createdAtMs: number;
}

/** A draft to be stored. */
export type NewDraft = Omit<Draft, 'createdAtMs'>;

/** Lifetime of a draft in milliseconds. */
const TTL_MS = 24 * 3_600_000;

const KEPT = '24 hours';

const draftRecords = collection<TaskId, Draft>({
  name: 'drafts',
  holds: 'orders that await a confirmation: prompt, references, requester',
  kept: KEPT,
  personal: {
    withdraw: (draft, of) => (isTheirs(draft, of) ? null : draft),
    export: (draft, of) => {
      const { id, channel, request, createdAtMs } = draft;
      return isTheirs(draft, of) ? [{ record: 'draft', id, channel, request, createdAt: isoOf(createdAtMs) }] : [];
    },
  },
});

/** The order's key that a press on **Retry** led to. */
const retryPresses = collection<string, { readonly key: string }>({
  name: 'retry_presses',
  holds: 'the task that a press on **Retry** led to',
  kept: KEPT,
  personal: 'nobody',
});

/** The draft that represents all that are equal. */
const equalDrafts = collection<Draft, { readonly id: TaskId }>({
  name: 'equal_drafts',
  key: equalityKey,
  holds: 'which drafts are equal, under hashes of them',
  kept: KEPT,
  personal: 'nobody',
});

function isTheirs({ platform, team, by }: Draft, of: Member): boolean {
  return platform === of.platform && team === of.team && by.id === of.person.id;
}

/** Drafts that await confirmation, in the store. Every method rejects with `store_unavailable`. */
export class Drafts {
  readonly #store: Pick<Store, 'keyv' | 'contents'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #standing = new Serial<string>();

  constructor(store: Pick<Store, 'keyv' | 'contents'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns the addresses of the reference media in the drafts of a person. */
  async mediaOf(person: Member): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const page of draftRecords.all(this.#store)) {
      for (const { value } of page) {
        // A damaged record has neither.
        const { by, request }: Partial<Draft> = value;
        if (by !== undefined && request !== undefined && isTheirs(value, person))
          found.push(...MEDIA_KINDS.flatMap((kind) => request[kind] ?? []));
      }
    }
    return found;
  }

  get(id: TaskId): Promise<Draft | undefined> {
    return draftRecords.get(this.#store, id);
  }

  /**
   * Stores a draft for 24 hours and overwrites an earlier one of the same id; a discarded draft stays discarded, except
   * that of a task's Retry, which every press requests anew.
   * @param read the earlier one, where the caller has just read it. Default: it is read.
   * @returns the stored draft and the earlier one.
   */
  async save(
    given: NewDraft,
    read = this.get(given.id),
  ): Promise<{ readonly draft: Draft; readonly before: Draft | undefined }> {
    const before = await read;
    const isFinal = before?.isDiscarded === true && !isOfRetry(given);
    const discarded = isFinal ? { isDiscarded: true } : {};
    const draft: Draft = { ...given, ...discarded, createdAtMs: before?.createdAtMs ?? this.#clock.now() };
    await draftRecords.set(this.#store, draft.id, draft, TTL_MS);
    return { draft, before };
  }

  /** Marks a draft as discarded; a redelivery of its request does not offer it again. */
  async discard(draft: Draft): Promise<void> {
    await draftRecords.set(this.#store, draft.id, { ...draft, isDiscarded: true }, TTL_MS);
  }

  /** Returns the order's key that a press on **Retry** led to within the last 24 hours, without making it. */
  async takeOf(press: string): Promise<string | undefined> {
    return (await retryPresses.get(this.#store, press))?.key;
  }

  /** Records that a press led to the task of a key, so that its redelivery does not make the next one. */
  async ledTo(press: string, key: string): Promise<void> {
    await retryPresses.set(this.#store, press, { key }, TTL_MS);
  }

  /**
   * Returns the draft that represents all equal drafts of one user in a channel: an earlier one where `isOpen`, else
   * this one from now on. Calls for equal drafts are serialised within a process.
   */
  standingFor(draft: Draft, isOpen: (earlier: Draft) => Promise<boolean>): Promise<Draft> {
    return this.#standing.run(equalityKey(draft), async () => {
      const pointer = await equalDrafts.get(this.#store, draft);
      const earlier = pointer === undefined ? undefined : await this.get(pointer.id);
      if (earlier !== undefined && earlier.isDiscarded !== true && (await isOpen(earlier))) return earlier;
      await equalDrafts.set(this.#store, draft, { id: draft.id }, TTL_MS);
      return draft;
    });
  }
}

/** Deletes the drafts that a task was ordered by, and those of its retry. */
export async function deleteDraftsOf(
  store: Pick<Store, 'keyv' | 'contents'>,
  { id, set }: Pick<Task, 'id' | 'set'>,
): Promise<void> {
  for await (const page of draftRecords.all(store)) {
    for (const { value: draft } of page) {
      const isOfOrder = taskIdOf(draft.key) === (set?.id ?? id);
      if (isOfOrder || draft.retryOf === id) await draftRecords.delete(store, draft.id);
    }
  }
}

/** Returns whether the key is that of a task's Retry rather than of a single interaction. */
function isOfRetry({ key }: Pick<Draft, 'key'>): boolean {
  return key.startsWith('retry:');
}

function equalityKey({ platform, team, channel, by, request, retryOf }: Draft): string {
  const { prompt, model, seconds, aspect, resolution, style, takes, image = [], audio = [], video = [] } = request;
  const settings = [prompt, model, seconds?.toString(), aspect, resolution].map((value) => value ?? null);
  const count = takes === undefined ? undefined : { takes: takes.toString() };
  const further = [request.shots, request.models, count, style && { style }].filter((one) => one !== undefined);
  const parts = [platform, team, channel, by.id, retryOf ?? null, ...settings, image, audio, video, ...further];
  return hash('sha256', JSON.stringify(parts), 'hex');
}
