/** How much the program's memory grows while a clip of 200 MB goes from the service to the chat. */
import { setTimeout as after } from 'node:timers/promises';
import { request } from 'undici';
import { report } from './figure.ts';
import { inFolder, startUpstream } from './house.ts';
import { startProgram } from './program.ts';

const CLIP_BYTES = 200 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;
const MOST_MEGABYTES = 64;
const LOOK_MS = 100;

const upstream = await startUpstream(CLIP_BYTES);
const small = await startUpstream(1_001);

/** Orders a clip and waits until it is attached. @returns the peak of memory until then. */
async function peakFor(baseUrl: string): Promise<number> {
  return inFolder(async (folder) => {
    const program = await startProgram(folder, baseUrl);
    const body = JSON.stringify({ id: 'one', user: 'ana', channel: 'general', text: '/video create a long film' });
    const headers = { 'content-type': 'application/json' };
    await (await request(`${program.url}/playground/interactions`, { method: 'POST', body, headers })).body.dump();
    for (;;) {
      const answer = await request(`${program.url}/playground/messages?channel=general`);
      const messages = (await answer.body.json()) as readonly { readonly attachments: readonly unknown[] }[];
      if (messages.some(({ attachments }) => attachments.length > 0)) break;
      await after(LOOK_MS);
    }
    const peak = await program.peakBytes();
    program.stop();
    return peak;
  });
}

const withSmall = await peakFor(small.baseUrl);
const withLarge = await peakFor(upstream.baseUrl);
const growth = (withLarge - withSmall) / MEGABYTE;
report([
  {
    what: 'memory grown by delivering a clip of 200 MB',
    measured: `${growth.toFixed(0)} MB`,
    target: 'at most 64 MB',
    isMet: growth <= MOST_MEGABYTES,
    remark: `peak resident ${(withLarge / MEGABYTE).toFixed(0)} MB, with a clip of 1 KB ${(withSmall / MEGABYTE).toFixed(0)} MB`,
  },
]);
upstream.stop();
small.stop();
