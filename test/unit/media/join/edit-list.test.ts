import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEdits } from '#src/media/join/edit-list.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-edits-'));
});
afterAll(() => rm(folder, { recursive: true }));

function box(name: string, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0));
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, ...content]);
}

function fields(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, 4 * at);
  return bytes;
}

const RATE = 0x1_0000;
const MOVIE = box('mvhd', fields(0, 0, 0, 1_000, 4_000));
const TRACK = box('tkhd', fields(0, 0, 0, 7));
const track = (...elst: readonly number[]): Buffer => box('trak', TRACK, box('edts', box('elst', fields(0, ...elst))));

async function editsOf(...content: readonly Buffer[]) {
  const path = join(folder, 'clip.mp4');
  await writeFile(path, Buffer.concat(content));
  return readEdits(path);
}

describe('reading edit lists', () => {
  it.each([
    ['one piece', [1, 1_500, 512, RATE], { seconds: 1.5, isOnePiece: true }],
    ['one piece after a pause', [2, 250, -1, RATE, 1_500, 0, RATE], { seconds: 1.5, isOnePiece: true }],
    ['two pieces', [2, 500, 0, RATE, 250, 2_000, RATE], { seconds: 0.75, isOnePiece: false }],
    ['one at half the speed', [1, 1_500, 0, RATE / 2], { seconds: 1.5, isOnePiece: false }],
    ['an open end', [1, 0, 0, RATE], { seconds: Number.POSITIVE_INFINITY, isOnePiece: true }],
    ['more entries than bytes', [1_000_000, 1_500, 0, RATE], { seconds: 1.5, isOnePiece: true }],
  ])('%s', async (_, elst, expected) => {
    const clip = await editsOf(
      box('ftyp', fields(0)),
      box('mdat', fields(1, 2, 3)),
      box('moov', MOVIE, track(...elst)),
    );
    expect(clip).toEqual(new Map([[7, expected]]));
  });

  it('finds none in a file without a header, or with another one', async () => {
    expect(await editsOf(Buffer.from('<!doctype html>'))).toEqual(new Map());
    expect(await editsOf(box('moov', MOVIE, box('trak', TRACK)))).toEqual(new Map());
    expect(await editsOf(fields(0, 0))).toEqual(new Map());
  });

  it('rejects a header that is larger than that of any clip, or cut off', async () => {
    const huge = Buffer.concat([fields(0x7f00_0000), Buffer.from('moov')]);
    await expect(editsOf(huge)).rejects.toThrow(RangeError);
    await expect(editsOf(box('moov', box('mvhd', fields(0))))).rejects.toThrow(RangeError);
  });
});
