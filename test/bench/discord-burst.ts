/** Response time on Discord when 500 commands arrive within 10 s, and the effect on Discord's rate limits. */
import { setTimeout as after } from 'node:timers/promises';
import { request } from 'undici';
import type { Interaction } from '#test/fakes/discord/index.ts';
import { came, startOnDiscord } from './discord.ts';
import { report } from './figure.ts';
import { inFolder, quantile, startUpstream } from './house.ts';

const COMMANDS = 500;
const SECONDS = 10;
const MOST_MS = 1_000;
const TIMEOUT_MS = 60_000;
/** Default poll intervals of the program. */
const STANDARD_PACE = { POLL_FIRST_MS: '5000', POLL_MIN_MS: '5000' };

const upstream = await startUpstream();

/** Returns the number of creates that the service accepted: it numbers its tasks. */
async function createsTaken(): Promise<number> {
  const answer = await request(`${upstream.baseUrl}/v1/videos`, { method: 'POST', body: '{}' });
  const { id } = (await answer.body.json()) as { readonly id: string };
  return Number(id.replace('task-', '')) - 1;
}

await inFolder(async (folder) => {
  const bench = await startOnDiscord({ folder, baseUrl: upstream.baseUrl, settings: STANDARD_PACE });
  const { discord } = bench;
  const startedAt = performance.now();
  for (let number = 0; number < COMMANDS; number += 1) {
    await after(Math.max(0, startedAt + (number * SECONDS * 1_000) / COMMANDS - performance.now()));
    discord.people.slash('video create', { prompt: `a red fox running through snow, take ${number}` });
  }
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  const isRunning = (asked: Interaction): boolean =>
    JSON.stringify(discord.original(asked)?.components ?? []).includes('Running');
  await came(discord, () => discord.interactions.every(isRunning), TIMEOUT_MS);
  const waits = discord.interactions.map(({ answer, createdMs }) =>
    answer === null ? Number.POSITIVE_INFINITY : answer.atMs - createdMs,
  );
  const p99 = quantile(waits, 0.99);
  const creates = await createsTaken();
  const running = discord.interactions.filter(isRunning).length;
  report([
    {
      what: `acknowledgement of ${COMMANDS} slash commands on Discord in ${SECONDS} s, p99`,
      measured: `${p99.toFixed(0)} ms`,
      target: 'under 1 s',
      isMet: p99 < MOST_MS,
      remark: `median ${quantile(waits, 0.5).toFixed(0)} ms, slowest ${Math.max(...waits).toFixed(0)} ms, sent in ${tookSeconds.toFixed(1)} s; seen by Discord, from event to answer`,
    },
    {
      what: `creates for these ${COMMANDS} commands`,
      measured: `${creates}`,
      target: 'one each',
      isMet: creates === COMMANDS && running === COMMANDS,
      remark: `${running} messages came to say that their task runs`,
    },
    {
      what: "Discord's limits overstepped in that burst",
      measured: `${discord.violations.length}`,
      target: 'none',
      isMet: discord.violations.length === 0,
      remark: `${discord.requests.length} requests, ${bench.conduct()}`,
    },
  ]);
  await bench.stop();
});
upstream.stop();
