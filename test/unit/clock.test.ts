import { describe, expect, it } from 'vitest';
import { sleep, systemClock, within } from '#src/clock.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { settle } from '#test/fakes/settle.ts';

describe('within', () => {
  it('resolves to a result in time, and leaves no timer', async () => {
    const clock = new ManualClock();
    expect(await within(clock, 100, Promise.resolve('done'), 'late')).toBe('done');
    await expect(within(clock, 100, Promise.reject(new Error('broken')), 'late')).rejects.toThrow('broken');
    expect(clock.pending).toBe(0);
  });

  it('resolves to the fallback after the timeout', async () => {
    const clock = new ManualClock();
    const waited = within(clock, 100, new Promise<string>(() => undefined), 'late');
    clock.advance(100);
    expect(await waited).toBe('late');
  });
});

describe('sleep', () => {
  it('lasts for the given time', async () => {
    const clock = new ManualClock();
    let isAwake = false;
    const slept = sleep(clock, 100).then(() => {
      isAwake = true;
    });
    clock.advance(99);
    await settle();
    expect(isAwake).toBe(false);
    clock.advance(1);
    await slept;
  });

  it('rejects with the reason of the signal, and leaves no timer', async () => {
    const clock = new ManualClock();
    const stopping = new AbortController();
    const slept = sleep(clock, 100, stopping.signal);
    stopping.abort(new Error('stopping'));
    await expect(slept).rejects.toThrow('stopping');
    expect(clock.pending).toBe(0);
    await expect(sleep(clock, 100, stopping.signal)).rejects.toThrow('stopping');
    expect(clock.pending).toBe(0);
  });

  it('removes its listener from the signal when it ends', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const slept = sleep(clock, 100, signal);
    expect(listeners).toBe(1);
    clock.advance(100);
    await slept;
    expect(listeners).toBe(0);
  });
});

describe('the system clock', () => {
  it('fires a timer with a negative delay, and never a cancelled one', async () => {
    const ran: string[] = [];
    systemClock.after(1, () => ran.push('stopped'))();
    // A delay longer than the maximum of Node's timers must not fire at once.
    const cancel = systemClock.after(Number.MAX_SAFE_INTEGER, () => ran.push('far off'));
    systemClock.after(-5, () => ran.push('late'));
    await new Promise<void>((resolve) => systemClock.after(2, resolve));
    cancel();
    expect(ran).toEqual(['late']);
  });
});
