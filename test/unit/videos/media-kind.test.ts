import { expect, it } from 'vitest';
import { readableMedia } from '#src/videos/media-kind.ts';

it.each<[string, string | undefined, string | null]>([
  ['fox.png', 'image/png', 'image/png'],
  ['fox', 'image/jpeg; name=fox', 'image/jpeg'],
  ['fox.JPG', undefined, 'image/jpeg'],
  ['fox.webp', 'application/octet-stream', 'image/webp'],
  ['fox.heic', undefined, null],
  ['fox.heic', 'image/heic', null],
  ['fox.png', 'image/svg+xml', null],
  ['fox.tif', '', null],
  ['fox', undefined, null],
  ['fox.tar.mp4', '', 'video/mp4'],
  ['fox.mp3', undefined, 'audio/mpeg'],
  ['fox.bin', 'audio/x-odd', 'audio/x-odd'],
  ['fox.pdf', 'application/pdf', null],
  ['png', undefined, null],
  ['a.png/b', undefined, null],
])('%s with the content type %s is read as %s', (name, contentType, type) => {
  expect(readableMedia({ name, contentType })?.contentType ?? null).toBe(type);
});
