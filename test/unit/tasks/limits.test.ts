import { describe, expect, it } from 'vitest';
import type { Submission } from '#src/pipeline/task-service.ts';
import { type Limits, NO_LIMITS } from '#src/tasks/limits.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, BOB, NOON_MS, orderOf, originOf } from '#test/fakes/tasks.ts';
import { status } from '#test/fakes/videos.ts';

let orders = 0;

function limits(changes: { readonly [Of in keyof Limits]?: Partial<Limits[Of]> }): Limits {
  const { person, channel } = NO_LIMITS;
  return { person: { ...person, ...changes.person }, channel: { ...channel, ...changes.channel } };
}

/** Submits a new order. */
function order(house: TaskHouse, place: Parameters<typeof originOf>[0] = {}): Promise<Submission> {
  orders += 1;
  return house.service.submit(orderOf({ key: `limits:${orders}`, origin: originOf(place) }));
}

describe('without limits', () => {
  it('every order is accepted', async () => {
    const house = new TaskHouse();
    const placed = await Promise.all(Array.from({ length: 300 }, () => order(house)));
    expect(placed.every(({ ok }) => ok)).toBe(true);
  });
});

describe('a limit on a user’s open tasks', () => {
  const three = limits({ person: { open: 3 } });

  it('rejects the next order with the number of open tasks, and submits nothing', async () => {
    const house = new TaskHouse({ limits: three }).start();
    for (let at = 0; at < 3; at += 1) expect(await order(house)).toMatchObject({ ok: true, isNew: true });
    expect(await order(house)).toEqual({ ok: false, limit: { of: 'person', kind: 'open', max: 3, found: 3 } });
    await house.pass(10_000);
    expect(house.videos.posts).toHaveLength(3);
    expect(await house.store.count('history:fake:T1')).toBe(3);
  });

  it('counts across channels, separately for each user, team and platform', async () => {
    const house = new TaskHouse({ limits: three });
    for (const channel of ['a', 'b', 'c']) await order(house, { channel });
    expect(await order(house, { channel: 'd' })).toMatchObject({ ok: false });
    expect(await order(house, { user: BOB })).toMatchObject({ ok: true });
    expect(await order(house, { team: 'T2' })).toMatchObject({ ok: true });
    expect(await order(house, { platform: 'other' })).toMatchObject({ ok: true });
  });

  it('allows an order again after a clip was fetched, and not after a sent task was cancelled', async () => {
    const house = new TaskHouse({ limits: limits({ person: { open: 1 } }) }).start();
    const first = await order(house);
    await house.pass(0);
    if (first.ok) await house.service.cancel(first.task.id, ADA);
    expect(await order(house)).toMatchObject({ ok: false });
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(30_000, 5_000);
    expect(await order(house)).toMatchObject({ ok: true });
  });

  it('allows an order again after an unsent task was cancelled', async () => {
    const house = new TaskHouse({ limits: limits({ person: { open: 1 } }) });
    const first = await order(house);
    if (first.ok) await house.service.cancel(first.task.id, ADA);
    expect(await order(house)).toMatchObject({ ok: true });
  });

  it('is not exceeded by a hundred concurrent orders on two replicas', async () => {
    const house = new TaskHouse({ limits: three });
    const replicas = [house, house.another()];
    const placed = await Promise.all(Array.from({ length: 100 }, (_, at) => order(replicas[at % 2] as TaskHouse)));
    expect(placed.filter(({ ok }) => ok)).toHaveLength(3);
  });

  it('never rejects an order that was accepted before', async () => {
    const house = new TaskHouse({ limits: limits({ person: { open: 1, perMinute: 1 } }) });
    const { task } = await house.submit();
    expect(await order(house)).toMatchObject({ ok: false });
    const again = await Promise.all(Array.from({ length: 20 }, () => house.submit()));
    expect(again.every((each) => each.task.id === task.id && !each.isNew)).toBe(true);
  });
});

describe('a limit on a channel’s open tasks', () => {
  it('counts the clips of all users there, and none elsewhere', async () => {
    const house = new TaskHouse({ limits: limits({ channel: { open: 2 } }) });
    await order(house);
    await order(house, { user: BOB });
    const refused = await order(house, { user: { id: 'cleo', name: 'Cleo' } });
    expect(refused).toEqual({ ok: false, limit: { of: 'channel', kind: 'open', max: 2, found: 2 } });
    expect(await order(house, { channel: 'elsewhere' })).toMatchObject({ ok: true });
    expect(await order(house, { team: 'T2' })).toMatchObject({ ok: true });
  });
});

describe('a limit on orders per minute', () => {
  it.each(['person', 'channel'] as const)('of a %s returns the delay until the next order is allowed', async (of) => {
    const clock = new ManualClock(NOON_MS);
    const house = new TaskHouse({ clock, limits: limits({ [of]: { perMinute: 2 } }) });
    await order(house);
    clock.advance(20_000);
    await order(house);
    clock.advance(10_000);
    const refused = await order(house);
    expect(refused).toEqual({ ok: false, limit: { of, kind: 'perMinute', max: 2, found: 2, freeInMs: 30_000 } });
    clock.advance(29_999);
    expect(await order(house)).toMatchObject({ ok: false, limit: { freeInMs: 1 } });
    clock.advance(1);
    expect(await order(house)).toMatchObject({ ok: true });
    expect(await order(house)).toMatchObject({ ok: false, limit: { freeInMs: 20_000 } });
  });

  it('is reported after that on open clips, and a user’s before a channel’s', async () => {
    const one = { open: 1, perMinute: 1 };
    const house = new TaskHouse({ limits: { person: one, channel: one } });
    await order(house);
    expect(await order(house)).toMatchObject({ limit: { of: 'person', kind: 'open' } });
    expect(await order(house, { user: BOB })).toMatchObject({ limit: { of: 'channel', kind: 'open' } });
    expect(await order(house, { user: BOB, channel: 'elsewhere' })).toMatchObject({ ok: true });
  });
});
