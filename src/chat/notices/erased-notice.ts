import type { Keyv } from 'keyv';
import { asDailiesError } from '../../errors.ts';
import type { Task } from '../../tasks/task.ts';
import type { MessageRef, Platform } from '../platform.ts';
import type { EndNotice, ReviewNotice } from './views.ts';

/** Key of a posted notice, followed by its message; a marker has no message. */
export type Posted = string | MessageRef;

/** Notice of a task, and the record of those that were posted. */
export interface ErasableNotice {
  readonly task: Task;
  /** Keyv and key of the {@link Posted} notices. */
  readonly records: Keyv;
  readonly recordKey: string;
  readonly platform: Pick<Platform, 'edit'>;
  readonly key: string;
  readonly view: EndNotice | ReviewNotice;
  /** Number of its people who were forgotten. Default: 1. */
  readonly forgotten?: number;
}

/**
 * Shows a posted notice again, once for each number of forgotten people, without their names and what they wrote.
 * @throws DailiesError, retryable
 */
export async function eraseNotice(notice: ErasableNotice): Promise<void> {
  const { task, records, recordKey, platform, key, view, forgotten = 1 } = notice;
  const posted = (await records.get<readonly Posted[]>(recordKey)) ?? [];
  const message = posted[posted.indexOf(key) + 1];
  const marker = forgotten === 1 ? `erased:${key}` : `erased:${key}:${forgotten}`;
  if (typeof message !== 'object' || posted.includes(marker)) return;
  await platform.edit(message, task.origin, view, 'final').catch((thrown: unknown) => {
    const error = asDailiesError(thrown, 'editing a notice');
    // The message, or the right to change it, is gone.
    if (error.retryable) throw error;
  });
  await records.set(recordKey, [...posted, marker]);
}
