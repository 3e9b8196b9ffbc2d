import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFal } from '@ai-sdk/fal';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import type { ErrorCode } from '#src/errors.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import { FAL } from '#src/videos/dialects/fal/index.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import { type Model, secondsOffered } from '#src/videos/model.ts';
import { KEPT_ORIGIN } from '#src/videos/references/addresses.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome, UpstreamId, UpstreamTask, VideoService } from '#src/videos/service.ts';
import { detail, FAL_KEY, type FakeFal, falProblems, startFal } from '#test/fakes/services/fal.ts';
import { type HttpReply, startHttp } from '#test/fakes/services/http.ts';
import { clientOf } from '../client.ts';
import { acceptedTask, createTask, exampleCatalog, folder, follow, modelIn } from './journey.ts';

const CATALOG = exampleCatalog('fal');
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const modelNamed = (name: string): Model => modelIn(CATALOG, name);

/** Returns an order of a model of the example catalog. */
function order(model: string, changes: Partial<VideoRequest> = {}, image: readonly string[] = []): VideoRequest {
  return { model, service: 'fal', prompt: 'a red fox', seconds: 5, media: { image, audio: [], video: [] }, ...changes };
}

const KLING = order('kling-3-standard', { aspectRatio: '16:9' });

function createFrom(model: Model, request: VideoRequest): { readonly path: string; readonly body: unknown } {
  const { path, body } = FAL.createCall(request, model);
  return { path, body: JSON.parse(JSON.stringify(body)) as unknown };
}

async function start(): Promise<FakeFal> {
  const service = await startFal();
  onTestFinished(() => service.close());
  return service;
}

function clientAt(baseUrl: string, options: Partial<VideoClientOptions> = {}): VideoService {
  return clientOf({ baseUrl, token: FAL_KEY }, { dialect: FAL, catalog: () => CATALOG, ...options });
}

const create = (client: VideoService, request = KLING) => createTask(client, request);
const accepted = (client: VideoService, request = KLING) => acceptedTask(client, request);

it.each([
  ['is not there any more', undefined],
  ['is larger than a request may hold', 6 * 1024 ** 2 + 1],
])('an order with a kept image that %s is refused unsent', async (_what, bytes) => {
  const fal = await start();
  const file = bytes === undefined ? undefined : { path: '/nowhere', bytes, contentType: 'image/png' };
  const client = clientAt(fal.queue.baseUrl, { fileOf: async () => file });
  const outcome = await create(client, order('kling-2.5-turbo-image', {}, [`${KEPT_ORIGIN}/media/relay-1`]));
  expect(outcome).toMatchObject({
    kind: 'refused',
    error: { code: 'bad_request', words: expect.stringContaining('too large') },
  });
  expect(fal.queue.requests).toEqual([]);
});

