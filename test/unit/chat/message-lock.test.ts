import { describe, expect, it } from 'vitest';
import { type MessageLock, type MessageLockPurpose, MessageLocks } from '#src/chat/message-lock.ts';
import { createLeases } from '#src/engine/cluster/leases.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, pass } from '#test/fakes/settle.ts';

const TASK = 'task' as TaskId;

/** Two processes on one store; the second one's clock can stand still, like that of a suspended process. */
function pair(): { time: ManualClock; stopped: ManualClock; ours: MessageLocks; theirs: MessageLocks } {
  const time = new ManualClock();
  const stopped = new ManualClock();
  const backend = new LeaseTable(time);
  const turnsOf = (owner: string, clock: ManualClock): MessageLocks =>
    new MessageLocks({ leases: createLeases({ backend, clock, owner }), exclusive: false, clock });
  return { time, stopped, ours: turnsOf('us', time), theirs: turnsOf('them', stopped) };
}

/** Takes a lock. @returns it with its release; `null` while it is held. */
async function hold(locks: MessageLocks, what: MessageLockPurpose = 'message') {
  const released = deferred();
  const held = deferred<MessageLock | null>();
  const done = locks.run(TASK, what, (lock) => {
    held.resolve(lock);
    return released.promise;
  });
  void done.then(() => held.resolve(null));
  const lock = await held.promise;
  const release = async (): Promise<void> => {
    released.resolve();
    await done;
  };
  return lock === null ? null : { lock, release };
}

describe('a lock', () => {
  it('is held by one process until its work has ended, even with an error', async () => {
    const { ours, theirs } = pair();
    const held = await hold(ours);
    expect(held).not.toBeNull();
    expect(await hold(theirs)).toBeNull();
    expect(await hold(theirs, 'notices')).not.toBeNull();
    await held?.release();
    const failed = theirs.run(TASK, 'message', () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(await ours.run(TASK, 'message', async () => 'done')).toBe('done');
  });

  it('is held as long as its process lives', async () => {
    const { time, ours, theirs } = pair();
    const held = await hold(ours);
    await pass(time, 600_000, 1_000);
    expect(() => held?.lock.assertHeld()).not.toThrow();
    expect(await hold(theirs)).toBeNull();
  });

  it('passes to another process after a long suspension, noticed by its holder before the next call', async () => {
    const { time, stopped, ours, theirs } = pair();
    const held = await hold(theirs);
    await pass(time, 15_000);
    expect(await hold(ours)).not.toBeNull();
    stopped.advance(15_000);
    expect(() => held?.lock.assertHeld()).toThrow(/another process/);
  });
});

describe('a call', () => {
  it('starts only if it can end before another process can take the lock', async () => {
    const { stopped, ours, theirs } = pair();
    const held = await hold(theirs);
    stopped.advance(12_999);
    expect(() => held?.lock.assertHeld()).not.toThrow();
    stopped.advance(1);
    expect(() => held?.lock.assertHeld()).toThrow(/another process/);
    expect(await hold(ours)).toBeNull();
  });
});

describe('posting a message for the first time', () => {
  it('is done by one process while the others wait', async () => {
    const { time, stopped, ours, theirs } = pair();
    const shown: string[] = [];
    const done = deferred();
    const first = ours.first(TASK, async () => {
      shown.push('ours begins');
      await done.promise;
      shown.push('ours ends');
    });
    await pass(time, 0);
    const second = theirs.first(TASK, async () => void shown.push('theirs'));
    await pass(stopped, 5_000);
    expect(shown).toEqual(['ours begins']);
    done.resolve();
    await first;
    await pass(stopped, 100);
    await second;
    expect(shown).toEqual(['ours begins', 'ours ends', 'theirs']);
  });

  it('fails with a retryable error when the other process does not finish', async () => {
    const { time, stopped, ours, theirs } = pair();
    const never = deferred();
    void ours.first(TASK, () => never.promise);
    await pass(time, 0);
    const second = theirs.first(TASK, async () => undefined);
    const failed = expect(second).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true });
    await pass(stopped, 31_000);
    await failed;
  });
});

describe('a change that has to be made', () => {
  it('is refused for now while another process makes one, and returns its result otherwise', async () => {
    const { ours, theirs } = pair();
    await ours.run(TASK, 'message', async () => {
      const refused = theirs.runOrThrow(TASK, 'message', async () => 'changed');
      await expect(refused).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true });
    });
    expect(await theirs.runOrThrow(TASK, 'message', async () => null)).toBeNull();
  });
});

describe('progress edits of one message', () => {
  it('are throttled across processes', async () => {
    const { time, ours, theirs } = pair();
    expect(await ours.mayEdit(TASK, 3_000)).toBe(true);
    expect(await theirs.mayEdit(TASK, 3_000)).toBe(false);
    await pass(time, 2_999, 1_000);
    expect(await theirs.mayEdit(TASK, 3_000)).toBe(false);
    await pass(time, 1);
    expect(await theirs.mayEdit(TASK, 3_000)).toBe(true);
    expect(await ours.mayEdit(TASK, 3_000)).toBe(false);
  });
});
