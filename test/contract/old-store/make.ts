/**
 * Makes the stores that `test/contract/old-store.test.ts` reads, by running a checkout of an earlier revision:
 *
 *     git worktree add --detach /tmp/old 72ef3f3 && npm --prefix /tmp/old ci --omit=dev
 *     node test/contract/old-store/make.ts /tmp/old
 *
 * Writes the schema, the records and the index entries that do not expire as one line of JSON each, once as made on SQLite
 * and once as made on Redis. The folder of the run reads `/old`.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type RunningProgram, startProgram, until } from '../../chaos/checkout.ts';
import { RedisServer } from '../../fakes/redis-server.ts';
import { startScriptedService } from '../../fakes/scripted-service.ts';

const TIMEOUT_MS = 60_000;
const root = process.argv[2] ?? '';

/** Orders a clip; the message is known by the prompt. */
async function order(program: RunningProgram, prompt: string, state: string | null): Promise<string> {
  const message = await program.interact(`/video create ${prompt} --seconds 4`, prompt);
  await reaches(program, message, state);
  return message;
}

async function reaches(program: RunningProgram, message: string, state: string | null): Promise<void> {
  await until(TIMEOUT_MS, async () => {
    const shown = (await program.messages()).find(({ id }) => id === message);
    return state === null || shown?.state === state ? true : undefined;
  }).catch(async () => {
    throw new Error(`no ${state}: ${JSON.stringify(await program.messages(), null, 1)} ${program.output()}`);
  });
}

async function textOf(program: RunningProgram, message: string): Promise<string> {
  return (await program.messages()).find(({ id }) => id === message)?.text ?? '';
}

/** Runs the earlier revision on `storeUrl` until it has a task in every state, then kills it. */
async function fill(dir: string, storeUrl: string): Promise<void> {
  let program = await startProgram({ root, dir, env: { STORE_URL: storeUrl } });
  await order(program, 'sandbox clip', 'completed');
  await program.interact('/video notify everyone', 'notify-everyone');
  await program.interact('/video notify me', 'notify-me');
  await program.end('SIGTERM');

  const service = await startScriptedService();
  const env = {
    STORE_URL: storeUrl,
    VIDEO_API_BASE_URL: service.baseUrl,
    VIDEO_API_TOKEN: service.token,
    MAX_CONCURRENT_CREATES: '3',
  };
  program = await startProgram({ root, dir, env });
  const arrives = (path: RegExp) =>
    until(TIMEOUT_MS, () => service.requests.find((request) => path.test(request.path)));
  const delivered = await order(program, 'done delivered', 'completed');
  await until(TIMEOUT_MS, async () => (await program.messages()).find(({ replyTo }) => replyTo === delivered));
  await program.press(delivered, 'retry');
  await order(program, 'failed', 'failed');
  await order(program, 'rejected', 'rejected');
  await order(program, 'open', 'polling');
  const left = await order(program, 'uncertain left', 'uncertain');
  await program.press(left, 'leave');
  await order(program, 'uncertain', 'uncertain');
  const quiet = await order(program, 'open cancelled', 'polling');
  await program.press(quiet, 'cancel');
  const late = await order(program, 'late', 'polling');
  await program.press(late, 'cancel');
  await reaches(program, late, 'cancelled');
  service.off.add('late');
  await until(TIMEOUT_MS, async () => ((await textOf(program, late)).includes('finished it') ? true : undefined));
  await order(program, 'unfetchable', 'completed');
  await order(program, 'fetching', null);
  await arrives(/content$/);
  // No file can be written there, so that the delivery fails.
  await rename(join(dir, 'data/playground'), join(dir, 'playground-away'));
  await writeFile(join(dir, 'data/playground'), '');
  await order(program, 'done undelivered', null);
  const cancelled = await order(program, 'hang cancelled', null);
  await until(TIMEOUT_MS, () => service.postsOf.get('hang cancelled'));
  await program.press(cancelled, 'cancel');
  await order(program, 'hang', null);
  await until(TIMEOUT_MS, () => service.postsOf.get('hang'));
  await order(program, 'busy', 'claimed');
  await until(TIMEOUT_MS, () => service.postsOf.get('busy'));
  await order(program, 'claimed', 'claimed');
  const unsent = await order(program, 'claimed cancelled', 'claimed');
  await program.press(unsent, 'cancel');
  await reaches(program, unsent, 'cancelled');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await program.end('SIGKILL');
  await service.close();
}

function linesOfSqlite(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = (sql: string): readonly string[] => {
    const found = database.prepare(sql).all();
    return found.map((row) => JSON.stringify(Object.values(row)));
  };
  const schema = rows('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL');
  const records = rows('SELECT namespace, key, value FROM records WHERE expires_at_ms IS NULL ORDER BY namespace, key');
  const entries = rows('SELECT name, member, score FROM index_entries ORDER BY name, member');
  database.close();
  return [...schema, ...records, ...entries];
}

async function linesOfRedis(server: RedisServer): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const key of ((await server.command('KEYS', 'dailies:*')) as string[]).sort()) {
    if (((await server.command('PTTL', key)) as number) >= 0) continue;
    const type = await server.command('TYPE', key);
    if (type === 'string') lines.push(JSON.stringify([key, await server.command('GET', key)]));
    if (type === 'zset') {
      lines.push(JSON.stringify([key, await server.command('ZRANGE', key, '0', '-1', 'WITHSCORES')]));
    }
  }
  return lines;
}

async function make(name: string, storeUrl: string, lines: (dir: string) => Promise<readonly string[]>) {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-old-'));
  await fill(dir, storeUrl);
  const text = (await lines(dir)).join('\n').replaceAll(dir, '/old');
  await writeFile(new URL(`./${name}.jsonl`, import.meta.url), `${text}\n`);
  await rm(dir, { recursive: true });
}

await make('sqlite', 'sqlite:data/dailies.db', async (dir) => linesOfSqlite(join(dir, 'data/dailies.db')));
const redis = await RedisServer.start();
await make('redis', redis.url, () => linesOfRedis(redis));
await redis.remove();
