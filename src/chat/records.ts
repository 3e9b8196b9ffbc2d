import { collection, type Member } from '../engine/index.ts';
import { type SetPlace, type TaskId, withoutPerson } from '../tasks/index.ts';
import { keyOfMember, keyOfTeam, type TeamKey } from '../teams/index.ts';
import type { RefusedUploads } from './attachment-plan.ts';
import type { ApprovalNotice } from './notices/views.ts';
import type { MessageRef } from './platform.ts';
import type { Handover } from './view.ts';

const WITH_THE_CONTENT = 'until the task’s content is removed';

/** Delivery of a task's outcome. */
export interface DeliveryRecord extends RefusedUploads {
  /** Form in which the clip was delivered. Absent: not yet. */
  readonly handover?: Handover;
  /** Number of messages opened for the task, deleted ones included. Default 1. */
  readonly copies?: number;
  /** Number of the task's `wants` that were fulfilled. Default 0. */
  readonly wantsMet?: number;
  /** Revision of the task that was shown last, whether a message still existed to show it, and the key of its end, if any. */
  readonly shown?: { readonly revision: number; readonly isThere: boolean; readonly end?: string };
}

export const deliveryRecords = collection<TaskId, DeliveryRecord>({
  name: 'deliveries',
  holds: 'how far the outcome of a task is delivered',
  kept: WITH_THE_CONTENT,
  personal: 'with its task',
});

/** Key of a posted notice, followed by its message; a marker has no message. */
export type Posted = string | MessageRef;

/** The notices of a task's end and of its reviews, apart from its delivery: both may be written at once. */
export const endNotices = collection<TaskId, readonly Posted[]>({
  name: 'end_notices',
  holds: 'the messages posted about the end of a task and its reviews, and the channels that were notified',
  kept: WITH_THE_CONTENT,
  personal: 'with its task',
});

/** The ends that the notice of a set was about. */
export const setNotices = collection<Pick<SetPlace, 'id'>, readonly string[]>({
  name: 'set_notices',
  key: ({ id }) => id,
  holds: 'what the notice of a set was about',
  kept: WITH_THE_CONTENT,
  personal: 'with its task',
});

/** Posted notice of a request, for its update after the decision. */
export interface PostedRequest {
  readonly key: string;
  readonly message: MessageRef;
  readonly view: ApprovalNotice;
  /** Hash of the view that it is known to show, by which a forgotten person is told from the pseudonym. Absent: the first. */
  readonly shown?: string;
}

/** Returns whether the key of a notice, or one that ends with it, is that of a direct message that asks a person to approve. */
export function isAskedOf(key: string, { platform, team, person }: Member): boolean {
  return /(?:^|:)(?:ask|remind):/u.test(key) && key.endsWith(`:${keyOfMember({ platform, team, user: person.id })}`);
}

interface RequestNotices {
  readonly of: TeamKey;
  readonly posted: readonly PostedRequest[];
}

export const requestNotices = collection<TaskId, RequestNotices>({
  name: 'request_notices',
  holds: 'the messages posted about a request for approval, whom they asked, and who decided',
  kept: WITH_THE_CONTENT,
  personal: {
    forget: (record, of) => {
      if (keyOfTeam(record.of) !== keyOfTeam(of)) return record;
      const posted = record.posted.filter(({ key }) => !isAskedOf(key, of));
      return withoutPerson({ ...record, posted }, of.person.id, of.pseudonym);
    },
  },
});

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
