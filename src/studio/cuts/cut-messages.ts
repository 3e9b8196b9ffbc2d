import {
  type AttachmentPlanner,
  type Handover,
  hasCode,
  type Links,
  type MessageLock,
  type MessageLocks,
  type MessageRef,
  type Platform,
  presentFile,
  presentOutcome,
  standingIn,
  TaskMessages,
  type TaskView,
  viewOf,
  withFreshLink,
} from '../../chat/index.ts';
import type { Clock } from '../../clock.ts';
import type { RecordWrite, Store } from '../../engine/index.ts';
import { asDailiesError, DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { fileNameOf } from '../../media/index.ts';
import type { Cut, CutRepository } from '../../orders/index.ts';
import type { TaskRepository } from '../../pipeline/index.ts';
import {
  isContentRemoved,
  type Origin,
  type RemovalReason,
  type Task,
  type TaskId,
  type TaskState,
  typedPrompt,
} from '../../tasks/index.ts';
import type { Clip } from '../../videos/index.ts';

/** Options of {@link CutMessages}. */
export interface CutMessagesOptions {
  readonly store: Store;
  readonly cuts: CutRepository;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly locks: MessageLocks;
  readonly handing: AttachmentPlanner;
  readonly links: Links;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Delay before another attempt where another process holds the lock of the message. */
const LOCKED_RETRY_MS = 1_000;

/** Messages of cuts: one each, which ends with the file, delivered like a clip. */
export class CutMessages {
  readonly #options: CutMessagesOptions;
  readonly #messages: TaskMessages;

  constructor(options: CutMessagesOptions) {
    this.#options = options;
    this.#messages = new TaskMessages({
      ...options,
      platformOf: (origin) => this.#platformOf(origin),
      firstView: async ({ id }) => this.#view(await this.#cutOf(id)),
      placeOf: async ({ origin }) => origin,
    });
  }

  async open(cut: Cut): Promise<MessageRef> {
    const [task, record] = await Promise.all([this.#standIn(cut), this.#messages.get(cut.id)]);
    const { copies = 1 } = cut;
    if (copies <= (record?.copy ?? 1)) return (await this.#messages.open(task)).message;
    return (await this.#messages.reopen(task, copies)).message;
  }

  /** Returns the message of a cut, unless it has none or that is known to be deleted. */
  async of(id: TaskId): Promise<MessageRef | undefined> {
    const record = await this.#messages.get(id);
    return record?.isGone === true ? undefined : record?.message;
  }

  /** Shows a delivered cut as it is, with a new link where it has one. @returns whether its message still exists. */
  async isThere(cut: Cut): Promise<boolean> {
    const message = await this.of(cut.id);
    if (message === undefined || cut.handover?.kind === 'unshown') return false;
    try {
      const view = await this.#view(cut);
      await this.#platformOf(cut.origin).edit(message, cut.origin, view, 'final');
      return true;
    } catch (thrown) {
      if (!hasCode(thrown, 'message_gone')) throw thrown;
      await this.#messages.gone(cut.id);
      return false;
    }
  }

  /**
   * Shows the outcome of a cut in its message, with the file. One that was deleted before is posted again, once.
   * @param find returns the file; `null` where it has to be made first.
   * @returns the delay until the next attempt in milliseconds; `null` once the outcome is in the chat.
   */
  async deliver(id: TaskId, find: (cut: Cut) => Promise<Clip | null>): Promise<number | null> {
    const shown = await this.#options.locks.run(id, 'message', (lock) => this.#show(id, find, lock));
    return shown === null ? LOCKED_RETRY_MS : shown.dueInMs;
  }

  /** Retracts every message of a cut, or deletes what the adapter stores of an expired one. May be repeated. */
  async retract({ id, origin }: Cut, reason: RemovalReason): Promise<void> {
    const platform = this.#platformOf(origin);
    const view = { kind: 'removed', reason } as const;
    await this.#options.locks.runOrThrow(id, 'message', async (lock) => {
      for (const message of await this.#messages.messages(id)) {
        lock.assertHeld();
        if (reason === 'expired') await platform.expire(message, view);
        else await this.#retractOne(id, () => platform.retract(message, origin, view));
      }
    });
  }

  /** Returns the writes that delete what is recorded about the messages of a cut. */
  deletions(cut: Cut): Promise<readonly RecordWrite[]> {
    return this.#messages.deletions(cut);
  }

  async #retractOne(id: TaskId, retract: () => Promise<void>): Promise<void> {
    try {
      await retract();
    } catch (thrown) {
      const err = asDailiesError(thrown, `retracting a message of cut ${id}`);
      if (err.retryable) throw err;
      const about = { event: 'message_kept', task: id, err };
      this.#options.logger.warn(about, 'a message of a removed cut stays: the bot may not change it');
    }
  }

  async #show(
    id: TaskId,
    find: (cut: Cut) => Promise<Clip | null>,
    lock: MessageLock,
  ): Promise<{ readonly dueInMs: number | null }> {
    const cut = await this.#options.cuts.get(id);
    if (cut === undefined || cut.presented || cut.state === 'joining') return { dueInMs: null };
    const clip = cut.state === 'failed' ? undefined : await find(cut);
    if (clip === null) return { dueInMs: 0 };
    try {
      const message = await this.open(cut);
      if (clip === undefined) await this.#edit(cut, { message, handover: null, lock });
      const delivered = clip === undefined ? cut : await this.#present(cut, { message, clip, lock });
      const written = await this.#options.cuts.write({ ...delivered, presented: true });
      return { dueInMs: written === null ? 0 : null };
    } catch (thrown) {
      if (!hasCode(thrown, 'message_gone')) throw thrown;
      await this.#messages.gone(id);
      return this.#presentAgain(cut);
    }
  }

  /** Has a message posted again that never had the outcome, once. */
  async #presentAgain(cut: Cut): Promise<{ readonly dueInMs: number | null }> {
    const { cuts, logger } = this.#options;
    logger.info({ event: 'cut_message_gone', cut: cut.id }, 'the message of a cut was deleted');
    const current = (await cuts.get(cut.id)) ?? cut;
    if (cut.isPostedAgain === true) {
      await cuts.write({ ...current, presented: true, handover: { kind: 'unshown' } });
      return { dueInMs: null };
    }
    await cuts.write({ ...current, copies: (current.copies ?? 1) + 1, isPostedAgain: true });
    return { dueInMs: 0 };
  }

  /**
   * Attaches the file of a cut to its message, or a link. @returns the cut with its handover, which is not stored yet.
   * @throws DailiesError, `message_gone` among them
   */
  async #present(
    cut: Cut,
    { message, clip, lock }: { readonly message: MessageRef; readonly clip: Clip; readonly lock: MessageLock },
  ): Promise<Cut> {
    const { cuts, handing } = this.#options;
    const platform = this.#platformOf(cut.origin);
    const shots = await this.#shotsOf(cut);
    const task = standInOf(cut, shots);
    const prompts = shots.flatMap((shot) => (isContentRemoved(shot) ? [] : [typedPrompt(shot.request)]));
    const texts = { name: fileNameOf(task), description: prompts.join(' · ') };
    let current = cut;
    const { handover, view } = await presentFile({
      task,
      message,
      clip,
      lock,
      platform,
      handing,
      refused: cut,
      viewOf: (form) => this.#view(cut, form),
      attach: async (shown, file) => void (await platform.attach(message, cut.origin, shown, { ...file, ...texts })),
      shown: (shown) => this.#messages.shown(task, shown),
      remember: async (refused) => {
        const written = await cuts.write({ ...current, ...refused });
        if (written === null) throw changedMeanwhile(cut.id);
        current = written;
      },
    });
    await this.#messages.shown(task, view);
    return { ...current, handover };
  }

  async #edit(
    cut: Cut,
    shown: { readonly message: MessageRef; readonly handover: Handover | null; readonly lock: MessageLock },
  ): Promise<void> {
    const view = await this.#view(cut, shown.handover);
    shown.lock.assertHeld();
    await presentOutcome(this.#platformOf(cut.origin), { message: shown.message, origin: cut.origin, view });
    await this.#messages.shown(await this.#standIn(cut), view);
  }

  /** @param handover default: that of an earlier delivery, with a new link. */
  async #view(cut: Cut, handover?: Handover | null): Promise<TaskView> {
    const shots = await this.#shotsOf(cut);
    const fresh = async () => this.#options.links.forClip(standInOf(cut, shots));
    const current = handover === undefined ? await withFreshLink(cut.handover ?? null, fresh) : handover;
    const view = cutViewOf(cut, shots, { nowMs: this.#options.clock.now(), handover: current });
    return { ...view, ...standingIn((await this.#messages.get(cut.id))?.message, cut.origin) };
  }

  async #standIn(cut: Cut): Promise<Task> {
    return standInOf(cut, await this.#shotsOf(cut));
  }

  async #shotsOf({ tasks }: Cut): Promise<readonly Task[]> {
    const found = await Promise.all(tasks.map((id) => this.#options.repository.get(id)));
    return found.filter((task) => task !== undefined);
  }

  async #cutOf(id: TaskId): Promise<Cut> {
    const cut = await this.#options.cuts.get(id);
    if (cut !== undefined) return cut;
    throw new DailiesError(`showing cut ${id}: it was removed`, { code: 'message_gone', retryable: false });
  }

  #platformOf({ platform }: Pick<Origin, 'platform'>): Platform {
    const found = this.#options.platforms.get(platform);
    if (found !== undefined) return found;
    const code = { code: 'platform_unavailable', retryable: true } as const;
    throw new DailiesError(`showing a cut on ${platform}: that platform is not turned on`, code);
  }
}

function changedMeanwhile(id: TaskId): DailiesError {
  const code = { code: 'platform_unavailable', retryable: true } as const;
  return new DailiesError(`delivering cut ${id}: its record was changed meanwhile`, code);
}

/** States in which a cut is shown. */
const STATES = { joining: 'polling', joined: 'completed', failed: 'failed' } as const satisfies Readonly<
  Record<Cut['state'], TaskState>
>;

/** Returns the stand-in by which a cut is handled like a task; `shots` are the tasks of its clips that are known. */
function standInOf(cut: Cut, shots: readonly Task[]): Task {
  const [first] = shots;
  if (first === undefined) throw new TypeError(`showing cut ${cut.id}: it has no clip`);
  const { id, origin, file, endedAtMs, requestedAtMs } = cut;
  const { style: _, typed: _typed, ...request } = first.request;
  const seconds = Math.max(1, Math.ceil(file?.seconds ?? shots.reduce((sum, { request }) => sum + request.seconds, 0)));
  return {
    revision: cut.revision,
    id,
    state: STATES[cut.state],
    request: { ...request, seconds, prompt: isContentRemoved(first) ? '' : typedPrompt(first.request) },
    origin,
    price: { ...first.price, amount: '0' },
    createdAtMs: requestedAtMs,
    sends: 0,
    unsentTries: 0,
    presented: true,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(file === undefined ? {} : { clip: { path: '', bytes: file.bytes, contentType: 'video/mp4' } }),
  };
}

/** Builds the view of a cut's message; pure. */
export function cutViewOf(
  cut: Cut,
  shots: readonly Task[],
  { nowMs, handover }: { readonly nowMs: number; readonly handover: Handover | null },
): TaskView {
  const view = viewOf(standInOf(cut, shots), {
    nowMs,
    progress: null,
    isRunning: true,
    model: undefined,
    usual: null,
    retrying: null,
    deadlineMs: Number.POSITIVE_INFINITY,
    slowestPollMs: 0,
    refundKnown: false,
    handover,
  });
  return {
    ...view,
    retryPrice: null,
    buttons: cut.state === 'failed' ? ['join'] : [],
    cut: {
      shots: shots.map((shot) => ({
        prompt: isContentRemoved(shot) ? null : typedPrompt(shot.request),
        seconds: shot.request.seconds,
      })),
      file: cut.state === 'joined' ? (cut.file ?? null) : null,
      failure: cut.failure ?? null,
    },
  };
}
