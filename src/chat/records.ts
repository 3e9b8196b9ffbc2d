import { collection, type Member, type Store } from '../engine/index.ts';
import type { SetPlace, TaskId } from '../tasks/index.ts';
import { keyOfMember } from '../teams/index.ts';
import type { RefusedUploads } from './attachment-plan.ts';
import type { MessageRef } from './platform.ts';
import type { Handover } from './view.ts';

const WITH_THE_CONTENT = 'until the task’s content is removed';

/** Delivery of the outcome of a task, or of a cut. */
export interface DeliveryRecord extends RefusedUploads {
  /** Form in which the clip was delivered. Absent: not yet. */
  readonly handover?: Handover;
  /** Messages of the file itself, also on cards that were deleted. Absent: none. */
  readonly files?: readonly MessageRef[];
  /** The file is there, and its card could not be edited to show so. Absent: no. */
  readonly isBehind?: true;
  /** Number of messages opened for it, deleted ones included. Default 1. */
  readonly copies?: number;
  /** Ordinal of the message that the clip was delivered in. Default 1. */
  readonly copy?: number;
  /** A message that never had the outcome was replaced, and no user has asked for the file since. Absent: no. */
  readonly isReplaced?: true;
  /** Number of the task's `wants` that were fulfilled. Default 0. */
  readonly wantsMet?: number;
  /** Revision of the task that was shown last, whether a message still existed to show it, and the key of its end, if any. */
  readonly shown?: { readonly revision: number; readonly isThere: boolean; readonly end?: string };
}

export const deliveryRecords = collection<TaskId, DeliveryRecord>({
  name: 'deliveries',
  holds: 'how far the outcome of a task, or of a cut, is delivered',
  kept: WITH_THE_CONTENT,
  personal: 'with its task',
});

/** Returns how far an outcome is delivered; nothing is known of one that was never shown. */
export async function deliveryOf(store: Pick<Store, 'keyv'>, id: TaskId): Promise<DeliveryRecord> {
  return (await deliveryRecords.get(store, id)) ?? {};
}

/** The ends that the notice of a set was about. */
export const setNotices = collection<Pick<SetPlace, 'id'>, readonly string[]>({
  name: 'set_notices',
  key: ({ id }) => id,
  holds: 'what the notice of a set was about',
  kept: WITH_THE_CONTENT,
  personal: 'with its task',
});

/** Returns whether the key of a notice, or one that ends with it, is that of a direct message that asks a person to approve. */
export function isAskedOf(key: string, { platform, team, person }: Member): boolean {
  return /(?:^|:)(?:ask|remind):/u.test(key) && key.endsWith(`:${keyOfMember({ platform, team, user: person.id })}`);
}

/** Message that an interrupted retraction has dealt with. */
interface Retracted extends MessageRef {
  /** It stays as it is. */
  readonly isKept: boolean;
}

export const retractions = collection<TaskId, readonly Retracted[]>({
  name: 'retractions',
  holds: 'the messages that an interrupted removal has dealt with',
  kept: 'until the removal is complete',
  personal: 'with its task',
});
