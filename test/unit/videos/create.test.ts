import { EventEmitter } from 'node:events';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome } from '#src/videos/service.ts';
import { DIALECTS } from '#test/fakes/dialects.ts';
import {
  acceptAndFlood,
  acceptAndGatewayError,
  acceptAndHalfAnswer,
  acceptAndNeverAnswer,
  acceptAndReset,
  json,
  redirect,
  refuse,
  text,
} from '#test/fakes/faults.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { closedAddress, type FakeVideoService, type Handler } from '#test/fakes/video-service.ts';
import { clientOf, startService } from './client.ts';
import { FOX } from './models.ts';

async function create(
  service: Pick<FakeVideoService, 'baseUrl' | 'token'>,
  request: VideoRequest = FOX,
  { mayStillSend = () => true, ...options }: Partial<VideoClientOptions> & { mayStillSend?: () => boolean } = {},
): Promise<CreateOutcome> {
  const client = clientOf(service, options);
  return client.create(request, { key: 'task-1', mayStillSend });
}

describe('the request', () => {
  it('has the specified body: billed per second, duration is the length', async () => {
    const service = await startService();
    await create(service);
    const [request] = service.requests;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      model: 'swift-1',
      prompt: 'a red fox',
      duration: 6,
      video_duration: 6,
      aspect_ratio: '16:9',
      resolution: '720p',
    });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      'idempotency-key': 'task-1',
    });
  });

  it('has a duration of 1 when billed per call, and media by kind', async () => {
    const service = await startService();
    const media = { image: ['https://a.example/1.png'], audio: [], video: ['http://a.example/1.mp4'] };
    await create(service, { model: 'epic-pro', prompt: 'a', seconds: 10, media });
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
      model: 'epic-pro',
      prompt: 'a',
      duration: 1,
      video_duration: 10,
      image_urls: ['https://a.example/1.png'],
      video_urls: ['http://a.example/1.mp4'],
    });
  });

  it('is sent below the path of the base URL', async () => {
    const service = await startService({ handlers: { file: json(200, { id: 'behind-a-proxy', status: 'queued' }) } });
    const outcome = await create({ ...service, baseUrl: `${service.baseUrl}/proxy/` });
    expect(service.requests[0]?.path).toBe('/proxy/v1/videos');
    expect(outcome.kind).toBe('accepted');
  });

  it.each<[string, VideoRequest, ErrorCode]>([
    ['a model that the catalog no longer has', { ...FOX, model: 'gone' }, 'unknown_model'],
    ['a length that the model no longer offers', { ...FOX, seconds: 30 }, 'bad_request'],
    ['a media URL with another scheme', { ...FOX, media: { ...FOX.media, image: ['file:///a'] } }, 'bad_request'],
    ['an empty prompt', { ...FOX, prompt: '' }, 'bad_request'],
  ])('is not sent for %s', async (_, request, code) => {
    const service = await startService();
    expect(await create(service, request)).toMatchObject({ kind: 'refused', error: { code, retryable: false } });
    expect(service.requests).toHaveLength(0);
  });
});

describe('accepted', () => {
  it.each(Object.keys(DIALECTS))('in the dialect: %s', async (name) => {
    const dialect = DIALECTS[name];
    const service = await startService(dialect === undefined ? {} : { dialect });
    const outcome = await create(service);
    expect(outcome).toMatchObject({ kind: 'accepted', task: { id: [...service.tasks.keys()][0] } });
    expect(service.creates).toBe(1);
  });

  it('even where the service reports it as failed at once, because it has an id', async () => {
    const service = await startService({
      handlers: { create: json(200, { id: 'a', status: 'failed', error: 'No GPU.' }) },
    });
    expect(await create(service)).toEqual({
      kind: 'accepted',
      task: { id: 'a', status: 'failed', progress: null, failure: { code: 'generation_failed', words: 'No GPU.' } },
    });
  });
});

