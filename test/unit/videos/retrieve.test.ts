import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import type { UpstreamId, UpstreamTask } from '#src/videos/service.ts';
import { DIALECTS } from '#test/fakes/dialects.ts';
import { json, redirect, refuse, text } from '#test/fakes/faults.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { closedAddress, type FakeVideoService, type Handler } from '#test/fakes/video-service.ts';
import { clientOf, startService } from './client.ts';

async function retrieve(
  service: Pick<FakeVideoService, 'baseUrl' | 'token'>,
  id: string,
  { signal, ...options }: Partial<VideoClientOptions> & { signal?: AbortSignal } = {},
): Promise<UpstreamTask> {
  const client = clientOf(service, options);
  return client.retrieve(id as UpstreamId, signal);
}

describe('every dialect', () => {
  it.each(Object.keys(DIALECTS))('runs and completes: %s', async (name) => {
    const dialect = DIALECTS[name];
    const service = await startService(dialect === undefined ? {} : { dialect });
    const { id } = service.add();
    const client = clientOf(service);
    const seen: UpstreamTask[] = [];
    for (let poll = 0; poll < 3; poll += 1) seen.push(await client.retrieve(id as UpstreamId));
    expect(seen.map(({ id: each }) => each)).toEqual([id, id, id]);
    expect(seen[0]?.status).not.toBe('completed');
    expect(seen[1]?.status).not.toBe('completed');
    expect(seen[2]).toMatchObject({ status: 'completed', failure: null });
  });

  it.each(Object.keys(DIALECTS))('fails with its reason: %s', async (name) => {
    const dialect = DIALECTS[name];
    const service = await startService(dialect === undefined ? {} : { dialect });
    const { id } = service.add({ status: 'failed', failure: { code: 'gpu', message: 'The GPU melted.' } });
    expect(await retrieve(service, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'generation_failed', words: 'The GPU melted.' },
    });
  });
});

describe('a retrieve', () => {
  it('encodes the id', async () => {
    const service = await startService();
    const { id } = service.add({ id: 'a:b/c+d==?#%' });
    expect((await retrieve(service, id)).id).toBe(id);
    expect(service.requests[0]?.path).toBe(`/v1/videos/${encodeURIComponent(id)}`);
  });

  it.each([7, { code: 3 }, ['running'], true])('says of a status that it cannot be read: %j', async (status) => {
    const answer = json(200, { id: 'task', status, progress: 100 });
    const service = await startService({ handlers: { retrieve: answer } });
    await expect(retrieve(service, 'task')).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
  });

  it('keeps the requested id', async () => {
    const service = await startService({
      handlers: { retrieve: json(200, { id: 'another-layer', status: 'running' }) },
    });
    expect((await retrieve(service, 'mine')).id).toBe('mine');
  });

  it('truncates a long reason, at whole characters', async () => {
    const service = await startService({
      handlers: { retrieve: json(200, { id: 'a', status: 'failed', error: `x${'🦊'.repeat(500)}` }) },
    });
    const words = (await retrieve(service, 'a')).failure?.words ?? '';
    expect([words.length, words.isWellFormed()]).toEqual([500, true]);
  });

  it('redacts the token in the reason of a failure', async () => {
    const handler: Handler = (call) =>
      call.json(200, { id: 'a', status: 'failed', error: `bad key ${call.service.token}` });
    const service = await startService({ handlers: { retrieve: handler } });
    expect((await retrieve(service, 'a')).failure?.words).toBe('bad key [hidden]');
  });

  it.each<[string, Handler, ErrorCode, boolean]>([
    ['404 task_not_exist', refuse(404, 'task_not_exist'), 'task_unknown', false],
    ['400 task_not_exist', refuse(400, 'task_not_exist'), 'task_unknown', false],
    ['404 of a front', text(404, '<html>', 'text/html'), 'task_unknown', true],
    ['401', refuse(401, 'invalid_api_key'), 'unauthorised', false],
    ['500', refuse(500, 'internal'), 'unavailable', true],
    ['502', text(502, '<html>', 'text/html'), 'unavailable', true],
    ['400', refuse(400, 'strange'), 'bad_answer', true],
    ['200 that is no JSON', text(200, 'OK'), 'bad_answer', true],
    ['200 that is no task', json(200, { hello: 'world' }), 'bad_answer', true],
    ['a redirect', redirect(302, '/elsewhere'), 'bad_answer', true],
    ['a reset', ({ response }) => void response.socket?.resetAndDestroy(), 'unavailable', true],
  ])('%s', async (_, handler, code, retryable) => {
    const service = await startService({ handlers: { retrieve: handler } });
    await expect(retrieve(service, 'a')).rejects.toMatchObject({ code, retryable });
    expect(service.requests).toHaveLength(1);
  });

  it('returns the time to wait', async () => {
    const handler = refuse(429, 'rate_limited', 'Slow down.', { 'retry-after': '12' });
    const service = await startService({ handlers: { retrieve: handler } });
    await expect(retrieve(service, 'a')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 12_000 });
  });

  it('times out', async () => {
    const service = await startService({ handlers: { retrieve: () => {} } });
    const clock = new ManualClock();
    const pending = retrieve(service, 'a', { clock });
    const failed = expect(pending).rejects.toMatchObject({ code: 'timed_out', retryable: true });
    await service.arrived(1);
    clock.advance(30_000);
    await failed;
    expect(clock.pending).toBe(0);
  });

  it('stops when it is aborted', async () => {
    const service = await startService({ handlers: { retrieve: () => {} } });
    const controller = new AbortController();
    const failed = expect(retrieve(service, 'a', { signal: controller.signal })).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
    await service.arrived(1);
    controller.abort();
    await failed;
    await expect(retrieve(service, 'a', { signal: controller.signal })).rejects.toMatchObject({ code: 'unavailable' });
    expect(service.requests).toHaveLength(1);
  });

  it('reports a refused connection', async () => {
    const service = { baseUrl: await closedAddress(), token: 't' };
    await expect(retrieve(service, 'a')).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  });
});