describe('a request', () => {
  interface Order {
    readonly model: string;
    readonly request: VideoRequest;
    /** The same order, in the words of the library. */
    readonly options: object;
    /** Fields that differ on purpose, as the library sends them. */
    readonly differs?: object;
  }

  /** What `@ai-sdk/fal` sends for an order, which is an independent reading of the same contract. */
  async function library({ model, options }: Order) {
    const sent: { url: string; authorization: string | null; body: unknown }[] = [];
    const fal = createFal({
      apiKey: FAL_KEY,
      fetch: async (url, init) => {
        const request = new Request(url, init);
        const authorization = request.headers.get('authorization');
        sent.push({ url: request.url, authorization, body: await request.json() });
        return Response.json({ request_id: 'a', response_url: 'https://queue.fal.run/fal-ai/a/requests/a' });
      },
    });
    const video = fal.video(modelNamed(model).id ?? model);
    const given = { n: 1, providerOptions: {}, prompt: 'a red fox', image: undefined, ...options };
    await video.doStart?.(given as unknown as Parameters<NonNullable<typeof video.doStart>>[0]);
    expect(sent).toHaveLength(1);
    return sent[0];
  }

  it.each<[string, Order]>([
    [
      'of a length with its unit, as Veo takes it',
      {
        model: 'veo-3.1',
        request: order('veo-3.1', { seconds: 8, aspectRatio: '9:16', resolution: '1080p' }),
        options: {
          duration: 8,
          aspectRatio: '9:16',
          providerOptions: { fal: { resolution: '1080p', generate_audio: true } },
        },
      },
    ],
    [
      'with references, as Veo takes them',
      {
        model: 'veo-3.1-references',
        request: order('veo-3.1-references', { seconds: 8, aspectRatio: '16:9', resolution: '720p' }, [
          'https://a.example/fox.png',
          PIXEL,
        ]),
        options: {
          duration: 8,
          aspectRatio: '16:9',
          providerOptions: {
            fal: { resolution: '720p', generate_audio: true, image_urls: ['https://a.example/fox.png', PIXEL] },
          },
        },
      },
    ],
    [
      'of a first frame and a last one with a name of its own, as Kling takes them',
      {
        model: 'kling-2.5-turbo-image',
        request: order('kling-2.5-turbo-image', {}, ['https://a.example/first.png', 'https://a.example/last.png']),
        options: {
          duration: 5,
          image: { type: 'url', url: 'https://a.example/first.png' },
          providerOptions: { fal: { tail_image_url: 'https://a.example/last.png' } },
        },
        // The library writes every length as Veo does. Kling documents "5" and "10".
        // https://fal.ai/models/fal-ai/kling-video/v2.5-turbo/pro/image-to-video/llms.txt
        differs: { duration: '5s' },
      },
    ],
    [
      'with a file in the request',
      {
        model: 'kling-o3-image',
        request: order('kling-o3-image', {}, [PIXEL]),
        options: {
          duration: 5,
          image: { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
          providerOptions: { fal: { generate_audio: true } },
        },
        // As above: Kling documents "3" to "15".
        differs: { duration: '5s' },
      },
    ],
  ])('is the one of @ai-sdk/fal: %s', async (_, given) => {
    const theirs = await library(given);
    const { path, body } = createFrom(modelNamed(given.model), given.request);
    expect(theirs?.url).toBe(`${FAL.base}${path}`);
    expect(theirs?.authorization).toBe(FAL.authorize?.(FAL_KEY)['authorization']);
    expect(theirs?.body).toEqual({ ...(body as object), ...given.differs });
  });

  it('goes to models of every owner, unlike that of @ai-sdk/fal', async () => {
    const model = 'seedance-2-fast';
    const theirs = await library({ model, request: order(model), options: {} });
    expect(theirs?.url).toBe('https://queue.fal.run/fal-ai/bytedance/seedance-2.0/fast/text-to-video');
    // Submit URL: the full id of the model. https://fal.ai/docs/api-reference/inference-api "Model IDs and paths"
    expect(createFrom(modelNamed(model), order(model)).path).toBe('/bytedance/seedance-2.0/fast/text-to-video');
  });

  it('has the documented fields, and none that is empty', () => {
    const { body } = createFrom(modelNamed('veo-3.1-silent'), order('veo-3.1-silent', { seconds: 6 }));
    expect(body).toEqual({ prompt: 'a red fox', duration: '6s', generate_audio: false });
  });

  it('has the names and formats of the catalog, and its parameters last', () => {
    const model: Model = {
      ...modelNamed('kling-3-standard'),
      sound: true,
      imageRole: 'reference',
      secondsFormat: 'number',
      fields: { images: 'reference_image_urls', audio: 'audio_refs', video: 'clips', sound: 'with_audio' },
      parameters: { cfg_scale: 0.7, aspect_ratio: null, prompt: 'a blue fox' },
    };
    const media = { image: [PIXEL], audio: ['https://a.example/a.mp3'], video: ['https://a.example/v.mp4'] };
    expect(createFrom(model, { ...KLING, media }).body).toEqual({
      prompt: 'a blue fox',
      duration: 5,
      with_audio: true,
      reference_image_urls: [PIXEL],
      audio_refs: ['https://a.example/a.mp3'],
      clips: ['https://a.example/v.mp4'],
      cfg_scale: 0.7,
    });
  });

  it.each(CATALOG.models.map((model) => [model.name, model] as const))(
    'is what the model takes, in all that the example catalog offers: %s',
    (_, model) => {
      const { min, max } = model.media.image;
      for (const seconds of secondsOffered(model))
        for (const aspectRatio of model.aspectRatios.length > 0 ? model.aspectRatios : [undefined])
          for (const resolution of model.resolutions.length > 0 ? model.resolutions : [undefined])
            for (const count of [min, max]) {
              const settings = { ...(aspectRatio && { aspectRatio }), ...(resolution && { resolution }) };
              const images = Array.from({ length: count }, (_each, at) =>
                at === 0 ? PIXEL : `https://a.example/${at}.png`,
              );
              const { path, body } = createFrom(model, order(model.name, { seconds, ...settings }, images));
              expect([body, falProblems(path.slice(1), body)]).toEqual([body, []]);
            }
    },
  );

  it('has the key only in the header, and never asks for webhooks or other headers of the platform', async () => {
    const service = await start();
    await accepted(clientAt(service.queue.baseUrl));
    const [request] = service.queue.requests;
    expect(request?.headers.authorization).toBe(`Key ${FAL_KEY}`);
    expect(request?.path).toBe('/fal-ai/kling-video/v3/standard/text-to-video');
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-fal-'))).toEqual([]);
    expect(request?.body).not.toContain(FAL_KEY);
  });
});

describe('a journey', () => {
  it('goes from the order to the clip, whose storage does not get the key', async () => {
    const service = await start();
    const client = clientAt(service.queue.baseUrl);
    const outcome = await create(client);
    expect(outcome).toMatchObject({ kind: 'accepted', task: { status: 'queued', progress: null } });
    const id = await accepted(client);
    // Owner and app, without the path of the model.
    expect(id).toBe('fal-ai/kling-video/requests/764cabcf-b745-4b3e-ae38-1200304cf451');
    const seen = await follow(client, id);
    expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', 'completed']);
    expect(seen.map(({ units }) => units)).toEqual([undefined, undefined, '5']);
    expect(seen.map(({ ahead }) => ahead)).toEqual([1, undefined, undefined]);
    expect(seen.every((task) => task.id === id && task.progress === null)).toBe(true);
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(id, path)).toMatchObject({ bytes: service.clip.length, contentType: 'video/mp4' });
    expect((await readFile(path)).equals(service.clip)).toBe(true);
    expect(service.storage.requests.map((request) => request.path)).toEqual(['/files/b/clip.mp4']);
    expect(JSON.stringify(service.storage.requests)).not.toContain(FAL_KEY);
    expect(service.taken).toBe(2);
  });

  it('leaves the queue where it is cancelled, and goes on once it is completed', async () => {
    const service = await start();
    const client = clientAt(service.queue.baseUrl);
    const [queued, completed] = [await accepted(client), await accepted(client)];
    expect(await client.cancel(queued, () => true)).toBe('forgets');
    expect(service.queue.requests.at(-1)).toMatchObject({
      method: 'PUT',
      path: `/${queued}/cancel`,
      headers: { authorization: `Key ${FAL_KEY}` },
      body: '',
    });
    await expect(client.retrieve(queued)).rejects.toMatchObject({ code: 'task_unknown' });
    await follow(client, completed);
    expect(await client.cancel(completed, () => true)).toBe('refused');
    expect((await client.retrieve(completed)).status).toBe('completed');
  });

  it.each<[string, number, object, UpstreamTask['failure']]>([
    [
      'an input that its model does not take',
      422,
      { detail: [{ loc: ['body', 'duration'], msg: 'unexpected value', type: 'value_error.const' }] },
      { code: 'generation_failed', words: 'duration: unexpected value' },
    ],
    [
      'a content checker',
      422,
      {
        detail: [
          {
            loc: ['body', 'prompt'],
            msg: 'The content could not be processed.',
            type: 'content_policy_violation',
            url: 'https://docs.fal.ai/errors#content_policy_violation',
            input: 'a red fox',
          },
        ],
      },
      { code: 'moderated', words: 'prompt: The content could not be processed.' },
    ],
    ['a file that is too large', 413, { detail: [] }, { code: 'generation_failed', words: null }],
    [
      'a path that the app does not have',
      404,
      { detail: 'Path /v9/text-to-video not found' },
      { code: 'generation_failed', words: 'Path /v9/text-to-video not found' },
    ],
  ])('ends with the failure of the result: %s', async (_, status, json, failure) => {
    const service = await start();
    service.results.push({ status, json });
    const client = clientAt(service.queue.baseUrl);
    const id = await accepted(client);
    expect((await follow(client, id)).at(-1)).toEqual({ id, status: 'failed', progress: null, failure });
  });

  it.each<[string, number, object, UpstreamTask['failure']]>([
    [
      'a fault of the model',
      500,
      { detail: [{ loc: ['body'], msg: 'Out of memory.', type: 'internal_server_error' }] },
      { code: 'generation_failed', words: 'Out of memory.' },
    ],
    [
      'a plain reason',
      400,
      { detail: 'No image could be read.' },
      { code: 'generation_failed', words: 'No image could be read.' },
    ],
    [
      'a fault of the runner, after all retries of fal',
      503,
      { detail: 'Runner disconnected', error_type: 'runner_disconnected' },
      { code: 'generation_failed', words: 'Runner disconnected' },
    ],
    [
      'a limit of time',
      504,
      { detail: 'Request timed out', error_type: 'request_timeout' },
      { code: 'generation_failed', words: 'Request timed out' },
    ],
  ])('ends with a failure that a gateway may answer, too, once it has lasted for a minute: %s', async (...given) => {
    const [, status, json, failure] = given;
    const service = await start();
    service.results.push({ status, json });
    let passedMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs };
    const client = clientAt(service.queue.baseUrl, { clock });
    const id = await accepted(client);
    await expect(follow(client, id)).rejects.toMatchObject({ retryable: true });
    passedMs = 50_000;
    await expect(client.retrieve(id)).rejects.toMatchObject({ retryable: true });
    passedMs = 61_000;
    expect(await client.retrieve(id)).toEqual({ id, status: 'failed', progress: null, failure });
  });

  it.each([
    ['a page', 400, 'text/html', '<html>400 Bad Request</html>'],
    ['a text', 400, 'text/plain', 'The plain HTTP request was sent to HTTPS port'],
    ['nothing', 422, 'application/json', ''],
    ['a part of an answer', 422, 'application/json', '{"detail":[{"loc":["body"'],
  ])('never ends with %s in place of the result', async (_, status, type, text) => {
    const service = await startHttp(({ path }) =>
      path.endsWith('/status')
        ? { status: 200, json: { status: 'COMPLETED' } }
        : { status, headers: { 'content-type': type }, bytes: Buffer.from(text) },
    );
    onTestFinished(() => service.close());
    let passedMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs };
    const client = clientAt(service.baseUrl, { clock });
    for (const laterMs of [0, 61_000]) {
      passedMs = laterMs;
      const looked = client.retrieve('fal-ai/kling-video/requests/a' as UpstreamId);
      await expect(looked).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
    }
  });

  it('ends with the refusal of a wrong input, as the model words it', async () => {
    const service = await start();
    const client = clientAt(service.queue.baseUrl, {
      catalog: () => ({ ...CATALOG, models: [{ ...modelNamed('kling-3-standard'), parameters: { duration: '5s' } }] }),
    });
    const seen = await follow(client, await accepted(client));
    expect(seen.at(-1)).toMatchObject({ status: 'failed', failure: { code: 'generation_failed' } });
    expect(seen.at(-1)?.failure?.words).toMatch(/^duration: /);
  });

  it.each<[string, HttpReply, ErrorCode]>([
    ['a fault of the gateway', { status: 500, json: { detail: 'Internal Server Error' } }, 'unavailable'],
    ['a page of a proxy', { status: 502, json: undefined }, 'unavailable'],
    ['a rate limit', detail(429, 'Too many requests'), 'rate_limited'],
    ['a rate limit with a type', detail(429, 'Too many requests', 'rate_limited'), 'rate_limited'],
    ['a refused key', detail(401, 'Cannot access application'), 'unauthorised'],
    ['a refused key with a type', detail(401, 'Cannot access application', 'unauthorized'), 'unauthorised'],
    ['a result that is unknown', detail(404, 'Request not found'), 'task_unknown'],
    ['an answer without a clip', { status: 200, json: { seed: 1 } }, 'bad_answer'],
  ])('does not end with %s in place of the result', async (_, result, code) => {
    const service = await start();
    service.results.push(result);
    const client = clientAt(service.queue.baseUrl);
    const id = await accepted(client);
    await expect(follow(client, id)).rejects.toMatchObject({ code });
  });

  it.each<[string, string, boolean]>([
    ['its own words say that the request is not found', 'Request not found', false],
    ['another page says that something is not found', 'Not Found', true],
  ])('is temporarily unknown or not, where %s', async (_, words, retryable) => {
    const service = await start();
    service.results.push(detail(404, words));
    const client = clientAt(service.queue.baseUrl);
    const id = await accepted(client);
    await expect(follow(client, id)).rejects.toMatchObject({ code: 'task_unknown', retryable });
  });

  it('does not end where the result is said to be early, although the state is complete', async () => {
    const service = await start();
    service.results.push(detail(400, 'Request is still in progress'));
    const client = clientAt(service.queue.baseUrl);
    const seen = await follow(client, await accepted(client), 4);
    expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', 'in_progress', 'in_progress']);
  });

  it('finds a clip in a list, and not another file', async () => {
    const service = await start();
    const url = `${service.storage.baseUrl}/files/b/clip.mp4`;
    service.results.push({
      status: 200,
      json: { last_frame: { url: 'https://a.example/last.png' }, videos: [{ url }] },
    });
    const client = clientAt(service.queue.baseUrl);
    const id = await accepted(client);
    await follow(client, id);
    expect((await client.download(id, join(await folder(), 'clip.mp4'))).bytes).toBe(service.clip.length);
  });
});

