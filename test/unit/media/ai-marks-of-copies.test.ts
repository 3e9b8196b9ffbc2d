import { appendFile, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markCopy, readMarks } from '#src/media/ai-marks.ts';
import { createFfmpegFitter } from '#src/media/ffmpeg.ts';
import { Joiner } from '#src/media/join/joiner.ts';
import { isWholeFile } from '#src/videos/content/container.ts';
import { c2paBox, mp4, uuidBox, XMP } from '#test/fakes/boxes.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { describe as about, FFMPEG, ffmpeg, makeShot, packetsOf, play, type ShotOptions } from '#test/fakes/shots.ts';

const NEVER = new AbortController().signal;
const SOURCE_TYPE = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
const AIGC = '{"AIGC":{"Label":"1","ProduceID":"abc"}}';
const LABEL = '{"Label":"1","ProduceID":"abc"}';
const LOST = 'Marks of the original that were lost: Content Credentials (C2PA).';
const WEAKENED = 'Encoded again, which may have weakened an invisible watermark.';
const JOINED = 'Joined from clips without encoding them again.';
const logger = pino({ level: 'silent' });

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-copies-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Makes a shot with marks: boxes at its end, and a text in its metadata. */
async function marked(boxes: readonly Buffer[], options: ShotOptions = {}, comment?: string): Promise<string> {
  files += 1;
  const path = join(folder, `shot-${files}.mp4`);
  const output = comment === undefined ? [] : ['-metadata', `comment=${comment}`];
  await makeShot(path, { ...options, output });
  await appendFile(path, Buffer.concat(boxes));
  return path;
}

async function cutOf(...paths: readonly string[]): Promise<string> {
  const joiner = new Joiner({ folder, ffmpeg: FFMPEG, clock: new ManualClock(), logger });
  return (
    await joiner.join(
      paths.map((path) => ({ id: path, path })),
      NEVER,
    )
  ).path;
}

async function fitted(path: string): Promise<string> {
  const { size: bytes } = await stat(path);
  const copy = await createFfmpegFitter({ ffmpeg: FFMPEG, logger }).fit(
    { path, bytes, contentType: 'video/mp4' },
    1,
    60_000,
  );
  expect(copy?.bytes).toBe((await stat(`${copy?.path}`)).size);
  return `${copy?.path}`;
}

/** Returns the XMP of a file, whose boxes add up to it. */
async function xmpOf(path: string): Promise<string> {
  const file = await open(path);
  expect(await isWholeFile(file, (await stat(path)).size)).toBe(true);
  await file.close();
  const all = (await readFile(path)).toString();
  return all.slice(all.lastIndexOf('<?xpacket begin'));
}

describe('a fitted copy', () => {
  it('says that it is made with AI, and which marks of the clip it lost', async () => {
    const copy = await fitted(await marked([c2paBox(SOURCE_TYPE), uuidBox(XMP, SOURCE_TYPE)], {}, 'Made with AI'));
    expect(await readMarks(copy)).toEqual({ kinds: ['iptc', 'text'], lost: ['c2pa'], texts: ['Made with AI'] });
    const xmp = await xmpOf(copy);
    expect(xmp).toContain(`Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPE}"`);
    expect(xmp).toContain(`stEvt:parameters="${WEAKENED} ${LOST}"`);
    expect(await play(copy)).toMatchObject({ frames: 25 });
    // As another program reads it.
    const seen = (await ffmpeg('-export_xmp', '1', '-i', copy, '-f', 'ffmetadata', '-'))
      .toString()
      .replaceAll('\\', '');
    expect(seen).toContain(`Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPE}"`);
  });

  it('keeps a label that has a key of its own, which ffmpeg would drop', async () => {
    const path = join(folder, 'keyed.mp4');
    await makeShot(path, { output: ['-movflags', 'use_metadata_tags', '-metadata', `AIGC=${LABEL}`] });
    expect(await readMarks(path)).toEqual({ kinds: ['aigc'], lost: [], texts: [`AIGC ${LABEL}`] });
    expect(await readMarks(await fitted(path))).toEqual({
      kinds: ['iptc', 'aigc'],
      lost: [],
      texts: [`AIGC ${LABEL}`],
    });
  });

  it('of a clip without marks has lost none', async () => {
    const copy = await fitted(await marked([]));
    expect(await readMarks(copy)).toEqual({ kinds: ['iptc'], lost: [], texts: [] });
    expect(await xmpOf(copy)).toContain(`stEvt:parameters="${WEAKENED}"`);
  });

  it('of a cut names what the clips of the cut had', async () => {
    const cut = await cutOf(await marked([c2paBox('c2pa.opened')]), await marked([]));
    expect(await readMarks(await fitted(cut))).toEqual({ kinds: ['iptc'], lost: ['credentials'], texts: [] });
  });
});

