import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isEnded } from '#src/tasks/transition.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { check } from './check.ts';
import type { History, Kept, Trouble, Violation } from './history.ts';
import { readRedis, readSqlite } from './keeping.ts';
import { People } from './people.ts';
import type { Plan } from './plan.ts';
import { Replica } from './replica.ts';
import { Road } from './road.ts';
import { type Service, startService } from './service.ts';
import { shownOf } from './shown.ts';
import { makeTrouble } from './troubles.ts';

/** How long everything may take to come to rest once nothing is wrong any more. */
const REST_WITHIN_MS = 75_000;
const LOOK_EVERY_MS = 300;

const QUICK = {
  HOST: '127.0.0.1',
  PORT: '0',
  POLL_FIRST_MS: '150',
  POLL_MIN_MS: '150',
  POLL_MAX_MS: '300',
  PROGRESS_EDIT_MS: '100',
  CREATE_TIMEOUT_MS: '1500',
  REQUEST_TIMEOUT_MS: '1500',
  LOG_LEVEL: 'info',
  FFMPEG_PATH: '/bin/false',
};

/** A run and what came of it. */
export interface Ran {
  readonly plan: Plan;
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly tookMs: number;
  /** From the end of the faults until nothing moved any more. */
  readonly restedMs: number;
}

/** Everything of one run. */
interface Stage {
  readonly plan: Plan;
  readonly folder: string;
  readonly nowMs: () => number;
  readonly service: Service;
  readonly redis: RedisServer | null;
  readonly toService: readonly Road[];
  readonly toRedis: readonly Road[];
  readonly replicas: readonly Replica[];
  readonly people: People;
}

/** The password of every run's Redis: nobody may print it. */
const REDIS_PASSWORD = 'chaos-password-7c1e';

/** Does what a plan says, waits until all is at rest, and judges. */
export async function run(plan: Plan): Promise<Ran> {
  const startedMs = performance.now();
  const nowMs = (): number => performance.now() - startedMs;
  const stage = await build(plan, nowMs);
  try {
    const { replicas, people } = stage;
    await Promise.all(replicas.map((replica) => replica.start()));
    const bootedMs = nowMs();
    const looking = new AbortController();
    const looked = people.look(looking.signal);
    // The plan counts from when everybody is there.
    const sinceReadyMs = (): number => nowMs() - bootedMs;
    const [troubles] = await Promise.all([
      makeTrouble(plan.schedule, { ...stage, nowMs: sinceReadyMs }),
      people.order(sinceReadyMs),
    ]);
    const endedMs = nowMs();
    await heal(stage);
    await restIn(stage);
    looking.abort();
    await looked;
    const restedMs = nowMs() - endedMs;
    const history = await historyOf(
      stage,
      troubles.map((one) => ({ ...one, fromMs: one.fromMs + bootedMs, untilMs: one.untilMs + bootedMs })),
    );
    return { plan, history, violations: check(history), tookMs: nowMs(), restedMs };
  } finally {
    await tearDown(stage);
  }
}

async function build(plan: Plan, nowMs: () => number): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-chaos-'));
  const fates = new Map(plan.orders.map(({ id, fate }) => [id, fate]));
  const service = await startService({ dialect: plan.dialect, fateOf: (order) => fates.get(order), nowMs });
  const user = ['--user', 'chaos', 'on', `>${REDIS_PASSWORD}`, '~*', '&*', '+@all'];
  const redis = plan.store === 'redis' ? await RedisServer.start(...user) : null;
  const everywhere = Array.from({ length: plan.replicas }, (_, index) => index);
  const toService = await Promise.all(everywhere.map(() => Road.start(service.port)));
  const toRedis = redis === null ? [] : await Promise.all(everywhere.map(() => Road.start(redis.port)));
  const replicas = await Promise.all(
    everywhere.map(async (index) => {
      const own = join(folder, plan.sharesFolder ? 'shared' : `replica-${index}`);
      await mkdir(own, { recursive: true });
      const redisUrl = `redis://chaos:${REDIS_PASSWORD}@127.0.0.1:${toRedis[index]?.port}`;
      const env = (life: number) => ({
        ...QUICK,
        VIDEO_API_BASE_URL: `http://127.0.0.1:${toService[index]?.port}`,
        VIDEO_API_TOKEN: service.tokenOf(index, life),
        STORE_URL: redis === null ? 'sqlite:data/dailies.db' : redisUrl,
      });
      return new Replica({ index, folder: own, env, nowMs });
    }),
  );
  const upstreamIdOf = (task: string) =>
    service.creates.findLast(({ key, upstreamId }) => key === task && upstreamId !== null)?.upstreamId ?? undefined;
  const people = new People({ plan, replicas, nowMs, upstreamIdOf });
  return { plan, folder, nowMs, service, redis, toService, toRedis, replicas, people };
}

/** Nothing is wrong any more, and everybody is up. */
async function heal({ plan, replicas, people }: Stage): Promise<void> {
  for (const replica of replicas) replica.resume();
  if (plan.restartsAll) await Promise.all(replicas.map((replica) => replica.stop()));
  await Promise.all(replicas.map((replica) => replica.start()));
  for (let tries = 0; tries < 20 && (await people.askAgain()) > 0; tries += 1) await delay(LOOK_EVERY_MS);
}

/** Waits until nothing moves, or for as long as that may take. */
async function restIn(stage: Stage): Promise<void> {
  const untilMs = stage.nowMs() + REST_WITHIN_MS;
  let quiet = 0;
  while (quiet < 3 && stage.nowMs() < untilMs) {
    await delay(LOOK_EVERY_MS);
    quiet = isAtRest(await keptOf(stage)) ? quiet + 1 : 0;
  }
}

function isAtRest({ tasks }: Kept): boolean {
  return [...tasks.values()].every((task) => task.presented && (isEnded(task) || task.state === 'uncertain'));
}

function keptOf({ redis, folder }: Stage): Promise<Kept> {
  if (redis !== null) return readRedis(redis.url);
  return Promise.resolve(readSqlite(join(folder, 'shared/data/dailies.db')));
}

async function historyOf(stage: Stage, troubles: readonly Trouble[]): Promise<History> {
  const { people, service, replicas } = stage;
  const messages = await people.messages();
  await Promise.all(replicas.map((replica) => replica.stop()));
  const store = await keptOf(stage);
  return {
    asked: people.asked,
    pressed: people.pressed,
    creates: service.creates,
    made: service.made(),
    lives: replicas.flatMap(({ lives }) => lives),
    troubles,
    store,
    messages: shownOf(messages, store.tasks.values()),
    secrets: [...service.tokens, REDIS_PASSWORD],
  };
}

async function tearDown({ replicas, toService, toRedis, redis, service, folder }: Stage): Promise<void> {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await Promise.all([...toService, ...toRedis].map((road) => road.close()));
  await redis?.remove();
  await service.close();
  await rm(folder, { recursive: true, force: true });
}
