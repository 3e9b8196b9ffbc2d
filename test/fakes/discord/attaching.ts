import { type Component, mediaOf, walk } from './components.ts';
import type { UploadedFile } from './files.ts';
import { invalid } from './form.ts';
import type { MessageForm } from './message-form.ts';
import type { Attachment } from './records.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** Change of a message's files by a send or an edit. */
export interface Attaching {
  readonly world: World;
  readonly channelId: string;
  /** Attachments before the change. */
  readonly before: readonly Attachment[];
  readonly requested: MessageForm['attachments'];
  readonly files: readonly UploadedFile[];
  readonly maxBytes: number;
  readonly isLimitKnown: boolean;
}

/** Largest number of files of a message. @see docs.jda.wiki Message.MAX_FILE_AMOUNT: not in Discord's documentation */
export const MAX_FILES = 10;

/**
 * Returns the files of the message after the change: those that `attachments` lists, old and new; without the list, the
 * new ones, and the old ones alone where there are none.
 * @throws Refusal 413 40005 for a file over the limit; 50035 for an id that is neither on the message nor uploaded
 * @see discord docs: reference, "Editing Message Attachments"; resources/message, "Attachment Request Structure": "you must
 * provide the `id` of each file to keep"; change log, v10: files that are not specified beside new ones are removed
 */
export function attached({ world, channelId, before, requested, files, ...limit }: Attaching): readonly Attachment[] {
  const largest = Math.max(0, ...files.map(({ bytes }) => bytes));
  if (largest > limit.maxBytes) {
    const violation = `a file of ${largest} bytes where attachment_size_limit was ${limit.maxBytes}`;
    throw new Refusal(413, 40005, limit.isLimitKnown ? { violation } : {});
  }
  const add = (file: UploadedFile, description: string | null): Attachment =>
    world.files.add(world.freshId(), channelId, file, description);
  if (requested === undefined) {
    if (files.length > MAX_FILES) throw invalid('attachments', `a message takes ${MAX_FILES}`);
    return files.length === 0 ? before : files.map((file) => add(file, null));
  }
  const named = requested ?? [];
  if (new Set(named.map(({ id }) => id)).size < named.length) throw invalid('attachments', 'an id is listed twice');
  const unlisted = files.filter(({ index }) => !named.some(({ id }) => id === String(index)));
  for (const { filename } of unlisted)
    world.violate(`lost attachment: ${filename} was sent and not named in attachments`);
  return named.map(({ id, description }) => {
    const file = files.find(({ index }) => String(index) === id);
    if (file !== undefined) return add(file, description ?? null);
    const kept = before.find((one) => one.id === id);
    if (kept === undefined) throw invalid('attachments', `${id} is neither on the message nor among the files`);
    return description === undefined ? kept : { ...kept, description };
  });
}

/**
 * Returns the components with every `attachment://` resolved to the file's URL.
 * @throws Refusal 50035 for one that refers to no file of the message
 * @see discord docs: components/reference, "Unfurled Media Item"
 */
export function resolved(components: readonly Component[], attachments: readonly Attachment[]): readonly Component[] {
  const copy = structuredClone(components);
  for (const media of [...walk(copy)].flatMap(mediaOf) as { url: string; attachment_id?: string }[]) {
    if (!media.url.startsWith('attachment://')) continue;
    const file = attachments.find(({ filename }) => `attachment://${filename}` === media.url);
    if (file === undefined) throw invalid('components', `${media.url} names no file of the message`);
    Object.assign(media, {
      url: file.url,
      proxy_url: file.url,
      content_type: file.contentType,
      attachment_id: file.id,
    });
  }
  return copy;
}

/**
 * Returns the mismatches between the files and the components of a V2 message: a file that no component shows, a
 * component that shows a removed file.
 * @see discord docs: components/reference, introduction: "Attachments won't show by default"
 */
export function mismatches(components: readonly Component[], attachments: readonly Attachment[]): readonly string[] {
  const media = [...walk(components)].flatMap(mediaOf);
  const path = (url: string): string => url.split('?')[0] ?? url;
  const shows = (one: Attachment): boolean =>
    media.some(({ url, attachment_id }) => attachment_id === one.id || path(url) === path(one.url));
  const hidden = attachments.filter((one) => !shows(one));
  const dangling = media.filter(
    ({ attachment_id }) => attachment_id !== undefined && !attachments.some(({ id }) => id === attachment_id),
  );
  return [
    ...hidden.map(({ filename }) => `attachment invisible: no component shows ${filename}`),
    ...dangling.map(({ url }) => `lost attachment: a component shows ${path(url)}, which is gone`),
  ];
}
