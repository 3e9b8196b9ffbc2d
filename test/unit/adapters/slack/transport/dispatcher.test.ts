import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { Acknowledgement, Dispatcher, type Process, type RequestState } from '#adapters/slack/transport/dispatcher.ts';
import { DailiesError } from '#src/errors.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass, settle } from '#test/fakes/settle.ts';

const COMMAND = { command: '/video', trigger_id: 't1', text: 'a fox', response_url: 'https://hooks.example/1' };
const MENTION = { type: 'event_callback', event_id: 'Ev1', event: { type: 'app_mention' } };
const MODAL = { type: 'view_submission', view: { id: 'V1', hash: 'h', state: { values: {} } } };
const unavailable = new DailiesError('asking: no answer', { code: 'platform_unavailable', retryable: true });
const logger = pino({ level: 'silent' });

function house(process: Process = () => Promise.resolve(), mostInFlight?: number) {
  const clock = new ManualClock();
  const answerAt = vi.fn(() => Promise.resolve());
  const limit = mostInFlight === undefined ? {} : { mostInFlight };
  return { clock, answerAt, dispatcher: new Dispatcher({ clock, logger, process, answerAt, ...limit }) };
}

/** Returns an `ack` that succeeds. */
const accepting = () => vi.fn<(payload?: unknown) => Promise<void>>(() => Promise.resolve());
const stateOf = ({ customProperties }: Parameters<Process>[0]) => customProperties as unknown as RequestState;

describe('an order', () => {
  /** Returns whether an order may be claimed after `ms`. */
  const isAcceptedAfter = async (
    ms: number,
    body: object,
    { ack = () => Promise.resolve(), isConnected = true, isRepeated = false } = {},
  ): Promise<unknown> => {
    const held = Promise.withResolvers<void>();
    const answers: unknown[] = [];
    const { clock, dispatcher } = house(async (event) => {
      await held.promise;
      answers.push(await stateOf(event).accepted?.(async () => isRepeated));
    });
    const customProperties = { isConnected: () => isConnected };
    const taken = dispatcher.take({ body: { ...body }, ack, customProperties });
    await settle();
    clock.advance(ms);
    await settle();
    held.resolve();
    await pass(clock, 2_000);
    await taken;
    return answers[0];
  };

  it('may be claimed before its acknowledgement, or after one that was in time', async () => {
    expect(await isAcceptedAfter(100, COMMAND)).toBe(true);
    expect(await isAcceptedAfter(30_000, COMMAND)).toBe(true);
  });

  it('of an event is never late, since Slack retries it', async () => {
    expect(await isAcceptedAfter(3_001, MENTION)).toBeUndefined();
  });

  it.each([
    [2_999, true],
    [3_001, false],
  ])('of a process that was suspended for %d ms may be claimed: %s', async (ms, isAccepted) => {
    let nowMs = 0;
    const clock = { now: () => nowMs, monotonic: () => nowMs, after: () => () => undefined };
    const options = { ack: accepting(), clock, logger, isConnected: () => true };
    const [sent, unsent] = [new Acknowledgement(options), new Acknowledgement(options)];
    nowMs = ms;
    await sent.send();
    expect(await Promise.all([sent.isAccepted(), unsent.isAccepted()])).toEqual([isAccepted, isAccepted]);
  });

  it('may not be claimed once the connection is lost', async () => {
    expect(await isAcceptedAfter(100, COMMAND, { isConnected: false })).toBe(false);
    const ack = () => Promise.reject(new Error('the client is not ready'));
    expect(await isAcceptedAfter(2_000, COMMAND, { ack })).toBe(false);
  });

  it('may not be claimed by a repeated delivery, which leaves the first one time to', async () => {
    expect(await isAcceptedAfter(100, COMMAND, { isRepeated: true })).toBe(false);
  });
});

