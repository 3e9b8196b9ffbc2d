import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  completionsUrl,
  createEnhancer,
  ENHANCER_TIMEOUT_MS,
  type Enhancer,
  promptIn,
} from '#src/enhancer/enhancer.ts';
import { type FakeEnhancer, startEnhancer } from '#test/fakes/enhancer.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

let fake: FakeEnhancer;
let enhancer: Enhancer;
let clock: ManualClock;
let log: string;
let outcomes: string[];

beforeEach(async () => {
  fake = await startEnhancer();
  clock = new ManualClock();
  log = '';
  outcomes = [];
  const write = (line: string): void => {
    log += line;
  };
  const logger = pino({ level: 'trace' }, { write });
  const improved = (outcome: string): void => void outcomes.push(outcome);
  enhancer = createEnhancer({ url: fake.url, token: fake.token, model: 'tiny' }, { clock, logger, improved });
});

afterEach(() => fake.close());

const ask = (person = 'a') => enhancer.enhance({ prompt: 'a red fox', maxLength: 200, person });

it('sends the prompt alone, in the documented form, and returns the answer', async () => {
  expect(await ask()).toEqual({ ok: true, prompt: fake.content });
  expect(fake.requests).toMatchObject([{ model: 'tiny', messages: [{ role: 'system' }, { content: 'a red fox' }] }]);
  expect(fake.requests[0]?.messages[0]?.content).toContain('at most 200 characters');
  expect(outcomes).toEqual(['ok']);
  expect(clock.pending).toBe(0);
});

const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code, { location: '/v1/chat/completions' }).end('{"error":{"message":"about a red fox"}}');
  };
const body =
  (text: string) =>
  (response: ServerResponse): void => {
    response.end(text);
  };
const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy();
};

it.each([
  ['unauthorised', { respond: status(401) }],
  ['unauthorised', { respond: status(403) }],
  ['rate_limited', { respond: status(429) }],
  ['unavailable', { respond: status(500) }],
  ['unavailable', { respond: reset }],
  ['failed', { respond: status(404) }],
  ['failed', { respond: status(307) }],
  ['bad_answer', { respond: body('<html>a red fox</html>') }],
  ['bad_answer', { respond: body('{"choices":[]}') }],
  ['bad_answer', { respond: body(`"${'x'.repeat(300_000)}"`) }],
  ['empty', { content: ' \u200B\n' }],
  ['empty', { content: null }],
  ['cut_off', { finishReason: 'length' }],
  ['withheld', { finishReason: 'content_filter' }],
  ['too_long', { content: 'x'.repeat(201) }],
] as const)('fails with %s, asks once, and logs no prompt', async (reason, behaviour) => {
  Object.assign(fake, behaviour);
  expect(await ask()).toEqual({ ok: false, reason });
  expect(fake.hits()).toBe(1);
  expect(outcomes).toEqual([reason]);
  expect(log).toContain('prompt_not_improved');
  expect(log).not.toMatch(/fox|sk-enhancer/u);
});

it('gives up after 15 s, in the middle of an answer too, and does one request of a person at a time', async () => {
  let closed: Promise<unknown> | undefined;
  fake.respond = (response) => {
    response.write('{');
    closed = once(response, 'close');
  };
  const asked = ask();
  await vi.waitFor(() => expect(closed).toBeDefined(), 300_000);
  expect(await ask()).toEqual({ ok: false, reason: 'busy' });
  clock.advance(ENHANCER_TIMEOUT_MS - 1);
  clock.advance(1);
  expect(await asked).toEqual({ ok: false, reason: 'timed_out' });
  await closed;
  fake.respond = null;
  expect(await ask()).toMatchObject({ ok: true });
});

it.each([
  ['```text\nA fox.\n```', 'A fox.'],
  ['"A red fox\r\n in\tsnow."', 'A red fox in snow.'],
  ['“A fox.”', 'A fox.'],
  ['"Stop" and "go"', '"Stop" and "go"'],
  ['A\u0000 \u202Efox\u200B \u{1F468}\u200D\u{1F680} \uD800', 'A fox \u{1F468}\u200D\u{1F680} \uFFFD'],
  ['@everyone <@U1> --seconds 60', '@everyone <@U1> --seconds 60'],
])('reads %j as one line of plain text', (text, prompt) => expect(promptIn(text)).toBe(prompt));

it.each([
  ['https://api.openai.com/v1', 'https://api.openai.com/v1/chat/completions'],
  ['https://a.test/openai/v1/', 'https://a.test/openai/v1/chat/completions'],
  ['https://a.test/v1/chat/completions', 'https://a.test/v1/chat/completions'],
  ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1/chat/completions'],
])('sends to %s as %s', (given, address) => expect(completionsUrl(given).href).toBe(address));

it.each(['http://a.test/v1', 'ftp://a.test', 'https://u:p@a.test', 'https://a.test/v1?k=1', 'a.test'])(
  'refuses %s',
  (given) => expect(() => completionsUrl(given)).toThrow(expect.objectContaining({ code: 'refused_address' })),
);
