import type { Line } from '../ui/card.ts';
import { formatBytes } from './format.ts';

/** A file of another kind than its option takes, or one that video services can't read: `image: notes.pdf can’t be used; …`. */
export function wrongKindOfFile(option: string, name: string): string {
  return `${option}: ${name} can’t be used; ${option} takes ${FORMATS[option] ?? `${option} files`}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  image: 'PNG, JPEG, WebP, GIF or BMP',
  audio: 'audio files such as MP3, WAV or M4A',
  video: 'video files such as MP4, MOV or WebM',
};

/** A file that is no reference media at all: `notes.pdf can’t be used; …`. */
export function noReferenceFile(name: string): string {
  return `${name} can’t be used; reference files are images, audio or video`;
}

/** The reference files that a form leaves as they are: `Reference files stay: fox.png, theme.mp3`. */
export function keptFiles(names: readonly string[]): string {
  return `Reference files stay: ${names.join(', ')}`;
}

/** A reference file whose name is not known any more. */
export const UNNAMED_FILE = 'a file given in the chat';

/** A file that is larger than what is kept and handed on: `image: fox.png is too large; the limit is 256 MB`. */
export function fileTooLarge(option: string, name: string, limitBytes: number | undefined): string {
  const most = limitBytes === undefined ? '' : `; the limit is ${formatBytes(limitBytes)}`;
  return `${option}: ${name} is too large${most}`;
}

/** For a person whose file stops being reachable, where it cannot be kept here. The operator's part is in the readme. */
export function expiringFile(expiresAtMs: number): Line {
  return ['Your file’s link stops working ', { timeMs: expiresAtMs }, '. After that, attach the file again to retry.'];
}
