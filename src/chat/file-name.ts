import type { Task } from '../tasks/task.ts';

/** How many words of a prompt a file name takes, and how long it may get before the id, in characters. */
const WORDS = 4;
const MAX_LENGTH = 40;

/** Words that say nothing about a picture. */
const EMPTY_WORDS = new Set(['a', 'an', 'the', 'of', 'in', 'on', 'at', 'and', 'with', 'through', 'to']);

/** What a clip is called for people: its prompt and the beginning of its id, such as `red-fox-running-7f3a.mp4`. */
export function fileNameOf(task: Pick<Task, 'id' | 'request'>): string {
  // Accents go, as far as they are only that: in other scripts the same marks make other letters.
  const plain = task.request.prompt
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    // Variation selectors, joiners and the like, which no one sees in a name.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  const words = (plain.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []).filter((word) => !EMPTY_WORDS.has(word));
  const characters = Array.from(words.slice(0, WORDS).join('-'));
  const name = characters.slice(0, MAX_LENGTH).join('').replace(/-+$/, '');
  return `${name === '' ? 'clip' : name}-${task.id.slice(0, 4)}.mp4`;
}
