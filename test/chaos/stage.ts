import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../fakes/redis-server.ts';
import { FFMPEG } from '../fakes/shots.ts';
import { UNLIMITED } from '../fakes/unlimited.ts';
import { CutWatch, readCuts, saveDelivered } from './clips.ts';
import { type MoneyCommit, readRedisCommits, readSqliteCommits, watchSqlite } from './commits.ts';
import { DiscordSide } from './discord.ts';
import type { History, Kept, Trouble } from './history.ts';
import { readRedis, readSqlite } from './keeping.ts';
import { catalogIn, namesOf, OPERATOR, writeCatalog } from './money.ts';
import { People } from './people.ts';
import type { Chat, Plan } from './plan.ts';
import { type Profile, SERVICE, wireOf } from './profiles.ts';
import { RedisReplica } from './redis-replica.ts';
import { Replica } from './replica.ts';
import { Road } from './road.ts';
import { type Service, startService } from './service.ts';
import { shownOf } from './shown.ts';
import type { Side } from './side.ts';
import { SlackSide } from './slack.ts';

const QUICK = {
  HOST: '127.0.0.1',
  PORT: '0',
  PLAYGROUND: 'on',
  POLL_FIRST_MS: '150',
  POLL_MIN_MS: '150',
  POLL_MAX_MS: '300',
  PROGRESS_EDIT_MS: '100',
  // Short, but not so short that a busy machine alone makes responses late.
  CREATE_TIMEOUT_MS: '3000',
  REQUEST_TIMEOUT_MS: '3000',
  LOG_LEVEL: 'info',
  FFMPEG_PATH: '/bin/false',
};

/** What chained shots need. The address is that of no server: each machine reads its own files. */
const CHAINED = { FFMPEG_PATH: FFMPEG, PUBLIC_URL: 'https://127.0.0.1:9', LINK_SECRET: 'a secret of chaos runs' };

/** Resources of one run. */
export interface Stage {
  readonly plan: Plan;
  readonly folder: string;
  readonly nowMs: () => number;
  readonly service: Service;
  readonly redis: RedisServer | null;
  /** `null` with an embedded store. */
  readonly redisReplica: RedisReplica | null;
  /** Chats that take part. */
  readonly sides: ReadonlyMap<Chat, Side>;
  readonly toService: readonly Road[];
  readonly toRedis: readonly Road[];
  readonly replicas: readonly Replica[];
  readonly people: People;
  readonly cutWatch: CutWatch;
}

/** Variable with the key of a service that is configured in a file. */
const KEY_VARIABLE = 'CHAOS_VIDEO_KEY';

/** Password of every run's Redis, which no process may print. */
const REDIS_PASSWORD = 'chaos-password-7c1e';

/** Sets everything up; only Redis and the service run yet. `env` takes precedence over the common settings. */
export async function build(
  plan: Plan,
  { nowMs, env = {}, clipBytes }: { nowMs: () => number; env?: Readonly<Record<string, string>>; clipBytes?: number },
): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-chaos-'));
  const fates = new Map(plan.orders.map(({ id, fate }) => [id, fate]));
  const { dialect, listing } = plan.service;
  const wire = wireOf(plan.service, plan.dialect);
  const names = namesOf(dialect);
  const service = await startService({ wire, listing, names, fateOf: (order) => fates.get(order), nowMs, clipBytes });
  await writeCatalog(folder, dialect);
  const serviceEnv = await configureService(plan.service, { folder, service });
  const user = ['--user', 'chaos', 'on', `>${REDIS_PASSWORD}`, '~*', '&*', '+@all'];
  const redis = plan.store === 'redis' ? await RedisServer.start(...user, '--auto-aof-rewrite-percentage', '0') : null;
  const redisReplica = redis === null ? null : new RedisReplica(redis, addressOf(redis.port));
  if (plan.schedule.some((fault) => fault.redisReplica?.isThereFirst === true)) await redisReplica?.attach();
  const sides = await sidesOf(plan);
  const everywhere = Array.from({ length: plan.replicas }, (_, index) => index);
  const toService = await Promise.all(everywhere.map(() => Road.start(service.port)));
  const toRedis = redis === null ? [] : await Promise.all(everywhere.map(() => Road.start(redis.port)));
  const replicas = await Promise.all(
    everywhere.map(async (index) => {
      const own = join(folder, plan.sharesFolder ? 'shared' : `replica-${index}`);
      await mkdir(own, { recursive: true });
      const redisUrl = addressOf(toRedis[index]?.port);
      const envOf = (life: number) => ({
        ...QUICK,
        ...UNLIMITED,
        ...plan.money.env,
        MODEL_CATALOG: catalogIn(folder),
        ...env,
        ...Object.assign({}, ...[...sides.values()].map((side) => side.env)),
        ...serviceEnv,
        ...(plan.service.isInline ? CHAINED : {}),
        CHAOS_ROAD_PORT: String(toService[index]?.port),
        [dialect === 'v1-videos' ? 'VIDEO_API_TOKEN' : KEY_VARIABLE]: service.tokenOf(index, life),
        STORE_URL: redis === null ? 'sqlite:data/dailies.db' : redisUrl,
      });
      return new Replica({ index, folder: own, env: envOf, nowMs });
    }),
  );
  const upstreamIdOf = (task: string) =>
    service.creates.findLast(({ key, upstreamId }) => key === task && upstreamId !== null)?.upstreamId ?? undefined;
  const people = new People({ plan, replicas, nowMs, upstreamIdOf });
  return {
    plan,
    folder,
    nowMs,
    service,
    redis,
    redisReplica,
    sides,
    toService,
    toRedis,
    replicas,
    people,
    cutWatch: new CutWatch(folder),
  };
}

