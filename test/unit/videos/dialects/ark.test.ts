import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DailiesError, ErrorCode } from '#src/errors.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import { ARK } from '#src/videos/dialects/ark/index.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import { type Model, secondsOffered } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome, UpstreamId, UpstreamTask, VideoService } from '#src/videos/service.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { ARK_KEY, arkProblem, type FakeArk, refusal, startArk, type TaskEnd } from '#test/fakes/services/ark.ts';
import type { HttpReply } from '#test/fakes/services/http.ts';
import { clientOf } from '../client.ts';
import { acceptedTask, createTask, exampleCatalog, folder, follow, modelIn } from './journey.ts';

const CATALOG = exampleCatalog('ark');
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const modelNamed = (name: string): Model => modelIn(CATALOG, name);

/** Returns an order of a model of the example catalog. */
function order(model: string, changes: Partial<VideoRequest> = {}, image: readonly string[] = []): VideoRequest {
  const media = { image, audio: [], video: [] };
  return { model, service: 'ark', prompt: 'a red fox', seconds: 5, resolution: '720p', media, ...changes };
}

const FOX = order('seedance-1.5-pro', { aspectRatio: '16:9' });

function bodyOf(model: Model, request: VideoRequest): unknown {
  const { path, body } = ARK.createCall(request, model);
  expect(path).toBe('/contents/generations/tasks');
  return JSON.parse(JSON.stringify(body)) as unknown;
}

it('a prompt with an option that a model of 1.x would read is refused unsent', async () => {
  const service = await start();
  for (const prompt of ['a red fox --dur 12', '--rs 1080p a fox'])
    expect(await create(clientAt(service.api.baseUrl), { ...FOX, prompt })).toMatchObject({
      kind: 'refused',
      error: { code: 'bad_request', words: expect.stringContaining('may change the price') },
    });
  // An endpoint of one's own may be of such a model.
  const own = { ...CATALOG, models: CATALOG.models.map((model) => ({ ...model, id: 'ep-20261127-fox' })) };
  const atOwn = clientAt(service.api.baseUrl, { catalog: () => own });
  expect(await create(atOwn, { ...FOX, prompt: 'a red fox --dur 12' })).toMatchObject({ kind: 'refused' });
  expect(service.api.requests).toEqual([]);
  const later = order('seedance-2', { aspectRatio: '16:9', prompt: 'a red fox -- and a wolf--dog' });
  expect(await create(clientAt(service.api.baseUrl), later)).toMatchObject({ kind: 'accepted' });
});

async function start(): Promise<FakeArk> {
  const service = await startArk();
  onTestFinished(() => service.close());
  return service;
}

function clientAt(baseUrl: string, options: Partial<VideoClientOptions> = {}): VideoService {
  const { token = ARK_KEY, ...others } = options;
  return clientOf({ baseUrl: `${baseUrl}/api/v3`, token }, { dialect: ARK, catalog: () => CATALOG, ...others });
}

const create = (client: VideoService, request = FOX) => createTask(client, request);
const accepted = (client: VideoService, request = FOX) => acceptedTask(client, request);

const clipPath = async (): Promise<string> => join(await folder(), 'clip.mp4');

