import type { APIAttachment } from 'discord.js';
import { expect, it } from 'vitest';
import { ReferenceMedia } from '#adapters/discord/interactions/options.ts';
import type { Relay } from '#src/media/relay.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const offered: { readonly name: string; readonly contentType: string }[] = [];
const relay = {
  offer: (file: { readonly name: string; readonly contentType: string }) => {
    offered.push(file);
    return null;
  },
} as Pick<Relay, 'offer'> as Relay;
const media = new ReferenceMedia(relay, new ManualClock());

// Discord omits `content_type` for unknown types.
// @see https://docs.discord.com/developers/resources/message#attachment-object
function take(filename: string, contentType?: string) {
  const url = `https://cdn.discordapp.com/attachments/1/2/${filename}`;
  const type = contentType === undefined ? {} : { content_type: contentType };
  return media.resolve([{ option: 'image', attachment: { url, filename, size: 9, ...type } as APIAttachment }]);
}

it.each<[string, string | undefined]>([
  ['photo.heic', undefined],
  ['photo', undefined],
  ['scan.tiff', 'image/tiff'],
  ['logo.svg', 'image/svg+xml'],
  ['notes.png', 'text/plain'],
])('refuses %s (%s) before the order', (name, type) => {
  const { addresses, wrong } = take(name, type);
  expect(addresses).toEqual({});
  expect(wrong).toEqual([`image: ${name} can’t be used; image takes PNG, JPEG, WebP, GIF or BMP`]);
});

it('goes by the extension if Discord sends no type, and relays the file with that type', () => {
  expect(take('Fox.PNG')).toMatchObject({ addresses: { image: [expect.stringContaining('Fox.PNG')] }, wrong: [] });
  expect(offered.at(-1)).toMatchObject({ contentType: 'image/png' });
  expect(take('fox', 'image/webp').wrong).toEqual([]);
});
