/** How long a person waits for the acknowledgement when 1,000 commands come at once, over HTTP, from another process. */
import { Agent, request } from 'undici';
import { report } from './figure.ts';
import { inFolder, quantile, startUpstream } from './house.ts';
import { startProgram } from './program.ts';

const COMMANDS = 1_000;
const MOST_MS = 100;

const upstream = await startUpstream();
await inFolder(async (folder) => {
  const program = await startProgram(folder, upstream.baseUrl);
  const agent = new Agent({ connections: 128 });
  const burst = async (
    name: string,
    path: string,
    bodyOf: (number: number) => string | null,
  ): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: COMMANDS }, async (_, number) => {
        const startedAt = performance.now();
        const body = bodyOf(number);
        const post =
          body === null ? {} : { method: 'POST' as const, body, headers: { 'content-type': 'application/json' } };
        const answer = await request(`${program.url}${path}`, { ...post, dispatcher: agent });
        await answer.body.dump();
        if (answer.statusCode >= 300) throw new Error(`${name}: HTTP ${answer.statusCode}`);
        return performance.now() - startedAt;
      }),
    );
  const command = (name: string) => (number: number) =>
    JSON.stringify({
      id: `${name}-${number}`,
      user: 'ana',
      channel: 'general',
      text: '/video create a red fox running through snow',
    });
  await burst('warm', '/playground/interactions', command('warm'));
  await burst('warm', '/healthz', () => null);
  const bare = await burst('bare', '/healthz', () => null);
  const ours = await burst('burst', '/playground/interactions', command('burst'));
  await agent.destroy();
  program.stop();
  const p99 = quantile(ours, 0.99);
  report([
    {
      what: `acknowledgement in a burst of ${COMMANDS.toLocaleString('en')} commands, p99`,
      measured: `${p99.toFixed(0)} ms`,
      target: 'at most 100 ms',
      isMet: p99 <= MOST_MS,
      remark: `median ${quantile(ours, 0.5).toFixed(0)} ms; an empty GET of the same server in such a burst: p99 ${quantile(bare, 0.99).toFixed(0)} ms; claims on disk, messages posted, creates going out meanwhile`,
    },
  ]);
});
upstream.stop();
