/** Growth of the program's memory while a clip of 200 MB is transferred from the service to Discord. */
import { watch } from 'node:fs';
import { join } from 'node:path';
import { came, type OnDiscord, startOnDiscord } from './discord.ts';
import { report } from './figure.ts';
import { inFolder, startUpstream } from './house.ts';

const MEGABYTE = 1024 * 1024;
const CLIP_BYTES = 200 * MEGABYTE;
const MOST_MEGABYTES = 64;
const TIMEOUT_MS = 120_000;

const upstream = await startUpstream([1_000, CLIP_BYTES]);

/** Orders a clip and waits until it is attached and its requester was notified. @returns the bytes received. */
async function deliver({ discord }: OnDiscord): Promise<number> {
  const pings = discord.pings.length + 1;
  const asked = discord.people.slash('video create', { prompt: 'a long film' });
  const attached = (): number => discord.original(asked)?.attachments[0]?.bytes ?? 0;
  await came(discord, () => attached() > 0 && discord.pings.length >= pings, TIMEOUT_MS);
  return attached();
}

await inFolder(async (folder) => {
  const fake = { maxFileBytes: CLIP_BYTES + MEGABYTE };
  const bench = await startOnDiscord({ folder, baseUrl: upstream.baseUrl, fake });
  // Warms up with a small clip, so that the code's own memory is not counted.
  await deliver(bench);
  const before = await bench.program.residentBytes();
  let peakOfDownload = Promise.resolve(Number.NaN);
  const clips = watch(join(folder, 'data', 'clips'), (_event, name) => {
    // A clip gets its final name once it is complete; its upload comes after that.
    if (name?.endsWith('.mp4') !== true) return;
    clips.close();
    peakOfDownload = bench.program.peakBytes();
  });
  const arrived = await deliver(bench);
  clips.close();
  const peak = await bench.program.peakBytes();
  const growth = (peak - before) / MEGABYTE;
  const byDownload = ((await peakOfDownload) - before) / MEGABYTE;
  const arrival = arrived === CLIP_BYTES ? 'all of it arrived' : `${arrived} of ${CLIP_BYTES} bytes arrived`;
  report([
    {
      what: 'memory grown by uploading a clip of 200 MB to Discord',
      measured: `${growth.toFixed(0)} MB`,
      target: 'at most 64 MB',
      isMet: arrived === CLIP_BYTES && growth <= MOST_MEGABYTES && bench.discord.violations.length === 0,
      remark: `resident ${(before / MEGABYTE).toFixed(0)} MB after a small clip, at most ${(peak / MEGABYTE).toFixed(0)} MB during the large one; ${byDownload.toFixed(0)} MB of it before the upload began; ${arrival}; ${bench.conduct()}`,
    },
  ]);
  await bench.stop();
});
upstream.stop();