describe('the id of an accepted task', () => {
  it.each<[string, string, string]>([
    ['an envelope with only the id', '{"code":"success","data":"task_7"}', 'task_7'],
    ['an envelope with a list', '{"code":0,"data":[{"id":"task_7","status":"queued"}]}', 'task_7'],
    ['an envelope with a task', '{"data":{"task":{"id":"task_7"}}}', 'task_7'],
    ['taskId', '{"taskId":"task_7","state":"queued"}', 'task_7'],
    ['an unsafe integer', '{"id":12345678901234567891,"status":"queued"}', '12345678901234567891'],
    ['a leading byte order mark', '\uFEFF{"id":"task_7","status":"queued"}', 'task_7'],
    ['an empty error beside it', '{"id":"task_7","error":{"code":"","message":""}}', 'task_7'],
  ])('%s', async (_, body, id) => {
    const service = await startService({ handlers: { create: text(200, body, 'application/json') } });
    expect(await create(service)).toMatchObject({ kind: 'accepted', task: { id } });
  });
});

describe('refused: no task exists', () => {
  it.each<[string, Handler, ErrorCode]>([
    ['400', refuse(400, 'invalid_request', 'prompt is too long'), 'bad_request'],
    ['422', refuse(422, 'validation_error'), 'bad_request'],
    ['401', refuse(401, 'invalid_api_key'), 'unauthorised'],
    ['402', refuse(402, 'payment_required'), 'no_balance'],
    ['402 of a proxy', text(402, ''), 'no_balance'],
    ['403 insufficient_user_quota', refuse(403, 'insufficient_user_quota'), 'no_balance'],
    ['429 insufficient_quota', refuse(429, 'insufficient_quota'), 'no_balance'],
    ['503 insufficient_user_quota', refuse(503, 'insufficient_user_quota'), 'no_balance'],
    ['403', refuse(403, 'forbidden'), 'forbidden'],
    ['400 model_not_found', refuse(400, 'model_not_found'), 'unknown_model'],
    ['404 with a message', refuse(404, 'not_found', 'The model swift-1 does not exist'), 'unknown_model'],
    ['404 model_not_found', refuse(404, 'model_not_found'), 'unknown_model'],
    ['503 model_not_found', refuse(503, 'model_not_found'), 'unknown_model'],
    ['error.code in an object', json(503, { error: { code: 'model_not_found', message: 'none' } }), 'unknown_model'],
    ['404 of a wrong URL', text(404, '<html>', 'text/html'), 'bad_request'],
    ['400 content_policy_violation', refuse(400, 'content_policy_violation'), 'moderated'],
    ['403 sensitive_words_detected', refuse(403, 'sensitive_words_detected'), 'moderated'],
    ['422 with a message', refuse(422, 'invalid', 'Rejected by the safety system'), 'moderated'],
    ['200 with success: false', refuse(200, 'invalid_request', 'no such ratio'), 'bad_request'],
    ['500 content_policy_violation', refuse(500, 'content_policy_violation'), 'moderated'],
    ['403 moderation_timeout', refuse(403, 'moderation_timeout'), 'forbidden'],
    ['200 with a refusal code', json(200, { error: { code: 'model_not_found' } }), 'unknown_model'],
  ])('%s', async (_, handler, code) => {
    const service = await startService({ handlers: { create: handler } });
    expect(await create(service)).toMatchObject({ kind: 'refused', error: { code, retryable: false } });
    expect(service.posts).toBe(1);
  });

  it("keeps the service's message, without the token", async () => {
    const handler: Handler = ({ service, refuse: no }) =>
      no(401, 'invalid_api_key', `The key ${service.token} is wrong.`);
    const service = await startService({ handlers: { create: handler } });
    const outcome = await create(service);
    expect(outcome.kind === 'refused' && outcome.error.words).toBe('The key [hidden] is wrong.');
  });
});

