import type { Task } from '../tasks/task.ts';

/** How many words of a prompt a file name takes, and how long it may get before the id. */
const WORDS = 4;
const MAX_LENGTH = 40;

/** Words that say nothing about a picture. */
const EMPTY_WORDS = new Set(['a', 'an', 'the', 'of', 'in', 'on', 'at', 'and', 'with', 'through', 'to']);

/** What a clip is called for people: its prompt and the beginning of its id, such as `red-fox-running-7f3a.mp4`. */
export function fileNameOf(task: Pick<Task, 'id' | 'request'>): string {
  const plain = task.request.prompt.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = (plain.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !EMPTY_WORDS.has(word));
  const name = words.slice(0, WORDS).join('-').slice(0, MAX_LENGTH).replace(/-+$/, '');
  return `${name === '' ? 'clip' : name}-${task.id.slice(0, 4)}.mp4`;
}
