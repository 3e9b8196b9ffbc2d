import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Joiner, ShotError, ShotsDifferError, timeoutMsFor } from '#src/media/join/joiner.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import {
  describe as about,
  FFMPEG,
  ffmpeg,
  makeShot,
  type Playback,
  packetsOf,
  play,
  type ShotOptions,
} from '#test/fakes/shots.ts';

const NEVER = new AbortController().signal;
/** Most that sound may be off its picture, in seconds. */
const MAX_OFFSET = 0.04;
const PICTURE = 1 / 24;

let clips: string;
let folder: string;
let encoded: boolean[];

beforeAll(async () => {
  clips = await mkdtemp(join(tmpdir(), 'dailies-shots-'));
});
afterAll(() => rm(clips, { recursive: true }));
beforeEach(async () => {
  encoded = [];
  folder = await mkdtemp(join(tmpdir(), 'dailies-cuts-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Makes each kind of shot once. */
async function shot(options: ShotOptions = {}): Promise<string> {
  const name = JSON.stringify(options).replace(/[^\w]+/g, '_');
  const path = join(clips, `${name}.mp4`);
  return (await stat(path).catch(() => null)) === null ? makeShot(path, options) : path;
}

function joinerOf(program: string | null = FFMPEG, clock = new ManualClock()): Joiner {
  const log = { write: (line: string) => seen(JSON.parse(line)) };
  return new Joiner({ folder, ffmpeg: program, clock, logger: pino({}, log) });
}

function seen({ event, differences }: { readonly event?: string; readonly differences?: readonly unknown[] }): void {
  if (event === 'clips_joined') encoded.push((differences ?? []).length > 0);
}

const inputsOf = (paths: readonly string[]) => paths.map((path, at) => ({ id: `${at}:${path}`, path }));

/** Joins shots. @returns the path of the cut. */
async function cutOf(paths: readonly string[], program: string | null = FFMPEG): Promise<string> {
  const cut = await joinerOf(program).join(inputsOf(paths), NEVER);
  const { size: bytes } = await stat(cut.path);
  const [, length = ''] = /Duration: 00:00:([\d.]+)/.exec(await about(cut.path)) ?? [];
  const seconds = expect.closeTo(Number(length), 1);
  expect(cut).toEqual({ path: cut.path, bytes, contentType: 'video/mp4', seconds });
  expect(await readdir(folder)).toEqual([cut.path.slice(folder.length + 1)]);
  return cut.path;
}

/** Expects each flash where the lengths of the shots put it, and its beep with it. */
function expectSync(played: Playback, flashes: readonly number[], beeps: readonly number[] = flashes): void {
  expect(played.flashes).toHaveLength(flashes.length);
  for (const [at, flash] of flashes.entries())
    expect(Math.abs((played.flashes[at] ?? 0) - flash)).toBeLessThan(PICTURE);
  expect(played.beeps).toHaveLength(beeps.length);
  for (const [at, beep] of beeps.entries()) {
    const nearest = played.flashes.reduce((one, other) =>
      Math.abs(other - beep) < Math.abs(one - beep) ? other : one,
    );
    expect(Math.abs((played.beeps[at] ?? 0) - nearest)).toBeLessThan(MAX_OFFSET);
  }
}

describe('a shot with a wrong count in its header', () => {
  /** A sound shot with a number of a table's first row replaced, at an offset from the name of the table. */
  async function damaged(table: string, offset: number, count = 0x7fff_ffff): Promise<string> {
    const bytes = await readFile(await shot());
    bytes.writeUInt32BE(count, bytes.indexOf(table) + offset);
    const path = join(clips, `damaged-${table}-${offset}.mp4`);
    await writeFile(path, bytes);
    return path;
  }

  it.each([
    ['composition offsets', 'ctts', 12],
    ['durations', 'stts', 12],
    ['rows of durations', 'stts', 8],
    ['samples per chunk', 'stsc', 16],
    ['chunks', 'stsc', 12],
    ['samples', 'stsz', 12],
  ])('is refused before anything is counted: %s', async (_what, table, offset) => {
    const inputs = inputsOf([await shot(), await damaged(table, offset)]);
    await expect(joinerOf().join(inputs, NEVER)).rejects.toMatchObject({ code: 'not_a_video', shot: 2 });
    expect(await readdir(folder)).toEqual([]);
  });

  it('or anything else that keeps the process busy costs seconds by the size of the clips, minutes at most', () => {
    expect(timeoutMsFor(6_000)).toBeLessThan(31_000);
    expect(timeoutMsFor(12 * 31e6)).toBeGreaterThan(5 * 60_000);
    expect(timeoutMsFor(1e12)).toBe(10 * 60_000);
  });
});

describe('the colours of a cut that is encoded', () => {
  const RED = ['-f', 'lavfi', '-i', 'color=0xc81e1e:duration=0.5'] as const;
  /** A red shot whose pictures were coded with a matrix, with or without saying so. */
  async function red(name: string, size: string, rate: number, matrix: string, tags: readonly string[] = []) {
    const path = join(clips, `red-${name}-${rate}.mp4`);
    const filter = `fps=${rate},scale=${size}:out_color_matrix=${matrix},format=yuv420p`;
    await ffmpeg(...RED, '-vf', filter, '-c:v', 'libx264', '-qp', '1', ...tags, path);
    return path;
  }
  /** The average of a plane of the first picture, from 0 to 255. */
  async function planes(path: string, filter = 'null'): Promise<readonly number[]> {
    const raw = ['-vf', `${filter},format=yuv444p,scale=1:1`, '-frames:v', '1', '-f', 'rawvideo', '-'];
    return [...(await ffmpeg('-i', path, ...raw))];
  }
  function expectEqual(one: readonly number[], other: readonly number[]): void {
    expect(one).toHaveLength(3);
    for (const [at, value] of one.entries()) expect(Math.abs(value - (other[at] ?? 0))).toBeLessThanOrEqual(2);
  }
  const TAGGED = ['-colorspace', 'smpte170m', '-color_primaries', 'smpte170m', '-color_trc', 'smpte170m'];

  it.each([
    ['HD without a description, which players take for BT.709', 'hd', '1280x720', 'bt709', []],
    ['less than HD without one, which they take for BT.601', 'sd', '640x360', 'bt601', []],
    ['HD that says BT.601', 'tagged', '1280x720', 'bt601', TAGGED],
  ])('are those that a player shows: %s', async (_what, name, size, matrix, tags) => {
    const shots = [await red(name, size, 30, matrix, tags), await red(name, size, 24, matrix, tags)];
    const cut = await cutOf(shots);
    expect(encoded).toEqual([true]);
    const shown = await planes(shots[0] ?? '', `scale=in_color_matrix=${matrix}:out_color_matrix=bt709`);
    expectEqual(await planes(cut), shown);
  });

  /** A grey in HDR, by its code of 255 in full range. */
  async function hdr(transfer: 'smpte2084' | 'arib-std-b67' = 'smpte2084', code = '82'): Promise<string> {
    const path = join(clips, `hdr-${transfer}.mp4`);
    const grey = `color=0x${code.repeat(3)}:size=160x90:rate=24:duration=0.5,format=yuv420p10le`;
    const x265 = `log-level=error:colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc`;
    await ffmpeg('-f', 'lavfi', '-i', grey, '-c:v', 'libx265', '-x265-params', x265, '-tag:v', 'hvc1', path);
    return path;
  }

  it.each([
    ['100 nits in PQ', 'smpte2084', '82', 200],
    // At 1,000 nits to white.
    ['51 nits in HLG', 'arib-std-b67', '80', 175],
  ] as const)('are mapped where one shot is HDR: %s', async (_what, transfer, code, expected) => {
    const shots = [await hdr(transfer, code), await shot({ channels: null })];
    const [luma = 0, ...chroma] = await planes(await cutOf(shots));
    expect(Math.abs(luma - expected)).toBeLessThanOrEqual(5);
    for (const value of chroma) expect(Math.abs(value - 128)).toBeLessThanOrEqual(2);
  });

  it('name the shot that is HDR where ffmpeg cannot map it', async () => {
    const failure = await failureAtHdr(`echo "[AVFilterGraph @ 0x1] No such filter: 'zscale'" >&2; exit 1`);
    expect(failure).toBeInstanceOf(ShotError);
    expect(failure).toMatchObject({ shot: 2, failure: 'hdr' });
  });

  it.each([
    ['the disk is full', 'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1'],
    ['it crashes or is killed', 'kill -9 $$'],
  ])('are not what keeps ffmpeg from converting a shot in HDR where %s', async (_what, script) => {
    expect(await failureAtHdr(script)).toMatchObject({ shot: 2, failure: 'not_converted' });
  });

  /** Joins a shot with one in HDR by an ffmpeg that runs a script in place of the conversion. @returns its failure */
  async function failureAtHdr(script: string): Promise<unknown> {
    const program = join(await mkdtemp(join(clips, 'ffmpeg-')), 'ffmpeg');
    await writeFile(program, `#!/bin/sh\ncase "$*" in *zscale*) ${script};; esac\nexec ${FFMPEG} "$@"\n`, {
      mode: 0o755,
    });
    const inputs = inputsOf([await shot({ channels: null }), await hdr()]);
    return joinerOf(program)
      .join(inputs, NEVER)
      .catch((thrown: unknown) => thrown);
  }

  it('name the shot that ffmpeg fails to convert', async () => {
    const inputs = inputsOf([await shot(), await shot({ rate: 30 })]);
    const failure = await joinerOf('/bin/false')
      .join(inputs, NEVER)
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'internal', shot: 1, failure: 'not_converted' });
  });
});

describe('shots that agree', () => {
  it('are copied packet for packet, with the header first', async () => {
    const paths = [await shot({ frames: 25 }), await shot({ frames: 31 }), await shot({ frames: 28 })];
    const cut = await cutOf(paths, null);
    const sources = await Promise.all(paths.map((path) => packetsOf(path, 'v')));
    const packets = await packetsOf(cut, 'v');
    expect(packets.map(({ checksum }) => checksum)).toEqual(sources.flat().map(({ checksum }) => checksum));
    const head = await readFile(cut);
    expect(head.indexOf('moov')).toBeLessThan(head.indexOf('mdat'));
    const played = await play(cut);
    expect(played).toMatchObject({ width: 160, height: 90, frames: 84 });
    expect(Math.abs(played.seconds - 84 / 24)).toBeLessThan(PICTURE);
    expectSync(
      played,
      [12, 37, 68].map((frame) => frame / 24),
    );
  });

  it('keep sound and picture together over twelve joins', async () => {
    const one = await shot();
    const cut = await cutOf(
      Array.from({ length: 12 }, () => one),
      null,
    );
    const played = await play(cut);
    expect(Math.abs(played.seconds - (12 * 25) / 24)).toBeLessThan(PICTURE);
    expectSync(
      played,
      Array.from({ length: 12 }, (_, at) => (at * 25 + 12) / 24),
    );
  });

  it.each<[string, ShotOptions, ShotOptions]>([
    [
      'without B-frames, mono, GOPs of 5 and 12',
      { video: '-bf 0 -g 5', channels: 1 },
      { video: '-bf 0 -g 12', channels: 1 },
    ],
    [
      'with a B-frame pyramid, at 44.1 kHz',
      { video: '-bf 5 -b_strategy 2', sampleRate: 44_100 },
      { video: '-bf 5 -b_strategy 2', sampleRate: 44_100, frames: 29 },
    ],
    ['in 9:16', { size: '90x160' }, { size: '90x160', frames: 26 }],
    ['without edit lists', { output: ['-use_editlist', '0'] }, { output: ['-use_editlist', '0'], frames: 26 }],
    ['with an edit list and without', {}, { output: ['-use_editlist', '0'] }],
    ['fragmented', { output: ['-movflags', 'frag_keyframe+empty_moov'] }, {}],
  ])('are copied %s', async (_, one, other) => {
    const cut = await cutOf([await shot(one), await shot(other), await shot(one)], null);
    const [frames, more] = [one.frames ?? 25, other.frames ?? 25];
    const played = await play(cut);
    expect(played.frames).toBe(2 * frames + more);
    expect(Math.abs(played.seconds - played.frames / 24)).toBeLessThan(PICTURE);
    expectSync(
      played,
      [12, frames + 12, frames + more + 12].map((frame) => frame / 24),
    );
  });

  it('are copied without a sound track where none has sound', async () => {
    const cut = await cutOf([await shot({ channels: null }), await shot({ channels: null, frames: 30 })], null);
    expectSync(await play(cut), [12 / 24, 37 / 24], []);
    expect(await about(cut)).not.toContain('Audio');
  });

  it.each([
    ['first', 0],
    ['between sounding ones', 1],
    ['last', 2],
  ])('get silence where one has none: %s', async (_, silent) => {
    const paths = await Promise.all([0, 1, 2].map((at) => shot(at === silent ? { channels: null } : {})));
    const played = await play(await cutOf(paths, null));
    const flashes = [12 / 24, 37 / 24, 62 / 24];
    expectSync(
      played,
      flashes,
      flashes.filter((__, at) => at !== silent),
    );
    expect(Math.abs(played.soundSeconds - 75 / 24)).toBeLessThan(PICTURE);
  });

  it('keep their sound to themselves: longer sound is cut, shorter sound is followed by silence', async () => {
    const [short, long] = [await shot({ soundSeconds: 0.7 }), await shot({ soundSeconds: 1.6 })];
    const played = await play(await cutOf([short, long, short, await shot()], null));
    expectSync(
      played,
      [12, 37, 62, 87].map((frame) => frame / 24),
    );
    expect(Math.abs(played.soundSeconds - 100 / 24)).toBeLessThan(PICTURE);
    expect(Math.abs(played.seconds - 100 / 24)).toBeLessThan(PICTURE);
  });

  it('keep their rotation', async () => {
    const [one, other] = [join(clips, 'turned-1.mp4'), join(clips, 'turned-2.mp4')];
    for (const path of [one, other]) await ffmpeg('-i', await shot(), '-c', 'copy', '-metadata:s:v', 'rotate=90', path);
    const rotation = /rotation of [-\d]+/;
    expect(rotation.exec(await about(await cutOf([one, other], null)))?.[0]).toBe(rotation.exec(await about(one))?.[0]);
    expect(await about(one)).toMatch(rotation);
  });
});

describe('shots that differ', () => {
  it.each<[string, readonly ShotOptions[]]>([
    ['mono among stereo', [{}, { channels: 1 }]],
    ['another sample rate', [{}, { sampleRate: 44_100 }]],
    ['30 among 24 frames per second', [{}, { rate: 30, frames: 40 }]],
    ['a larger one', [{}, { size: '320x180' }, { channels: null }]],
    ['a smaller one', [{ size: '320x180' }, {}]],
    ['9:16 among 16:9', [{}, { size: '90x160' }, {}]],
    ['other parameters of the encoder', [{}, { video: '-bf 0' }]],
    ['a silent one first', [{ channels: null }, { channels: 1, rate: 30 }]],
  ])('are encoded in the size of the first at 30 frames per second: %s', async (_, options) => {
    const cut = await cutOf(await Promise.all(options.map(shot)));
    expect(encoded).toEqual([true]);
    const played = await play(cut);
    const [width, height] = (options[0]?.size ?? '160x90').split('x').map(Number);
    const starts: number[] = [0];
    for (const { frames = 25, rate = 24 } of options) starts.push((starts.at(-1) ?? 0) + frames / rate);
    const flashes = options.map(({ rate = 24 }, at) => (starts[at] ?? 0) + 12 / rate);
    expect(played).toMatchObject({ width, height, frames: Math.round((starts.at(-1) ?? 0) * 30) });
    expect(Math.abs(played.seconds - (starts.at(-1) ?? 0))).toBeLessThan(1 / 30);
    expectSync(
      played,
      flashes,
      flashes.filter((__, at) => options[at]?.channels !== null),
    );
    expect(await about(cut)).toMatch(/30 fps.*\n(?:.*\n)*.*Audio: aac \(LC\).*48000 Hz, stereo/);
  });

  it('are encoded where an edit list hides the beginning of one', async () => {
    const trimmed = join(clips, 'trimmed.mp4');
    // Cut between two key frames: the file holds all pictures from the key frame on, and hides six of them.
    await ffmpeg('-ss', '0.25', '-i', await shot({ video: '-bf 0' }), '-c', 'copy', trimmed);
    const plain = await shot({ video: '-bf 0' });
    const played = await play(await cutOf([plain, trimmed, plain]));
    expect(encoded).toEqual([true]);
    expectSync(played, [12 / 24, 31 / 24, 56 / 24]);
    expect(Math.abs(played.seconds - 69 / 24)).toBeLessThan(PICTURE);
  });

  it('are encoded with their rotation, with bars beside the upright one', async () => {
    const turned = join(clips, 'upright.mp4');
    await ffmpeg('-i', await shot(), '-c', 'copy', '-metadata:s:v', 'rotate=90', turned);
    const cut = await cutOf([await shot(), turned]);
    const corner = await ffmpeg(
      '-ss',
      '1.9',
      '-i',
      cut,
      '-frames:v',
      '1',
      '-vf',
      'crop=20:90:0:0,scale=1:1,format=gray',
      '-f',
      'rawvideo',
      '-',
    );
    expect(corner[0]).toBeLessThan(40);
    expectSync(await play(cut), [12 / 24, 37 / 24]);
  });

  it('are named without ffmpeg, with what differs', async () => {
    const paths = [
      await shot(),
      await shot({ channels: 1 }),
      await shot({ size: '90x160', rate: 30 }),
      await shot({ rate: 30 }),
    ];
    const failure = await joinerOf(null)
      .join(inputsOf(paths), NEVER)
      .catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(ShotsDifferError);
    expect(failure).toMatchObject({
      code: 'shots_differ',
      retryable: false,
      differences: [
        { shot: 2, property: 'channels', value: '1', expected: '2' },
        { shot: 3, property: 'size', value: '90×160', expected: '160×90' },
        { shot: 4, property: 'frame_rate', value: '30 fps', expected: '24 fps' },
      ],
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

it('names a shot that is not a video', async () => {
  const page = join(clips, 'page.mp4');
  await writeFile(page, '<!doctype html><title>Not found</title>');
  for (const path of [page, join(clips, 'missing.mp4')]) {
    await expect(joinerOf().join(inputsOf([await shot(), path]), NEVER)).rejects.toMatchObject({
      code: 'not_a_video',
      message: expect.stringContaining('shot 2'),
    });
  }
  expect(await readdir(folder)).toEqual([]);
});

it('names a cut after its clips in their order, and makes it anew each time', async () => {
  const inputs = inputsOf([await shot({ channels: null }), await shot({ channels: null, frames: 30 })]);
  const joiner = joinerOf();
  const cuts = await Promise.all([joiner.join(inputs, NEVER), joiner.join(inputs, NEVER)]);
  expect(cuts[1]).toEqual(cuts[0]);
  expect(encoded).toHaveLength(2);
  expect((await joiner.join(inputs.toReversed(), NEVER)).path).not.toBe(cuts[0]?.path);
  expect(await readdir(folder)).toHaveLength(2);
});

describe('interruptions', () => {
  it.each<[string, ShotOptions]>([
    ['copied', {}],
    ['encoded', { channels: 1 }],
  ])('leave no file, and do not disturb the next join: %s', async (_, options) => {
    const ending = new AbortController();
    const inputs = inputsOf([await shot(), await shot(options)]);
    const joiner = joinerOf();
    const joining = joiner.join(inputs, ending.signal);
    const ended = new Error('enough');
    setImmediate(() => ending.abort(ended));
    await expect(joining).rejects.toBe(ended);
    expect(await readdir(folder)).toEqual([]);
    await expect(joiner.join(inputs, ending.signal)).rejects.toBe(ended);
    expect((await joiner.join(inputs, NEVER)).bytes).toBeGreaterThan(0);
  });

  it('refuses more than twenty in the queue', async () => {
    const ending = new AbortController();
    const inputs = inputsOf([await shot()]);
    const joiner = joinerOf();
    const joins = Array.from({ length: 21 }, (_, at) =>
      joiner.join([{ id: `${at}`, path: inputs[0]?.path ?? '' }], ending.signal),
    );
    const settled = Promise.allSettled(joins);
    await expect(Promise.race(joins)).rejects.toMatchObject({ code: 'overloaded', retryable: true });
    ending.abort(new Error('enough'));
    await settled;
    expect(await readdir(folder)).toEqual([]);
  });

  it('sweeps what dead processes left hours ago, and nothing else', async () => {
    const clock = new ManualClock(Date.now());
    const hash = 'a'.repeat(32);
    const dead = [`cut-${hash}.mp4.1.part`, `cut-${hash}.mp4.2.3.part`, 't1.last-frame.png.1.part', `${hash}.1.part`];
    const names = [...dead, `cut-${hash}.mp4`, 't1.mp4.part'];
    for (const name of names) {
      await writeFile(join(folder, name), 'half');
      // As that of a hard link to an old clip.
      await utimes(join(folder, name), 1_000, 1_000);
    }
    await joinerOf(null, clock).sweep();
    expect(await readdir(folder)).toHaveLength(names.length);
    clock.step(4 * 3_600_000);
    await joinerOf(null, clock).sweep();
    expect((await readdir(folder)).sort()).toEqual([`cut-${hash}.mp4`, 't1.mp4.part']);
  });
});
