import type { Store } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { fileNameOf } from '../media/index.ts';
import type { Clips } from '../pipeline/index.ts';
import {
  isPseudonym,
  isSignedOff,
  type Origin,
  type ReviewDecision,
  type ReviewNote,
  type ReviewRules,
  type Task,
  typedPrompt,
  versionOf,
} from '../tasks/index.ts';
import type { AttachmentPlanner } from './attachment-plan.ts';
import type { MessageLock } from './message-lock.ts';
import { isClosed, notifyDirectly } from './notices/direct-notice.ts';
import { eraseNotice } from './notices/erased-notice.ts';
import type { ReviewNotice, SignedOffNotice } from './notices/views.ts';
import type { MessageRef, Notice, Platform, Upload } from './platform.ts';
import { endNotices, type Posted } from './records.ts';
import type { SignedLink } from './view.ts';

/** Options of {@link ReviewNotices}. */
export interface ReviewNoticesOptions {
  readonly store: Pick<Store, 'keyv'>;
  readonly platformOf: (task: Task) => Platform;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  /** Reads the review rules of a team. Default: none are set. */
  readonly reviewRules?: (of: Pick<Origin, 'platform' | 'team'>) => Promise<ReviewRules>;
  readonly logger: Logger;
}

/** Task with its message, and the lock held for its notices. */
interface Reviewing {
  readonly task: Task;
  readonly message: MessageRef;
  /** The message still exists. */
  readonly isThere: boolean;
  readonly lock: MessageLock;
}

/** Notices about reviews: each note and sign-off below the clip's message, and the clip in the channel of signed-off ones. */
export class ReviewNotices {
  readonly #options: ReviewNoticesOptions;

  constructor(options: ReviewNoticesOptions) {
    this.#options = options;
  }

  /** Posts what is not posted yet, each once however often this is repeated. Rejects while something has to be retried. */
  async send(reviewing: Reviewing): Promise<void> {
    const { task } = reviewing;
    for (const [index, decision] of (task.review ?? []).entries())
      await this.#sendDecision(reviewing, decision, index + 1);
    if (isSignedOff(task)) await this.#publish(reviewing);
  }

