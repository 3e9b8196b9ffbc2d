import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { Session } from '#adapters/discord/gateway/connection.ts';
import { SessionStore } from '#adapters/discord/gateway/shard.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass, settle } from '#test/fakes/settle.ts';

const BEGUN: Session = { id: 'a', resumeUrl: 'wss://gateway.example', sequence: 1 };

let store: MemoryStore;
let clock: ManualClock;
let isOurs: boolean;

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock();
  isOurs = true;
});

const keep = (): SessionStore =>
  new SessionStore({
    store,
    clock,
    id: 0,
    count: 1,
    lease: { isHeld: () => isOurs },
    logger: pino({ level: 'silent' }),
  });

/** Reads the session that the next holder would resume. */
const left = (): Promise<Session | null> => keep().read();

async function begun(): Promise<SessionStore> {
  const kept = keep();
  expect(await kept.read()).toBeNull();
  kept.replace(BEGUN);
  await settle();
  return kept;
}

it('stores a session from its start, and removes it at its end', async () => {
  const kept = await begun();
  expect(await left()).toEqual(BEGUN);
  kept.replace(null);
  await settle();
  expect(await left()).toBeNull();
});

it('resumes before the first event still in flight', async () => {
  const kept = await begun();
  const [second, third, fourth] = [2, 3, 4].map((sequence) => kept.received(sequence));
  fourth?.();
  second?.();
  await pass(clock, 1_000);
  expect(await left()).toMatchObject({ sequence: 2 });
  third?.();
  await pass(clock, 1_000);
  expect(await left()).toMatchObject({ sequence: 4 });
});

it('does not go back to an event that arrives late', async () => {
  const kept = await begun();
  kept.received(3)();
  kept.received(2)();
  await pass(clock, 1_000);
  expect(await left()).toMatchObject({ sequence: 3 });
});

it('is written at most once a second, and on release', async () => {
  const kept = await begun();
  const revision = async () => (await store.keyv('discord_sessions').get<{ revision: number }>('0/1'))?.revision;
  for (let sequence = 2; sequence < 100; sequence += 1) kept.received(sequence)();
  await pass(clock, 900);
  expect(await revision()).toBe(1);
  await pass(clock, 100);
  expect(await revision()).toBe(2);
  kept.received(100)();
  await kept.write();
  await kept.write();
  expect(await revision()).toBe(3);
  expect(await left()).toMatchObject({ sequence: 100 });
});

it('is written only by its holder', async () => {
  const kept = await begun();
  const next = keep();
  await next.read();
  isOurs = false;
  kept.received(2)();
  await pass(clock, 1_000);
  expect(await left()).toEqual(BEGUN);
  isOurs = true;
  next.received(3)();
  await next.write();
  expect(await left()).toMatchObject({ sequence: 3 });
});

it('is written after an unconfirmed write that took effect', async () => {
  const kept = await begun();
  const key = '0/1';
  await store.keyv('discord_sessions').set(key, { revision: 7, session: BEGUN });
  kept.received(2)();
  await pass(clock, 1_000);
  kept.received(3)();
  await pass(clock, 1_000);
  expect(await left()).toMatchObject({ sequence: 3 });
});

it('does not hold the next session back for events of one that is over', async () => {
  const kept = await begun();
  const hanging = kept.received(5);
  kept.replace({ ...BEGUN, id: 'b' });
  kept.received(2)();
  kept.received(3)();
  await pass(clock, 1_000);
  expect(await left()).toMatchObject({ id: 'b', sequence: 3 });
  hanging();
});
