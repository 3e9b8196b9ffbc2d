import { asDailiesError } from '../errors.ts';
import { fileNameOf } from '../media/index.ts';
import {
  isPseudonym,
  isSignedOff,
  type ReviewDecision,
  type ReviewNote,
  type Task,
  typedPrompt,
  versionOf,
} from '../tasks/index.ts';
import type { ReviewNotice, SignedOffNotice } from './notices/views.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef } from './platform.ts';
import { type About, placesNear } from './posts.ts';
import type { SignedLink } from './view.ts';

type Options = Pick<ChatParts, 'posts' | 'platformOf' | 'clips' | 'handing' | 'settingsOf' | 'logger'>;

/** Task with its message. */
interface Reviewing extends Omit<About, 'of'> {
  readonly task: Task;
  readonly message: MessageRef;
  /** The message still exists. */
  readonly isThere: boolean;
}

/** Notices about reviews: each note and sign-off below the clip's message, and the clip in the channel of signed-off ones. */
export class ReviewNotices {
  readonly #options: Options;

  constructor(options: Options) {
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
    const { task, message, isThere } = reviewing;
    const { posts } = this.#options;
    const key = `review:${task.id}:${number}`;
    const isPosted = (await posts.find(task.id, key)) !== undefined;
    const isOwn = decision.by.id === task.origin.user.id;
    // What one decides about one's own clip, its card shows; a note is for everyone.
    if (!isPosted && (isPseudonym(decision.by.id) || (isOwn && decision.note === undefined))) return;
    const mention = isOwn ? null : task.origin.user;
    const view = noticeOf(reviewing, decision, number);
    const places = placesNear(task.origin, isThere ? message : null);
    await posts.post(
      { of: task, lock: reviewing.lock },
      { key, view, mention, places, otherwise: isOwn ? 'nobody' : 'requester' },
    );
  }

  /** Posts a signed-off clip in the team's channel for them; never one that only its own channel may see. */
  async #publish(reviewing: Reviewing): Promise<void> {
    const { task } = reviewing;
    const { origin } = task;
    const key = `signed-off:${task.id}`;
    const { signedOffChannel: channel, aiLabel: isLabelled } = await this.#options.settingsOf(origin);
    if (channel === undefined || (await this.#options.posts.find(task.id, key)) !== undefined) return;
    if (channel !== origin.channel && origin.audience !== 'team') return;
    const platform = this.#options.platformOf(task);
    const clip = await this.#options.clips.find(task);
    if (clip === undefined) return;
    const limit = { bytes: platform.limits.uploadBytes, isStated: true };
    const { handover, file } = await this.#options.handing.prepare(task, clip, limit);
    const link = 'link' in handover ? handover.link : null;
    const files = file === null ? [] : [{ ...file, name: fileNameOf(task), description: typedPrompt(task.request) }];
    const places = [{ place: { team: origin.team, channel, address: {} }, replyTo: null }];
    try {
      const view = { ...signedOffNotice(reviewing, link), isLabelled };
      await this.#options.posts.post({ of: task, lock: reviewing.lock }, { key, view, mention: null, places, files });
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
