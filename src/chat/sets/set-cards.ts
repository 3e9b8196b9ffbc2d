import { asDailiesError } from '../../errors.ts';
import { fileNameOf } from '../../media/index.ts';
import {
  type Board,
  Boards,
  CutRepository,
  clipsOf,
  cutIdOf,
  isReplaced,
  outdatedIn,
  readSet,
  type TaskSet,
} from '../../orders/index.ts';
import { Serial } from '../../serial.ts';
import {
  hasClip,
  isContentRemoved,
  isEnded,
  type Origin,
  type SetPlace,
  type Task,
  type TaskId,
  typedPrompt,
} from '../../tasks/index.ts';
import { isUnchangeable, unlessGone } from '../attachment-plan.ts';
import { type CardRecord, type CardSubject, isOutcome } from '../cards.ts';
import { comparisonViewOf } from '../comparisons/comparison-view.ts';
import type { MessageLock } from '../message-lock.ts';
import type { ChatParts } from '../parts.ts';
import type { MessageRef, Upload } from '../platform.ts';
import { deliveryOf } from '../records.ts';
import { type BoardCut, type Handover, type SetMember, type SetView, standingIn, type TaskView } from '../view.ts';
import { boardViewOf, isOnCard, replacingViewOf, setCardId, setViewOf } from './set-view.ts';

type Options = Pick<
  ChatParts,
  'store' | 'repository' | 'cards' | 'locks' | 'platformOf' | 'views' | 'comparisons' | 'edits'
>;

/** What a card of a set is to show beside what is recorded. */
interface Showing {
  /** The record of its message; `null`: it is still to be posted. Default: as it is recorded. */
  readonly card?: CardRecord | null;
  /** How the clip of a task is being delivered on it. Default: as it is recorded. */
  readonly delivered?: { readonly task: TaskId; readonly handover: Handover | null };
}

/**
 * Cards of sets: one message each, which lists the tasks and holds their clips. The shots of a storyboard that have a clip, or
 * need a decision, have a message of their own below it.
 */
export class SetCards {
  readonly #options: Options;
  readonly #boards: Boards;
  readonly #cuts: CutRepository;
  readonly #changes = new Serial<TaskId>();

  constructor(options: Options) {
    this.#options = options;
    this.#boards = new Boards(options.store);
    this.#cuts = new CutRepository(options.store);
  }

