import type { View } from '#src/chat/index.ts';
import type { DailiesError } from '#src/errors.ts';
import { notText } from '#src/http/index.ts';
import type { SetKind } from '#src/tasks/index.ts';
import type { Line } from '../ui/card.ts';
import { capitalised, formatBytes } from './format.ts';
import { memberName } from './ordered.ts';

/**
 * Refuses a file of the wrong kind for its option, or one that video services can't read:
 * `image: notes.pdf can’t be used; …`.
 */
export function wrongKindOfFile(option: string, name: string): string {
  return `${option}: ${name} can’t be used; ${option} takes ${FORMATS[option] ?? `${option} files`}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  image: 'PNG, JPEG, WebP, GIF or BMP',
  audio: 'audio files such as MP3, WAV or M4A',
  video: 'video files such as MP4, MOV or WebM',
};

/** Refuses a file that is not reference media at all: `notes.pdf can’t be used; …`. */
export function noReferenceFile(name: string): string {
  return `${name} can’t be used; reference files are images, audio or video`;
}

/** Refuses a file that is no plain text: `file: notes.pdf can’t be used; …`. */
export function noTextFile(option: string, name: string): string {
  return `${option}: ${name} can’t be used; a storyboard is a plain text file with one shot per line`;
}

/** Reports a text file that could not be downloaded from the chat or decoded. */
export function textNotRead(option: string, name: string, { code, limitBytes }: DailiesError): string {
  if (code === 'bad_answer') return `${option}: ${notText(name)}`;
  return code === 'too_large' ? fileTooLarge(option, name, limitBytes) : fileNotFetched(option, name);
}

/** Lists the reference files that a form leaves unchanged: `Reference files stay: fox.png, theme.mp3`. */
export function keptFiles(names: readonly string[]): string {
  return `Reference files stay: ${names.join(', ')}`;
}

/** Label of a reference file whose name is no longer stored. */
export const UNNAMED_FILE = 'a file given in the chat';

/** Refuses a file over the size limit of the media relay: `image: fox.png is too large; the limit is 256 MB`. */
export function fileTooLarge(option: string, name: string, limitBytes: number | undefined): string {
  const most = limitBytes === undefined ? '' : `; the limit is ${formatBytes(limitBytes)}`;
  return `${option}: ${name} is too large${most}`;
}

/** Warns of the expiry of a file's link if the bot does not relay files. The setup for operators is in the readme. */
export function expiringFile(expiresAtMs: number): Line {
  return ['Your file’s link stops working ', { timeMs: expiresAtMs }, '. After that, attach the file again to retry.'];
}

/** Label of the link to a finished clip's file. */
export const WATCH_CLIP = 'Watch the clip';

/** Labels the link to the message that a clip is posted below: the card of its set, or the clip that it repeats. */
export function originalLabel(view: View): string {
  if (view.kind === 'cut') return 'Cut of this storyboard';
  if (view.kind !== 'task') return view.kind === 'set' ? 'Another take of this one' : 'Its message';
  const { set, takeOf } = view.task;
  const place = set ?? (takeOf?.kind === 'storyboard' ? takeOf : undefined);
  if (place === undefined) return 'Another take of this one';
  return `${capitalised(memberName(place.kind, place.at))} of this ${SET_WORDS[place.kind] ?? 'order'}`;
}

const SET_WORDS: Partial<Readonly<Record<SetKind, string>>> = { comparison: 'comparison', storyboard: 'storyboard' };

/** Refuses files that only members of a chat can open, if the bot has no public address to relay them. */
export const FILES_STAY_PRIVATE =
  'I can’t pass files from here on yet (your administrator has to set PUBLIC_URL and LINK_SECRET). Use a public link instead, such as --image https://… Nothing was created.';

/** Reports a file that could not be downloaded from the chat: `image: I couldn’t fetch fox.png`. */
export function fileNotFetched(option: string, name: string): string {
  return `${option}: I couldn’t fetch ${name}. Another copy of it may work; your administrator can see the reason in the log.`;
}

/** Texts of the button that sends a clip of a thread to the channel as well. */
export const BROADCAST_WORDS = {
  button: 'Also send to channel',
  link: 'Watch the clip',
  done: 'The channel has it now, too.',
  already: 'The channel has it already.',
  gone: 'The clip isn’t here any more, so there is nothing to send.',
  notYours: 'Only the person who asked for this clip can send it to the channel.',
} as const;
