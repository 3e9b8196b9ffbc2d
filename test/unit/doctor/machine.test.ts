import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { type Findings, runChecks } from '#src/doctor/diagnosis.ts';
import { checkDataFolder, checkFfmpeg, formatBytes } from '#src/doctor/machine.ts';

const UNBOUNDED = { retention: { clipsDays: 0, promptsDays: 0 }, maxDataBytes: 0 };
const diagnosed = (run: () => Promise<Findings>) =>
  runChecks([{ subject: 'Subject of the check', run }], systemClock, 60_000);
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dailies-machine-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the data folder', () => {
  it('is shown with the size of each folder in it, and stays as it is', async () => {
    await mkdir(join(dir, 'clips/deep'), { recursive: true });
    await mkdir(join(dir, 'relay'));
    await writeFile(join(dir, 'dailies.db'), Buffer.alloc(512));
    await writeFile(join(dir, 'clips/a.mp4'), Buffer.alloc(2048));
    await writeFile(join(dir, 'clips/deep/b.mp4'), Buffer.alloc(1024));
    const before = await readdir(dir, { recursive: true });
    const [folder, disk] = await diagnosed(() => checkDataFolder({ ...UNBOUNDED, dataDir: dir }));
    expect(folder).toMatchObject({ level: 'ok', found: `${dir} (3.5 KB, clips 3.0 KB, relay 0 B)` });
    expect(disk).toMatchObject({ subject: 'Disk', found: expect.stringMatching(/ free$/) });
    expect(await readdir(dir, { recursive: true })).toEqual(before);
  });

  it('that is not there yet is not created', async () => {
    const [folder] = await diagnosed(() => checkDataFolder({ ...UNBOUNDED, dataDir: join(dir, 'a/b') }));
    expect(folder).toMatchObject({ level: 'ok', found: expect.stringContaining('not there yet') });
    expect(await readdir(dir)).toEqual([]);
  });

  const GIB = 1024 ** 3;
  it.each([
    [{ clipsDays: 0, promptsDays: 0 }, 0, 'ok', /kept for good, prompts for good.*no limit$/],
    [{ clipsDays: 30, promptsDays: 0 }, 0, 'ok', /kept for 30 day\(s\), prompts for good/],
    [
      { clipsDays: 30, promptsDays: 7 },
      10_000,
      'ok',
      /kept for 7 day\(s\).*; 50 % of MAX_DATA_BYTES \(9.8 KB\) are used$/,
    ],
    [{ clipsDays: 0, promptsDays: 0 }, 6_000, 'warning', /83 %/],
    [{ clipsDays: 0, promptsDays: 0 }, 5_000, 'wrong', /no orders are taken/],
    [{ clipsDays: 0, promptsDays: 0 }, null, 'ok', /; 0 % of 80 % of the disk \([\d.]+ [GT]B\) are used$/],
    [{ clipsDays: 0, promptsDays: 0 }, 1024 * 1024 * GIB, 'warning', /more than the disk has/],
  ] as const)('is compared with its bounds: %j, %s bytes: %s', async (retention, maxDataBytes, level, found) => {
    await writeFile(join(dir, 'clip.mp4'), Buffer.alloc(5_000));
    const all = await diagnosed(() => checkDataFolder({ dataDir: dir, retention, maxDataBytes }));
    expect(all.at(-1)).toMatchObject({ subject: 'Retention', level, found: expect.stringMatching(found) });
  });
});

describe('ffmpeg', () => {
  async function program(script: string): Promise<string> {
    const path = join(dir, 'ffmpeg');
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  }

  it('is shown with its version and the encoders that it needs', async () => {
    const path = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');
    expect(await diagnosed(() => checkFfmpeg(path))).toEqual([
      expect.objectContaining({ level: 'ok', found: expect.stringMatching(/version \S+, with libx264 and aac$/) }),
    ]);
  });

  it('without an encoder is wrong', async () => {
    const path = await program(
      'echo "ffmpeg version 7.1 Copyright"; echo " A....D aac  AAC"; echo " V....D libx264rgb  H"',
    );
    expect(await diagnosed(() => checkFfmpeg(path))).toEqual([
      expect.objectContaining({
        level: 'wrong',
        found: expect.stringContaining('version 7.1, lacks the encoder libx264:'),
      }),
    ]);
  });

  it('that does not run is wrong, and a missing one is no error', async () => {
    const path = await program('exit 3');
    expect(await diagnosed(() => checkFfmpeg(path))).toMatchObject([{ level: 'wrong' }]);
    expect(await diagnosed(() => checkFfmpeg(null))).toMatchObject([{ level: 'warning' }]);
  });
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KB'],
  [15 * 1024 ** 2, '15 MB'],
  [3.25 * 1024 ** 4, '3.3 TB'],
])('writes %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
