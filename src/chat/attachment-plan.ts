import { DailiesError, type ErrorCode } from '../errors.ts';
import type { Task } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import type { MessageLock } from './message-lock.ts';
import type { Attached, MessageRef, Platform } from './platform.ts';
import type { CardView, Handover, SignedLink } from './view.ts';

/** Transcodes a clip to a copy within a size limit. */
export interface Fitter {
  /** Copies can be made at all; a limit may still be too small. */
  readonly isThere: boolean;
  /** @returns the copy, or `null` when none can be made (no ffmpeg, or the limit is too small for the length). */
  fit(clip: Clip, seconds: number, limitBytes: number): Promise<Clip | null>;
}

/** What is known of a file that is delivered: of a task, or of a cut, which has the request of its first shot. */
export type FileSource = Pick<Task, 'id' | 'origin' | 'request' | 'clip' | 'set' | 'takeOf' | 'revealedAtMs'>;

/** Signs URLs of clips on the bot's own server, or at the storage of the clips. */
export interface Links {
  /** Returns an expiring link to a clip; `null` where neither `PUBLIC_URL` nor a bucket is configured. */
  forClip(of: FileSource): Promise<SignedLink | null>;
}

/** Largest upload in bytes; either stated by the platform or guessed after a refusal. */
interface UploadLimit {
  readonly bytes: number;
  readonly isStated: boolean;
}

/** Decides the form in which a clip is delivered. */
export class AttachmentPlanner {
  readonly #fitter: Fitter;
  readonly #links: Links;

  constructor({ fitter, links }: { readonly fitter: Fitter; readonly links: Links }) {
    this.#fitter = fitter;
    this.#links = links;
  }

