import { describe, expect, it } from 'vitest';
import { videoTypeOf } from '#src/videos/container.ts';

const head = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('videoTypeOf', () => {
  it.each([
    ['MP4', head('\0\0\0\x20ftypisom\0\0\x02\0'), 'video/mp4'],
    ['fragmented MP4', head('\0\0\0\x18stypmsdh'), 'video/mp4'],
    ['QuickTime', head('\0\0\0\x14ftypqt  '), 'video/quicktime'],
    ['old QuickTime', head('\0\0\0\x08wide\0\0\0\0mdat'), 'video/quicktime'],
    ['WebM', head('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm'), 'video/webm'],
    ['Matroska', head('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska'), 'video/x-matroska'],
    ['AVI', head('RIFF\x24\0\0\0AVI LIST'), 'video/x-msvideo'],
    ['Ogg', head('OggS\0\x02'), 'video/ogg'],
    ['AVIF', head('\0\0\0\x20ftypavif'), null],
    ['M4A', head('\0\0\0\x20ftypM4A '), null],
    ['WAV', head('RIFF\x24\0\0\0WAVEfmt '), null],
    ['PNG', head('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), null],
    ['JSON', head('{"error":"ftyp"}'), null],
    ['nothing', head(''), null],
    ['a byte', head('\x1a'), null],
  ])('%s', (_, bytes, type) => {
    expect(videoTypeOf(bytes)).toBe(type);
  });
});