describe('a failed response', () => {
  /** Polls once per response of `bodies`, `apartMs` apart, and returns the result of the last poll. */
  async function polled(bodies: readonly unknown[], apartMs = 5_000): Promise<UpstreamTask> {
    const service = await startService();
    const clock = new ManualClock();
    const client = clientOf(service, { clock });
    let last: Promise<UpstreamTask> = Promise.reject(new Error('nothing was polled'));
    for (const body of bodies) {
      await last.catch(() => {});
      service.handlers.retrieve = json(200, body);
      last = client.retrieve('task' as UpstreamId);
      await last.catch(() => {});
      clock.advance(apartMs);
    }
    return last;
  }

  const bare = { status: 'error', message: 'the job is no more' };
  const busy = { status: 'error', message: 'rate limit, try later' };

  it.each<[string, object]>([
    ['the requested id', { id: 'task' }],
    ['the requested id as task_id', { task_id: 'task' }],
    ['a video object', { object: 'video' }],
    ['progress', { progress: 40 }],
    ['a creation time', { created_at: 1_790_000_000 }],
  ])('ends a task where it has %s', async (_, fields) => {
    expect(await polled([{ ...bare, ...fields }])).toMatchObject({ status: 'failed' });
  });

  it.each([[bare], [{ ...bare, id: 'req_42' }], [{ ...bare, progress: null, created_at: null }]])(
    'is rejected once where it describes no task: %j',
    async (body) => {
      await expect(polled([body])).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
      expect(await polled([body, body])).toMatchObject({ status: 'failed' });
    },
  );

  it('has to be repeated in a row', async () => {
    const running = { id: 'task', status: 'running' };
    await expect(polled([bare, running, bare])).rejects.toMatchObject({ code: 'bad_answer' });
  });

  it('has to be repeated for a minute where it names a rate limit or an outage', async () => {
    await expect(polled([busy, busy, busy])).rejects.toMatchObject({ code: 'bad_answer' });
    await expect(polled([{ ...bare, message: 'upstream timed out' }, busy])).rejects.toMatchObject({ retryable: true });
    expect(await polled([busy, busy], 61_000)).toMatchObject({ status: 'failed' });
  });
});

describe('an encoded response', () => {
  const TASK = JSON.stringify({ id: 'task', status: 'running', progress: 40 });

  it.each([
    ['gzip', gzipSync(TASK)],
    ['br', brotliCompressSync(TASK)],
    ['deflate', deflateSync(TASK)],
  ])('is read with the content coding %s although identity was requested', async (coding, body) => {
    const handler: Handler = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(body);
    };
    const service = await startService({ handlers: { retrieve: handler } });
    expect(await retrieve(service, 'task')).toMatchObject({ status: 'in_progress', progress: 40 });
    expect(service.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('fails where its coding is invalid', async () => {
    const handler: Handler = ({ response }) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(TASK);
    };
    const service = await startService({ handlers: { retrieve: handler } });
    await expect(retrieve(service, 'task')).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  });

  it('may start with a byte order mark', async () => {
    const service = await startService({ handlers: { retrieve: text(200, `\uFEFF${TASK}`, 'application/json') } });
    expect(await retrieve(service, 'task')).toMatchObject({ status: 'in_progress' });
  });
});

describe('createVideoClient', () => {
  it.each(['http://api.example', 'nonsense'])('refuses the address %s', (baseUrl) => {
    expect(() => clientOf({ baseUrl, token: 't' })).toThrow(expect.objectContaining({ code: 'refused_address' }));
  });

  it.each(['', 'two words', 'line\nbreak'])('refuses the token %j without repeating it', (token) => {
    const make = () => clientOf({ baseUrl: 'https://api.example', token });
    expect(make).toThrow(expect.objectContaining({ code: 'unauthorised' }));
    if (token !== '') expect(make).not.toThrow(token);
  });
});