describe('a request', () => {
  // No library for Ark is at hand; these are bodies of others, each with where it was published.
  it.each<[string, Model, VideoRequest, object]>([
    [
      // https://doc-en.302.ai/344157192e0 (copy of Volcengine's example of first and last frame, 2026)
      'of a first and a last frame',
      {
        ...modelNamed('seedance-1.5-pro'),
        id: 'doubao-seedance-1-5-pro-251215',
        parameters: { service_tier: 'default' },
      },
      order(
        'seedance-1.5-pro',
        {
          prompt: 'The girl in the picture says cheese to the camera, with a 360-degree',
          seconds: 10,
          aspectRatio: '16:9',
        },
        [
          'https://ark-project.tos-cn-beijing.volces.com/doc_image/seepro_first_frame.jpeg',
          'https://ark-project.tos-cn-beijing.volces.com/doc_image/seepro_last_frame.jpeg',
        ],
      ),
      {
        model: 'doubao-seedance-1-5-pro-251215',
        content: [
          { type: 'text', text: 'The girl in the picture says cheese to the camera, with a 360-degree' },
          {
            type: 'image_url',
            image_url: { url: 'https://ark-project.tos-cn-beijing.volces.com/doc_image/seepro_first_frame.jpeg' },
            role: 'first_frame',
          },
          {
            type: 'image_url',
            image_url: { url: 'https://ark-project.tos-cn-beijing.volces.com/doc_image/seepro_last_frame.jpeg' },
            role: 'last_frame',
          },
        ],
        resolution: '720p',
        ratio: '16:9',
        duration: 10,
        generate_audio: true,
        service_tier: 'default',
      },
    ],
    [
      // https://docs.dev.xavier.icvr.xyz/models/byteplus/seedance-1-5-pro-251215.html "Example payload" (2026)
      'of a first frame alone',
      { ...modelNamed('seedance-1.5-pro'), resolutions: [], parameters: { watermark: false } },
      {
        model: 'seedance-1.5-pro',
        prompt: 'A smooth orbit shot around a sports car',
        seconds: 5,
        aspectRatio: '16:9',
        media: { image: ['https://example.com/first.jpg'], audio: [], video: [] },
      },
      {
        model: 'seedance-1-5-pro-251215',
        content: [
          { type: 'text', text: 'A smooth orbit shot around a sports car' },
          { type: 'image_url', image_url: { url: 'https://example.com/first.jpg' }, role: 'first_frame' },
        ],
        generate_audio: true,
        ratio: '16:9',
        duration: 5,
        watermark: false,
      },
    ],
    [
      // A test of the client of a video app for BytePlus, `byteplus-modelark` (2026)
      'of text alone',
      { ...modelNamed('seedance-2-fast'), sound: false, parameters: { watermark: false } },
      order('seedance-2-fast', { prompt: 'A concise product video prompt', aspectRatio: '16:9' }),
      {
        model: 'dreamina-seedance-2-0-fast-260128',
        content: [{ type: 'text', text: 'A concise product video prompt' }],
        resolution: '720p',
        ratio: '16:9',
        duration: 5,
        generate_audio: false,
        watermark: false,
      },
    ],
    [
      // https://docs.powertokens.ai/en/zmodelVideo/byteplus/seedance/seedance-video (copy of BytePlus' example, 2026),
      // with short texts; the kinds of media are in the order of the catalog.
      'of references of all kinds, an image of them in the request',
      modelNamed('seedance-2'),
      {
        ...order('seedance-2', { seconds: 10, aspectRatio: '16:9' }),
        media: {
          image: ['https://ark-project.tos-cn-beijing.volces.com/doc_image/r2v_tea_pic1.jpg', PIXEL],
          video: ['https://ark-project.tos-cn-beijing.volces.com/doc_video/r2v_tea_video1.mp4'],
          audio: ['https://ark-project.tos-cn-beijing.volces.com/doc_audio/r2v_tea_audio1.mp3'],
        },
      },
      {
        model: 'dreamina-seedance-2-0-260128',
        content: [
          { type: 'text', text: 'a red fox' },
          {
            type: 'image_url',
            image_url: { url: 'https://ark-project.tos-cn-beijing.volces.com/doc_image/r2v_tea_pic1.jpg' },
            role: 'reference_image',
          },
          { type: 'image_url', image_url: { url: PIXEL }, role: 'reference_image' },
          {
            type: 'video_url',
            video_url: { url: 'https://ark-project.tos-cn-beijing.volces.com/doc_video/r2v_tea_video1.mp4' },
            role: 'reference_video',
          },
          {
            type: 'audio_url',
            audio_url: { url: 'https://ark-project.tos-cn-beijing.volces.com/doc_audio/r2v_tea_audio1.mp3' },
            role: 'reference_audio',
          },
        ],
        resolution: '720p',
        ratio: '16:9',
        duration: 10,
        generate_audio: true,
      },
    ],
  ])('is the published one: %s', (_, model, request, published) => {
    expect(bodyOf(model, request)).toEqual(published);
  });

  it('has no fields that were not chosen, and its parameters last', () => {
    const { sound: _, ...model } = modelNamed('seedance-2.5-frames');
    const { resolution: _resolution, ...request } = order('seedance-2.5-frames', {}, [PIXEL]);
    const body = bodyOf({ ...model, parameters: { duration: -1, seed: 7 } }, request);
    expect(body).toEqual({
      model: 'dreamina-seedance-2-5-260628',
      content: [
        { type: 'text', text: 'a red fox' },
        { type: 'image_url', image_url: { url: PIXEL }, role: 'first_frame' },
      ],
      duration: -1,
      seed: 7,
    });
  });

  it.each(CATALOG.models.map((model) => [model.name, model] as const))(
    'is what the model takes, in all that the example catalog offers: %s',
    (_, model) => {
      const { min, max } = model.media.image;
      for (const seconds of secondsOffered(model))
        for (const aspectRatio of model.aspectRatios.length > 0 ? model.aspectRatios : [undefined])
          for (const resolution of model.resolutions)
            for (const count of [min, max]) {
              const images = Array.from({ length: count }, (_each, at) =>
                at === 0 ? PIXEL : `https://a.example/${at}.png`,
              );
              const settings = { seconds, resolution, ...(aspectRatio && { aspectRatio }) };
              const body = bodyOf(model, order(model.name, settings, images));
              expect([body, arkProblem(body)]).toEqual([body, null]);
            }
    },
  );
});

