import type { TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import { asGone, type FileSource, hasCode, presentFile, type RefusedUploads } from './attachment-plan.ts';
import type { CardRecord, CardSubject } from './cards.ts';
import type { MessageLock } from './message-lock.ts';
import type { ChatParts } from './parts.ts';
import type { Attached, MessageRef, Upload } from './platform.ts';
import { type DeliveryRecord, deliveryOf, deliveryRecords } from './records.ts';
import type { CardView, Handover } from './view.ts';

/** What a card shows at its end. */
export interface Outcome extends CardSubject {
  /** The task whose outcome it is, on the card of its set. Absent: it is all that the card shows. */
  readonly task?: TaskId;
  /** Key of an end without a file, by which a message is known to have shown it. Absent: no notice follows. */
  readonly end?: string;
  /** The file that it ends with. Absent: none. */
  readonly file?: OutcomeFile;
  /** How often it was asked for after its card was deleted. Default 0. */
  readonly wants?: number;
}

interface OutcomeFile extends Pick<Upload, 'name' | 'description'> {
  readonly of: FileSource;
  /** Returns the file; `undefined`: it was removed. @throws DailiesError where it cannot be brought here now */
  readonly find: () => Promise<Clip | undefined>;
  /** Returns the notice for the file's own message; `null`: none. Default: none. */
  readonly notice?: (shown: {
    readonly message: MessageRef;
    readonly handover: Handover['kind'];
  }) => Promise<NonNullable<Upload['notice']> | null>;
  /** Called once the notice was posted with the file. */
  readonly notified?: () => Promise<void>;
}

type FoundFile = OutcomeFile & { readonly clip: Clip };

type Options = Pick<ChatParts, 'store' | 'cards' | 'handing' | 'platformOf' | 'logger'>;

/** Card that shows an outcome, under its lock. */
interface Showing {
  readonly outcome: Outcome;
  readonly card: CardRecord;
  readonly lock: MessageLock;
}

/**
 * Shows outcomes in their cards, with the file where there is one. A card that was deleted before, or refuses it, is
 * replaced once, and again where a user asks for that. Every step is recorded, so that a repeated attempt goes on.
 */
export class CardDelivery {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Opens the card of an outcome, or the replacement that was begun. */
  async open(outcome: Outcome): Promise<CardRecord> {
    const { cards } = this.#options;
    const [{ copies = 1 }, card] = await Promise.all([this.#read(outcome), cards.get(outcome.id)]);
    return copies <= (card?.copy ?? 1) ? cards.open(outcome) : cards.reopen(outcome, copies);
  }

  /** Shows an outcome, unless it is shown already. @returns whether a message shows it. @throws DailiesError */
  async show(outcome: Outcome, lock: MessageLock): Promise<boolean> {
    if (await this.#isShown(outcome, lock)) return true;
    if ((await this.#replaces(outcome, lock)) && (await this.#isShown(outcome, lock))) return true;
    const delivery = await this.#read(outcome);
    const { copy = 1 } = (await this.#options.cards.get(outcome.id)) ?? {};
    const isUnshown = outcome.file !== undefined && (delivery.handover === undefined || (delivery.copy ?? 1) !== copy);
    if (isUnshown) await this.#write(outcome, { ...delivery, handover: { kind: 'unshown' } });
    return false;
  }

  /** Shows an outcome in its card. @returns whether that still existed and could be changed; a deleted one is recorded */
  async #isShown(outcome: Outcome, lock: MessageLock): Promise<boolean> {
    try {
      const card = await this.open(outcome);
      await this.#present({ outcome, card, lock });
      if (card.outdated !== undefined) await this.#showIn(card.outdated, { outcome, card, lock });
      return true;
    } catch (thrown) {
      if (!hasCode(thrown, 'message_gone')) throw thrown;
      this.#options.logger.info(
        { event: 'task_message_gone', task: outcome.id },
        'the message of a task was deleted; keeping its clip',
      );
      // One that the bot may not change any more is still there.
      if (!hasCode(thrown.cause, 'missing_permission')) await this.#options.cards.gone(outcome.id);
      return false;
    }
  }

  /**
   * Begins a replacement of a card that never had the outcome, once, or where a user asks for the file.
   * @returns whether it did
   */
  async #replaces(outcome: Outcome, lock: MessageLock): Promise<boolean> {
    const { file, end, wants = 0 } = outcome;
    const { handover, copies = 1, wantsMet = 0, isReplaced, isBehind: _, ...rest } = await this.#read(outcome);
    const isWanted = file !== undefined && wants > wantsMet;
    const isMissed = file === undefined ? end !== undefined && rest.shown?.end !== end : handover === undefined;
    const { copy = 1 } = (await this.#options.cards.get(outcome.id)) ?? {};
    if (!isWanted && (!isMissed || isReplaced === true)) return false;
    lock.assertHeld();
    // Written first, so that a repeated attempt opens the same message and attaches the file to it.
    const met = isWanted ? { wantsMet: wants } : { wantsMet, isReplaced: true as const };
    await this.#write(outcome, { ...rest, ...met, copies: Math.max(copies, copy) + 1 });
    return true;
  }

  /**
   * Shows an outcome in the message that refused it as well: the bot may have its right again, and nothing else edits that
   * message. Tried once.
   */
  async #showIn(outdated: MessageRef, { outcome, card, lock }: Showing): Promise<void> {
    const { cards, platformOf, logger } = this.#options;
    const view = await outcome.view(card, (await this.#read(outcome)).handover ?? null);
    lock.assertHeld();
    await platformOf(outcome)
      .edit(outdated, outcome.origin, view, 'final')
      .catch((err: unknown) => {
        logger.warn({ event: 'message_kept', task: outcome.id, err }, 'the message that was replaced stays as it is');
      });
    await cards.settled(outcome.id);
  }

  /** Shows an outcome in a card, unless it looks so already, with the file where that is still to be delivered. */
  async #present({ outcome, card, lock }: Showing): Promise<void> {
    const { cards, platformOf } = this.#options;
    const { file, wants = 0 } = outcome;
    const delivery = await this.#read(outcome);
    const isAsked = wants > (delivery.wantsMet ?? 0);
    // The card of a set is posted anew without the files of the deleted one.
    const isShownElsewhere = (delivery.copy ?? 1) !== (card.copy ?? 1) && delivery.handover?.kind !== 'unshown';
    const isWanted = isAsked && delivery.handover?.kind === 'unshown';
    const clip = delivery.handover === undefined || isShownElsewhere || isWanted ? await file?.find() : undefined;
    if (file !== undefined && clip !== undefined) {
      const { handover, view, refusal, message } = await this.#deliver(
        { outcome, card, lock },
        { ...file, clip },
        delivery,
      );
      lock.assertHeld();
      const met = isAsked ? { wantsMet: wants } : {};
      const behind = refusal === undefined ? {} : { isBehind: true as const };
      const { files = [], ...before } = await this.#read(outcome);
      const all = [...files.filter((one) => one.message !== message?.message), ...(message ? [message] : [])];
      const own = all.length === 0 ? {} : { files: all };
      await this.#write(outcome, { ...before, handover, copy: card.copy ?? 1, ...own, ...met, ...behind });
      if (refusal !== undefined) throw refusal;
      return cards.shown(outcome, view);
    }
    const view = await outcome.view(card, delivery.handover ?? null);
    // The edit that a user asked for tells whether the message is still there.
    if (card.isGone !== true && !isAsked && cards.isShown(card, outcome, view)) return;
    // A card whose file is there already is not replaced: it is edited once it may be.
    if (delivery.isBehind === true || !outcome.isOutcome) {
      await cards.edit(outcome, { message: card.message, view, lock });
      const { isBehind, ...rest } = await this.#read(outcome);
      return isBehind === true ? this.#write(outcome, rest) : undefined;
    }
    lock.assertHeld();
    await platformOf(outcome)
      .edit(card.message, outcome.origin, view, 'final')
      .catch((thrown: unknown) => {
        throw hasCode(thrown, 'missing_permission') ? asGone(thrown) : thrown;
      });
    await cards.shown(outcome, view);
  }

  /**
   * Delivers a file in a card: attached, as a smaller copy, or by a link.
   * @returns the form, and the view, as {@link presentFile} does
   */
  #deliver({ outcome, card, lock }: Showing, file: FoundFile, refused: RefusedUploads) {
    const { cards, handing, platformOf } = this.#options;
    const { of, clip } = file;
    return presentFile({
      of,
      message: card.message,
      clip,
      lock,
      platform: platformOf(outcome),
      handing,
      refused,
      viewOf: (form) => outcome.view(card, form),
      attach: (shown, fitted, kind) => this.#attach({ outcome, card, lock }, { ...file, clip: fitted }, shown, kind),
      shown: (shown) => cards.shown(outcome, shown),
      remember: async (more) => this.#write(outcome, { ...(await this.#read(outcome)), ...more }),
    });
  }

  async #attach(
    { outcome, card: { message } }: Showing,
    { clip, name, description, notice, notified }: FoundFile,
    view: CardView,
    handover: Handover['kind'],
  ): Promise<Attached> {
    const platform = this.#options.platformOf(outcome);
    const withFile = platform.limits.mentionsWithFile ? await notice?.({ message, handover }) : null;
    const upload = { ...clip, name, description, ...(withFile ? { notice: withFile } : {}) };
    const attached = await platform.attach(message, outcome.origin, view, upload);
    if (attached.isAnnounced) await notified?.();
    return attached;
  }

  #read({ id, task = id }: Outcome): Promise<DeliveryRecord> {
    return deliveryOf(this.#options.store, task);
  }

  async #write({ id, origin, task = id }: Outcome, record: DeliveryRecord): Promise<void> {
    const { store, cards } = this.#options;
    const files = record.files?.slice(-1).map((file) => cards.fileWrite(origin, file, task)) ?? [];
    await store.commit({ records: [deliveryRecords.overwriting(task, record), ...files] });
  }
}