describe('unsent: provably no task', () => {
  it('refused connection', async () => {
    const outcome = await create({ baseUrl: await closedAddress(), token: 't' });
    expect(outcome).toMatchObject({ kind: 'unsent', error: { code: 'unavailable', retryable: true } });
  });

  it('an unknown host', async () => {
    const outcome = await create({ baseUrl: 'http://nobody.invalid.localhost:9', token: 't' });
    expect(outcome.kind).toBe('unsent');
  });

  it('mayStillSend returns false: nothing is sent', async () => {
    const service = await startService();
    const outcome = await create(service, FOX, { mayStillSend: () => false });
    expect(outcome.kind).toBe('unsent');
    expect(service.requests).toHaveLength(0);
  });

  it('mayStillSend throws: nothing is sent', async () => {
    const service = await startService();
    const mayStillSend = (): boolean => {
      throw new Error('the lease cannot be read');
    };
    expect((await create(service, FOX, { mayStillSend })).kind).toBe('unsent');
    expect(service.requests).toHaveLength(0);
  });

  it('mayStillSend is called once connected; a timeout before that sends nothing', async () => {
    const service = await startService();
    const clock = new ManualClock();
    let asked = 0;
    const pending = create(service, FOX, {
      clock,
      mayStillSend: () => {
        asked += 1;
        return true;
      },
    });
    // Still connecting: undici needs several turns of the event loop.
    clock.advance(60_000);
    expect(await pending).toMatchObject({ kind: 'unsent', error: { code: 'timed_out' } });
    // The connection is established later; a request after it proves that nothing was sent before.
    await create(service);
    expect(asked).toBe(0);
    expect(service.posts).toBe(1);
  });

  it.each([
    ['seconds', '7', 7000],
    ['a date', 'Fri, 20 Nov 2026 12:00:09 GMT', 9000],
  ])('429 with Retry-After in %s', async (_, value, waitMs) => {
    const handler = refuse(429, 'rate_limit_exceeded', 'Slow down.', { 'retry-after': value });
    const service = await startService({ handlers: { create: handler } });
    const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
    expect(await create(service, FOX, { clock })).toMatchObject({
      kind: 'unsent',
      error: { code: 'rate_limited', retryable: true, retryAfterMs: waitMs, words: 'Slow down.' },
    });
    expect(service.posts).toBe(1);
  });

  it('a rate limit code', async () => {
    const service = await startService({ handlers: { create: refuse(403, 'rate_limit_exceeded') } });
    expect(await create(service)).toMatchObject({ kind: 'unsent', error: { code: 'rate_limited' } });
  });
});

