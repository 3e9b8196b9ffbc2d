import type { ReferenceImage } from '#src/teams/index.ts';
import { type Block, type Card, layOut } from '../../ui/card.ts';

const USE = 'Write its name in a prompt, such as “a mug like @mug on a table”, or give it as an image option.';

export function libraryCard(images: readonly ReferenceImage[]): Card {
  if (images.length === 0)
    return layOut([
      {
        kind: 'text',
        line: ['The library is empty. ', { code: '/video library add @mug' }, ' and an image adds one.'],
      },
    ]);
  return layOut([
    { kind: 'heading', line: ['Reference library'] },
    ...images.map(
      ({ name, by, addedAtMs }): Block => ({
        kind: 'text',
        line: [{ code: `@${name}` }, ' · ', { person: by }, ' · ', { timeMs: addedAtMs }],
      }),
    ),
    { kind: 'small', line: [USE] },
  ]);
}

/** Confirms an addition. @param isLink whether only the address is kept */
export function addedCard(name: string, isLink: boolean): Card {
  const kept = isLink ? ' I keep the link alone: the image has to stay there.' : '';
  return layOut([
    { kind: 'text', line: ['Added ', { code: `@${name}` }, ` for the whole team.${kept}`] },
    { kind: 'small', line: [USE] },
  ]);
}

/** Confirms a removal. */
export function removedCard(name: string): Card {
  return layOut([{ kind: 'text', line: ['Removed ', { code: `@${name}` }, '. Clips made with it stay.'] }]);
}

/** Reply to words that are no change. */
export const WORDS_UNKNOWN = 'I don’t know what to change. Write “add @mug” with an image, or “remove @mug”.';

export const NAME_RULE =
  'A name has 1 to 32 letters from a to z, digits and hyphens, such as @mug. A hyphen is neither first nor last.';

/** Refuses a name that addresses everyone in a channel. */
export const NAME_RESERVED = 'That name notifies people in a chat. Choose another one.';

/** Reply to people of other organisations. */
export const EXTERNAL = 'The library belongs to the team of this workspace.';

/** Reply to an addition of none or several images. */
export function oneImage(name: string): string {
  return `Add exactly one image to @${name}: attach it, or give a link to it.`;
}

export function nameTaken(name: string): string {
  return `There is a @${name} already. Remove it first, or choose another name.`;
}

/** Reply to an addition beyond the most. */
export function libraryFull(max: number): string {
  return `The library has ${max} images, which is the most. Remove one first.`;
}

/** Refuses the removal of an image that someone else added. */
export function mayNotRemove({ name, by }: Pick<ReferenceImage, 'name' | 'by'>): string {
  return `Only ${by.name} or an administrator can remove @${name}.`;
}

/** Reply to the removal of an unknown name. */
export function noSuchImage(name: string, meant: string | null): string {
  return `There is no @${name} in the library.${meant === null ? '' : ` Did you mean @${meant}?`}`;
}

/** Reply to a file that could not be kept. */
export function imageFailed(reason: 'expires' | 'failed' | 'too_large' | 'no_image' | 'full'): string {
  switch (reason) {
    case 'expires':
      return 'This file’s link expires, and I can’t keep files without PUBLIC_URL. Give a link to the image instead.';
    case 'too_large':
      return 'This image is larger than 32 MB.';
    case 'no_image':
      return 'This file isn’t a PNG, JPEG, WebP or GIF image. Nothing was added.';
    case 'full':
      return 'My storage has reached its limit, so nothing was added. Your administrator has to remove old clips or raise the limit. A link to the image still works.';
    case 'failed':
      return 'I couldn’t fetch the image. Nothing was added. Try again.';
  }
}
