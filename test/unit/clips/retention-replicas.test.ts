import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Remover } from '#src/clips/remover.ts';
import { retentionAgeMs, retentionJob } from '#src/clips/retention.ts';
import { REMOVALS } from '#src/tasks/indexes.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS } from '#src/teams/settings-schema.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { startJobs } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { NO_CUTS } from '#test/fakes/no-cuts.ts';
import { type CrewMember, ReplicaCrew } from '#test/fakes/replica-crew.ts';
import { NOON_MS, originOf } from '#test/fakes/tasks.ts';

const DAY_MS = 24 * 3_600_000;
const CLIPS = 12;
const logger = pino({ level: 'silent' });

/** Replicas on one store with expired clips; each removal of a file is counted by clip. */
class Replicas {
  readonly clock = new ManualClock(NOON_MS);
  readonly crew = new ReplicaCrew(this.clock);
  readonly house = new ChatHouse({ store: this.crew.store, clock: this.clock });
  readonly removed: string[] = [];
  /** Called before each removal of a file; a killed replica never returns from it. */
  before: (member: CrewMember) => Promise<void> = async () => undefined;

  async fill(): Promise<void> {
    for (let at = 0; at < CLIPS; at += 1)
      await this.house.done({ id: `clip-${at}` as TaskId, origin: originOf({ audience: 'team' }) });
    this.clock.step(31 * DAY_MS);
  }

  join() {
    const member = this.crew.join();
    const { store, clock } = member;
    const { repository, chat } = this.house;
    const clips = {
      list: async () => new Map(),
      remove: async (id: TaskId) => {
        await this.before(member);
        this.removed.push(id);
      },
    };
    const audit = new AuditTrail(store, clock);
    const remover = new Remover({
      cuts: NO_CUTS,
      store,
      repository,
      clips,
      messages: chat.retraction,
      audit,
      clock,
      logger,
    });
    const settings = { get: async () => DEFAULT_SETTINGS };
    const retention = retentionJob({
      store,
      remover,
      settings,
      retention: { clipsDays: 30, promptsDays: 0 },
      metrics: { expired: () => undefined },
      clock,
      logger,
    });
    startJobs(member, retention, remover.job);
    return member;
  }

  /** Passes time until there is nothing left to remove. */
  async pass(ms: number): Promise<void> {
    await this.house.pass(ms, 1_000);
  }
}

it('is swept by one of two replicas, each clip once', async () => {
  const replicas = new Replicas();
  await replicas.fill();
  replicas.join();
  replicas.join();
  expect(await retentionAgeMs(replicas.crew.store, replicas.clock.now())).toBeNull();
  await replicas.pass(120_000);
  expect(replicas.removed.toSorted()).toEqual(Array.from({ length: CLIPS }, (_, at) => `clip-${at}`).toSorted());
  const ageMs = await retentionAgeMs(replicas.crew.store, replicas.clock.now());
  expect(ageMs).toBeLessThan(120_000);
  await replicas.pass(3_600_000);
  expect(replicas.removed).toHaveLength(CLIPS);
});

it('is completed by the other replica where one is killed in the middle', async () => {
  const replicas = new Replicas();
  await replicas.fill();
  let killed: CrewMember | null = null;
  replicas.before = async (member) => {
    if (replicas.removed.length >= CLIPS / 2) killed ??= member;
    if (member !== killed) return;
    // All removals that are in flight end with the process.
    member.kill();
    await new Promise(() => undefined);
  };
  replicas.join();
  replicas.join();
  await replicas.pass(31_000);
  expect(killed).not.toBeNull();
  expect(replicas.removed.length).toBeLessThan(CLIPS);
  await replicas.pass(240_000);
  expect(new Set(replicas.removed).size).toBe(CLIPS);
  expect(await replicas.crew.store.count(REMOVALS)).toBe(0);
  for (let at = 0; at < CLIPS; at += 1)
    expect(await replicas.house.record(`clip-${at}` as TaskId)).toMatchObject({ removal: { reason: 'expired' } });
  expect(await retentionAgeMs(replicas.crew.store, replicas.clock.now())).toBeLessThan(240_000);
});
