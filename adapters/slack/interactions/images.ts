import { readableMedia } from '#src/videos/media-kind.ts';
import type { SlackFile } from './attachments.ts';
import type { FoundImage } from './handler.ts';

/** The parts of a message that may contain an image. */
export interface MessageLike {
  readonly files?: readonly SlackFile[];
  readonly attachments?: readonly {
    readonly image_url?: unknown;
    readonly thumb_url?: unknown;
    readonly files?: readonly SlackFile[];
    readonly blocks?: readonly BlockLike[];
  }[];
  readonly blocks?: readonly BlockLike[];
}

interface BlockLike {
  readonly type?: unknown;
  readonly image_url?: unknown;
}

/** Returns the first image of a message: uploaded, in a block, or in the preview of a link or a shared message. */
export function imageIn(message: MessageLike): FoundImage | null {
  const attachments = message.attachments ?? [];
  for (const { files = [] } of [message, ...attachments]) {
    // Without a readable image, picks an unreadable one, so that the refusal can name it.
    const file = files.find(isReadableImage) ?? files.find(({ mimetype }) => mimetype?.startsWith('image/'));
    if (file !== undefined) return file;
  }
  const blocks = [message, ...attachments].flatMap((part) => part.blocks ?? []);
  const addresses = [
    ...blocks.filter(({ type }) => type === 'image').map((block) => block.image_url),
    ...attachments.flatMap(({ image_url, thumb_url }) => [image_url, thumb_url]),
  ];
  const address = addresses.find((one): one is string => typeof one === 'string' && /^https?:/u.test(one));
  return address === undefined ? null : { address };
}

/** Returns whether a file may be a readable image; one from another workspace, with only an id, is checked later. */
function isReadableImage({ id, name = '', mimetype }: SlackFile): boolean {
  if (mimetype === undefined) return id !== undefined;
  return readableMedia({ name, contentType: mimetype })?.kind === 'image';
}
