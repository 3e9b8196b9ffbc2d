import { readableMedia } from '#src/videos/media-kind.ts';
import type { SlackFile } from './attachments.ts';
import type { FoundImage } from './handler.ts';

/** A message, as far as it is looked through for an image. */
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

/** The first image of a message: uploaded, in a block, or in the preview of a link or of a shared message. */
export function imageIn(message: MessageLike): FoundImage | null {
  const attachments = message.attachments ?? [];
  for (const { files = [] } of [message, ...attachments]) {
    // What is no readable image is refused by name, where there is no other.
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

/** Files shared from other workspaces come as an id alone; what they are is looked up later. */
function isReadableImage({ id, name = '', mimetype }: SlackFile): boolean {
  if (mimetype === undefined) return id !== undefined;
  return readableMedia({ name, contentType: mimetype })?.kind === 'image';
}
