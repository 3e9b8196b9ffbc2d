/** Latency of the acknowledgement for 1,000 commands at once, over HTTP, from another process. */
import { setTimeout as after } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { report } from './figure.ts';
import { inFolder, quantile, startUpstream } from './house.ts';
import { type Program, startProgram } from './program.ts';

const COMMANDS = 1_000;
const MOST_MS = 100;

const upstream = await startUpstream();
const agent = new Agent({ connections: 128 });

/** Sends {@link COMMANDS} requests, all at once or one every `apartMs`. @returns each duration in milliseconds. */
async function burst(program: Program, name: string, apartMs: number): Promise<readonly number[]> {
  const startedAt = performance.now();
  const one = async (number: number): Promise<number> => {
    const dueAt = startedAt + number * apartMs;
    if (apartMs > 0) await after(Math.max(0, dueAt - performance.now()));
    const sentAt = performance.now();
    const { path, post } = name === 'bare' ? { path: '/healthz', post: {} } : command(name, number);
    const answer = await request(`${program.url}${path}`, { ...post, dispatcher: agent });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`${name}: HTTP ${answer.statusCode}`);
    return performance.now() - sentAt;
  };
  return Promise.all(Array.from({ length: COMMANDS }, (_, number) => one(number)));
}

function command(name: string, number: number) {
  const text = '/video create a red fox running through snow';
  const body = JSON.stringify({ id: `${name}-${number}`, user: 'ana', channel: name, text });
  const headers = { 'content-type': 'application/json' };
  return { path: '/playground/interactions', post: { method: 'POST', body, headers } as const };
}

await inFolder(async (folder) => {
  const program = await startProgram(folder, upstream.baseUrl);
  await burst(program, 'warm', 0);
  await burst(program, 'bare', 0);
  const bare = quantile(await burst(program, 'bare', 0), 0.99);
  const atOnce = await burst(program, 'at-once', 0);
  await after(2_000);
  const spread = await burst(program, 'spread', 1);
  program.stop();
  const figure = (what: string, times: readonly number[], remark: string) => {
    const p99 = quantile(times, 0.99);
    return {
      what,
      measured: `${p99.toFixed(0)} ms`,
      target: 'at most 100 ms',
      isMet: p99 <= MOST_MS,
      remark: `median ${quantile(times, 0.5).toFixed(0)} ms; ${remark}`,
    };
  };
  report([
    figure(
      'acknowledgement, 1,000 commands at one instant, p99',
      atOnce,
      `they queue for one thread, and their creates go out meanwhile; an empty GET of the same server in such a burst: p99 ${bare.toFixed(0)} ms`,
    ),
    figure(
      'acknowledgement, 1,000 commands within one second, p99',
      spread,
      'claims on disk, messages posted, creates going out meanwhile',
    ),
  ]);
});
await agent.destroy();
upstream.stop();
