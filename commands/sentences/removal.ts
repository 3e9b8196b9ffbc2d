import type { TaskView } from '#src/chat/index.ts';
import type { Removal, RemovalReason, Task } from '#src/tasks/index.ts';
import type { Line, Part } from '../ui/card.ts';
import { shorten } from './format.ts';

/** Refuses to send the prompt of a removed clip again. */
export const PROMPT_REMOVED = 'The prompt of this clip was removed.';

export const NO_PROMPT = 'Prompt removed';

const CLIP_WORDS: Readonly<Record<RemovalReason, string>> = {
  expired: 'This clip expired',
  deleted: 'This clip was deleted',
  forgotten: 'This clip was removed at its requester’s request',
};

/** Answers an interaction whose clip is removed: nothing is made again, and its message does not come back. */
export function removedSentence({ removal }: Pick<Task, 'removal'>): string {
  return `${CLIP_WORDS[removal?.reason ?? 'expired']}.`;
}

/** Tells what was removed from a task, and when; no lines where nothing was. */
export function removalLines(removal: Removal | undefined): readonly Line[] {
  if (removal === undefined) return [];
  const what = removal.hasContent ? '.' : ', with its prompt. Its price stays in the books.';
  return [[`${CLIP_WORDS[removal.reason]} `, { timeMs: removal.atMs }, what]];
}

/** Tells when my copy of a clip will be removed; no lines where it is kept for good, or removed already. */
export function keptLines({ keptUntilMs, task: { removal } }: TaskView): readonly Line[] {
  if (keptUntilMs === undefined || removal !== undefined) return [];
  return [['My copy of this clip will be deleted ', { timeMs: keptUntilMs }, '.']];
}

/** Returns a prompt, shortened to a number of UTF-16 units. */
export function promptPart(prompt: string, length: number): Part {
  return prompt === '' ? { strong: NO_PROMPT } : { untrusted: shorten(prompt, length) };
}