describe('an answer to a create', () => {
  it.each<[string, HttpReply, CreateOutcome['kind'], ErrorCode]>([
    ['401', detail(401, 'No user found for Key ID and Secret'), 'refused', 'unauthorised'],
    ['402', detail(402, 'Payment required'), 'refused', 'no_balance'],
    [
      'a locked account',
      detail(403, 'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.'),
      'refused',
      'no_balance',
    ],
    ['403', detail(403, 'Access denied'), 'refused', 'forbidden'],
    [
      'an input that is refused at once',
      { status: 422, json: { detail: [{ loc: ['body', 'prompt'], msg: 'Field required', type: 'missing' }] } },
      'refused',
      'bad_request',
    ],
    [
      'a content checker',
      { status: 422, json: { detail: [{ loc: ['body', 'prompt'], msg: 'No.', type: 'content_policy_violation' }] } },
      'refused',
      'moderated',
    ],
    ['429', detail(429, 'Too many requests'), 'unsent', 'rate_limited'],
    ['500', detail(500, 'Internal Server Error', 'internal_error'), 'lost', 'lost_answer'],
    ['503', detail(503, 'No runner', 'runner_scheduling_failure'), 'lost', 'lost_answer'],
    ['504', detail(504, 'Request timed out', 'request_timeout'), 'lost', 'lost_answer'],
    ['a success without an id', { status: 200, json: { status: 'IN_QUEUE' } }, 'lost', 'lost_answer'],
    [
      'a success that is an error with an id',
      { status: 200, json: { detail: 'No.', error_type: 'internal_error', request_id: '7' } },
      'lost',
      'lost_answer',
    ],
  ])('%s', async (_, reply, kind, code) => {
    const service = await start();
    service.refusals.push(reply);
    expect(await create(clientAt(service.queue.baseUrl))).toMatchObject({ kind, error: { code } });
    expect(service.taken).toBe(0);
    expect(service.queue.requests).toHaveLength(1);
  });

  it('says how long to wait', async () => {
    const service = await start();
    service.refusals.push(detail(429, 'Too many requests', undefined, { 'retry-after': '17' }));
    const outcome = await create(clientAt(service.queue.baseUrl));
    expect(outcome).toMatchObject({ kind: 'unsent', error: { retryable: true, retryAfterMs: 17_000 } });
  });

  it('refuses a key that is wrong', async () => {
    const service = await start();
    const client = clientOf(
      { baseUrl: service.queue.baseUrl, token: 'wrong' },
      { dialect: FAL, catalog: () => CATALOG },
    );
    expect(await create(client)).toMatchObject({ kind: 'refused', error: { code: 'unauthorised' } });
  });

  it('refuses a model that does not exist', async () => {
    const service = await start();
    const model = { ...modelNamed('kling-3-standard'), id: 'fal-ai/nothing/text-to-video' };
    const client = clientAt(service.queue.baseUrl, { catalog: () => ({ ...CATALOG, models: [model] }) });
    expect(await create(client)).toMatchObject({ kind: 'refused', error: { code: 'unknown_model' } });
  });

  const ID = 'b1d6e0e2';
  const CALL = { path: '/fal-ai/kling-video/v3/standard/text-to-video' };

  it.each<[string, string | undefined, string, string]>([
    [
      'that of the queue',
      `https://queue.fal.run/fal-ai/kling-video/requests/${ID}`,
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
    [
      'that of another app, for which the model is another name',
      `https://queue.fal.run/bytedance/seedance-2.0/requests/${ID}`,
      '/fal-ai/seedance-2/text-to-video',
      `bytedance/seedance-2.0/requests/${ID}`,
    ],
    [
      'that of the backup host: only the path counts',
      `https://queue.falrun.com/fal-ai/kling-video/requests/${ID}`,
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
    [
      'that of a proxy below a path of its own',
      `https://proxy.example/media/fal/fal-ai/kling-video/requests/${ID}`,
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
    [
      'that of an app in a namespace',
      `https://queue.fal.run/workflows/acme/shots/requests/${ID}`,
      '/workflows/acme/shots',
      `workflows/acme/shots/requests/${ID}`,
    ],
    ['made up where there is none', undefined, CALL.path, `fal-ai/kling-video/requests/${ID}`],
    [
      'made up where there is none, in a namespace',
      undefined,
      '/comfy/acme/shots/x',
      `comfy/acme/shots/requests/${ID}`,
    ],
    ['made up where it is no URL', 'later', CALL.path, `fal-ai/kling-video/requests/${ID}`],
    [
      'made up where it is another place',
      `https://files.example/results/${ID}.json`,
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
    [
      'made up where it is that of another request',
      'https://queue.fal.run/fal-ai/kling-video/requests/other',
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
    [
      'made up where it leads out of the queue',
      `https://queue.fal.run/a%2Fb/..%2Fc/requests/${ID}`,
      CALL.path,
      `fal-ai/kling-video/requests/${ID}`,
    ],
  ])('has the path of its result as id, %s', (_, response_url, path, id) => {
    expect(FAL.acceptedId({ status: 'IN_QUEUE', request_id: ID, response_url }, { path })).toBe(id);
  });

  it('sends no key to the host that it names', async () => {
    const other = await startHttp(() => ({ status: 200, json: { status: 'COMPLETED' } }));
    onTestFinished(() => other.close());
    const service = await start();
    const id = '764cabcf-b745-4b3e-ae38-1200304cf450';
    const client = clientAt(service.queue.baseUrl);
    await accepted(client);
    service.refusals.push({
      status: 200,
      json: { status: 'IN_QUEUE', request_id: id, response_url: `${other.baseUrl}/fal-ai/kling-video/requests/${id}` },
    });
    await follow(client, await accepted(client));
    expect(other.requests).toEqual([]);
  });
});

describe('what it reads', () => {
  it('an unknown state means that the task goes on', () => {
    expect(FAL.decodeTask({ status: 'WARMING_UP' })).toEqual({
      id: null,
      status: 'unknown',
      progress: null,
      failure: null,
    });
  });

  it.each([null, [], 'COMPLETED', { status: 7 }, {}, { detail: 'Not found' }, { video: {} }, { videos: [] }])(
    'no task in %j',
    (answer) => {
      expect(FAL.decodeTask(answer)).toBeNull();
      expect(FAL.describesTask(answer, 'a')).toBe(false);
    },
  );

  it('the shape of errors of other layers', () => {
    expect(FAL.decodeError({ error: { message: 'Rate limit exceeded', code: 429 } }).words).toBe('Rate limit exceeded');
  });

  it('ids of any characters, in paths', () => {
    expect(FAL.paths.task('acme/a:b/requests/1?' as UpstreamId)).toBe('/acme/a%3Ab/requests/1%3F/status');
    expect(FAL.paths.content('acme/a:b/requests/1?' as UpstreamId)).toBe('/acme/a%3Ab/requests/1%3F');
  });

  it('is on offer as fal', () => {
    expect(DIALECTS['fal']).toBe(FAL);
    expect(FAL.base).toBe('https://queue.fal.run');
  });
});

it('makes the journey with aimock as well', async () => {
  const clip = await start();
  const mock = new LLMock({ falQueue: { pollsBeforeInProgress: 1, pollsBeforeCompleted: 2 } });
  mock.onFalVideo('fal-ai/veo3.1', {
    video: { id: 'v', status: 'completed', url: `${clip.storage.baseUrl}/files/b/clip.mp4` },
  });
  await mock.start();
  onTestFinished(() => mock.stop());
  // The mock stands for all hosts of fal, which this header tells apart.
  const authorize = (key: string) => ({ ...FAL.authorize?.(key), 'x-fal-target-host': 'queue.fal.run' });
  const client = clientAt(`${mock.url}/fal`, { dialect: { ...FAL, authorize } });
  const id = await accepted(client, order('veo-3.1', { seconds: 8, aspectRatio: '16:9', resolution: '720p' }));
  expect(id).toMatch(/^fal-ai\/veo3\.1\/requests\/[\da-f-]{36}$/);
  const seen = await follow(client, id);
  expect(seen.map(({ status }) => status)).toEqual(['in_progress', 'completed']);
  const path = join(await folder(), 'clip.mp4');
  await client.download(id, path);
  expect((await readFile(path)).equals(clip.clip)).toBe(true);
});