describe('a journey', () => {
  it('goes from the order to the clip, whose storage does not get the key', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const outcome = await create(client);
    const id = 'cgt-20261127000000-x7k2p';
    expect(outcome).toEqual({ kind: 'accepted', task: { id, status: 'unknown', progress: null, failure: null } });
    expect(service.api.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v3/contents/generations/tasks',
      headers: { authorization: `Bearer ${ARK_KEY}`, 'content-type': 'application/json' },
    });
    const seen = await follow(client, id as UpstreamId);
    expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', 'completed']);
    expect(seen.map(({ units }) => units)).toEqual([undefined, undefined, '108900']);
    const path = await clipPath();
    expect(await client.download(id as UpstreamId, path)).toMatchObject({ bytes: service.clip.length });
    expect((await readFile(path)).equals(service.clip)).toBe(true);
    expect(service.storage.requests.map((request) => request.path)).toEqual(['/clip.mp4?X-Tos-Signature=9f']);
    expect(JSON.stringify(service.storage.requests)).not.toContain(ARK_KEY);
    expect(service.taken).toBe(1);
  });

  it('has no clip before its end', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const id = await accepted(client);
    await expect(client.download(id, await clipPath())).rejects.toMatchObject({ code: 'not_ready' });
    expect(service.storage.requests).toEqual([]);
  });

  it.each<[string, TaskEnd, UpstreamTask['failure']]>([
    [
      'its reason',
      { status: 'failed', error: { code: 'InternalServiceError', message: 'The service encountered an error.' } },
      { code: 'generation_failed', words: 'The service encountered an error.' },
    ],
    [
      'a decision of the moderation',
      {
        status: 'failed',
        error: {
          code: 'OutputVideoSensitiveContentDetected.PolicyViolation',
          message: 'The request failed because the output video may be related to copyright restrictions.',
        },
      },
      {
        code: 'moderated',
        words: 'The request failed because the output video may be related to copyright restrictions.',
      },
    ],
    ['no reason', { status: 'failed' }, { code: 'generation_failed', words: null }],
    ['the end of its time', { status: 'expired' }, { code: 'generation_failed', words: 'expired' }],
    ['its withdrawal', { status: 'cancelled' }, { code: 'cancelled', words: null }],
  ])('ends with a failure, for %s', async (_, end, failure) => {
    const service = await start();
    service.ends.push(end);
    const client = clientAt(service.api.baseUrl);
    const id = await accepted(client);
    expect((await follow(client, id)).at(-1)).toEqual({ id, status: 'failed', progress: null, failure });
    await expect(client.download(id, await clipPath())).rejects.toMatchObject({ code: 'not_a_video' });
  });

  it('ends where its task is cancelled while it is queued, and goes on once it runs', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const [queued, running] = [await accepted(client), await accepted(client)];
    expect((await client.retrieve(queued)).status).toBe('queued');
    expect(await client.cancel(queued, () => false).catch(({ code }: { code: string }) => code)).toBe('unavailable');
    expect(await client.cancel(queued, () => true)).toBe('agreed');
    expect(service.api.requests.filter(({ method }) => method === 'DELETE')).toMatchObject([
      { path: `/api/v3/contents/generations/tasks/${queued}`, headers: { authorization: `Bearer ${ARK_KEY}` } },
    ]);
    const failure = { code: 'cancelled', words: null };
    expect((await follow(client, queued)).at(-1)).toMatchObject({ status: 'failed', failure });
    for (let look = 0; look < 2; look += 1) await client.retrieve(running);
    expect(await client.cancel(running, () => true)).toBe('refused');
    expect((await follow(client, running)).at(-1)).toMatchObject({ status: 'completed' });
  });

  it('is not waited for where its cancellation is not answered for five seconds', async () => {
    const clock = new ManualClock();
    const service = await start();
    const client = clientAt(service.api.baseUrl, { clock });
    const id = await accepted(client);
    await client.retrieve(id);
    const { pending } = clock;
    const held = service.holdsWithdrawal();
    const code = client.cancel(id, () => true).catch((thrown: DailiesError) => thrown.code);
    await held;
    clock.advance(5_000);
    expect(clock.pending).toBe(pending);
    expect(await code).toBe('timed_out');
    expect((await follow(client, id)).at(-1)).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } });
  });

  it('goes on in a state that is unknown', async () => {
    const service = await start();
    service.ends.push({ status: 'upscaling' });
    const client = clientAt(service.api.baseUrl);
    const seen = await follow(client, await accepted(client));
    expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', 'unknown', 'unknown', 'unknown']);
  });

  it('may end where the task is not known any more, after 7 days', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    await expect(client.retrieve('cgt-old' as UpstreamId)).rejects.toMatchObject({ code: 'task_unknown' });
  });

  it('needs the key of its region', async () => {
    const service = await start();
    const id = await accepted(clientAt(service.api.baseUrl));
    const stranger = clientAt(service.api.baseUrl, { token: 'wrong' });
    await expect(stranger.retrieve(id)).rejects.toMatchObject({ code: 'unauthorised' });
  });
});