describe('a cut', () => {
  it('of copied packets keeps the texts, and says that it is made with AI and what it lost', async () => {
    const paths = [
      await marked([c2paBox(SOURCE_TYPE)], {}, AIGC),
      await marked([c2paBox('')], {}, 'Made with Google AI'),
      await marked([], {}, 'Made with Google AI'),
    ];
    const cut = await cutOf(...paths);
    expect(await readMarks(cut)).toEqual({
      kinds: ['iptc', 'aigc', 'text'],
      lost: ['c2pa', 'credentials'],
      texts: [AIGC, 'Made with Google AI'],
    });
    const xmp = await xmpOf(cut);
    expect(xmp).toContain(`Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPE}"`);
    expect(xmp).toContain(`stEvt:action="edited" stEvt:softwareAgent="Dailies" stEvt:parameters="${JOINED} ${LOST}"`);
    // A manifest of a clip would call the cut forged.
    expect((await readFile(cut)).includes(c2paBox('').subarray(8, 24))).toBe(false);
    const sources = await Promise.all(paths.map((path) => packetsOf(path, 'v')));
    const checksums = (await packetsOf(cut, 'v')).map(({ checksum }) => checksum);
    expect(checksums).toEqual(sources.flat().map(({ checksum }) => checksum));
    expect(await about(cut)).toContain('Made with Google AI');
  });

  it('that is encoded says so', async () => {
    const cut = await cutOf(await marked([c2paBox(SOURCE_TYPE)], {}, AIGC), await marked([], { rate: 30 }));
    expect(await readMarks(cut)).toEqual({ kinds: ['iptc', 'aigc'], lost: ['c2pa'], texts: [AIGC] });
    const xmp = await xmpOf(cut);
    expect(xmp).toContain(`Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPE}"`);
    expect(xmp).toContain(
      `stEvt:action="converted" stEvt:softwareAgent="Dailies" stEvt:parameters="${WEAKENED} ${LOST}"`,
    );
    await play(cut);
  });

  it('is joined again as any clip', async () => {
    const cut = await cutOf(await marked([c2paBox(SOURCE_TYPE)]), await marked([]));
    const again = await cutOf(cut, await marked([]));
    expect(await readMarks(again)).toEqual({ kinds: ['iptc'], lost: ['c2pa'], texts: [] });
    expect(await play(again)).toMatchObject({ frames: 75 });
  });
});

describe('the metadata of a copy', () => {
  it('says where the marks of an original could not be read', async () => {
    const path = join(folder, 'copy.mp4');
    await writeFile(path, mp4());
    await markCopy(path, 'encoded', [null]);
    expect(await xmpOf(path)).toContain(`"${WEAKENED} Marks of an original could not be read, and were lost."`);
  });

  it('is not written into anything but an MP4 file', async () => {
    const path = join(folder, 'other.mkv');
    await writeFile(path, 'no boxes');
    await markCopy(path, 'encoded', []);
    expect(await readFile(path, 'utf8')).toBe('no boxes');
  });
});
