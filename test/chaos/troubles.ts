import { setTimeout as delay } from 'node:timers/promises';
import type { RedisServer } from '../fakes/redis-server.ts';
import type { Trouble } from './history.ts';
import type { Chat, PlannedFault } from './plan.ts';
import type { RedisReplica } from './redis-replica.ts';
import type { Replica } from './replica.ts';
import type { Road } from './road.ts';
import type { Service } from './service.ts';
import type { Side } from './side.ts';

/** Targets of faults. */
export interface Victims {
  readonly replicas: readonly Replica[];
  /** By replica index. */
  readonly toService: readonly Road[];
  /** By replica index; empty with an embedded store. */
  readonly toRedis: readonly Road[];
  readonly redis: RedisServer | null;
  /** `null` with an embedded store. */
  readonly redisReplica: RedisReplica | null;
  readonly sides: ReadonlyMap<Chat, Side>;
  readonly service: Pick<Service, 'setKeys'>;
  /** Milliseconds since everything was up. */
  readonly nowMs: () => number;
  /** Milliseconds since the run began. */
  readonly runMs: () => number;
}

/** Injects the planned faults, each at its time. @returns what actually happened, once all are over. */
export async function makeTrouble(schedule: readonly PlannedFault[], victims: Victims): Promise<readonly Trouble[]> {
  const { nowMs } = victims;
  // Only one fault of Redis itself at a time, even if one takes longer than planned.
  let redisIsFree = Promise.resolve();
  return Promise.all(
    schedule.map(async (fault) => {
      await delay(Math.max(0, fault.atMs - nowMs()));
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      if (isOfRedis(fault)) {
        const before = redisIsFree;
        redisIsFree = over;
        await before;
      }
      const fromMs = nowMs();
      await happen(fault, victims).finally(end);
      const { what, to } = fault.mischief ?? {};
      const { kind, replica, chat, cut, offsetMs, deletes, redisReplica } = fault;
      const parts = [chat, deletes, cut, offsetMs, what, to, redisReplica?.end];
      const remark = parts.filter((part) => part !== undefined).join();
      return { kind, replica, ...(chat === undefined ? {} : { chat }), fromMs, untilMs: nowMs(), remark };
    }),
  );
}

/** Returns whether a fault hits Redis itself: a dead one can be neither filled nor emptied. */
function isOfRedis({ kind }: PlannedFault): boolean {
  return kind === 'replica' || (kind.startsWith('redis-') && kind !== 'redis-cut');
}

async function happen(fault: PlannedFault, victims: Victims): Promise<void> {
  const { kind, replica, forMs, offsetMs = 0, cut = 'reset', mischief } = fault;
  const { replicas, toService, toRedis, redis } = victims;
  const victim = replicas[replica ?? 0];
  if (victim === undefined) throw new TypeError(`there is no replica ${replica}`);
  switch (kind) {
    case 'kill':
      await victim.kill();
      await delay(forMs);
      return victim.start();
    case 'pause':
      victim.pause();
      await delay(forMs);
      return victim.resume();
    case 'roll':
      return roll(replicas);
    case 'discord':
    case 'slack':
      if (mischief !== undefined) victims.sides.get(kind)?.happen(mischief);
      return;
    case 'delete':
    case 'token':
    case 'scope':
      return happenTo(fault, victims);
    case 'replica':
      return loseReplica(fault, victims);
    case 'key':
      victims.service.setKeys(false);
      await delay(forMs);
      return victims.service.setKeys(true);
    case 'clock':
      victim.tell({ offsetMs });
      await delay(forMs);
      return victim.tell({ offsetMs: 0 });
    case 'disk':
      victim.tell({ isDiskFull: true });
      await delay(forMs);
      return victim.tell({ isDiskFull: false });
    case 'redis-kill':
      await redis?.kill();
      await delay(forMs);
      return redis?.restart();
    case 'redis-full':
      await redis?.command('CONFIG', 'SET', 'maxmemory', '1mb');
      await delay(forMs);
      await redis?.command('CONFIG', 'SET', 'maxmemory', '0');
      return;
    case 'redis-readonly':
      // Points at a primary that does not exist.
      await redis?.command('REPLICAOF', '127.0.0.1', '1');
      await delay(forMs);
      await redis?.command('REPLICAOF', 'NO', 'ONE');
      return;
    case 'redis-clients':
      await redis?.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await redis?.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
      return;
    case 'redis-cut':
    case 'service-cut': {
      const way = (kind === 'redis-cut' ? toRedis : toService)[victim.index];
      way?.cut(cut);
      await delay(forMs);
      return way?.mend();
    }
  }
}

async function happenTo({ kind, chat, deletes, forMs }: PlannedFault, { sides, runMs }: Victims): Promise<void> {
  const side = chat === undefined ? undefined : sides.get(chat);
  if (deletes !== undefined) return side?.delete(deletes, runMs);
  if (kind !== 'token' && kind !== 'scope') return;
  const giveBack = side?.refuse(kind);
  await delay(forMs);
  giveBack?.();
}

async function loseReplica({ redisReplica, cut = 'reset', forMs }: PlannedFault, victims: Victims): Promise<void> {
  const replica = victims.redisReplica;
  if (replica === null || redisReplica === undefined) return;
  await replica.attach();
  await delay(redisReplica.attachedForMs);
  replica.cut(cut);
  await delay(forMs - redisReplica.attachedForMs);
  await replica.end(redisReplica.end);
}

async function roll(replicas: readonly Replica[]): Promise<void> {
  for (const replica of replicas) {
    await replica.stop();
    await replica.start();
  }
}