describe('the list of tasks', () => {
  const ALWAYS = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY };
  const listed = (client: VideoService, request = FOX, time = ALWAYS, look = {}) =>
    client.list(request, { ...time, look });

  it('has those of a model with the same length, ratio and resolution, of all pages', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const own: string[] = [];
    for (let task = 0; task < 3; task += 1) own.push(await accepted(client));
    const { path, body } = ARK.createCall(FOX, modelNamed('seedance-1.5-pro'));
    const others = [{ duration: 6 }, { resolution: '480p' }, { ratio: '1:1' }, { model: 'seedance-1-0-pro-250528' }];
    for (const other of others) {
      const init = { method: 'POST', headers: { authorization: `Bearer ${ARK_KEY}` } };
      const url = `${service.api.baseUrl}/api/v3${path}`;
      expect((await fetch(url, { ...init, body: JSON.stringify({ ...Object(body), ...other }) })).status).toBe(200);
    }
    expect(client.canList(FOX)).toBe(true);
    expect((await listed(client))?.map(({ id }) => id).toSorted()).toEqual(own);
    const pages = service.api.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect(pages).toEqual([1, 2].map((page) => `/api/v3/contents/generations/tasks?page_num=${page}&page_size=100`));
  });

  it('has those of a time alone', async () => {
    const clock = { ms: 1_795_000_000_000 };
    const service = await startArk(() => clock.ms);
    onTestFinished(() => service.close());
    const client = clientAt(service.api.baseUrl);
    const ids: string[] = [];
    for (let task = 0; task < 3; task += 1) {
      ids.push(await accepted(client));
      clock.ms += 60_000;
    }
    expect(await listed(client, FOX, { fromMs: 1_795_000_030_000, untilMs: 1_795_000_090_000 })).toEqual([
      { id: ids[1], isSame: true },
    ]);
  });

  it('is read once for all requests of a look', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const requests = [FOX, { ...FOX, seconds: 10 }];
    const ids: string[] = [];
    for (const request of requests) ids.push(await accepted(client, request));
    const look = {};
    const found = await Promise.all(requests.map((request) => listed(client, request, ALWAYS, look)));
    expect(found).toEqual(ids.map((id) => [{ id, isSame: true }]));
    await listed(client);
    expect(service.api.requests.filter(({ path }) => path.includes('page_num=1&'))).toHaveLength(2);
  });

  it('does not take what a task does not say for the same', async () => {
    const service = await start();
    const client = clientAt(service.api.baseUrl);
    const item = { id: 'cgt-1', model: 'seedance-1-5-pro-251215', created_at: 1_795_000_000, duration: null };
    const page = { items: [item], total: 1 };
    service.lists.push({ status: 200, json: page }, { status: 200, json: { items: [], total: 1 } });
    expect(await listed(client)).toEqual([{ id: 'cgt-1', isSame: false }]);
  });

  it.each([
    ['a model of another tier, whose tasks it may not have', { parameters: { service_tier: 'flex' } }],
    ['an endpoint, whose tasks it has under the name of its model', { id: 'ep-20261127000001-x7k2p' }],
  ])('is not asked for %s', async (_what, changes) => {
    const service = await start();
    const models = CATALOG.models.map((model) => ({ ...model, ...changes }));
    const client = clientAt(service.api.baseUrl, { catalog: () => ({ ...CATALOG, models }) });
    expect(client.canList(FOX)).toBe(false);
    expect(await listed(client)).toBeNull();
    expect(service.api.requests).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['an error', { error: { code: 'InternalServiceError', message: 'No.' } }],
    ['a task without an id', { items: [{ model: 'seedance-1-5-pro-251215', created_at: 1_795_000_000 }], total: 1 }],
    ['nothing', {}],
  ])('is none that cannot be read: %s', async (_, json) => {
    const service = await start();
    service.lists.push({ status: 200, json });
    await expect(listed(clientAt(service.api.baseUrl))).rejects.toMatchObject({ code: 'bad_answer' });
  });

  it('is none of a service that has no such call', async () => {
    const { baseUrl } = (await start()).api;
    const client = clientOf({ baseUrl, token: 'sk' });
    expect([client.canList(FOX), await listed(client)]).toEqual([false, null]);
  });
});