describe('an acknowledgement', () => {
  it('is sent once the request is handled, or when its handler asks for it', async () => {
    const gate = Promise.withResolvers<void>();
    const { dispatcher } = house(async (event) => {
      if (event.body['command'] !== undefined) await stateOf(event).acknowledge();
      await gate.promise;
    });
    const [command, mention] = [accepting(), accepting()];
    const taken = [dispatcher.take({ body: COMMAND, ack: command }), dispatcher.take({ body: MENTION, ack: mention })];
    await settle();
    expect([command, mention].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    gate.resolve();
    await Promise.all(taken);
    expect([command, mention].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it('is sent in time by a slow handler, but of an event', async () => {
    const { clock, dispatcher } = house(() => new Promise(() => undefined));
    const acks = [COMMAND, MENTION, MODAL].map((body) => {
      const ack = accepting();
      void dispatcher.take({ body: { ...body }, ack });
      return ack;
    });
    await settle();
    expect(acks.flatMap(({ mock }) => mock.calls)).toEqual([]);
    clock.advance(1_800);
    expect(acks.map(({ mock }) => mock.calls)).toEqual([
      [[{ response_type: 'ephemeral', text: expect.stringContaining('try again') }]],
      [],
      [[undefined]],
    ]);
  });

  it('of a slow press is followed by a sentence, since the press may still be lost', async () => {
    const { clock, answerAt, dispatcher } = house(() => new Promise(() => undefined));
    const ack = accepting();
    const { response_url } = COMMAND;
    void dispatcher.take({ body: { type: 'block_actions', trigger_id: 't1', response_url }, ack });
    await settle();
    clock.advance(1_800);
    await settle();
    expect(ack.mock.calls).toEqual([[undefined]]);
    expect(answerAt.mock.calls).toEqual([[response_url, expect.stringContaining('Still working')]]);
  });

  it('that is lost is not repeated', async () => {
    const gate = Promise.withResolvers<void>();
    const { dispatcher } = house(() => gate.promise);
    const first = dispatcher.take({ body: MENTION, ack: () => Promise.resolve() });
    await settle();
    const ack = vi.fn(() => Promise.reject(new Error('the client is not ready')));
    const again = dispatcher.take({ body: MENTION, ack });
    gate.resolve();
    await Promise.all([first, again, dispatcher.take({ body: { type: 'of tomorrow' }, ack })]);
    expect(ack).toHaveBeenCalledTimes(2);
  });
});

describe('a request delivered several times', () => {
  it('is handled once, in flight and afterwards', async () => {
    const gate = Promise.withResolvers<void>();
    const process = vi.fn(() => gate.promise);
    const { dispatcher } = house(process);
    const acks = [accepting(), accepting(), accepting()];
    const [third, ...both] = acks;
    const taken = both.map((ack) => dispatcher.take({ body: COMMAND, ack }));
    await settle();
    gate.resolve();
    await Promise.all(taken);
    await dispatcher.take({ body: COMMAND, ack: third ?? accepting() });
    expect(process).toHaveBeenCalledTimes(1);
    expect(acks.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });

  it('gets the same response for a modal, which can be submitted again once rejected', async () => {
    const errors = { response_action: 'errors', errors: { prompt: 'No.' } };
    const process = vi.fn<Process>(async ({ ack }) => ack(errors));
    const { dispatcher } = house(process);
    const acks = [accepting(), accepting(), accepting()];
    const [third, ...both] = acks;
    await Promise.all(both.map((ack) => dispatcher.take({ body: MODAL, ack })));
    await dispatcher.take({ body: MODAL, ack: third ?? accepting() });
    expect(process).toHaveBeenCalledTimes(2);
    for (const ack of acks) expect(ack.mock.calls).toEqual([[errors]]);
  });
});

describe('a request that cannot be started', () => {
  it('is reported to the sender of a command', async () => {
    const { dispatcher, answerAt } = house(() => Promise.reject(unavailable));
    const ack = accepting();
    await dispatcher.take({ body: COMMAND, ack });
    expect(ack.mock.calls).toEqual([[undefined]]);
    expect(answerAt.mock.calls).toEqual([['https://hooks.example/1', expect.stringContaining('Try again')]]);
  });

  it('stays unacknowledged, so that Slack retries an event and a modal stays open', async () => {
    for (const body of [MENTION, MODAL]) {
      const process = vi.fn<Process>(() => Promise.resolve()).mockRejectedValueOnce(unavailable);
      const { dispatcher } = house(process);
      const ack = accepting();
      await expect(dispatcher.take({ body, ack })).rejects.toBe(unavailable);
      expect(ack).not.toHaveBeenCalled();
      await dispatcher.take({ body, ack });
      expect(ack).toHaveBeenCalledTimes(1);
      expect(process).toHaveBeenCalledTimes(2);
    }
  });

  it('is not retried if that is hopeless', async () => {
    const hopeless = new DailiesError('asking: gone', { code: 'unauthorised', retryable: false });
    const { dispatcher } = house(() => Promise.reject(hopeless));
    const ack = accepting();
    await dispatcher.take({ body: MENTION, ack });
    expect(ack).toHaveBeenCalledTimes(1);
  });
});

it('rejects requests under overload: commands with a sentence, others so that Slack retries', async () => {
  const gate = Promise.withResolvers<void>();
  const process = vi.fn(() => gate.promise);
  const { dispatcher } = house(process, 1);
  const first = dispatcher.take({ body: COMMAND, ack: accepting() });
  await settle();
  const ack = accepting();
  await dispatcher.take({ body: { ...COMMAND, trigger_id: 't2' }, ack });
  expect(ack).toHaveBeenCalledWith({ response_type: 'ephemeral', text: expect.stringContaining('too busy') });
  await expect(dispatcher.take({ body: MENTION, ack })).rejects.toMatchObject({ code: 'overloaded' });
  expect(ack).toHaveBeenCalledTimes(1);
  // A retry of a request in flight does not count.
  const again = dispatcher.take({ body: COMMAND, ack });
  gate.resolve();
  await Promise.all([first, again]);
  await dispatcher.take({ body: MENTION, ack });
  expect(process).toHaveBeenCalledTimes(2);
});

it('drains on shutdown, and takes no more', async () => {
  const gate = Promise.withResolvers<void>();
  const { dispatcher } = house(() => gate.promise);
  const taken = dispatcher.take({ body: COMMAND, ack: accepting() });
  let isClosed = false;
  const closed = dispatcher.close().then(() => {
    isClosed = true;
  });
  await expect(dispatcher.take({ body: MENTION, ack: accepting() })).rejects.toThrow('stopping');
  expect(isClosed).toBe(false);
  gate.resolve();
  await Promise.all([taken, closed]);
});
