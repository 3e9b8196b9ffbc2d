import { collection, type Versioned } from '../engine/index.ts';
import { asDailiesError, type ErrorCode } from '../errors.ts';
import { type Origin, pseudonymsIn, type Task, type TaskId, withoutPerson } from '../tasks/index.ts';
import { keyOfTeam, type TeamKey } from '../teams/index.ts';
import { hasCode, isUnchangeable } from './attachment-plan.ts';
import type { MessageLock } from './message-lock.ts';
import type { ApprovalNotice, EndNotice, ReviewNotice, SignedOffNotice } from './notices/views.ts';
import type { ChatParts } from './parts.ts';
import type { MessageRef, Notice, Platform } from './platform.ts';
import { isAskedOf } from './records.ts';

/** Message that was posted about a task, besides the task's own. */
export interface Posted {
  readonly key: string;
  /** `null`: nobody took it, or it came with the clip's own message. */
  readonly message: MessageRef | null;
  /** Fingerprint of what it is known to show. Absent: what it was posted with. */
  readonly shown?: string;
  /** What it shows, where that cannot be told from the task alone. */
  readonly view?: ApprovalNotice;
}

interface TaskPosts extends Versioned {
  readonly of: TeamKey;
  readonly posted: readonly Posted[];
}

/** By the tasks that they are about, or the cards of sets. */
export const taskPosts = collection<TaskId, TaskPosts>({
  name: 'posts',
  holds:
    'the messages posted about a task besides its own: its end, its reviews, its request for approval, whom that asked, and who decided',
  kept: 'until the task’s content is removed',
  personal: {
    forget: (record, of) => {
      if (keyOfTeam(record.of) !== keyOfTeam(of)) return record;
      const posted = record.posted.filter(({ key }) => !isAskedOf(key, of));
      return withoutPerson({ ...record, posted }, of.person.id, of.pseudonym);
    },
  },
});

/** Message to post about a task, once. */
export interface Post extends Omit<Notice, 'place' | 'replyTo'> {
  readonly view: EndNotice | ApprovalNotice | ReviewNotice | SignedOffNotice;
  /** Where to post it: in the first of these that takes it. */
  readonly places: readonly PostPlace[];
  /** Who gets it where none of {@link places} takes it: the requester, by direct message, or nobody. Default: it is rejected. */
  readonly otherwise?: 'requester' | 'nobody';
}

type PostPlace = Pick<Notice, 'place' | 'replyTo'>;

/** What a post is about: a task, or a set by the id of its card; and the lock held for its notices. */
export interface About {
  readonly of: Pick<Task, 'id' | 'origin'>;
  readonly lock: MessageLock;
}

type Options = Pick<ChatParts, 'store' | 'platformOf' | 'logger'>;

/** Errors after which a message is posted without its files. */
const FILE_REFUSALS: ReadonlySet<ErrorCode> = new Set(['too_large', 'missing_permission']);

/**
 * The messages about tasks besides the tasks' own. Each is posted once under its key, whatever is repeated: the platform's
 * own dedup finds one whose record a crash prevented. Afterwards it is edited where what it shows has to change.
 */