  /**
   * Returns the form of delivery, and the file to attach (`null`: none): the original where it fits, else a smaller copy,
   * else a link; else the clip is kept on disk and the message names the missing configuration.
   */
  async prepare(
    of: FileSource,
    clip: Clip,
    { bytes: limitBytes, isStated }: UploadLimit,
  ): Promise<{ readonly handover: Handover; readonly file: Clip | null }> {
    if (clip.bytes <= limitBytes) return { handover: { kind: 'attached' }, file: clip };
    const link = await this.#links.forClip(of);
    const sizes = { bytes: clip.bytes, limitBytes: isStated ? limitBytes : null };
    const copy = await this.#fitter.fit(clip, of.request.seconds, limitBytes);
    if (copy !== null) return { handover: { kind: 'fitted', ...sizes, link }, file: copy };
    if (link !== null) return { handover: { kind: 'linked', ...sizes, link }, file: null };
    return { handover: { kind: 'kept', ...sizes, hasFitter: this.#fitter.isThere }, file: null };
  }

  /** Returns the handover where the chat accepts no files. @param right the platform's name of the permission. */
  async withhold(of: FileSource, right: string): Promise<Handover & { readonly kind: 'withheld' }> {
    return { kind: 'withheld', right, link: await this.#links.forClip(of) };
  }

  /** Returns a handover with a new link in place of its expiring one, if there is one. */
  async renewed(of: FileSource, handover: Handover | null): Promise<Handover | null> {
    if (handover === null || handover.kind === 'attached' || handover.kind === 'unshown') return handover;
    const link = await this.#links.forClip(of);
    if (link === null) return handover;
    if (handover.kind !== 'kept') return { ...handover, link };
    const { bytes, limitBytes } = handover;
    return { kind: 'linked', bytes, limitBytes, link };
  }
}

/** What is known from refused uploads; stored, so that a restart goes on from it. */
export interface RefusedUploads {
  /** Largest upload to try after the platform refused a larger one, in bytes. */
  readonly limitBytes?: number;
  /** {@link limitBytes} is a guess: the platform stated none. */
  readonly isGuess?: boolean;
  /** Size in bytes of a file that was refused as too large although it is within every known limit. */
  readonly refusedBytes?: number;
}

interface FileMessage {
  readonly of: FileSource;
  readonly message: MessageRef;
  readonly clip: Clip;
  readonly lock: MessageLock;
  readonly platform: Platform;
  readonly handing: AttachmentPlanner;
  readonly refused: RefusedUploads;
  readonly viewOf: (handover: Handover) => Promise<CardView>;
  readonly attach: (view: CardView, file: Clip, handover: Handover['kind']) => Promise<Attached>;
  /** Records that the message shows a view. */
  readonly shown: (view: CardView) => Promise<void>;
  /** Stores what a refused upload tells. */
  readonly remember: (refused: RefusedUploads) => Promise<void>;
}

/** Form of delivery and view of a message with a file, which are not recorded yet. */
interface PresentedFile extends Pick<Attached, 'refusal' | 'message'> {
  readonly handover: Handover;
  readonly view: CardView;
}

/**
 * Shows a clip in its message: attached, as a smaller copy, by a link, or with the permission that is missing.
 * @throws DailiesError what passes by itself, a missing permission where there is no link, and `message_gone`
 */
export async function presentFile(given: FileMessage): Promise<PresentedFile> {
  const { of, message, clip, lock, platform, handing, refused, viewOf, attach, remember } = given;
  const limit = limitAfter(refused, of.origin.uploadLimitBytes ?? platform.limits.uploadBytes);
  const { handover, file } = await handing.prepare(of, clip, limit);
  const view = await viewOf(handover);
  lock.assertHeld();
  try {
    if (file !== null) return { handover, view, ...(await attach(view, file, handover.kind)) };
    await platform.edit(message, of.origin, view, 'final');
    return { handover, view };
  } catch (thrown) {
    if (file !== null && isRefusal(thrown)) return withhold(given, thrown);
    if (file === null || !hasCode(thrown, 'too_large')) throw thrown;
    const refusal = afterRefusal(file.bytes, thrown, refused);
    await remember(refusal);
    // A file within the limit may be accepted later: it is retried after a delay. A smaller copy is tried at once.
    if (refusal.limitBytes === undefined) throw refusedForNow(thrown);
    return presentFile({ ...given, refused: { ...refused, ...refusal } });
  }
}

/** Shows the missing permission, with a link where there is one; else rejects, so that the delivery is retried. */
async function withhold({ of, message, lock, platform, handing, viewOf, shown }: FileMessage, refusal: DailiesError) {
  const handover = await handing.withhold(of, refusal.words ?? 'attach files');
  const view = await viewOf(handover);
  lock.assertHeld();
  await platform.edit(message, of.origin, view, 'final').catch((thrown: unknown) => {
    throw isRefusal(thrown) ? asGone(thrown) : thrown;
  });
  if (handover.link !== null) return { handover, view };
  await shown(view);
  throw refusal;
}

/** Makes the error of a message that the bot may not change any more: it is as good as deleted. */
export function asGone(cause: DailiesError): DailiesError {
  return new DailiesError(cause.message, { code: 'message_gone', retryable: false, cause });
}

/** Delay before a retry of a file that was refused as too large although it is within the limit. */
const REFUSED_AGAIN_MS = 10_000;

/** Returns the largest upload to try: `statedBytes` of the origin or the platform, or less after a refusal. */
function limitAfter({ limitBytes, isGuess = false }: RefusedUploads, statedBytes: number): UploadLimit {
  if (limitBytes === undefined || limitBytes >= statedBytes) return { bytes: statedBytes, isStated: true };
  return { bytes: limitBytes, isStated: !isGuess };
}

/**
 * Returns what is known from a file that was refused as too large: the limit where the platform states one; else the
 * refused size, and from the second refusal on half of it as a guessed limit.
 */
function afterRefusal(bytes: number, { limitBytes }: DailiesError, before: RefusedUploads): RefusedUploads {
  if (limitBytes !== undefined && limitBytes < bytes) return { limitBytes, isGuess: false };
  if (before.refusedBytes === undefined) return { refusedBytes: bytes };
  return { limitBytes: Math.floor(bytes / 2), isGuess: true };
}

/** Makes the error of a file that is within the known limit: it may be accepted later. */
function refusedForNow(cause: DailiesError): DailiesError {
  return new DailiesError(`${cause.message}: it is within the limit that is known, and is sent again`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: REFUSED_AGAIN_MS,
    cause,
  });
}

/** Returns whether the chat refuses files permanently, for another reason than the size or a deleted message. */
function isRefusal(thrown: unknown): thrown is DailiesError {
  return (
    thrown instanceof DailiesError && !thrown.retryable && thrown.code !== 'too_large' && thrown.code !== 'message_gone'
  );
}

/** Returns whether something thrown is a `DailiesError` of a code. */
export function hasCode(thrown: unknown, code: ErrorCode): thrown is DailiesError {
  return thrown instanceof DailiesError && thrown.code === code;
}

/** Returns whether an error says that a message is deleted, or that the bot may not change it any more. */
export function isUnchangeable({ code }: DailiesError): boolean {
  return code === 'message_gone' || code === 'missing_permission';
}

/** Handles the error of a call for a message: returns nothing for one that is gone, and throws everything else. */
export function unlessGone(thrown: unknown): undefined {
  if (!hasCode(thrown, 'message_gone')) throw thrown;
}
