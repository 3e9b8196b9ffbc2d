import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Audiences } from '#src/chat/audiences.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/settle.ts';
import { NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';
import { errorOf } from '#test/fakes/videos.ts';

const OUTAGE = errorOf('platform_unavailable', { retryable: true });
const GENERAL = { team: 'T1', channel: 'general', address: {} };
const { signal } = new AbortController();

function setUp(store = new MemoryStore()) {
  const platform = new FakePlatform();
  const clock = new ManualClock();
  const platforms = new Map([[platform.name, platform]]);
  const audiences = new Audiences({ store, platforms, clock, logger: pino({ level: 'silent' }) });
  const repository = new TaskRepository(store);
  let made = 0;
  const seed = async (channel: string, changes: Partial<Task['origin']> = {}): Promise<TaskId> => {
    made += 1;
    const id = `${channel}-${made}` as TaskId;
    await repository.claim(newTask({ id, createdAtMs: NOON_MS + made, origin: originOf({ channel, ...changes }) }));
    return id;
  };
  const shared = async () => (await store.scan('shared:fake:T1')).map(({ member }) => member);
  return { store, platform, clock, audiences, seed, shared };
}

describe('the audience of an order', () => {
  it('is the platform’s, or the channel where the platform has none, fails or times out', async () => {
    const { platform, clock, audiences } = setUp();
    expect(await audiences.at('fake', GENERAL)).toBe('team');
    platform.audiences.set('general', 'unknown');
    expect(await audiences.at('fake', GENERAL)).toBe('channel');
    platform.audiences.set('general', OUTAGE);
    expect(await audiences.at('fake', GENERAL)).toBe('channel');
    expect(await audiences.at('elsewhere', GENERAL)).toBe('channel');
    platform.audience = () => new Promise(() => undefined);
    const found = audiences.at('fake', GENERAL);
    await settle();
    clock.advance(1_500);
    expect(await found).toBe('channel');
  });
});

describe('the audience of a task', () => {
  it('is its own, regardless of later changes of the channel', async () => {
    const { platform, audiences } = setUp();
    platform.audiences.set('general', 'channel');
    expect(await audiences.of(originOf({ channel: 'general', audience: 'team' }))).toBe('team');
    expect(platform.calls).toEqual([]);
  });

  it('is looked up once for a record of an earlier version, and stored', async () => {
    const { platform, audiences, store } = setUp();
    const old = originOf({ channel: 'general' });
    platform.audiences.set('general', OUTAGE);
    expect(await audiences.of(old)).toBe('channel');
    platform.audiences.set('general', 'team');
    expect(await audiences.of(old)).toBe('team');
    // A restart, and a channel that is private by now.
    const later = setUp(store);
    later.platform.audiences.set('general', 'channel');
    expect(await later.audiences.of(old)).toBe('team');
    expect(later.platform.calls).toEqual([]);
  });
});

describe('tasks of earlier versions', () => {
  it('are indexed for the team where their channel is public, and only there', async () => {
    const { platform, audiences, seed, shared } = setUp();
    platform.audiences.set('secret', 'channel').set('gone', 'unknown');
    const open = await seed('general');
    for (const channel of ['secret', 'gone']) await seed(channel);
    const fixed = await seed('general', { audience: 'team' });
    await seed('general', { audience: 'channel' });
    expect(await shared()).toEqual([fixed]);
    expect(await audiences.backfill(signal)).toBe(1);
    expect(await shared()).toEqual([fixed, open]);
  });

  it('are indexed after an interrupted backfill, an outage, and an older replica', async () => {
    const { platform, audiences, seed, shared } = setUp();
    const first = await seed('general');
    const broken = new AbortController();
    broken.abort();
    expect(await audiences.backfill(broken.signal)).toBe(0);
    platform.audiences.set('general', OUTAGE);
    expect(await audiences.backfill(signal)).toBe(0);
    platform.audiences.delete('general');
    expect(await audiences.backfill(signal)).toBe(1);
    const second = await seed('general');
    await audiences.backfill(signal);
    expect(await shared()).toEqual([second, first]);
    expect(platform.calls).toEqual(['audience general', 'audience general']);
  });
});
