import { DailiesError, type ErrorCode } from '../errors.ts';
import type { Task } from '../tasks/task.ts';
import type { Clip } from '../videos/service.ts';
import type { Handover, SignedLink } from './view.ts';

/** Transcodes a clip to a copy within a size limit. */
export interface Fitter {
  /** Copies can be made at all; a limit may still be too small. */
  readonly isThere: boolean;
  /** @returns the copy, or `null` when none can be made (no ffmpeg, or the limit is too small for the length). */
  fit(clip: Clip, seconds: number, limitBytes: number): Promise<Clip | null>;
}

/** Signs URLs of clips on the bot's own server, or at the storage of the clips. */
export interface Links {
  /** Returns an expiring link to a task's clip; `null` where neither `PUBLIC_URL` nor a bucket is configured. */
  forClip(task: Task): Promise<SignedLink | null>;
}

/** Largest upload in bytes; either stated by the platform or guessed after a refusal. */
export interface UploadLimit {
  readonly bytes: number;
  readonly isStated: boolean;
}

/** Decides the form in which a clip is delivered. */
export interface AttachmentPlanner {
  /** @returns the form of delivery, and the file to attach (`null`: none). */
  prepare(
    task: Task,
    clip: Clip,
    limit: UploadLimit,
  ): Promise<{ readonly handover: Handover; readonly file: Clip | null }>;
  /** Returns the handover where the chat accepts no files. @param right the platform's name of the permission. */
  withhold(task: Task, right: string): Promise<Handover & { readonly kind: 'withheld' }>;
}

/**
 * Creates a planner: the original where it fits, else a smaller copy, else a link; else the clip is kept on disk and
 * the message names the missing configuration.
 */
export function createAttachmentPlanner({
  fitter,
  links,
}: {
  readonly fitter: Fitter;
  readonly links: Links;
}): AttachmentPlanner {
  return {
    withhold: async (task, right) => ({ kind: 'withheld', right, link: await links.forClip(task) }),
    async prepare(task, clip, { bytes: limitBytes, isStated }) {
      if (clip.bytes <= limitBytes) return { handover: { kind: 'attached' }, file: clip };
      const link = await links.forClip(task);
      const sizes = { bytes: clip.bytes, limitBytes: isStated ? limitBytes : null };
      const copy = await fitter.fit(clip, task.request.seconds, limitBytes);
      if (copy !== null) return { handover: { kind: 'fitted', ...sizes, link }, file: copy };
      if (link !== null) return { handover: { kind: 'linked', ...sizes, link }, file: null };
      return { handover: { kind: 'kept', ...sizes, hasFitter: fitter.isThere }, file: null };
    },
  };
}

/** Replaces the expiring link of a handover by a new one, if there is one. */
export async function withFreshLink(
  handover: Handover | null,
  newLink: () => Promise<SignedLink | null>,
): Promise<Handover | null> {
  if (handover === null || handover.kind === 'attached' || handover.kind === 'unshown') return handover;
  const link = await newLink();
  if (link === null) return handover;
  if (handover.kind !== 'kept') return { ...handover, link };
  const { bytes, limitBytes } = handover;
  return { kind: 'linked', bytes, limitBytes, link };
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

/** Delay before a retry of a file that was refused as too large although it is within the limit. */
const REFUSED_AGAIN_MS = 10_000;

/** Returns the largest upload to try: `statedBytes` of the origin or the platform, or less after a refusal. */
export function limitAfter({ limitBytes, isGuess = false }: RefusedUploads, statedBytes: number): UploadLimit {
  if (limitBytes === undefined || limitBytes >= statedBytes) return { bytes: statedBytes, isStated: true };
  return { bytes: limitBytes, isStated: !isGuess };
}

/**
 * Returns what is known from a file that was refused as too large: the limit where the platform states one; else the
 * refused size, and from the second refusal on half of it as a guessed limit.
 */
export function afterRefusal(bytes: number, { limitBytes }: DailiesError, before: RefusedUploads): RefusedUploads {
  if (limitBytes !== undefined && limitBytes < bytes) return { limitBytes, isGuess: false };
  if (before.refusedBytes === undefined) return { refusedBytes: bytes };
  return { limitBytes: Math.floor(bytes / 2), isGuess: true };
}

/** Makes the error of a file that is within the known limit: it may be accepted later. */
export function refusedForNow(cause: DailiesError): DailiesError {
  return new DailiesError(`${cause.message}: it is within the limit that is known, and is sent again`, {
    code: 'platform_unavailable',
    retryable: true,
    retryAfterMs: REFUSED_AGAIN_MS,
    cause,
  });
}

/** Returns whether the chat refuses files permanently, for another reason than the size or a deleted message. */
export function isRefusal(thrown: unknown): thrown is DailiesError {
  return (
    thrown instanceof DailiesError && !thrown.retryable && thrown.code !== 'too_large' && thrown.code !== 'message_gone'
  );
}

/** Returns whether something thrown is a `DailiesError` of a code. */
export function hasCode(thrown: unknown, code: ErrorCode): thrown is DailiesError {
  return thrown instanceof DailiesError && thrown.code === code;
}