  find(place: Pick<SetPlace, 'id' | 'of'>): Promise<TaskSet | undefined> {
    return readSet(this.#options.repository, place);
  }

  /** Returns the set of an id; `undefined` where there is none. */
  async at(id: TaskId): Promise<TaskSet | undefined> {
    const place = (await this.#options.repository.get(id))?.set;
    return place === undefined ? undefined : this.find(place);
  }

  async get(place: Pick<SetPlace, 'id' | 'of'>): Promise<TaskSet> {
    const found = await this.find(place);
    if (found !== undefined) return found;
    throw new TypeError(`showing set ${place.id}: there is no such task`);
  }

  async members(place: Pick<SetPlace, 'id' | 'of'>): Promise<readonly Task[]> {
    return (await this.find(place))?.tasks ?? [];
  }

  /** Builds the view of a set's card. */
  async view({ place: set, tasks: ordered, origin }: TaskSet, { card, delivered }: Showing = {}): Promise<SetView> {
    const { cards, comparisons } = this.#options;
    const record = card === undefined ? await cards.get(setCardId(set.id)) : (card ?? undefined);
    const memberOf = async (task: Task): Promise<SetMember> => {
      const own = await cards.get(task.id);
      const before = { progress: record?.progressOf?.[task.id] ?? null };
      const message = own === undefined || own.isGone === true ? null : own.message;
      if (!isOnCard(task)) return { view: await this.#options.views.current(task, { before }), message };
      const delivery = await deliveryOf(this.#options.store, task.id);
      const isNow = delivered?.task === task.id;
      const handover = isNow ? delivered.handover : (delivery.handover ?? null);
      const view = await this.#options.views.current(task, { before, handover });
      const isHere = isNow || (record !== undefined && (delivery.copy ?? 1) === (record.copy ?? 1));
      return { view, message, ...(isHere && isAttached(view) ? { file: fileOf(task) } : {}) };
    };
    const entries = set.kind === 'comparison' ? await comparisons.entries(set) : ordered;
    const board = set.kind === 'storyboard' ? await this.#boards.get(set) : null;
    const members = await (board === null ? Promise.all(entries.map(memberOf)) : this.#shots(board, memberOf));
    // In any order of the cut, a board is named after the first shot as it was written.
    const [first, ...rest] = members.toSorted((one, other) => (one.shot?.at ?? 0) - (other.shot?.at ?? 0));
    const shown = [first, ...rest].find((one) => one?.view.task.removal?.hasContent !== false) ?? first;
    if (shown === undefined) throw new TypeError(`showing set ${set.id}: there is no such task`);
    const whole = { ...setViewOf(set, shown.view, members), ...standingIn(record, origin) };
    if (board !== null) return boardViewOf(whole, board.revision, await this.#cutOf(board, origin));
    if (set.kind !== 'comparison') return whole;
    const progress = this.#jointProgress(entries, record?.progress ?? null);
    return comparisonViewOf(whole, { entries, ordered, record: await comparisons.records.get(set.id), progress });
  }

  /** Returns the progress of tasks together, which never falls; `null` where the service reported none. */
  #jointProgress(tasks: readonly Task[], before: number | null): number | null {
    const { edits } = this.#options;
    const known = tasks.map(({ id, endedAtMs }) =>
      endedAtMs === undefined ? (edits.liveOf(id)?.progress ?? null) : 100,
    );
    if (known.every((one) => one === null)) return before;
    const mean = known.reduce<number>((sum, one) => sum + (one ?? 0), 0) / Math.max(1, known.length);
    return Math.max(before ?? 0, Math.floor(mean));
  }

  /** Returns the shots of a storyboard in the order of the cut, each with its chosen take. */
  async #shots(board: Board, memberOf: (task: Task) => Promise<SetMember>): Promise<readonly SetMember[]> {
    const outdated = outdatedIn(board).map(({ at }) => at);
    return Promise.all(
      board.shots.map(async ({ at, chosen, takes, isSkipped }) => {
        const isOther = isReplaced({ takes, chosen });
        const original = takes.find((task) => !isContentRemoved(task)) ?? takes[0] ?? chosen;
        const member = isOther ? await this.#replacing(chosen, original) : await memberOf(chosen);
        const { retryPrice } = original === chosen ? member.view : await this.#options.views.current(original);
        const isRetrying = takes.some((task) => task !== chosen && !isEnded(task));
        const shot = {
          at,
          isSkipped,
          isReady: hasClip(chosen),
          isOutdated: outdated.includes(at),
          isRetrying,
          original: { task: original.id, retryPrice },
          ...(isOther ? { isReplaced: true as const } : {}),
        };
        return { ...member, shot };
      }),
    );
  }

  /** Returns a clip in the place of a shot's takes. */
  async #replacing(clip: Task, shot: Task): Promise<SetMember> {
    const { cards, views } = this.#options;
    const [view, own, onCard] = await Promise.all([
      views.current(clip),
      cards.get(clip.id),
      clip.set === undefined ? undefined : cards.get(setCardId(clip.set.id)),
    ]);
    const card = own ?? onCard;
    const message = card === undefined || card.isGone === true ? null : card.message;
    return { view: replacingViewOf(view, shot), message };
  }

  /** Returns the sets on whose boards a clip is that is none of their own. */
  boardsWith(clip: TaskId): Promise<readonly TaskId[]> {
    return this.#boards.withClip(clip);
  }

  /** Returns the cut in the channel of a board that is of what is on it, else the latest one of its takes. */
  async #cutOf(board: Board, { channel }: Origin): Promise<BoardCut | undefined> {
    const clips = board.shots.flatMap(({ takes, chosen }) => [...takes, chosen]);
    const all = await this.#cuts.among(clips.filter(hasClip));
    const cuts = all.filter(({ origin }) => origin.channel === channel);
    const current = cutIdOf(clipsOf(board).map(({ id }) => id));
    const cut = cuts.find(({ id }) => id === current) ?? cuts[0];
    const shown = cut === undefined ? undefined : await this.#options.cards.get(cut.id);
    if (cut === undefined || shown === undefined || shown.isGone === true) return undefined;
    return { message: shown.message, isJoining: !cut.presented, isCurrent: cut.id === current };
  }

  /** Returns what the card of a set shows. */
  subjectOf(set: TaskSet): CardSubject {
    const { place, origin, tasks } = set;
    return {
      id: setCardId(place.id),
      origin,
      isOutcome: tasks.some(isOutcome),
      view: (card) => this.view(set, { card: card ?? null }),
      place: async () => origin,
      reposted: () => this.#deliverAgain(tasks),
    };
  }

  /** Returns what the card of a set shows with the outcome of one of its tasks. */
  async subjectWith(task: Task, place: SetPlace): Promise<CardSubject & { readonly task: TaskId }> {
    const set = await this.get(place);
    return {
      ...this.subjectOf(set),
      task: task.id,
      isOutcome: true,
      view: (card, handover = null) => this.view(set, { card: card ?? null, delivered: { task: task.id, handover } }),
      reposted: () => this.#deliverAgain(set.tasks.filter(({ id }) => id !== task.id)),
    };
  }

  /** Has the clips delivered that a deleted card held. @param isAsked `true`: those that no card could take, as a user asks for it */
  async #deliverAgain(tasks: readonly Task[], isAsked = false): Promise<void> {
    const { store, repository } = this.#options;
    for (const { id } of tasks.filter((task) => isOnCard(task) && hasClip(task))) {
      const { handover } = await deliveryOf(store, id);
      const event = { kind: 'want', ...(isAsked ? {} : { isReposted: true }) } as const;
      if (handover !== undefined && (handover.kind === 'unshown') === isAsked) await repository.record(id, event);
    }
  }

  async open(place: Pick<SetPlace, 'id' | 'of'>): Promise<MessageRef> {
    return (await this.#options.cards.open(this.subjectOf(await this.get(place)))).message;
  }

  /** Shows the present state on a card; a deleted card stays deleted. @throws DailiesError as {@link change} */
  async update(place: SetPlace): Promise<void> {
    const { cards } = this.#options;
    await this.change(setCardId(place.id), async (lock) => {
      const set = await this.get(place);
      if (isContentRemoved(set.shown)) return;
      const subject = this.subjectOf(set);
      const record = await cards.open(subject).catch(unlessGone);
      if (record === undefined || record.isGone === true) return;
      const view = await this.view(set, { card: record });
      if (!cards.isShown(record, subject, view)) await this.#edit(subject, record.message, { view, lock });
    });
  }

  /**
   * Posts the card of a set anew if its message was deleted. @returns whether it was
   * @throws DailiesError as {@link change}
   */
  async showAgain(place: SetPlace): Promise<boolean> {
    const { cards } = this.#options;
    let isNew = false;
    await this.change(setCardId(place.id), async (lock) => {
      const set = await this.get(place);
      const subject = this.subjectOf(set);
      const { message, copy = 1, isGone } = await cards.open(subject);
      const isThere = isGone !== true && (await this.#edit(subject, message, { view: await this.view(set), lock }));
      lock.assertHeld();
      if (!isThere) await cards.reopen(subject, copy + 1);
      await this.#deliverAgain(set.tasks, true);
      isNew = !isThere;
    });
    return isNew;
  }

  /** Shows a view on a card. @returns whether its message still exists */
  async #edit(
    card: CardSubject,
    message: MessageRef,
    { view, lock }: { readonly view: SetView; readonly lock: MessageLock },
  ): Promise<boolean> {
    const { cards } = this.#options;
    try {
      await cards.edit(card, { message, view, lock });
      return true;
    } catch (thrown) {
      const error = asDailiesError(thrown, `editing card ${card.id}`);
      // Its clips go to its requester, and do not wait for a card that the bot may not change any more.
      if (isUnchangeable(error)) return false;
      throw error;
    }
  }

  /**
   * Changes the message of a card under its lock. The tasks of a set often end together, or are removed together: in one
   * process, each change waits for the one before.
   * @throws DailiesError retryable, also while another process changes it
   */
  change(card: TaskId, act: (lock: MessageLock) => Promise<void>): Promise<void> {
    return this.inTurn(card, () => this.#options.locks.runOrThrow(card, 'message', act));
  }

  /** Runs a change of the message of a card once those before it in this process have ended. */
  inTurn<Result>(card: TaskId, change: () => Promise<Result>): Promise<Result> {
    return this.#changes.run(card, change);
  }

  /**
   * Returns the origin for a message of a task: of a set's, below its card, and not in response to its interaction; a further
   * take of a shot is below the card as well.
   */
  async placeOf({ set, takeOf, origin }: Task): Promise<Origin> {
    const place = set ?? (takeOf?.kind === 'storyboard' ? takeOf : undefined);
    if (place === undefined) return origin;
    const { message } = await this.open(place);
    const { channels } = this.#options.platformOf({ origin });
    const address = set === undefined ? origin.address : channels.lastingAddress(origin.address);
    const record = await this.#options.cards.get(setCardId(place.id));
    const isElsewhere = set === undefined && (await this.get(place)).origin.channel !== origin.channel;
    const isAway = isElsewhere || record?.isGone === true || record?.isDirect === true;
    return isAway ? { ...origin, address } : { ...origin, address: { ...address, below: message }, replyTo: message };
  }
}

/** Returns whether the outcome of a task of a set is a clip, or needs a decision. */
function isToBeShown({ state, sends }: Task): boolean {
  return state === 'completed' || state === 'uncertain' || (state === 'rejected' && sends > 0);
}

/** Returns the set whose card shows the outcome of a task, in place of a message of its own; `undefined` for none. */
export function sharedCardOf(task: Task): SetPlace | undefined {
  return isOnCard(task) && isToBeShown(task) ? task.set : undefined;
}

/** Returns whether a task has a message of its own: of a storyboard, a shot with a clip, or with a decision to take. */
export function hasOwnMessage(task: Task): boolean {
  return task.set === undefined || (!isOnCard(task) && isToBeShown(task));
}

/** Returns name and alternative text of the file of a task. */
export function fileOf(task: Task): Pick<Upload, 'name' | 'description'> {
  const name = fileNameOf(task);
  // Takes of one prompt may begin with the same four characters of their ids.
  const own = task.set === undefined ? name : name.replace(/(?=\.\w+$)/u, `-${task.set.at}`);
  return { name: own, description: typedPrompt(task.request) };
}

function isAttached({ handover, task: { removal } }: TaskView): boolean {
  // What is removed of an expired clip is the bot's own copy, not that of the chat.
  const isThere = removal === undefined || (removal.reason === 'expired' && removal.hasContent);
  return isThere && (handover?.kind === 'attached' || handover?.kind === 'fitted');
}
