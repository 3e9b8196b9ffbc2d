import { describe, expect, it } from 'vitest';
import { SingleFlight } from '#src/single-flight.ts';
import { deferred } from '#test/fakes/settle.ts';

describe('single flight', () => {
  it('shares the work of a key between concurrent callers', async () => {
    const flights = new SingleFlight<string, number>();
    const done = deferred<number>();
    let runs = 0;
    const work = (): Promise<number> => {
      runs += 1;
      return done.promise;
    };
    const both = [flights.run('a', work), flights.run('a', work)];
    const other = flights.run('b', async () => 2);
    expect(flights.size).toBe(2);
    expect(flights.get('a')).toBe(both[0]);
    done.resolve(1);
    expect(await Promise.all([...both, other])).toEqual([1, 1, 2]);
    expect([runs, flights.size, flights.get('a')]).toEqual([1, 0, undefined]);
  });

  it('forgets a failure, so that the next call runs again', async () => {
    const flights = new SingleFlight<string, number>();
    await expect(flights.run('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await flights.run('a', async () => 3)).toBe(3);
  });

  it('drains: waits for what is in flight, and for what starts meanwhile', async () => {
    const flights = new SingleFlight<string, void>();
    const [first, second] = [deferred(), deferred()];
    const failing = flights.run('a', () => first.promise).catch(() => flights.run('b', () => second.promise));
    let isSettled = false;
    const settled = flights.settled().then(() => {
      isSettled = true;
    });
    first.reject(new Error('away'));
    await Promise.resolve();
    expect(isSettled).toBe(false);
    second.resolve();
    await Promise.all([failing, settled]);
    expect(flights.size).toBe(0);
  });
});
