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
