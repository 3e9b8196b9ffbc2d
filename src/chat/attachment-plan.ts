import type { Task } from '../tasks/task.ts';
import type { Clip } from '../videos/service.ts';
import type { Handover, SignedLink } from './view.ts';

/** Makes a copy of a clip that fits a limit. */
export interface Fitter {
  /** Whether copies can be made at all; a limit may still be too small. */
  readonly isThere: boolean;
  /** @returns the copy, or `null` when none can be made (no ffmpeg here, or the limit is too small for its length). */
  fit(clip: Clip, seconds: number, limitBytes: number): Promise<Clip | null>;
}

/** Signs addresses of our own. */
export interface Links {
  /** Where a task's clip can be fetched for a while; `null` where no `PUBLIC_URL` is configured. */
  forClip(task: Task): SignedLink | null;
}

/** Largest upload in bytes, and whether the platform stated it or it was guessed after a refusal. */
export interface UploadLimit {
  readonly bytes: number;
  readonly isStated: boolean;
}

/** Decides how a clip gets to people. */
export interface AttachmentPlanner {
  /** @returns how, and the file to attach (`null`: none). */
  prepare(
    task: Task,
    clip: Clip,
    limit: UploadLimit,
  ): Promise<{ readonly handover: Handover; readonly file: Clip | null }>;
  /** How a clip is there where the chat takes no file at all. @param right what is lacking, as the platform calls it. */
  withhold(task: Task, right: string): Handover & { readonly kind: 'withheld' };
}

/** As it is where it fits; else a smaller copy; else a link; else it is kept, and the message says what to configure. */
export function createAttachmentPlanner({
  fitter,
  links,
}: {
  readonly fitter: Fitter;
  readonly links: Links;
}): AttachmentPlanner {
  return {
    withhold: (task, right) => ({ kind: 'withheld', right, link: links.forClip(task) }),
    async prepare(task, clip, { bytes: limitBytes, isStated }) {
      if (clip.bytes <= limitBytes) return { handover: { kind: 'attached' }, file: clip };
      const link = links.forClip(task);
      const sizes = { bytes: clip.bytes, limitBytes: isStated ? limitBytes : null };
      const copy = await fitter.fit(clip, task.request.seconds, limitBytes);
      if (copy !== null) return { handover: { kind: 'fitted', ...sizes, link }, file: copy };
      if (link !== null) return { handover: { kind: 'linked', ...sizes, link }, file: null };
      return { handover: { kind: 'kept', ...sizes, hasFitter: fitter.isThere }, file: null };
    },
  };
}