export class Posts {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async of(task: TaskId): Promise<readonly Posted[]> {
    return (await taskPosts.get(this.#options.store, task))?.posted ?? [];
  }

  async find(task: TaskId, key: string): Promise<Posted | undefined> {
    return (await this.of(task)).find((one) => one.key === key);
  }

  /**
   * Posts a message, unless one was posted under its key; that one is edited, if it names a person who was forgotten.
   * @throws DailiesError, retryable, or the refusal of the last place where the post has no other destination
   */
  async post(about: About, post: Post): Promise<void> {
    const posted = await this.find(about.of.id, post.key);
    if (posted !== undefined) {
      const { view } = post;
      const shown = [...pseudonymsIn(view)].toSorted().join(' ');
      if (shown !== '' && view.kind !== 'signed_off') await this.edit(about.of, posted, { view, shown }, true);
      return;
    }
    const message = await this.#postAnywhere(about, post);
    const view = post.view.kind === 'approval' ? { view: post.view } : {};
    await this.record(about.of, { key: post.key, message, ...view });
    if (message !== null) return;
    const what = { event: 'notice_channel_gone', task: about.of.id, key: post.key };
    this.#options.logger.warn(what, 'skipped a notice: nobody takes it');
  }

  /**
   * Shows something else in a posted message, unless it shows that already. One that is deleted, or that the bot may not
   * change any more, stays as it is.
   * @param isRecorded `false` without the lock of the task's notices, where another process may edit the message meanwhile
   * @throws DailiesError, retryable
   */
  async edit(
    of: About['of'],
    posted: Posted,
    { view, shown }: { readonly view: Exclude<Post['view'], SignedOffNotice>; readonly shown: string },
    isRecorded: boolean,
  ): Promise<void> {
    const { platformOf, logger } = this.#options;
    if (posted.message === null || posted.shown === shown) return;
    try {
      await platformOf(of).edit(posted.message, of.origin, view, 'final');
    } catch (thrown) {
      const err = asDailiesError(thrown, `editing post ${posted.key}`);
      if (err.retryable) throw err;
      const about = { event: 'message_kept', task: of.id, key: posted.key, err };
      const level = isUnchangeable(err) ? 'info' : 'warn';
      logger[level](about, 'a message about a task stays as it is: it is deleted, or the bot may not change it');
    }
    if (isRecorded) await this.record(of, { ...posted, shown, ...(view.kind === 'approval' ? { view } : {}) });
  }

  /** Records a post, in place of what was recorded under its key. */
  async record({ id, origin: { platform, team } }: About['of'], posted: Posted): Promise<void> {
    await taskPosts.change<undefined>(this.#options.store, id, (before) => {
      const known = before?.posted ?? [];
      const at = known.findIndex(({ key }) => key === posted.key);
      const next = at < 0 ? [...known, posted] : known.with(at, posted);
      return { value: { of: { platform, team }, posted: next }, result: undefined };
    });
  }

  /** @returns `null` where nobody takes it. */
  async #postAnywhere(about: About, { places, otherwise, files, ...notice }: Post): Promise<MessageRef | null> {
    const platform = this.#options.platformOf(about.of);
    let refusal: unknown;
    for (const place of places) {
      about.lock.assertHeld();
      try {
        return await postWithFiles(platform, { ...notice, ...place }, files);
      } catch (thrown) {
        if (!(await isClosed(thrown, platform, about.of.origin))) throw thrown;
        refusal = thrown;
      }
    }
    if (otherwise === undefined) throw refusal;
    about.lock.assertHeld();
    return otherwise === 'nobody' ? null : postDirectly(platform, notice, about.of.origin);
  }
}

/** Returns the places of a post in the channel of a task: below a message of the bot, and, where that is gone, below none. */
export function placesNear({ team, channel, address }: Origin, message: MessageRef | null): readonly PostPlace[] {
  const there = { place: { team, channel, address }, replyTo: null };
  if (message === null) return [there];
  // Where the channel took no message, that is a direct message, which the post follows.
  const place = message.channel === channel ? there.place : { team, channel: message.channel, address: {} };
  return [{ place, replyTo: message }, there];
}

/** Posts a message with its files; without them where the platform refuses those. */
async function postWithFiles(platform: Platform, notice: Notice, files: Post['files'] = []): Promise<MessageRef> {
  if (files.length === 0) return platform.notify(notice);
  try {
    return await platform.notify({ ...notice, files });
  } catch (thrown) {
    if (!FILE_REFUSALS.has(asDailiesError(thrown, 'posting a file').code)) throw thrown;
    return platform.notify(notice);
  }
}

/** Returns whether an error of a post says that its channel takes none: that is gone, or the bot may not post there. */
async function isClosed(
  thrown: unknown,
  platform: Pick<Platform, 'channels'>,
  { team, channel }: Pick<Origin, 'team' | 'channel'>,
): Promise<boolean> {
  if (hasCode(thrown, 'message_gone')) return true;
  if (!hasCode(thrown, 'missing_permission')) return false;
  return (await platform.channels.missingRight({ team, channel, address: {} }, 'words')) !== null;
}

/** Posts a message to the requester directly. @returns `null` where they take none. @throws DailiesError, retryable */
async function postDirectly(
  platform: Platform,
  notice: Omit<Notice, 'place' | 'replyTo'>,
  { team, channel: from, address, user }: Origin,
): Promise<MessageRef | null> {
  if (!platform.limits.hasDirectMessages) return null;
  try {
    const channel = await platform.channels.directChannel({ team, channel: from, address }, user.id);
    const place = { team, channel, address: {} };
    return await platform.notify({ ...notice, key: `${notice.key}:direct`, place, replyTo: null });
  } catch (thrown) {
    if (asDailiesError(thrown, 'posting a notice by direct message').retryable) throw thrown;
    return null;
  }
}