/**
 * Configures the video service: by the environment, or in a file where it has a dialect of its own.
 * @returns the environment of the replicas, but for the key and the proxy of each
 */
async function configureService(
  { dialect, jobsEveryMs }: Profile,
  { folder, service: { port, basePath } }: { readonly folder: string; readonly service: Service },
): Promise<Readonly<Record<string, string>>> {
  const base = `http://127.0.0.1:${port}${basePath}`;
  const common = { CHAOS_SERVICE_PORT: String(port), CHAOS_JOBS_EVERY_MS: String(jobsEveryMs) };
  if (dialect === 'v1-videos') return { ...common, VIDEO_API_BASE_URL: base };
  const path = join(folder, 'services.json');
  const services = [{ name: SERVICE, dialect, base, key: { env: KEY_VARIABLE } }];
  await writeFile(path, JSON.stringify({ services }));
  return { ...common, SERVICES: path };
}

function addressOf(port: number | undefined): string {
  return `redis://chaos:${REDIS_PASSWORD}@127.0.0.1:${port}`;
}

/** Starts the chats that have orders. */
async function sidesOf({ orders, slackBy }: Plan): Promise<ReadonlyMap<Chat, Side>> {
  const named = new Set(orders.map(({ platform }) => platform));
  return new Map<Chat, Side>([
    ...(named.has('discord') ? [['discord', await DiscordSide.start()] as const] : []),
    ...(named.has('slack') ? [['slack', await SlackSide.start(slackBy)] as const] : []),
  ]);
}

/** Reads everything in the store. */
export function keptOf({ redis, folder }: Stage): Promise<Kept> {
  if (redis !== null) return readRedis(redis.url);
  return Promise.resolve(readSqlite(databaseIn(folder)));
}

/** Makes an embedded store log its commits, once its replica is up. Redis logs them by itself. */
export function watchCommits({ redis, folder }: Stage): void {
  if (redis === null) watchSqlite(databaseIn(folder));
}

async function commitsOf({ redis, folder }: Stage): Promise<readonly MoneyCommit[]> {
  return redis === null ? readSqliteCommits(databaseIn(folder)) : readRedisCommits(redis.directory);
}

function databaseIn(folder: string): string {
  return join(folder, 'shared/data/dailies.db');
}

/** Stops the replicas and assembles the history. @param clockMs time of the replicas' clocks. */
export async function historyOf(stage: Stage, troubles: readonly Trouble[], clockMs = Date.now()): Promise<History> {
  const { people, service, replicas } = stage;
  const sides = [...stage.sides.values()];
  const messages = await people.messages();
  await saveDelivered(messages, { folder: stage.folder, fetchFile: (path) => people.file(path) });
  await Promise.all(replicas.map((replica) => replica.stop()));
  const store = await keptOf(stage);
  return {
    asked: [...people.asked, ...sides.flatMap(({ asked }) => asked)],
    pressed: [...people.pressed, ...sides.flatMap(({ pressed }) => pressed)],
    creates: service.creates,
    made: service.made(),
    withdrawals: service.withdrawals,
    misuses: service.misuses,
    events: service.events,
    lives: replicas.flatMap(({ lives }) => lives),
    troubles,
    clockMs,
    store,
    commits: await commitsOf(stage),
    cutFiles: [...stage.cutWatch.halves, ...(await readCuts(stage.folder))],
    messages: [...shownOf(messages, store), ...sides.flatMap((side) => side.shown(store))],
    deleted: sides.flatMap(({ deleted }) => deleted),
    offered: sides.flatMap(({ offered }) => offered),
    breaches: sides.flatMap(({ violations }) => violations),
    rights: {
      administrators: new Set([`playground:${OPERATOR}`, ...sides.flatMap(({ rights }) => [...rights.administrators])]),
      members: new Map(sides.flatMap(({ rights }) => [...rights.members])),
    },
    secrets: [...service.tokens, REDIS_PASSWORD, ...sides.flatMap(({ secrets }) => secrets)],
  };
}

/** Stops everything and removes all files. */
export async function tearDown(stage: Stage): Promise<void> {
  const { replicas, toService, toRedis, redis, redisReplica, sides, service, folder } = stage;
  await Promise.all(replicas.map((replica) => replica.kill()));
  await Promise.all([...sides.values()].map((side) => side.close()));
  await Promise.all([...toService, ...toRedis].map((road) => road.close()));
  await redisReplica?.remove();
  await redis?.remove();
  await service.close();
  await rm(folder, { recursive: true, force: true });
}
