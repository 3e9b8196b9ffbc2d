import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWholeFile, videoTypeOf } from '#src/videos/content/container.ts';
import { wholeClip } from '#test/fakes/clip.ts';

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

describe('videoTypeOf with a known file size', () => {
  it.each([
    ['a second box', head('\0\0\0\x14ftypisom'), 28, 'video/mp4'],
    ['the first box alone', head('\0\0\0\x18ftypisom'), 24, null],
    ['a first box larger than the file', head('<!--free--><MPD'), 900_000, null],
    ['a first box below the minimum size', head('\0\0\0\x04ftypisom'), 900_000, null],
    ['a first box with a 64-bit size', head('\0\0\0\x01mdat\0\0\0\0\0\0\x10\0'), 9_000, 'video/quicktime'],
    ['a first box up to the end of the file', head('\0\0\0\0mdat'), 9_000, null],
  ])('requires room for a second box: %s', (_, bytes, fileBytes, type) => {
    expect(videoTypeOf(bytes, fileBytes)).toBe(type);
  });
});

describe('isWholeFile', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dailies-container-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const box = (type: string, bytes = 8): Buffer => {
    const made = Buffer.alloc(bytes);
    made.writeUInt32BE(bytes);
    made.write(type, 4, 'latin1');
    return made;
  };
  const toTheEnd = Buffer.concat([Buffer.from('\0\0\0\0mdat', 'latin1'), Buffer.alloc(50)]);
  const long = Buffer.concat([Buffer.from('\0\0\0\x01mdat\0\0\0\0\0\0\0\x20', 'latin1'), Buffer.alloc(16)]);

  it.each<[string, Buffer, boolean]>([
    ['index first', wholeClip(1_000), true],
    ['index last', Buffer.concat([box('ftyp', 24), box('mdat', 500), box('moov', 90)]), true],
    ['media data up to the end', Buffer.concat([box('ftyp', 24), box('moov', 90), toTheEnd]), true],
    ['a box of 64 bits', Buffer.concat([box('ftyp', 24), long, box('moov', 90)]), true],
    ['truncated within a box', wholeClip(1_000).subarray(0, 999), false],
    ['truncated between boxes', Buffer.concat([box('ftyp', 24), box('mdat', 500)]), false],
    ['truncated within a header', Buffer.concat([wholeClip(1_000), Buffer.from('\0\0\0')]), false],
    ['without media data', Buffer.concat([box('ftyp', 24), box('moov', 90)]), false],
    ['boxes without length', Buffer.concat([box('ftyp', 24), Buffer.from('\0\0\0\x04moovmdat')]), false],
    ['another container', Buffer.from('OggS and so on'), false],
    ['nothing', Buffer.alloc(0), false],
  ])('%s', async (name, bytes, isWhole) => {
    const path = join(folder, name.replaceAll(' ', '-'));
    await writeFile(path, bytes);
    const file = await open(path);
    expect(await isWholeFile(file, bytes.length)).toBe(isWhole);
    await file.close();
  });
});