  async #sendDecision(reviewing: Reviewing, decision: ReviewDecision, number: number): Promise<void> {
    const { task } = reviewing;
    const key = `review:${task.id}:${number}`;
    const posted = await this.#posted(reviewing);
    const at = posted.indexOf(key);
    const message = at < 0 ? undefined : posted[at + 1];
    const view = noticeOf(reviewing, decision, number);
    if (typeof message === 'object') {
      const { store, platformOf, logger } = this.#options;
      return eraseNotice({ ...reviewing, store, platform: platformOf(task), key, view, logger });
    }
    const isOwn = decision.by.id === task.origin.user.id;
    // What one decides about one's own clip, its card shows; a note is for everyone.
    if (at >= 0 || isPseudonym(decision.by.id) || (isOwn && decision.note === undefined)) return;
    const { team, channel, address } = task.origin;
    const mention = isOwn ? null : task.origin.user;
    await this.#notify(reviewing, { key, place: { team, channel, address }, mention, view });
  }

  /** Posts below the clip's message; in its channel, where the message is gone; to the requester, where that takes none. */
  async #notify(reviewing: Reviewing, notice: Omit<Notice, 'replyTo'>): Promise<void> {
    const { task, message, isThere } = reviewing;
    const platform = this.#options.platformOf(task);
    for (const replyTo of isThere ? [message, null] : [null]) {
      reviewing.lock.assertHeld();
      try {
        return await this.#remember(reviewing, notice.key, await platform.notify({ ...notice, replyTo }));
      } catch (thrown) {
        if (!(await isClosed(thrown, platform, task.origin))) throw thrown;
      }
    }
    reviewing.lock.assertHeld();
    const direct = notice.mention === null ? null : await notifyDirectly(notice, platform, task.origin);
    if (direct !== null) return this.#remember(reviewing, notice.key, direct);
    this.#options.logger.warn({ event: 'notice_channel_gone', task: task.id }, 'skipped a notice: nobody takes it');
    await this.#remember(reviewing, notice.key);
  }

  /** Posts a signed-off clip in the team's channel for them; never one that only its own channel may see. */
  async #publish(reviewing: Reviewing): Promise<void> {
    const { task } = reviewing;
    const { origin } = task;
    const key = `signed-off:${task.id}`;
    const { signedOffChannel: channel } = (await this.#options.reviewRules?.(origin)) ?? {};
    if (channel === undefined || (await this.#posted(reviewing)).includes(key)) return;
    if (channel !== origin.channel && origin.audience !== 'team') return;
    const platform = this.#options.platformOf(task);
    const clip = await this.#options.clips.find(task);
    if (clip === undefined) return;
    const limit = { bytes: platform.limits.uploadBytes, isStated: true };
    const { handover, file } = await this.#options.handing.prepare(task, clip, limit);
    const link = 'link' in handover ? handover.link : null;
    const upload = file === null ? [] : [{ ...file, name: fileNameOf(task), description: typedPrompt(task.request) }];
    const notice = { key, place: { team: origin.team, channel, address: {} }, replyTo: null, mention: null } as const;
    reviewing.lock.assertHeld();
    try {
      const view = signedOffNotice(reviewing, link);
      await this.#remember(reviewing, key, await this.#post(platform, { ...notice, view }, upload));
    } catch (thrown) {
      const err = asDailiesError(thrown, `posting the signed-off clip of task ${task.id}`);
      if (err.retryable) throw err;
      // The next sign-off of it tries again.
      this.#options.logger.warn(
        { event: 'signed_off_post_failed', task: task.id, channel, err },
        'failed to post a signed-off clip',
      );
    }
  }

  /** Posts a clip; without its file, but with a link to its message, where the channel refuses the file. */
  async #post(platform: Platform, notice: Notice, files: readonly Upload[]): Promise<MessageRef> {
    if (files.length === 0) return platform.notify(notice);
    try {
      return await platform.notify({ ...notice, files });
    } catch (thrown) {
      const { code } = asDailiesError(thrown, 'posting a signed-off clip');
      if (code !== 'too_large' && code !== 'missing_permission') throw thrown;
      return platform.notify(notice);
    }
  }

  async #posted({ task }: Reviewing): Promise<readonly Posted[]> {
    return (await endNotices.get(this.#options.store, task.id)) ?? [];
  }

  async #remember(reviewing: Reviewing, ...added: readonly Posted[]): Promise<void> {
    await endNotices.set(this.#options.store, reviewing.task.id, [...(await this.#posted(reviewing)), ...added]);
  }
}

function noticeOf({ task }: Reviewing, { kind: decision, by, note }: ReviewDecision, number: number): ReviewNotice {
  const { id, request, origin } = task;
  const before = task.review?.[number - 2];
  return {
    kind: 'review',
    task: id,
    decision,
    by,
    requester: origin.user,
    prompt: typedPrompt(request),
    version: versionOf(task),
    note: note ?? null,
    takesBack: decision === 'changes_requested' && before?.kind === 'signed_off' ? before.by : null,
  };
}

function signedOffNotice({ task, message, isThere }: Reviewing, link: SignedLink | null): SignedOffNotice {
  const { id, request, origin } = task;
  return {
    kind: 'signed_off',
    task: id,
    by: origin.user,
    prompt: typedPrompt(request),
    version: versionOf(task),
    message: isThere ? message : null,
    channel: origin.channel,
    link,
  };
}

export interface EarlierNotes {
  /** Number of that version; `null`: it has none. */
  readonly version: number;
  readonly notes: readonly ReviewNote[];
}

/** What the message of a task shows about reviews besides its own record. */
export interface ReviewContext {
  readonly isReviewed: boolean;
  /** Absent: it repeats none, or one without notes. */
  readonly earlier?: EarlierNotes;
}
