import { type Task, typedPrompt } from '../tasks/index.ts';

/** Limits of the prompt's part of a file name, in words and in characters. */
const WORDS = 4;
const MAX_LENGTH = 40;

/** Stop words, which are left out of file names. */
const EMPTY_WORDS = new Set(['a', 'an', 'the', 'of', 'in', 'on', 'at', 'and', 'with', 'through', 'to']);

const CUT = 'cut-';

/**
 * Returns the file name of a clip: its prompt and the start of its id, such as `red-fox-running-7f3a.mp4`; of a cut, by the
 * prompt of its first clip, `cut-red-fox-running-7f3a.mp4`.
 */
export function fileNameOf(task: Pick<Task, 'id' | 'request'>): string {
  // Removes only Latin-style accents: in other scripts, combining marks form distinct letters.
  const plain = typedPrompt(task.request)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    // Variation selectors, joiners and similar characters, which are invisible in a name.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  const words = (plain.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []).filter((word) => !EMPTY_WORDS.has(word));
  const characters = Array.from(words.slice(0, WORDS).join('-'));
  const name = characters.slice(0, MAX_LENGTH).join('').replace(/-+$/, '');
  const isCut = task.id.startsWith(CUT);
  const id = isCut ? task.id.slice(CUT.length) : task.id;
  return `${isCut ? CUT : ''}${name === '' ? 'clip' : name}-${id.slice(0, 4)}.mp4`;
}
