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

describe('a request that is kept too late', () => {
  /** Whether what is done with a request is told that its person saw it fail. */
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

  it('was reported as failed after 3 s, unless Slack sends it again', async () => {
    expect(await isLateAfter(2_900, COMMAND)).toBe(false);
    expect(await isLateAfter(3_001, COMMAND)).toBe(true);
    expect(await isLateAfter(3_001, MENTION)).toBe(false);
  });

  it('was reported as failed, too, where the connection was gone before it was acknowledged', async () => {
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
  ])('after %d ms is known as such (%s) to whoever takes it over from a dead process', async (ms, isLate) => {
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

/** Several processes on one store. */
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
  it('writes down before it acknowledges, without the token, and acknowledges before it is done', async () => {
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

  it('marks as done what it did, or told somebody of, however long the store is away', async () => {
    const { store, clock, inbox } = house();
    const kept = () => store.keyv('adapters').get<{ body: unknown }>('slack:inbox:t1');
    const taken = inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    const away = vi.spyOn(store, 'commit');
    // The first was to keep it.
    for (let times = 0; times < 5; times += 1) away.mockRejectedValueOnce(new Error('away'));
    await pass(clock, 4_000);
    expect(await kept()).toMatchObject({ body: { text: 'a fox' } });
    await pass(clock, 2_000);
    await taken;
    expect(await kept()).toMatchObject({ body: null });
  });

  it('does not keep a process that stops from it, where the store is away', async () => {
    const { store, clock, inbox } = house();
    const taken = inbox.take({ body: COMMAND, ack: () => Promise.resolve() });
    vi.spyOn(store, 'commit').mockRejectedValue(new Error('away'));
    await settle();
    const closed = inbox.close();
    await pass(clock, 1_000);
    await Promise.all([taken, closed]);
  });

  it('acknowledges in time where the store is slow', async () => {
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

  it('leaves an event unacknowledged that could not be kept, and tells whoever gave a command', async () => {
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

  it('tells whoever gave a command also where Slack was answered before it was known that it cannot be kept', async () => {
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

  it('tells whoever gave a command also where the connection was gone before it could be acknowledged', async () => {
    const store = new MemoryStore();
    vi.spyOn(store, 'commit').mockRejectedValueOnce(
      new DailiesError('writing: no answer', { code: 'store_unavailable', retryable: true }),
    );
    const { inbox, answerAt } = house(undefined, store);
    const ack = () => Promise.reject(new Error('the client is not ready'));
    await inbox.take({ body: { ...COMMAND, response_url: 'https://hooks.example/1' }, ack });
    expect(answerAt).toHaveBeenCalledWith('https://hooks.example/1', expect.any(String));
  });

  it('leaves an event and its repetition unacknowledged as long as the store is silent', async () => {
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
    'does an event once that was %s, whoever hears its repetition',
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

  it('does an event whose keeping was in doubt for too long no more', async () => {
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

  it('never does a command of which somebody was told that it did not work', async () => {
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

  it('tells whoever asked for what could not be begun, and does it no more', async () => {
    const process = vi.fn(() => Promise.reject(unavailable));
    const { store, inbox, answerAt } = house(process);
    const ack = vi.fn(() => Promise.resolve());
    await inbox.take({ body: { ...COMMAND, response_url: 'https://hooks.example/1' }, ack });
    expect(ack).toHaveBeenCalledTimes(1);
    expect(answerAt.mock.calls).toEqual([['https://hooks.example/1', expect.stringContaining('Try again')]]);
    expect(process).toHaveBeenCalledTimes(1);
    expect(await store.count('slack-inbox-undone')).toBe(0);
  });

  it('begins with an event again that could not be begun', async () => {
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

  it('leaves a form open that could not be begun, and takes it the next time', async () => {
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

  it('turns away what is too much at once: a command with words, the rest to be sent again', async () => {
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
    // A repetition of what is in hand costs nothing.
    const again = inbox.take({ body: COMMAND, ack });
    gate.resolve();
    await Promise.all([first, again]);
    expect(done).toHaveBeenCalledTimes(1);
    await inbox.take({ body: MENTION, ack });
    expect(done).toHaveBeenCalledTimes(2);
    expect(await store.keyv('adapters').get('slack:inbox:t2')).toBeUndefined();
  });

  it('is not thrown off by a connection that is gone before a repetition, or the unknown, is acknowledged', async () => {
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

  it('hands a repetition of a form the answer of the first one', async () => {
    const body = { type: 'view_submission', view: { id: 'V1', hash: 'h', state: { values: {} } } };
    const errors = { response_action: 'errors', errors: { prompt: 'No.' } };
    const { inbox } = house(async ({ ack }) => ack(errors));
    const acks = [vi.fn(() => Promise.resolve()), vi.fn(() => Promise.resolve())];
    await Promise.all(acks.map((ack) => inbox.take({ body, ack })));
    for (const ack of acks) expect(ack.mock.calls).toEqual([[errors]]);
  });

  it('asks anew for a form that another replica refused, so that Slack hears the same from both', async () => {
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

  it('does what is left undone, and only while somebody waits for it', async () => {
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

  it('does what another replica left undone as soon as that is dead, and once', async () => {
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
    // It works on it, however long that takes.
    expect(calls()).toBe(0);
    await dead?.membership.leave();
    await pass(clock, 20_000);
    expect(calls()).toBe(1);
    // It was not dead, but stopped: what it says in the end changes nothing.
    gate.resolve();
    await pass(clock, 60_000);
    expect(calls()).toBe(1);
    expect(await living[0]?.store.count('slack-inbox-undone')).toBe(0);
  });

  it('takes nothing for done that another replica is at by now', async () => {
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

  it('leaves to nobody what was asked for so long ago that nobody waits for it', async () => {
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

  it('has another replica look for what is undone when the one that did is dead', async () => {
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

  it('forgets after some hours', async () => {
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

  it('writes nothing down that changes nothing', async () => {
    const { store, inbox } = house();
    const ack = () => Promise.resolve();
    const reaction = { type: 'reaction_added', reaction: 'thumbsup', item: { type: 'message' } };
    await inbox.take({ body: { type: 'event_callback', event_id: 'Ev1', event: reaction }, ack });
    await inbox.take({ body: { type: 'block_actions', trigger_id: 't', container: { type: 'view' } }, ack });
    expect(await store.count('slack-inbox')).toBe(0);
  });
});

describe('the vault', () => {
  it('opens what it sealed, under its name and with its key alone', () => {
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
