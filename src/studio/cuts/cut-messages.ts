import {
  type ChatParts,
  type CutView,
  deliveryOf,
  deliveryRecords,
  type FileSource,
  type Handover,
  hasCode,
  type MessageLock,
  type MessageRef,
  type Outcome,
  retractMessage,
  standingIn,
} from '../../chat/index.ts';
import type { RecordWrite } from '../../engine/index.ts';
import { fileNameOf } from '../../media/index.ts';
import type { Cut, CutRepository } from '../../orders/index.ts';
import {
  isContentRemoved,
  type Phase,
  type RemovalReason,
  type Task,
  type TaskId,
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
      const shown = await view(card, delivery.handover ?? null);
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
    const { repository, handing, settingsOf } = this.#options;
    const found = await Promise.all(cut.tasks.map((id) => repository.get(id)));
    const shots = found.filter((task) => task !== undefined);
    const source = sourceOf(cut, shots);
    const prompts = shots.flatMap((shot) => (isContentRemoved(shot) ? [] : [typedPrompt(shot.request)]));
    const texts = { name: fileNameOf(source), description: prompts.join(' · ') };
    return {
      id: cut.id,
      origin: cut.origin,
      isOutcome: cut.state !== 'joining',
      view: async (card, form = null) => {
        const handover = await handing.renewed(source, form);
        const { aiLabel: isLabelled } = await settingsOf(cut.origin);
        const view = cutViewOf(cut, shots, { handover, isLabelled });
        return { ...view, ...standingIn(card, cut.origin) };
      },
      place: async () => cut.origin,
      end: cut.state,
      ...(clip === undefined ? {} : { file: { of: source, ...texts, find: async () => clip } }),
    };
  }
}

/** Phases in which a cut is shown. */
const PHASES = { joining: 'running', joined: 'done', failed: 'failed' } as const satisfies Readonly<
  Record<Cut['state'], Phase>
>;

/** Returns what is known of the file of a cut; `shots` are the tasks of its clips that are known. */
function sourceOf({ id, origin, file }: Cut, shots: readonly Task[]): FileSource {
  const [first] = shots;
  if (first === undefined) throw new TypeError(`showing cut ${id}: it has no clip`);
  const { style: _, typed: _typed, ...request } = first.request;
  const seconds = Math.max(1, Math.ceil(file?.seconds ?? shots.reduce((sum, { request }) => sum + request.seconds, 0)));
  const prompt = isContentRemoved(first) ? '' : typedPrompt(first.request);
  const clip = file === undefined ? {} : { clip: { path: '', bytes: file.bytes, contentType: 'video/mp4' } };
  return { id, origin, request: { ...request, seconds, prompt }, ...clip };
}

/** Builds the view of a cut's message; pure. */
export function cutViewOf(
  { id, state, origin, requestedAtMs: createdAtMs, file, failure }: Cut,
  shots: readonly Task[],
  { handover, isLabelled = false }: { readonly handover: Handover | null; readonly isLabelled?: boolean },
): CutView {
  const isDone = state === 'joined';
  return {
    kind: 'cut',
    id,
    phase: isDone && handover === null ? 'fetching' : PHASES[state],
    by: origin.user,
    createdAtMs,
    handover: isDone ? handover : null,
    ...(isDone && handover !== null && isLabelled ? { isLabelled } : {}),
    shots: shots.map((shot) => ({
      prompt: isContentRemoved(shot) ? null : typedPrompt(shot.request),
      seconds: shot.request.seconds,
    })),
    file: isDone ? (file ?? null) : null,
    failure: failure ?? null,
  };
}
