/** Growth of the program's memory while a clip of 200 MB is transferred from the service to the chat. */
import { setTimeout as after } from 'node:timers/promises';
import { request } from 'undici';
import { report } from './figure.ts';
import { inFolder, startUpstream } from './house.ts';
import { startProgram } from './program.ts';

const CLIP_BYTES = 200 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;
const MOST_MEGABYTES = 64;
const LOOK_MS = 100;

const upstream = await startUpstream([1_000, CLIP_BYTES]);

/** Orders a clip and waits until it is attached. */
async function deliver(url: string, id: string): Promise<void> {
  const body = JSON.stringify({ id, user: 'ana', channel: id, text: '/video create a long film' });
  const headers = { 'content-type': 'application/json' };
  await (await request(`${url}/playground/interactions`, { method: 'POST', body, headers })).body.dump();
  for (;;) {
    const answer = await request(`${url}/playground/messages?limit=1000&channel=${id}`);
    const messages = (await answer.body.json()) as readonly { readonly attachments: readonly unknown[] }[];
    if (messages.some(({ attachments }) => attachments.length > 0)) return;
    await after(LOOK_MS);
  }
}

await inFolder(async (folder) => {
  const program = await startProgram(folder, upstream.baseUrl);
  // Warms up with a small clip, so that the code's own memory is not counted.
  await deliver(program.url, 'small');
  const before = await program.residentBytes();
  await deliver(program.url, 'large');
  const peak = await program.peakBytes();
  program.stop();
  const growth = (peak - before) / MEGABYTE;
  report([
    {
      what: 'memory grown by delivering a clip of 200 MB',
      measured: `${growth.toFixed(0)} MB`,
      target: 'at most 64 MB',
      isMet: growth <= MOST_MEGABYTES,
      remark: `resident ${(before / MEGABYTE).toFixed(0)} MB after a small clip, at most ${(peak / MEGABYTE).toFixed(0)} MB during the large one`,
    },
  ]);
});
upstream.stop();
