import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { createTokenCipher } from '#adapters/slack/installation/token-cipher.ts';
import { Inbox, type Process } from '#adapters/slack/interactions/inbox.ts';
import { submissionId } from '#adapters/slack/interactions/request-id.ts';
import { createLeases } from '#src/cluster/leases.ts';
import { createMembership } from '#src/cluster/membership.ts';
import { DailiesError } from '#src/errors.ts';
import type { Store } from '#src/store/store.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass, settle } from '#test/fakes/settle.ts';

describe('a request that is persisted late', () => {
  /** Returns whether a handler learns that Slack showed the user an error. */
  const isLateAfter = async (ms: number, body: object): Promise<unknown> => {
    const data = new MemoryStore();
    const held = Promise.withResolvers<void>();
    const commit = data.commit.bind(data);
    data.commit = async (change) => {
      await held.promise;
      return commit(change);
    };
    const told: unknown[] = [];
    const { clock, inbox } = house(async ({ customProperties }) => {
      told.push(customProperties?.['isLate']?.());
    }, data);
    const taken = inbox.take({ body: { ...body }, ack: () => Promise.resolve() });
    await settle();
    clock.advance(ms);
    held.resolve();
    await taken;
    return told[0];
  };

  it('counts as failed for the user after 3 s, unless Slack retries it', async () => {
    expect(await isLateAfter(2_900, COMMAND)).toBe(false);
    expect(await isLateAfter(3_001, COMMAND)).toBe(true);
    expect(await isLateAfter(3_001, MENTION)).toBe(false);
  });

  it('counts as failed for the user if the connection was lost before its acknowledgement', async () => {
    const told: unknown[] = [];
    const { inbox } = house(async ({ customProperties }) => void told.push(customProperties?.['isLate']?.()));
    const ack = () => Promise.reject(new Error('the client is not ready'));
    await inbox.take({ body: { ...COMMAND }, ack });
    await inbox.take({ body: MENTION, ack });
    expect(told).toEqual([true, false]);
  });

  it.each([
    [2_900, false],
    [3_001, true],
  ])('after %d ms is marked as late (%s) for the replica that takes it over', async (ms, isLate) => {
    const { clock, open } = replicas();
    const [first, second] = [open('a'), open('b')];
    for (const { membership } of [first, second]) await membership.join();
    await pass(clock, 20_000);
    const held = Promise.withResolvers<void>();
    const commit = first.store.commit.bind(first.store);
    Object.assign(first.store, {
      commit: async (change: Parameters<typeof commit>[0]) => {
        await held.promise;
        return commit(change);
      },
    });
    first.process.mockImplementation(() => new Promise(() => undefined));
    void first.inbox.take({ body: { ...COMMAND }, ack: () => Promise.resolve() });
    await settle();
    clock.advance(ms);
    held.resolve();
    await settle();
    expect(first.process).toHaveBeenCalledOnce();
    await first.membership.leave();
    await second.inbox.resume();
    await pass(clock, 40_000);
    expect(second.process).toHaveBeenCalledOnce();
    const [event] = second.process.mock.calls[0] ?? [];
    expect(event?.customProperties?.['isLate']?.()).toBe(isLate);
  });
});

const HOUR_MS = 3_600_000;
const COMMAND = { command: '/video', trigger_id: 't1', text: 'a fox', token: 'verification' };
const unavailable = new DailiesError('asking: no answer', { code: 'platform_unavailable', retryable: true });
const MENTION = { type: 'event_callback', event_id: 'Ev1', event: { type: 'app_mention' } };

function house(process: Process = () => Promise.resolve(), store = new MemoryStore()) {
  const clock = new ManualClock();
  const { leases, exclusive } = store;
  const membership = createMembership({ leases, exclusive, clock });
  const answerAt = vi.fn(() => Promise.resolve());
  const inbox = new Inbox({ store, clock, membership, logger: pino({ level: 'silent' }), process, answerAt });
  return { store, clock, inbox, answerAt };
}

/** Several replicas on one store. */
function replicas() {
  const data = new MemoryStore();
  const clock = new ManualClock();
  const table = new LeaseTable(clock);
  const open = (owner: string) => {
    const leases = createLeases({ backend: table, clock, owner });
    const flaky = new FlakyStore(data);
    const store: Store = {
      exclusive: false,
      leases,
      broadcast: data.broadcast,
      contents: data.contents,
      keyv: (namespace) => data.keyv(namespace),
      commit: (change) => flaky.commit(change),
      scan: (index, range) => data.scan(index, range),
      count: (index) => data.count(index),
      ping: () => data.ping(),
      close: () => data.close(),
    };
    const membership = createMembership({ leases, exclusive: false, clock });
    const process = vi.fn<Process>(() => Promise.resolve());
    const logger = pino({ level: 'silent' });
    const answerAt = () => Promise.resolve();
    return {
      store,
      flaky,
      membership,
      process,
      inbox: new Inbox({ store, clock, membership, logger, process, answerAt }),
    };
  };
  return { clock, table, open };
}

