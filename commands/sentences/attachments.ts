import type { Line } from '../card.ts';
import { formatBytes } from './format.ts';

/** A file of another kind than its option takes: `image: notes.pdf is no image`. */
export function wrongKindOfFile(option: string, name: string): string {
  const kinds: Readonly<Record<string, string>> = { image: 'image', audio: 'audio file', video: 'video' };
  return `${option}: ${name} is no ${kinds[option] ?? option}`;
}

/** A file that is larger than what is kept and handed on: `image: fox.png is too large; at most 256 MB`. */
export function fileTooLarge(option: string, name: string, limitBytes: number | undefined): string {
  const most = limitBytes === undefined ? '' : `; at most ${formatBytes(limitBytes)}`;
  return `${option}: ${name} is too large${most}`;
}

/** For whoever gave a file whose address stops working, where it cannot be kept here. */
export function expiringFile(expiresAtMs: number): Line {
  return [
    'The file you gave can be reached until ',
    { timeMs: expiresAtMs },
    '; to repeat the clip after that, give it again. Whoever runs me can have me keep such files, with ',
    { code: 'PUBLIC_URL' },
    ' and ',
    { code: 'LINK_SECRET' },
    '.',
  ];
}