describe('lost: a task may exist, and no second POST', () => {
  it.each<[string, Handler]>([
    ['connection reset after reading', acceptAndReset],
    ['500 after accepting', acceptAndGatewayError(500)],
    ['502 after accepting', acceptAndGatewayError(502)],
    ['503 after accepting', acceptAndGatewayError(503)],
    ['504 after accepting', acceptAndGatewayError(504)],
    ['a truncated response', acceptAndHalfAnswer],
    ['an oversized response', acceptAndFlood],
    ['408', refuse(408, 'timeout')],
    ['400 of a gateway that names a timeout', refuse(400, 'timeout')],
    ['424 of a gateway that names a timeout', refuse(424, 'upstream_timeout')],
    ['409: a create with this key is in flight', refuse(409, 'conflict')],
    ['499', text(499, '')],
    ['500 in the error shape', refuse(500, 'internal_error')],
    ['a redirect', redirect(307, '/v1/videos')],
    ['a permanent redirect', redirect(301, '/v1/videos')],
    ['200 without an id', json(200, { object: 'video', status: 'queued' })],
    ['200 with an empty id', json(200, { id: '', status: 'queued' })],
    ['200 without JSON', text(200, 'OK')],
    ['200 with truncated JSON', text(200, '{"id":"tas')],
    ['200 with an outage', refuse(200, 'upstream_timeout')],
    ['204', text(204, '')],
    ['504 moderation_timeout', refuse(504, 'moderation_timeout', 'moderation timed out')],
    ['500 with a moderation message', refuse(500, 'error', 'The safety system is down.')],
    ['503 with a code that only resembles a refusal', refuse(503, 'safety_check_failed')],
    ['503 model_not_found with an outage message', refuse(503, 'model_not_found', 'The model gateway timed out.')],
    ['500 insufficient_balance', refuse(500, 'insufficient_balance')],
    ['408 with a moderation code', refuse(408, 'moderation_blocked')],
    ['200 moderation_timeout', refuse(200, 'moderation_timeout')],
    ['200 with an outage message', refuse(200, 'failed', 'The upstream is unavailable.')],
    ['an error with a request id', json(200, { error: { message: 'the upstream is overloaded' }, id: 'req_42' })],
    ['an error code with a request id', json(200, { code: 'busy', message: 'Later.', id: 'req_42' })],
    ['a numeric error code with a request id', json(200, { code: 500, msg: 'oops', id: 'req_42' })],
    ['an envelope with text that is not an id', json(200, { code: 'success', data: 'please wait' })],
    ['an envelope with several tasks', json(200, { data: [{ id: 'a' }, { id: 'b' }] })],
  ])('%s', async (_, handler) => {
    const service = await startService({ handlers: { create: handler } });
    expect(await create(service)).toMatchObject({ kind: 'lost', error: { code: 'lost_answer', retryable: false } });
    expect(service.posts).toBe(1);
  });

  it('accepted without a response before the timeout', async () => {
    const service = await startService({ handlers: { create: acceptAndNeverAnswer } });
    const clock = new ManualClock();
    const pending = create(service, FOX, { clock });
    await service.arrived(1);
    clock.advance(59_999);
    const early = await Promise.race([pending, Promise.resolve('still waiting')]);
    expect(early).toBe('still waiting');
    clock.advance(1);
    expect(await pending).toMatchObject({ kind: 'lost', error: { code: 'lost_answer' } });
    expect(service.creates).toBe(1);
  });

  it('the client is closed while waiting for the response', async () => {
    const service = await startService({ handlers: { create: acceptAndNeverAnswer } });
    const client = clientOf(service);
    const pending = client.create(FOX, { key: 'k', mayStillSend: () => true });
    await service.arrived(1);
    await client.close();
    expect((await pending).kind).toBe('lost');
    expect((await client.create(FOX, { key: 'k', mayStillSend: () => true })).kind).toBe('unsent');
    expect(service.posts).toBe(1);
  });
});

it('ends its connection, and not the pool, which the next create would have to make anew', async () => {
  const closed = vi.spyOn(Pool.prototype, 'close');
  onTestFinished(() => closed.mockRestore());
  const service = await startService();
  const client = clientOf(service);
  const disconnected = vi.fn();
  const emit = vi.spyOn(Pool.prototype, 'emit').mockImplementation(function (this: Pool, name: string, ...rest) {
    if (name === 'disconnect') disconnected();
    return EventEmitter.prototype.emit.call(this, name, ...rest);
  });
  onTestFinished(() => emit.mockRestore());
  expect((await client.create(FOX, { key: 'task-1', mayStillSend: () => true })).kind).toBe('accepted');
  await vi.waitUntil(() => disconnected.mock.calls.length > 0, { timeout: 300_000 });
  expect(closed).not.toHaveBeenCalled();
});

describe('concurrent creates', () => {
  it('create one task each', async () => {
    const service = await startService();
    const client = clientOf(service);
    const all = Array.from({ length: 100 }, (_, index) =>
      client.create(FOX, { key: `task-${index}`, mayStillSend: () => true }),
    );
    const ids = (await Promise.all(all)).map((outcome) => (outcome.kind === 'accepted' ? outcome.task.id : outcome));
    expect(new Set(ids).size).toBe(100);
    expect(service.posts).toBe(100);
  });
});