describe('an answer to a create', () => {
  it.each<[string, HttpReply, CreateOutcome['kind'], ErrorCode]>([
    ['401', refusal(401, 'AuthenticationError', 'The API key is missing or invalid.'), 'refused', 'unauthorised'],
    ['402', { status: 402, json: { error: { message: 'Payment required' } } }, 'refused', 'no_balance'],
    [
      'an overdue account',
      refusal(403, 'AccountOverdueError', 'The request failed because your account is overdue.'),
      'refused',
      'no_balance',
    ],
    ['an overdue bill', refusal(403, 'ServiceOverdue', 'Your bill is overdue.'), 'refused', 'no_balance'],
    [
      'the limit that someone has set',
      refusal(429, 'SetLimitExceeded', 'It has been reached.'),
      'refused',
      'no_balance',
    ],
    ['403', refusal(403, 'AccessDenied', 'You do not have access to the requested resource.'), 'refused', 'forbidden'],
    [
      'a model that is not activated',
      refusal(
        404,
        'ModelNotOpen',
        'Your account has not activated it. Please activate the service in the Ark Console.',
      ),
      'refused',
      'unknown_model',
    ],
    [
      'a model that takes no id of a model',
      refusal(404, 'InvalidEndpointOrModel.ModelIDAccessDisabled', 'Please use a custom endpoint ID instead.'),
      'refused',
      'unknown_model',
    ],
    [
      'a prompt that is refused',
      refusal(400, 'InputTextSensitiveContentDetected', 'The request failed.'),
      'refused',
      'moderated',
    ],
    [
      'an image of a real person',
      refusal(400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'The input image may contain real person.'),
      'refused',
      'moderated',
    ],
    ['a parameter', refusal(400, 'InvalidParameter', 'The parameter `ratio` is not valid.'), 'refused', 'bad_request'],
    ['422', refusal(422, 'MissingParameter', 'The request is missing a parameter.'), 'refused', 'bad_request'],
    [
      'the end of the free quota',
      refusal(429, 'QuotaExceeded', 'Your account has exhausted its free trial quota.'),
      'refused',
      'no_balance',
    ],
    [
      'a rate limit',
      refusal(429, 'RateLimitExceeded.EndpointRPMExceeded', 'The Requests Per Minute (RPM) limit has been exceeded.'),
      'unsent',
      'rate_limited',
    ],
    ['an overload', refusal(429, 'ServerOverloaded', 'The service is overloaded.'), 'unsent', 'rate_limited'],
    ['500', refusal(500, 'InternalServiceError', 'The service encountered an error.'), 'lost', 'lost_answer'],
    ['504', { status: 504, json: undefined }, 'lost', 'lost_answer'],
    ['a success without an id', { status: 200, json: {} }, 'lost', 'lost_answer'],
    [
      'a success that is an error with an id',
      { status: 200, json: { id: 'request-7', error: { code: 'InternalServiceError', message: 'No.' } } },
      'lost',
      'lost_answer',
    ],
  ])('%s', async (_, reply, kind, code) => {
    const service = await start();
    service.refusals.push(reply);
    expect(await create(clientAt(service.api.baseUrl))).toMatchObject({ kind, error: { code } });
    expect(service.taken).toBe(0);
    expect(service.api.requests).toHaveLength(1);
  });

  it('says how long to wait', async () => {
    const service = await start();
    service.refusals.push(refusal(429, 'RateLimitExceeded', 'Slow down.', { 'retry-after': '9' }));
    const outcome = await create(clientAt(service.api.baseUrl));
    expect(outcome).toMatchObject({ kind: 'unsent', error: { retryable: true, retryAfterMs: 9_000 } });
  });

  it.each<[string, Partial<Model>, ErrorCode]>([
    ['a model that does not exist', { id: 'seedance-9' }, 'unknown_model'],
    ['a ratio that goes with no frames', { parameters: { ratio: '9:21' } }, 'bad_request'],
  ])('refuses %s', async (_, changes, code) => {
    const service = await start();
    const models = [{ ...modelNamed('seedance-1.5-pro'), ...changes }];
    const client = clientAt(service.api.baseUrl, { catalog: () => ({ ...CATALOG, models }) });
    expect(await create(client)).toMatchObject({ kind: 'refused', error: { code } });
  });
});

