import type { Store } from '../../engine/index.ts';
import {
  isBlind,
  type Phase,
  phaseAtEnd,
  pseudonymsIn,
  type SetPlace,
  type Task,
  typedPrompt,
} from '../../tasks/index.ts';
import { unlessGone } from '../attachment-plan.ts';
import type { Cards } from '../cards.ts';
import type { Comparisons } from '../comparisons/comparisons.ts';
import { type CompletionNotices, endKey, endPhaseOf } from '../completion-notices.ts';
import type { MessageLock, MessageLocks } from '../message-lock.ts';
import type { EndNotice, SetOutcome } from '../notices/views.ts';
import { deliveryRecords, setNotices } from '../records.ts';
import { isPending, type TaskView } from '../view.ts';
import type { SetCards } from './set-cards.ts';
import { isSettled } from './set-view.ts';

/** Options of {@link SetNotices}. */
interface SetNoticesOptions {
  readonly store: Pick<Store, 'keyv'>;
  readonly sets: Pick<SetCards, 'cardOf' | 'members' | 'open' | 'view'>;
  readonly comparisons: Pick<Comparisons, 'entries' | 'recordOf'>;
  readonly cards: Pick<Cards, 'get'>;
  readonly locks: MessageLocks;
  readonly viewOf: (task: Task) => Promise<TaskView>;
}

/** Notices about whole sets: one each, once every task has ended or needs a decision. */
export class SetNotices {
  readonly #options: SetNoticesOptions;

  constructor(options: SetNoticesOptions) {
    this.#options = options;
  }

  /**
   * Posts the notice of a set, if this task was the last one. The task that is shown last finds all others shown.
   * @returns whether the end of the task needs no notice of its own: only one after that of the set does.
   * @throws DailiesError retryable, also while another process posts it
   */
  async covers(task: Task, place: SetPlace, notices: Pick<CompletionNotices, 'sendForSet'>): Promise<boolean> {
    const card = await this.#options.sets.cardOf(place);
    return this.#options.locks.runOrThrow(card.id, 'notices', (lock) =>
      this.#coversLocked(task, { card, place, notices, lock }),
    );
  }

  async #coversLocked(
    task: Task,
    {
      card,
      place,
      notices,
      lock,
    }: {
      readonly card: Task;
      readonly place: SetPlace;
      readonly notices: Pick<CompletionNotices, 'sendForSet'>;
      readonly lock: MessageLock;
    },
  ): Promise<boolean> {
    const { store, sets, cards, comparisons } = this.#options;
    const before = await setNotices.get(store, place);
    // The notice of a denial is shown again without whoever was forgotten.
    if (before !== undefined && pseudonymsIn(card.declined).size === 0) return before.includes(endOf(task));
    const isComparison = place.kind === 'comparison';
    const members = await (isComparison ? comparisons.entries(place) : sets.members(place));
    // The clips of a comparison may have appeared without those that are late.
    const isLateLeft = isComparison && (await comparisons.recordOf(place.id)) !== undefined;
    const settled = await Promise.all(
      members.map(async (one) => one.id === task.id || (isLateLeft && !isSettled(one)) || this.#isShown(one)),
    );
    if (settled.includes(false)) return true;
    const phases = members.map(phaseAtEnd);
    // No one waits for a set that was cancelled or withdrawn.
    if (members.some((one) => endPhaseOf(one) !== null)) {
      const message = await sets.open(place).catch(unlessGone);
      const notice = message && (await this.#noticeOf(card, { members, phases, message }));
      if (notice !== undefined)
        await notices.sendForSet(card, notice, lock, (await cards.get(card.id))?.isGone !== true);
    }
    lock.assertHeld();
    await setNotices.set(store, place, members.map(endOf));
    return true;
  }

  /** Returns whether a task has ended or needs a decision, and the chat shows that. */
  async #isShown(task: Task): Promise<boolean> {
    if (!isSettled(task)) return false;
    if (task.presented) return true;
    return (await deliveryRecords.get(this.#options.store, task.id))?.shown?.revision === task.revision;
  }

  async #noticeOf(
    card: Task,
    {
      members,
      phases,
      message,
    }: {
      readonly members: readonly Task[];
      readonly phases: readonly Phase[];
      readonly message: EndNotice['message'];
    },
  ): Promise<EndNotice> {
    const views = await Promise.all(members.map((task) => this.#options.viewOf(task)));
    const board = card.set?.kind === 'storyboard' ? await this.#boardOf(card) : null;
    const ready = board?.ready ?? phases.filter((phase) => phase === 'done').length;
    const tasks = members.flatMap((task, index): SetOutcome['others'] => {
      const phase = phases[index] ?? 'failed';
      const retryPrice = views[index]?.buttons.includes('retry') === true ? (views[index]?.retryPrice ?? null) : null;
      const dropped = task.dropped === undefined ? {} : { isDropped: true };
      return phase === 'done' ? [] : [{ at: task.set?.at ?? index + 1, task: task.id, phase, retryPrice, ...dropped }];
    });
    return {
      kind: 'end',
      task: card.id,
      phase: ready > 0 ? 'done' : 'failed',
      prompt: typedPrompt(card.request),
      by: card.origin.user,
      message,
      sends: 1,
      handover: null,
      subscribed: false,
      set: {
        kind: card.set?.kind ?? 'takes',
        of: members.length,
        ready,
        others: board?.others ?? tasks,
        ...(card.declined === undefined ? {} : { declined: card.declined }),
        ...(isBlind(card) ? { isBlind: true } : {}),
      },
    };
  }

  /** Returns what became of the shots of a storyboard by now: a retry may be ready, or on its way. */
  async #boardOf(card: Task): Promise<Pick<SetOutcome, 'ready' | 'others'>> {
    const { members = [] } = await this.#options.sets.view(card);
    const others = members.flatMap(({ view, shot }): SetOutcome['others'] => {
      if (shot === undefined || shot.isReady) return [];
      const { at, isRetrying, original } = shot;
      const isPendingTake = isRetrying || isPending(view.phase);
      const hasRetry = !isPendingTake && view.buttons.includes('retry');
      const dropped = view.dropped === undefined || isPendingTake ? {} : { isDropped: true };
      const phase = isPendingTake ? 'running' : view.phase;
      return [{ at, task: original.task, phase, retryPrice: hasRetry ? original.retryPrice : null, ...dropped }];
    });
    return { ready: members.length - others.length, others: others.toSorted((one, other) => one.at - other.at) };
  }
}

/** Returns the key of a task's end, also of one without a notice. */
function endOf(task: Task): string {
  return endKey(task, endPhaseOf(task) ?? 'declined');
}