describe('the inbox', () => {
  it('persists a request without its token, acknowledges it, then handles it', async () => {
    const steps: string[] = [];
    const gate = Promise.withResolvers<void>();
    const { store, inbox } = house(() => gate.promise.then(() => void steps.push('done')));
    const kept = () => store.keyv('adapters').get<{ body: unknown }>('slack:inbox:t1');
    const taken = inbox.take({
      body: COMMAND,
      ack: async () => {
        expect((await kept())?.body).toEqual({ command: '/video', trigger_id: 't1', text: 'a fox' });
        steps.push('acknowledged');
      },
    });
    await settle();
    gate.resolve();
    await taken;
    expect(steps).toEqual(['acknowledged', 'done']);
    expect((await kept())?.body).toBeNull();
  });

  it('marks a request as done once the store is back', async () => {
    const { store, clock, inbox } = house();
    const kept = () => store.keyv('adapters').get<{ body: unknown }>('slack:inbox:t1');
    const taken = inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    const away = vi.spyOn(store, 'commit');
    // The first commit persisted the request.
    for (let times = 0; times < 5; times += 1) away.mockRejectedValueOnce(new Error('away'));
    await pass(clock, 4_000);
    expect(await kept()).toMatchObject({ body: { text: 'a fox' } });
    await pass(clock, 2_000);
    await taken;
    expect(await kept()).toMatchObject({ body: null });
  });

  it('does not block the shutdown while the store is away', async () => {
    const { store, clock, inbox } = house();
    const taken = inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    vi.spyOn(store, 'commit').mockRejectedValue(new Error('away'));
    await settle();
    const closed = inbox.close();
    await pass(clock, 1_000);
    await Promise.all([taken, closed]);
  });

  it('acknowledges in time if the store is slow', async () => {
    const store = new MemoryStore();
    const commit = vi.spyOn(store, 'commit').mockImplementation(() => new Promise(() => undefined));
    const { clock, inbox } = house(undefined, store);
    const ack = vi.fn(() => Promise.resolve());
    void inbox.take({ body: COMMAND, ack });
    await settle();
    expect(ack).not.toHaveBeenCalled();
    clock.advance(1_800);
    expect(ack).toHaveBeenCalledTimes(1);
    expect(commit).toHaveBeenCalledTimes(1);
  });

  it('leaves an event unacknowledged if the write fails, and reports the error of a command', async () => {
    const store = new MemoryStore();
    vi.spyOn(store, 'commit').mockRejectedValue(new Error('the disk is gone'));
    const process = vi.fn(() => Promise.resolve());
    const { inbox } = house(process, store);
    const ack = vi.fn(() => Promise.resolve());
    await expect(inbox.take({ body: MENTION, ack })).rejects.toThrow('the disk is gone');
    expect(ack).not.toHaveBeenCalled();
    void inbox.take({ body: COMMAND, ack });
    await settle();
    expect(ack).toHaveBeenCalledWith({ response_type: 'ephemeral', text: expect.stringContaining('log') });
    expect(process).not.toHaveBeenCalled();
  });

  it('reports a failed write of a command through the response_url after the acknowledgement', async () => {
    const gate = Promise.withResolvers<boolean>();
    const store = new MemoryStore();
    vi.spyOn(store, 'commit').mockReturnValueOnce(gate.promise);
    const { clock, inbox, answerAt } = house(undefined, store);
    const ack = vi.fn(() => Promise.resolve());
    const taken = inbox.take({ body: { ...COMMAND, response_url: 'https://hooks.example/1' }, ack });
    await pass(clock, 2_000);
    expect(ack).toHaveBeenCalledTimes(1);
    gate.reject(new DailiesError('writing: no answer', { code: 'store_unavailable', retryable: true }));
    await taken;
    expect(answerAt).toHaveBeenCalledWith('https://hooks.example/1', expect.stringContaining('my database'));
    expect(ack).toHaveBeenCalledTimes(1);
  });

  it('reports a failed write of a command through the response_url if the connection is lost', async () => {
    const store = new MemoryStore();
    vi.spyOn(store, 'commit').mockRejectedValueOnce(
      new DailiesError('writing: no answer', { code: 'store_unavailable', retryable: true }),
    );
    const { inbox, answerAt } = house(undefined, store);
    const ack = () => Promise.reject(new Error('the client is not ready'));
    await inbox.take({ body: { ...COMMAND, response_url: 'https://hooks.example/1' }, ack });
    expect(answerAt).toHaveBeenCalledWith('https://hooks.example/1', expect.any(String));
  });

  it('leaves an event and its retry unacknowledged while the store does not respond', async () => {
    const gate = Promise.withResolvers<boolean>();
    const store = new MemoryStore();
    vi.spyOn(store, 'commit').mockReturnValueOnce(gate.promise);
    const { clock, inbox } = house(undefined, store);
    const ack = vi.fn(() => Promise.resolve());
    const taken = [inbox.take({ body: MENTION, ack }), inbox.take({ body: MENTION, ack })];
    await pass(clock, 4_000);
    gate.reject(new Error('no answer'));
    for (const one of taken) await expect(one).rejects.toThrow('no answer');
    expect(ack).not.toHaveBeenCalled();
  });

  it.each(['unwritten', 'answer_lost'] as const)(
    'handles an event once that was %s, whichever replica receives its retry',
    async (how) => {
      const { clock, open } = replicas();
      const pair = [open('a'), open('b')];
      const [first, other] = pair;
      for (const { membership } of pair) await membership.join();
      first?.flaky.failNext(how);
      const ack = vi.fn(() => Promise.resolve());
      await expect(first?.inbox.take({ body: MENTION, ack })).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(ack).not.toHaveBeenCalled();
      await other?.inbox.take({ body: MENTION, ack });
      expect(ack).toHaveBeenCalledTimes(1);
      await pass(clock, 2_000);
      expect(pair.reduce((sum, { process }) => sum + process.mock.calls.length, 0)).toBe(1);
      expect(await other?.store.count('slack-inbox-undone')).toBe(0);
    },
  );

  it('drops an event whose write was uncertain for too long', async () => {
    const process = vi.fn(() => Promise.resolve());
    const { store, clock, inbox } = house(process);
    const away = vi.spyOn(store, 'commit').mockRejectedValue(new Error('away'));
    await expect(inbox.take({ body: MENTION, ack: () => Promise.resolve() })).rejects.toThrow('away');
    await pass(clock, 30 * 60_000, 1_000);
    away.mockRestore();
    await pass(clock, 2_000);
    expect(process).not.toHaveBeenCalled();
    expect(await store.keyv('adapters').get('slack:inbox:Ev1')).toMatchObject({ body: null });
    await inbox.close();
  });

  it('never handles a command that was reported as failed', async () => {
    const { clock, open } = replicas();
    const [told, later] = [open('a'), open('b')];
    for (const { membership } of [told, later]) await membership.join();
    told.flaky.failNext('answer_lost');
    const ack = vi.fn(() => Promise.resolve());
    const taken = told.inbox.take({ body: COMMAND, ack });
    await pass(clock, 2_000);
    await taken;
    expect(ack).toHaveBeenCalledWith({ response_type: 'ephemeral', text: expect.stringContaining('my database') });
    await told.membership.leave();
    await later.inbox.resume();
    await pass(clock, 60_000);
    for (const { process } of [told, later]) expect(process).not.toHaveBeenCalled();
    expect(await later.store.count('slack-inbox-undone')).toBe(0);
  });

  it('reports a command that could not be started, and drops it', async () => {
    const process = vi.fn(() => Promise.reject(unavailable));
    const { store, inbox, answerAt } = house(process);
    const ack = vi.fn(() => Promise.resolve());
    await inbox.take({ body: { ...COMMAND, response_url: 'https://hooks.example/1' }, ack });
    expect(ack).toHaveBeenCalledTimes(1);
    expect(answerAt.mock.calls).toEqual([['https://hooks.example/1', expect.stringContaining('Try again')]]);
    expect(process).toHaveBeenCalledTimes(1);
    expect(await store.count('slack-inbox-undone')).toBe(0);
  });

  it('retries an event that could not be started', async () => {
    const process = vi.fn<Process>(() => Promise.resolve());
    process.mockRejectedValueOnce(unavailable).mockRejectedValueOnce(unavailable);
    const { store, clock, inbox } = house(process);
    const ack = vi.fn(() => Promise.resolve());
    const taken = inbox.take({ body: MENTION, ack });
    await pass(clock, 11_000);
    await taken;
    expect(ack).toHaveBeenCalledTimes(1);
    expect(process).toHaveBeenCalledTimes(3);
    expect(await store.count('slack-inbox-undone')).toBe(0);
  });

  it('keeps a modal open that could not be started, and accepts it the next time', async () => {
    const process = vi.fn<Process>(() => Promise.resolve()).mockRejectedValueOnce(unavailable);
    const { inbox } = house(process);
    const ack = vi.fn(() => Promise.resolve());
    const body = { type: 'view_submission', view: { id: 'V1', hash: 'h', state: { values: {} } } };
    await expect(inbox.take({ body, ack })).rejects.toBe(unavailable);
    expect(ack).not.toHaveBeenCalled();
    await settle();
    await inbox.take({ body, ack });
    expect(ack).toHaveBeenCalledTimes(1);
    expect(process).toHaveBeenCalledTimes(2);
  });

  it('rejects requests under overload: commands with a sentence, others so that Slack retries', async () => {
    const store = new MemoryStore();
    const gate = Promise.withResolvers<void>();
    const done = vi.fn(() => gate.promise);
    const membership = { isGone: () => Promise.resolve(false) };
    const options = { store, clock: new ManualClock(), logger: pino({ level: 'silent' }), membership, process: done };
    const inbox = new Inbox({ ...options, answerAt: () => Promise.resolve(), mostInHand: 1 });
    const first = inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    await settle();
    const ack = vi.fn(() => Promise.resolve());
    await inbox.take({ body: { ...COMMAND, trigger_id: 't2' }, ack });
    expect(ack).toHaveBeenCalledWith({ response_type: 'ephemeral', text: expect.stringContaining('too busy') });
    await expect(inbox.take({ body: MENTION, ack })).rejects.toMatchObject({ code: 'overloaded' });
    expect(ack).toHaveBeenCalledTimes(1);
    // A retry of a request in flight does not count.
    const again = inbox.take({ body: COMMAND, ack });
    gate.resolve();
    await Promise.all([first, again]);
    expect(done).toHaveBeenCalledTimes(1);
    await inbox.take({ body: MENTION, ack });
    expect(done).toHaveBeenCalledTimes(2);
    expect(await store.keyv('adapters').get('slack:inbox:t2')).toBeUndefined();
  });

  it('survives a lost connection when acknowledging a retry or an unknown request', async () => {
    const gate = Promise.withResolvers<void>();
    const { inbox } = house(() => gate.promise);
    const first = inbox.take({ body: MENTION, ack: () => Promise.resolve() });
    await settle();
    const ack = vi.fn(() => Promise.reject(new Error('the client is not ready')));
    const again = inbox.take({ body: MENTION, ack });
    gate.resolve();
    await Promise.all([first, again, inbox.take({ body: { type: 'of tomorrow' }, ack })]);
    expect(ack).toHaveBeenCalledTimes(2);
  });

  it('gives a retry of a modal the response of the first delivery', async () => {
    const body = { type: 'view_submission', view: { id: 'V1', hash: 'h', state: { values: {} } } };
    const errors = { response_action: 'errors', errors: { prompt: 'No.' } };
    const { inbox } = house(async ({ ack }) => ack(errors));
    const acks = [vi.fn(() => Promise.resolve()), vi.fn(() => Promise.resolve())];
    await Promise.all(acks.map((ack) => inbox.take({ body, ack })));
    for (const ack of acks) expect(ack.mock.calls).toEqual([[errors]]);
  });

  it('validates a modal again that another replica rejected, so that both respond alike', async () => {
    const { clock, open } = replicas();
    const pair = [open('a'), open('b')];
    const body = { type: 'view_submission', view: { id: 'V1', hash: 'h', state: { values: {} } } };
    const errors = { response_action: 'errors', errors: { prompt: 'No.' } };
    const gate = Promise.withResolvers<void>();
    for (const { inbox, process } of pair) {
      process.mockImplementation(async ({ ack }) => {
        await gate.promise;
        await ack(errors);
        await inbox.forget(submissionId(body.view));
      });
    }
    const acks = pair.map(() => vi.fn(() => Promise.resolve()));
    const taken = pair.map(({ inbox }, at) => inbox.take({ body, ack: acks[at] ?? (() => Promise.resolve()) }));
    await settle();
    gate.resolve();
    await pass(clock, 1_000);
    await Promise.all(taken);
    for (const ack of acks) expect(ack.mock.calls).toEqual([[errors]]);
  });

  it('handles an abandoned request once after a restart', async () => {
    const store = new MemoryStore();
    const { inbox } = house(() => Promise.reject(new Error('killed')), store);
    await inbox.take({ body: COMMAND, ack: () => Promise.resolve() }).catch(() => undefined);
    const again = vi.fn(() => Promise.resolve());
    store.reopen();
    const later = house(again, store);
    await later.inbox.resume();
    await settle();
    expect(again).toHaveBeenCalledTimes(1);
    await later.inbox.resume();
    expect(again).toHaveBeenCalledTimes(1);
  });

  it('takes over a dead replica’s requests, once', async () => {
    const { clock, open } = replicas();
    const [dead, ...living] = [open('a'), open('b'), open('c')];
    const gate = Promise.withResolvers<void>();
    dead?.process.mockReturnValue(gate.promise);
    await dead?.membership.join();
    for (const { membership, inbox } of living) {
      await membership.join();
      await inbox.resume();
    }
    void dead?.inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    await pass(clock, 60_000);
    const calls = () => living.reduce((sum, { process }) => sum + process.mock.calls.length, 0);
    // The replica is alive and still handles it.
    expect(calls()).toBe(0);
    await dead?.membership.leave();
    await pass(clock, 20_000);
    expect(calls()).toBe(1);
    // The replica was only paused: its late result has no effect.
    gate.resolve();
    await pass(clock, 60_000);
    expect(calls()).toBe(1);
    expect(await living[0]?.store.count('slack-inbox-undone')).toBe(0);
  });

  it('does not mark a request as done that another replica took over', async () => {
    const { clock, open } = replicas();
    const [stopped, living] = [open('a'), open('b')];
    const gate = Promise.withResolvers<void>();
    stopped.process.mockReturnValue(gate.promise);
    living.process.mockReturnValue(new Promise(() => undefined));
    for (const { membership } of [stopped, living]) await membership.join();
    const taken = stopped.inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    await pass(clock, 20_000);
    await stopped.membership.leave();
    void living.inbox.resume();
    await settle();
    expect(living.process).toHaveBeenCalledTimes(1);
    gate.resolve();
    await taken;
    expect(await living.store.count('slack-inbox-undone')).toBe(1);
  });

  it('drops an abandoned request that is too old', async () => {
    const { clock, open } = replicas();
    const [dead, living] = [open('a'), open('b')];
    dead.process.mockReturnValue(new Promise(() => undefined));
    void dead.inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    await pass(clock, HOUR_MS, 60_000);
    await living.membership.join();
    await living.inbox.resume();
    await pass(clock, 60_000);
    expect(living.process).not.toHaveBeenCalled();
    expect(await living.store.count('slack-inbox-undone')).toBe(0);
  });

  it('hands the scan for abandoned requests to another replica on shutdown', async () => {
    const { clock, table, open } = replicas();
    const [one, other] = [open('a'), open('b')];
    for (const { membership, inbox } of [one, other]) {
      await membership.join();
      await inbox.resume();
    }
    expect(await table.read('slack:inbox')).toMatch(/^a /);
    await one.inbox.close();
    expect(await table.read('slack:inbox')).toBeNull();
    await pass(clock, 15_000);
    expect(await table.read('slack:inbox')).toMatch(/^b /);
  });

  it('prunes records after some hours', async () => {
    const { store, clock, inbox } = house();
    await inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    await inbox.resume();
    expect(await store.count('slack-inbox')).toBe(1);
    for (let hour = 0; hour < 3; hour += 1) {
      clock.advance(HOUR_MS);
      await settle();
    }
    expect(await store.count('slack-inbox')).toBe(0);
    expect(await store.keyv('adapters').get('slack:inbox:t1')).toBeUndefined();
  });

  it('does not persist requests that change nothing', async () => {
    const { store, inbox } = house();
    const ack = () => Promise.resolve();
    const reaction = { type: 'reaction_added', reaction: 'thumbsup', item: { type: 'message' } };
    await inbox.take({ body: { type: 'event_callback', event_id: 'Ev1', event: reaction }, ack });
    await inbox.take({ body: { type: 'block_actions', trigger_id: 't', container: { type: 'view' } }, ack });
    expect(await store.count('slack-inbox')).toBe(0);
  });
});

describe('the token cipher', () => {
  it('decrypts only with the same name and key', () => {
    const vault = createTokenCipher('a secret');
    const sealed = vault.seal('T1', 'xoxb-token');
    expect(sealed).not.toContain('xoxb');
    expect(vault.seal('T1', 'xoxb-token')).not.toBe(sealed);
    expect(vault.open('T1', sealed)).toBe('xoxb-token');
    expect(vault.open('T2', sealed)).toBeNull();
    expect(createTokenCipher('another').open('T1', sealed)).toBeNull();
    expect(vault.open('T1', `${sealed.slice(0, -6)}AAAAAA`)).toBeNull();
    expect(vault.open('T1', 'short')).toBeNull();
  });
});