describe('what it reads', () => {
  it.each([null, [], 'succeeded', { id: 'a' }, { status: 7 }, { error: { code: 'NotFound', message: 'No.' } }])(
    'no task in %j',
    (answer) => expect(ARK.decodeTask(answer)).toBeNull(),
  );

  it('a failure of another task is no news of this one', () => {
    expect(ARK.describesTask({ id: 'cgt-1', status: 'failed' }, 'cgt-1')).toBe(true);
    expect(ARK.describesTask({ id: 'cgt-2', status: 'failed' }, 'cgt-1')).toBe(false);
    expect(ARK.describesTask({ status: 'failed' }, 'cgt-1')).toBe(false);
  });

  it('the codes of errors as words', () => {
    const { codes } = ARK.decodeError({ error: { code: 'InvalidEndpointOrModel.NotFound', message: 'No.' } });
    expect(codes).toEqual(['invalid_endpoint_or_model_not_found', 'model_not_found']);
    expect(ARK.decodeError({ error: { code: '', message: '' } })).toEqual({
      codes: [],
      words: null,
      success: undefined,
    });
    expect(ARK.decodeError('no')).toEqual({ codes: [], words: null, success: undefined });
  });

  it('ids of any characters, in paths', () => {
    expect(ARK.paths.task('cgt/1?' as UpstreamId)).toBe('/contents/generations/tasks/cgt%2F1%3F');
    expect(ARK.paths.content('cgt/1?' as UpstreamId)).toBe('/contents/generations/tasks/cgt%2F1%3F');
  });

  it('the clip, and not its last frame', () => {
    const last_frame_url = 'https://a.example/last.png';
    expect(ARK.clipIn?.({ content: { last_frame_url } })).toBeUndefined();
    expect(ARK.clipIn?.({ content: { last_frame_url, video_url: 'https://a.example/a.mp4' } })).toEqual({
      address: 'https://a.example/a.mp4',
    });
  });

  it('is on offer as ark, for any base URL', () => {
    expect(DIALECTS['ark']).toBe(ARK);
    expect(ARK.base).toBeUndefined();
  });
});

it.each<[string, object, Partial<UpstreamTask>]>([
  ['that succeeds', { status: 'succeeded', error: null }, { status: 'completed', failure: null }],
  [
    'that expires',
    { status: 'expired' },
    { status: 'failed', failure: { code: 'generation_failed', words: 'expired' } },
  ],
])('makes the journey of a task %s with aimock as well', async (_, end, last) => {
  const { storage, clip } = await start();
  const mock = new LLMock({ bytePlusVideo: { pollsBeforeInProgress: 2, pollsBeforeCompleted: 3 } });
  const content = { video_url: `${storage.baseUrl}/clip.mp4?X-Tos-Signature=9f` };
  const envelope = { id: 'recorded', model: 'seedance-1-5-pro-251215', created_at: 1_795_000_000, content, ...end };
  // The mock matches the text, and the media with it; Ark's own envelope is what it answers.
  mock.on(
    { endpoint: 'video', model: 'seedance-1-5-pro-251215', userMessage: 'a red fox\n[media: ]' },
    { json: envelope },
  );
  await mock.start();
  onTestFinished(() => mock.stop());
  const client = clientAt(mock.url);
  const id = await accepted(client);
  expect(id).toMatch(/^cgt-[\da-f-]{36}$/);
  const seen = await follow(client, id);
  expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', last.status]);
  expect(seen.at(-1)).toMatchObject(last);
  if (last.status !== 'completed') return;
  const path = await clipPath();
  await client.download(id, path);
  expect((await readFile(path)).equals(clip)).toBe(true);
});
