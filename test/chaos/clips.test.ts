import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CutWatch, makeShots } from './clips.ts';

const CUT = 'replica-0/data/clips/cut-0123456789abcdef0123456789abcdef.mp4';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-watch-'));
  await mkdir(join(folder, 'replica-0/data/clips'), { recursive: true });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

it('notices a cut that was not whole for a while, and neither whole ones nor partial files under another name', async () => {
  const [shot] = await makeShots();
  const whole = shot?.content ?? Buffer.alloc(0);
  const watch = new CutWatch(folder);
  const looking = new AbortController();
  const over = watch.watch(looking.signal);
  await writeFile(join(folder, `${CUT}.1f.part`), whole.subarray(0, 100));
  await writeFile(join(folder, CUT), whole.subarray(0, whole.length / 2));
  await expect.poll(() => watch.halves.map(({ path }) => path)).toEqual([CUT]);
  await writeFile(join(folder, CUT), whole);
  looking.abort();
  await over;
  expect(watch.halves).toHaveLength(1);
});
