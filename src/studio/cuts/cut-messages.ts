import {
  type ChatParts,
  deliveryOf,
  deliveryRecords,
  type Handover,
  hasCode,
  type MessageLock,
  type MessageRef,
  type Outcome,
  retractMessage,
  standingIn,
  type TaskView,
  viewOf,
} from '../../chat/index.ts';
import type { RecordWrite } from '../../engine/index.ts';
import { fileNameOf } from '../../media/index.ts';
import type { Cut, CutRepository } from '../../orders/index.ts';
import {
  isContentRemoved,
  type RemovalReason,
  type Task,
  type TaskId,
  type TaskState,
  typedPrompt,
} from '../../tasks/index.ts';
import type { Clip } from '../../videos/index.ts';

/** Options of {@link CutMessages}. */
export type CutMessagesOptions = { readonly cuts: CutRepository } & Pick<
  ChatParts,
  | 'store'
  | 'repository'
  | 'cards'
  | 'cardDelivery'
  | 'handing'
  | 'platformOf'
  | 'locks'
  | 'settingsOf'
  | 'clock'
  | 'logger'
>;

/** Delay before another attempt where another process holds the lock of the message. */
const LOCKED_RETRY_MS = 1_000;

/** Messages of cuts: one each, which ends with the file, delivered like a clip. */
export class CutMessages {
  readonly #options: CutMessagesOptions;

  constructor(options: CutMessagesOptions) {
    this.#options = options;
  }

  async open(cut: Cut): Promise<MessageRef> {
    return (await this.#options.cardDelivery.open(await this.#outcomeOf(cut))).message;
  }

  /** Returns the message of a cut, unless it has none or that is known to be deleted. */
  async of(id: TaskId): Promise<MessageRef | undefined> {
    const record = await this.#options.cards.get(id);
    return record?.isGone === true ? undefined : record?.message;
  }

  /** Shows a delivered cut as it is, with a new link where it has one. @returns whether its message still exists. */
  async isThere(cut: Cut): Promise<boolean> {
    const [card, delivery] = await Promise.all([
      this.#options.cards.get(cut.id),
      deliveryOf(this.#options.store, cut.id),
    ]);
    if (card === undefined || card.isGone === true || delivery.handover?.kind === 'unshown') return false;
    try {
      const { view } = await this.#outcomeOf(cut);
      const shown = await view(delivery.handover ?? null, card);
      await this.#options.platformOf(cut).edit(card.message, cut.origin, shown, 'final');
      return true;
    } catch (thrown) {
      if (!hasCode(thrown, 'message_gone')) throw thrown;
      await this.#options.cards.gone(cut.id);
      return false;
    }
  }

  /**
   * Shows the outcome of a cut in its message, with the file.
   * @param find returns the file; `null` where it has to be made first.
   * @returns the delay until the next attempt in milliseconds; `null` once the outcome is in the chat.
   */
  async deliver(id: TaskId, find: (cut: Cut) => Promise<Clip | null>): Promise<number | null> {
    const shown = await this.#options.locks.run(id, 'message', (lock) => this.#show(id, find, lock));
    return shown === null ? LOCKED_RETRY_MS : shown.dueInMs;
  }

  /**
   * Returns the write that forgets how a cut was delivered, but not how many messages it had.
   * @param more 1 where the next one is posted anew
   */
  async undelivered({ id }: Cut, more: 0 | 1 = 0): Promise<RecordWrite> {
    const { copies = 1 } = await deliveryOf(this.#options.store, id);
    return deliveryRecords.overwriting(id, { copies: copies + more });
  }

  /** Retracts every message of a cut, or deletes what the adapter stores of an expired one. May be repeated. */
  async retract(cut: Cut, reason: RemovalReason): Promise<void> {
    const { id } = cut;
    const platform = this.#options.platformOf(cut);
    await this.#options.locks.runOrThrow(id, 'message', async (lock) => {
      for (const message of await this.#options.cards.messages(id)) {
        lock.assertHeld();
        if (reason === 'expired') await platform.expire(message, { kind: 'removed', reason });
        else await retractMessage({ ...this.#options, platform }, cut, message, reason);
      }
    });
  }

  /** Returns the writes that delete what is recorded about the messages of a cut. */
  async deletions(cut: Cut): Promise<readonly RecordWrite[]> {
    return [deliveryRecords.overwriting(cut.id, null), ...(await this.#options.cards.deletions(cut))];
  }

  async #show(
    id: TaskId,
    find: (cut: Cut) => Promise<Clip | null>,
    lock: MessageLock,
  ): Promise<{ readonly dueInMs: number | null }> {
    const { cuts } = this.#options;
    const cut = await cuts.get(id);
    if (cut === undefined || cut.presented || cut.state === 'joining') return { dueInMs: null };
    const clip = cut.state === 'failed' ? undefined : await find(cut);
    if (clip === null) return { dueInMs: 0 };
    await this.#options.cardDelivery.show(await this.#outcomeOf(cut, clip), lock);
    return { dueInMs: (await cuts.write({ ...cut, presented: true })) === null ? 0 : null };
  }

  /** Returns what the message of a cut shows. @param clip its file, to deliver. Absent: none */
  async #outcomeOf(cut: Cut, clip?: Clip): Promise<Outcome> {
    const { repository, clock, handing, settingsOf } = this.#options;
    const found = await Promise.all(cut.tasks.map((id) => repository.get(id)));
    const shots = found.filter((task) => task !== undefined);
    const task = standInOf(cut, shots);
    const prompts = shots.flatMap((shot) => (isContentRemoved(shot) ? [] : [typedPrompt(shot.request)]));
    const texts = { name: fileNameOf(task), description: prompts.join(' · ') };
    return {
      id: cut.id,
      origin: cut.origin,
      isOutcome: cut.state !== 'joining',
      view: async (form, card) => {
        const handover = await handing.renewed(task, form);
        const { aiLabel: isLabelled } = await settingsOf(cut.origin);
        const view = cutViewOf(cut, shots, { nowMs: clock.now(), handover, isLabelled });
        return { ...view, ...standingIn(card?.message, cut.origin) };
      },
      place: async () => cut.origin,
      end: cut.state,
      ...(clip === undefined ? {} : { file: { task, ...texts, find: async () => clip } }),
    };
  }
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

interface CutContext {
  readonly nowMs: number;
  readonly handover: Handover | null;
  /** As in the view of a clip. Default: false. */
  readonly isLabelled?: boolean;
}

/** Builds the view of a cut's message; pure. */
export function cutViewOf(
  cut: Cut,
  shots: readonly Task[],
  { nowMs, handover, isLabelled = false }: CutContext,
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
    isLabelled,
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
