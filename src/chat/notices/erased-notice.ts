import type { Store } from '../../engine/index.ts';
import { asDailiesError, type ErrorCode } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { pseudonymsIn, type Task } from '../../tasks/index.ts';
import type { Platform } from '../platform.ts';
import { endNotices } from '../records.ts';
import type { EndNotice, ReviewNotice } from './views.ts';

/** Notice of a task, and the record of those that were posted. */
interface ErasableNotice {
  readonly task: Task;
  readonly store: Pick<Store, 'keyv'>;
  readonly platform: Pick<Platform, 'edit'>;
  readonly key: string;
  readonly view: EndNotice | ReviewNotice;
  readonly logger: Logger;
}

const GONE: ReadonlySet<ErrorCode> = new Set(['message_gone', 'missing_permission']);

/**
 * Shows a posted notice again, once for each number of forgotten people in it, without their names and what they wrote.
 * @throws DailiesError, retryable
 */
export async function eraseNotice(notice: ErasableNotice): Promise<void> {
  const { task, store, platform, key, view, logger } = notice;
  const forgotten = pseudonymsIn(view).size;
  if (forgotten === 0) return;
  const posted = (await endNotices.get(store, task.id)) ?? [];
  const message = posted[posted.indexOf(key) + 1];
  const marker = forgotten === 1 ? `erased:${key}` : `erased:${key}:${forgotten}`;
  if (typeof message !== 'object' || posted.includes(marker)) return;
  await platform.edit(message, task.origin, view, 'final').catch((thrown: unknown) => {
    const err = asDailiesError(thrown, 'editing a notice');
    if (err.retryable) throw err;
    if (!GONE.has(err.code))
      logger.warn(
        { event: 'notice_not_erased', task: task.id, err },
        'a notice still names a person who was forgotten',
      );
  });
  await endNotices.set(store, task.id, [...posted, marker]);
}
