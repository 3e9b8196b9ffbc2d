import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import { lockHolder, resolveDatabase, sqlitePath, withoutPassword } from '../engine/index.ts';
import type { RedisInfo, RedisSettings, ReplicaState } from '../engine/store/redis/index.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';
import { formatBytes } from './machine.ts';

/** Share of Redis's memory from which it should grow. */
const MUCH_MEMORY = 0.8;
/** @see {@link https://www.sqlite.org/fileformat2.html} "The Database Header" */
const HEADER_BYTES = 20;
const MAGIC = 'SQLite format 3\0';
const READ_VERSION_OFFSET = 19;
const WAL_VERSION = 2;

/** Checks the store without writing to it, also while a bot uses it. */
export async function checkStore(
  url: string,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Promise<Findings> {
  const path = sqlitePath(url);
  return path === null ? checkRedisStore(url, deps) : checkSqliteStore(path);
}

async function checkSqliteStore(path: string): Promise<Findings> {
  if (!existsSync(path)) return ok(`SQLite, ${resolve(path)} (not there yet; the first start creates it)`);
  const restore = 'Restore it from a backup (docs/operations.md), or set STORE_URL to another file.';
  const file = await resolveDatabase(path).catch((thrown: unknown) => asDailiesError(thrown, 'looking at the store'));
  if (typeof file !== 'string') return wrong(file.message, 'Solve this; the bot does not start until then.');
  const mayUse = await access(file, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!mayUse) return wrong(`this user may not write ${file}`, 'Give the file to the user that runs Dailies (chown).');
  const header = readHeader(file);
  if (header !== null && !header.isSqlite) return wrong(`${file} is no SQLite database`, restore);
  const holder = lockHolder(file);
  const mode = header?.isWal === true ? 'WAL' : 'the next start switches it to WAL';
  const size = `${formatBytes(statSync(file).size)} and a log of ${formatBytes(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0)}`;
  const use = holder === null ? 'no bot uses it' : `a running bot uses it (${holder}), so only its file was looked at`;
  return ok(`SQLite, ${file}: ${size}, ${mode}; ${use}`);
}

/** Reads the header of a database; `null` for an empty file. */
function readHeader(path: string): { readonly isSqlite: boolean; readonly isWal: boolean } | null {
  const header = Buffer.alloc(HEADER_BYTES);
  const fd = openSync(path, 'r');
  try {
    if (readSync(fd, header) === 0) return null;
  } finally {
    closeSync(fd);
  }
  return {
    isSqlite: header.toString('latin1', 0, MAGIC.length) === MAGIC,
    isWal: header[READ_VERSION_OFFSET] === WAL_VERSION,
  };
}

async function checkRedisStore(
  url: string,
  deps: { readonly clock: Clock; readonly logger: Logger },
): Promise<Findings> {
  // Imported on demand: the Redis client takes half a second to load, and SQLite does not need it.
  const { RedisConnection, readRedisSettings, readReplicaState } = await import('../engine/store/redis/index.ts');
  const address = withoutPassword(url);
  const link = await RedisConnection.open(url, deps).catch((thrown: unknown) => asDailiesError(thrown, 'connecting'));
  if (link instanceof Error) {
    const fix = 'A Redis has to run there, be reachable from here, and let this user in: check STORE_URL.';
    return wrong(`${address}: ${link.message}`, fix);
  }
  try {
    const settings = await link.call('asking Redis for its settings', () => readRedisSettings(link.client));
    if (settings.refusal !== null) return wrong(`${address}: ${settings.refusal}`, 'The bot does not start on it.');
    const replicas = await link.call('asking Redis for its replicas', () => readReplicaState(link.client));
    return judgeRedis(address, settings, replicas);
  } finally {
    await link.close();
  }
}

/** Judges what a Redis reports about itself. */
function judgeRedis(address: string, settings: RedisSettings, replicas: ReplicaState): Findings {
  const { info, unsafe, unknown } = settings;
  return [
    ok(`Redis ${info.get('redis_version') ?? '(version unknown)'} at ${address}`),
    ...unsafe.map(({ setting, found, needed, lost, fix }) =>
      wrong(`${setting} is ${found} instead of ${needed}: ${lost}`, fix, 'Redis'),
    ),
    ...unknown.map(({ setting, needed }) =>
      warning(
        `its ${setting} cannot be read (a hosted Redis may forbid that)`,
        `See in its console that ${setting} is ${needed}.`,
        'Redis',
      ),
    ),
    unsafe.length + unknown.length === 0
      ? ok('appendonly yes, appendfsync always, maxmemory-policy noeviction: it keeps what it acknowledges', 'Redis')
      : null,
    memoryOf(info),
    lastWrite(info),
    replicaFinding(replicas),
  ];
}

function memoryOf(info: RedisInfo): Finding {
  const subject = 'Redis memory';
  const used = Number(info.get('used_memory') ?? Number.NaN);
  const limit = Number(info.get('maxmemory') ?? 0);
  const most = limit > 0 ? limit : Number(info.get('total_system_memory') ?? Number.NaN);
  const fix = 'redis-cli CONFIG SET maxmemory …, and the same in redis.conf; mind twice that for the machine.';
  if (!(used > 0 && most > 0))
    return warning('this Redis does not say how much it uses', 'See in its console.', subject);
  const share = `${formatBytes(used)} of ${formatBytes(most)}${limit > 0 ? '' : ' of the machine (no maxmemory)'}`;
  return used / most >= MUCH_MEMORY
    ? warning(`${share}: once it is full, no order is taken`, fix, subject)
    : ok(`${share}, ${Math.round((100 * used) / most)} %`, subject);
}

function lastWrite(info: RedisInfo): Finding | null {
  if ((info.get('aof_last_write_status') ?? 'ok') === 'ok') return null;
  const found = 'its last write to the append-only file failed, so it takes no writes';
  return wrong(found, 'Free space on its disk; its log says what is wrong.', 'Redis');
}

function replicaFinding({ replicas, requirement }: ReplicaState): Finding {
  const subject = 'Redis replica';
  if (replicas > 0) return ok(`${replicas} in sync; a change counts once one of them has it`, subject);
  if (requirement === 'required') {
    return wrong(
      'one was there, so every order waits for its confirmation, and none is connected: nothing is ordered',
      'Attach it again. If it is gone for good: npm run doctor -- --forget-redis-replica',
      subject,
    );
  }
  return ok(
    requirement === 'waived' ? 'none; an operator took the requirement back' : 'none, and none is required',
    subject,
  );
}
