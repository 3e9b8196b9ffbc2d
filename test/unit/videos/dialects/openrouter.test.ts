import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import type { VideoGenerationRequest } from '@openrouter/sdk/models';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { checkRequest } from '#src/videos/check.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import { OPENROUTER } from '#src/videos/dialects/openrouter/index.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import { type Model, secondsOffered } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome, UpstreamId } from '#src/videos/service.ts';
import { wholeClip } from '#test/fakes/clip.ts';
import { startHttp } from '#test/fakes/services/http.ts';
import {
  type FakeRouter,
  type FakeRouterOptions,
  type RouterModel,
  refuse,
  startRouter,
  typed,
} from '#test/fakes/services/openrouter.ts';
import { clientOf } from '../client.ts';
import { ourRequest, theirRequest } from './golden.ts';
import { createTask, exampleCatalog, folder, modelIn } from './journey.ts';

const VEO = {
  name: 'Veo 3.1 Lite',
  id: 'google/veo-3.1-lite',
  title: 'Veo 3.1 Lite',
  billing: 'per_second',
  price: '0.05',
  currency: 'USD',
  seconds: [4, 6, 8],
  aspectRatios: ['16:9', '9:16'],
  resolutions: ['720p', '1080p'],
  media: { image: { min: 0, max: 3 }, audio: { min: 0, max: 1 }, video: { min: 0, max: 1 } },
  sound: true,
};
/** Model without settings, whose images are references. */
const { sound: _sound, ...SILENT } = VEO;
const PLAIN = {
  ...SILENT,
  name: 'Plain',
  id: 'acme/plain',
  aspectRatios: [],
  resolutions: [],
  imageRole: 'reference',
};
const CATALOG = parseCatalog({ models: [VEO, PLAIN] });

/** As the list of models had it on 17 August 2026. */
const LITE: RouterModel = {
  durations: [8, 4, 6],
  resolutions: ['720p', '1080p'],
  aspectRatios: ['16:9', '9:16'],
  frames: ['first_frame', 'last_frame'],
};

const FOX: VideoRequest = {
  model: 'Veo 3.1 Lite',
  prompt: 'a red fox – “quick”',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};
const FIRST = 'https://files.example/first.png';
const LAST = 'https://files.example/last.png';
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';

const CLIP = wholeClip(60_000);

const modelOf = (name: string, changes: Partial<Model> = {}): Model => modelIn(CATALOG, name, changes);

function withMedia(media: Partial<VideoRequest['media']>, request = FOX): VideoRequest {
  return { ...request, media: { ...request.media, ...media } };
}

async function start(options: Partial<FakeRouterOptions> = {}): Promise<FakeRouter> {
  const models = { 'google/veo-3.1-lite': LITE, 'acme/plain': LITE };
  const router = await startRouter({ models, clip: CLIP, ...options });
  onTestFinished(() => router.close());
  return router;
}

function client(service: Pick<FakeRouter, 'baseUrl' | 'token'>, options: Partial<VideoClientOptions> = {}) {
  return clientOf(service, { dialect: OPENROUTER, catalog: () => CATALOG, ...options });
}

function create(
  service: Pick<FakeRouter, 'baseUrl' | 'token'>,
  request: VideoRequest = FOX,
  options: Partial<VideoClientOptions> = {},
): Promise<CreateOutcome> {
  return createTask(client(service, options), request);
}

it('is registered under its name, with its base URL', () => {
  expect(DIALECTS['openrouter']).toBe(OPENROUTER);
  expect(OPENROUTER.base).toBe('https://openrouter.ai/api');
});

/** The package adds only headers that name an app, and `generate_audio` where it is told to. */
describe('golden requests: what the package @openrouter/sdk 1.3.19 sends', () => {
  const ours = (request: VideoRequest, model = modelOf(request.model)) =>
    ourRequest(OPENROUTER, { request, model }, OPENROUTER.base ?? '', 'sk-or-1');
  const theirs = (videoGenerationRequest: VideoGenerationRequest) =>
    theirRequest(
      (fetch) =>
        new OpenRouter({
          apiKey: 'sk-or-1',
          retryConfig: { strategy: 'none' },
          httpClient: new HTTPClient({ fetcher: fetch }),
        }).videoGeneration.generate({ videoGenerationRequest }),
      { id: 'gen-vid-1', polling_url: '/api/v1/videos/gen-vid-1', status: 'pending' },
    );
  const ORDER = {
    model: 'google/veo-3.1-lite',
    prompt: FOX.prompt,
    duration: 6,
    resolution: '720p',
    aspectRatio: '16:9',
    generateAudio: true,
  } as const;
  const image = (url: string) => ({ type: 'image_url', imageUrl: { url } }) as const;

  it('an order without media', async () => {
    const expected = await theirs(ORDER);
    expect(expected).toMatchObject({ url: 'https://openrouter.ai/api/v1/videos', authorization: 'Bearer sk-or-1' });
    expect(await ours(FOX)).toEqual(expected);
  });

  it('an order without settings, of a model whose sound is unknown', async () => {
    const { aspectRatio: _ratio, resolution: _resolution, ...bare } = FOX;
    expect(await ours({ ...bare, model: 'Plain' })).toEqual(
      await theirs({ model: 'acme/plain', prompt: FOX.prompt, duration: 6 }),
    );
  });

  it('a clip without sound', async () => {
    expect(await ours(FOX, modelOf(FOX.model, { sound: false }))).toEqual(
      await theirs({ ...ORDER, generateAudio: false }),
    );
  });

  it('another length, ratio and resolution', async () => {
    expect(await ours({ ...FOX, seconds: 8, aspectRatio: '9:16', resolution: '1080p' })).toEqual(
      await theirs({ ...ORDER, duration: 8, aspectRatio: '9:16', resolution: '1080p' }),
    );
  });

  it.each([['a URL', FIRST] as const, ['a data: URI', PIXEL] as const])('a first frame, as %s', async (_, url) => {
    const frameImages = [{ ...image(url), frameType: 'first_frame' as const }];
    expect(await ours(withMedia({ image: [url] }))).toEqual(await theirs({ ...ORDER, frameImages }));
  });

  it('a first and a last frame', async () => {
    const frameImages = [
      { ...image(FIRST), frameType: 'first_frame' as const },
      { ...image(LAST), frameType: 'last_frame' as const },
    ];
    expect(await ours(withMedia({ image: [FIRST, LAST] }))).toEqual(await theirs({ ...ORDER, frameImages }));
  });

  it('references: images, audio and video', async () => {
    const model = modelOf(FOX.model, { imageRole: 'reference' });
    const media = {
      image: [FIRST, LAST, PIXEL],
      audio: ['https://files.example/a.mp3'],
      video: ['https://files.example/a.mp4'],
    };
    const inputReferences = [
      image(FIRST),
      image(LAST),
      image(PIXEL),
      { type: 'audio_url', audioUrl: { url: 'https://files.example/a.mp3' } } as const,
      { type: 'video_url', videoUrl: { url: 'https://files.example/a.mp4' } } as const,
    ];
    expect(await ours(withMedia(media), model)).toEqual(await theirs({ ...ORDER, inputReferences }));
  });

  it('the parameters of the catalog', async () => {
    const options = { 'google-vertex': { parameters: { negativePrompt: 'blurry' } } };
    const model = modelOf(FOX.model, { parameters: { seed: 7, provider: { options }, generate_audio: false } });
    const provider = { options: { googleVertex: { parameters: { negativePrompt: 'blurry' } } } };
    expect(await ours(FOX, model)).toEqual(await theirs({ ...ORDER, seed: 7, provider, generateAudio: false }));
  });
});

describe('an order with media that OpenRouter would ignore', () => {
  it.each<[string, Partial<VideoRequest['media']>]>([
    ['a third frame', { image: [FIRST, LAST, FIRST] }],
    ['audio beside a first frame', { image: [FIRST], audio: ['https://files.example/a.mp3'] }],
    ['video beside a first frame', { image: [FIRST], video: ['https://files.example/a.mp4'] }],
  ])('is not sent: %s', async (_, media) => {
    const router = await start();
    const outcome = await create(router, withMedia(media));
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'bad_request', retryable: false } });
    expect(outcome.kind === 'refused' && outcome.error.words).toContain('frame');
    expect(router.requests).toHaveLength(0);
  });

  it('is sent without a frame', async () => {
    const router = await start();
    expect(await create(router, withMedia({ audio: ['https://files.example/a.mp3'] }))).toMatchObject({
      kind: 'accepted',
    });
  });
});

describe('a journey', () => {
  it('creates, polls and fetches', async () => {
    const router = await start();
    const service = client(router);
    const outcome = await service.create(withMedia({ image: [FIRST, LAST] }), {
      key: 'task-1',
      mayStillSend: () => true,
    });
    const id = 'gen-vid-1' as UpstreamId;
    expect(outcome).toEqual({ kind: 'accepted', task: { id, status: 'queued', progress: null, failure: null } });
    expect(router.requests[0]).toMatchObject({
      path: '/api/v1/videos',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'task-1' },
    });
    const job = router.jobs.get(id);
    if (job === undefined) throw new Error('no job');
    expect(job.order).toMatchObject({ generate_audio: true, duration: 6, resolution: '720p', aspect_ratio: '16:9' });
    await expect(service.download(id, join(await folder(), 'early.mp4'))).rejects.toMatchObject({ code: 'not_ready' });
    job.status = 'in_progress';
    expect(await service.retrieve(id)).toEqual({ id, status: 'in_progress', progress: null, failure: null });
    job.status = 'completed';
    const cost = { amount: '0.25', currency: 'USD' };
    expect(await service.retrieve(id)).toEqual({ id, status: 'completed', progress: null, failure: null, cost });
    const path = join(await folder(), 'clip.mp4');
    expect(await service.download(id, path)).toMatchObject({ bytes: CLIP.length, contentType: 'video/mp4' });
    expect(await readFile(path)).toEqual(CLIP);
    expect(router.requests.at(-1)?.path).toBe('/api/v1/videos/gen-vid-1/content?index=0');
  });

  it('takes references', async () => {
    const router = await start();
    const { aspectRatio: _ratio, resolution: _resolution, ...bare } = FOX;
    expect(await create(router, withMedia({ image: [FIRST, LAST, FIRST] }, { ...bare, model: 'Plain' }))).toMatchObject(
      {
        kind: 'accepted',
      },
    );
    expect(router.jobs.get('gen-vid-1')?.order['input_references']).toHaveLength(3);
  });

  it.each(['a:b/c d?e#f%2F==', 'väter', '../models'])('encodes the id %s', async (id) => {
    const router = await start({ nextId: () => id });
    const service = client(router);
    expect(await create(router)).toMatchObject({ kind: 'accepted', task: { id } });
    Object.assign(router.jobs.get(id) ?? {}, { status: 'completed' });
    expect(await service.retrieve(id as UpstreamId)).toMatchObject({ id, status: 'completed' });
    await service.download(id as UpstreamId, join(await folder(), 'odd.mp4'));
    expect(router.requests.at(-1)?.path).toBe(`/api/v1/videos/${encodeURIComponent(id)}/content?index=0`);
  });

  it('sends the key to no other origin', async () => {
    const store = await startHttp(() => ({ status: 200, bytes: CLIP }));
    onTestFinished(() => store.close());
    const router = await start();
    await create(router);
    router.replies.content = { status: 307, headers: { location: `${store.baseUrl}/clip.mp4?signature=1` } };
    await client(router).download('gen-vid-1' as UpstreamId, join(await folder(), 'stored.mp4'));
    expect(store.requests).toHaveLength(1);
    expect(JSON.stringify(store.requests)).not.toContain(router.token);
    expect(router.requests.every(({ headers }) => headers.authorization === `Bearer ${router.token}`)).toBe(true);
  });

  it.each([
    [409, 'Job is not completed', 'not_ready'],
    [410, 'The video has expired', 'gone'],
    [502, 'Provider returned error', 'unavailable'],
  ])('cannot fetch a clip that is answered with %i', async (status, words, code) => {
    const router = await start();
    await create(router);
    router.replies.content = refuse(status, words);
    await expect(
      client(router).download('gen-vid-1' as UpstreamId, join(await folder(), 'none.mp4')),
    ).rejects.toMatchObject({
      code,
      words,
    });
  });
});

describe('a refusal', () => {
  it('of an unknown key', async () => {
    const router = await start();
    const other = { ...router, token: 'sk-or-other' };
    expect(await create(other)).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthorised', words: 'User not found.' },
    });
    await expect(client(other).retrieve('gen-vid-1' as UpstreamId)).rejects.toMatchObject({ code: 'unauthorised' });
  });

  it('of a model that does not exist', async () => {
    const router = await start({ models: {} });
    expect(await create(router)).toMatchObject({ kind: 'refused', error: { code: 'unknown_model' } });
  });

  it('of a length that the model does not make', async () => {
    const router = await start({ models: { 'google/veo-3.1-lite': { ...LITE, durations: [4] } } });
    expect(await create(router)).toMatchObject({
      kind: 'refused',
      error: { code: 'bad_request', words: 'duration is not supported by this model' },
    });
  });

  const unavailable = (code: string) => ({ ...typed('not_found'), availability: { code, retryable: false } });
  it.each([
    [402, 'Insufficient credits. Add more using https://openrouter.ai/credits', {}, 'no_balance'],
    [402, 'No.', typed('payment_required'), 'no_balance'],
    [403, 'Your input was flagged', { metadata: { reasons: ['violence'], flagged_input: 'a red…' } }, 'moderated'],
    [403, 'Request blocked', { metadata: { patterns: ['ignore all'], reasons: [] } }, 'forbidden'],
    [400, 'The prompt was rejected', typed('content_policy_violation'), 'moderated'],
    [400, 'I would rather not', { error_type: 'refusal' }, 'moderated'],
    [400, 'The image is too small', typed('image_too_small'), 'bad_request'],
    [404, 'Gone.', unavailable('model_deprecated'), 'unknown_model'],
    [404, 'Gone.', unavailable('model_unavailable_upstream'), 'unknown_model'],
    [404, 'No endpoints found.', unavailable('no_endpoints'), 'unknown_model'],
    [404, 'Only paid.', unavailable('free_variant_ended'), 'unknown_model'],
    [413, 'Request entity too large', typed('payload_too_large'), 'bad_request'],
  ])('%i %s %j', async (status, words, more, code) => {
    const router = await start();
    router.replies.create = refuse(status, words, more);
    expect(await create(router)).toMatchObject({ kind: 'refused', error: { code, words } });
  });

  it('of a rate limit is unsent, with the time to wait', async () => {
    const router = await start();
    router.replies.create = refuse(429, 'Rate limit exceeded', typed('rate_limit_exceeded'), { 'retry-after': '60' });
    const error = { code: 'rate_limited', retryable: true, retryAfterMs: 60_000, words: 'Rate limit exceeded' };
    expect(await create(router)).toMatchObject({ kind: 'unsent', error });
  });

  it.each([
    [500, typed('server')],
    [502, typed('provider_unavailable')],
    [503, typed('provider_overloaded')],
    [504, typed('timeout')],
    [408, {}],
  ])('%i proves nothing: the answer is lost', async (status, more) => {
    const router = await start();
    router.replies.create = refuse(status, 'Provider returned error', more);
    expect(await create(router)).toMatchObject({ kind: 'lost', error: { code: 'lost_answer' } });
    expect(router.requests).toHaveLength(1);
  });
});

describe('an accepted order', () => {
  it.each([
    ['no status', { id: 'a', polling_url: '/api/v1/videos/a' }],
    ['no polling URL', { id: 'a', status: 'pending' }],
    ['a status of the future', { id: 'a', status: 'dreaming', progress: 3, extra: {} }],
  ])('has an id also with %s', async (_, json) => {
    const router = await start();
    router.replies.create = { status: 202, json };
    expect(await create(router)).toMatchObject({ kind: 'accepted', task: { id: 'a' } });
  });

  it.each([[{ id: 'req-1', error: { code: 500, message: 'oops' } }], [{}], [[]], ['ok'], [{ status: 'pending' }]])(
    'has none in %j: the answer is lost',
    async (json) => {
      const router = await start();
      router.replies.create = { status: 202, json };
      expect(await create(router)).toMatchObject({ kind: 'lost' });
    },
  );
});

describe('a poll', () => {
  const pollOf = async (json: unknown, status = 200) => {
    const router = await start();
    router.replies.task = { status, json };
    return client(router).retrieve('gen-vid-1' as UpstreamId);
  };

  it.each([
    ['pending', 'queued'],
    ['in_progress', 'in_progress'],
    ['completed', 'completed'],
    ['dreaming', 'unknown'],
    ['constructor', 'unknown'],
  ])('of the state %s is %s', async (status, expected) => {
    expect(await pollOf({ id: 'gen-vid-1', status })).toMatchObject({ status: expected, failure: null });
  });

  it.each([
    ['failed', 'The GPU melted.', 'generation_failed', 'The GPU melted.'],
    ['failed', undefined, 'generation_failed', null],
    ['failed', 'Content policy violation', 'moderated', 'Content policy violation'],
    ['cancelled', 'Job was cancelled', 'generation_failed', 'Job was cancelled'],
    ['cancelled', undefined, 'generation_failed', 'cancelled'],
    ['expired', 'Job exceeded maximum time to live', 'generation_failed', 'Job exceeded maximum time to live'],
    ['expired', undefined, 'generation_failed', 'expired'],
  ])('of a %s job with %j', async (status, error, code, words) => {
    const router = await start();
    await create(router);
    Object.assign(router.jobs.get('gen-vid-1') ?? {}, { status, error });
    expect(await client(router).retrieve('gen-vid-1' as UpstreamId)).toMatchObject({
      status: 'failed',
      failure: { code, words },
    });
  });

  it('reads its id', () => {
    expect(OPENROUTER.decodeTask({ id: 'a', status: 'pending' })?.id).toBe('a');
    expect(OPENROUTER.decodeTask({ status: 'pending' })?.id).toBeNull();
  });

  it('does not find an unknown job', async () => {
    const router = await start();
    await expect(client(router).retrieve('none' as UpstreamId)).rejects.toMatchObject({
      code: 'task_unknown',
      words: 'Resource not found',
    });
  });

  it.each([
    [200, { error: { code: 502, message: 'Provider returned error' } }, 'bad_answer'],
    [200, { id: 'gen-vid-1', status: 7 }, 'bad_answer'],
    [500, { error: { code: 500, message: 'Internal Server Error' } }, 'unavailable'],
    [429, { error: { code: 429, message: 'Rate limit exceeded' } }, 'rate_limited'],
  ])('with HTTP %i and %j is no state', async (status, json, code) => {
    await expect(pollOf(json, status)).rejects.toMatchObject({ code, retryable: true });
  });

  it('does not take an error with a status for a failed job at once', async () => {
    await expect(pollOf({ status: 'failed', error: 'try again later' })).rejects.toMatchObject({ retryable: true });
  });
});

describe('config/catalogs/openrouter.json', () => {
  const { models } = exampleCatalog('openrouter');

  it.each(models)('has an order that is accepted: $title', async (model) => {
    const router = await start({
      models: {
        [model.id ?? '']: {
          durations: secondsOffered(model),
          resolutions: model.resolutions,
          aspectRatios: model.aspectRatios,
          frames: model.imageRole === 'reference' ? [] : ['first_frame', 'last_frame'].slice(0, model.media.image.max),
        },
      },
    });
    const image = Array.from({ length: model.media.image.max }, () => FIRST);
    const checked = checkRequest({ models: [model], defaultModel: model }, { prompt: 'a red fox', image });
    if (!checked.ok) throw new Error(JSON.stringify(checked.refusals));
    const options = { catalog: () => ({ models: [model], defaultModel: model }) };
    expect(await create(router, checked.request, options)).toMatchObject({ kind: 'accepted' });
    // The price of a model with two depends on it.
    expect(router.jobs.get('gen-vid-1')?.order['generate_audio']).toBe(model.sound);
  });

  it('has one price per entry', () => {
    const tiers = models.map(({ id, resolutions, sound, imageRole }) =>
      JSON.stringify([id, resolutions, sound, imageRole]),
    );
    expect(new Set(tiers).size).toBe(tiers.length);
  });
});

describe('the fake refuses', () => {
  const ORDER = { model: 'google/veo-3.1-lite', prompt: 'a red fox' };
  const image = { type: 'image_url', image_url: { url: FIRST } };

  it.each<[string, object]>([
    ['a length that is a text', { ...ORDER, duration: '6' }],
    ['a length that the model does not make', { ...ORDER, duration: 5 }],
    ['a resolution that the model does not make', { ...ORDER, resolution: '480p' }],
    ['a ratio that the model does not make', { ...ORDER, aspect_ratio: '1:1' }],
    ['null', { ...ORDER, generate_audio: null }],
    ['an unknown field', { ...ORDER, seconds: 6 }],
    ['a frame that is neither the first nor the last', { ...ORDER, frame_images: [image] }],
    ['a frame twice', { ...ORDER, frame_images: Array(2).fill({ ...image, frame_type: 'first_frame' }) }],
    ['a reference with a frame type', { ...ORDER, input_references: [{ ...image, frame_type: 'first_frame' }] }],
    ['a reference without a URL', { ...ORDER, input_references: [{ type: 'image_url', image_url: FIRST }] }],
    [
      'references beside frames',
      { ...ORDER, frame_images: [{ ...image, frame_type: 'first_frame' }], input_references: [image] },
    ],
    ['no prompt', { model: 'google/veo-3.1-lite' }],
  ])('%s', async (_, order) => {
    const router = await start();
    const headers = { authorization: `Bearer ${router.token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(order);
    const answer = await fetch(`${router.baseUrl}/v1/videos`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 400 } }]);
  });
});

describe('against the mock of @copilotkit/aimock 1.43.0', () => {
  const startMock = async () => {
    const mock = new LLMock({ port: 0, openRouterVideo: { pollsBeforeInProgress: 1, pollsBeforeCompleted: 2 } });
    const b64 = CLIP.toString('base64');
    mock.onVideo('fox', { video: { id: 'fox', status: 'completed', b64, cost: 0.3 } });
    mock.onVideo('owl', { video: { id: 'owl', status: 'failed', error: 'Content policy violation' } });
    const url = await mock.start();
    onTestFinished(() => mock.stop());
    return { baseUrl: `${url}/api`, token: 'sk-or-mock' };
  };
  const accepted = (outcome: CreateOutcome): UpstreamId => {
    if (outcome.kind !== 'accepted') throw outcome.error;
    return outcome.task.id;
  };

  it('creates, polls and fetches', async () => {
    const mock = await startMock();
    const service = client(mock);
    const id = accepted(await create(mock, withMedia({ image: [FIRST] })));
    await expect(service.download(id, join(await folder(), 'early.mp4'))).rejects.toMatchObject({ code: 'not_ready' });
    const states: string[] = [];
    while (states.at(-1) !== 'completed') states.push((await service.retrieve(id)).status);
    expect(states).toEqual(['in_progress', 'completed']);
    const path = join(await folder(), 'clip.mp4');
    await service.download(id, path);
    expect(await readFile(path)).toEqual(CLIP);
  });

  it('fails, refuses and finds no other job', async () => {
    const mock = await startMock();
    const service = client(mock);
    const id = accepted(await create(mock, { ...FOX, prompt: 'an owl' }));
    await service.retrieve(id);
    expect(await service.retrieve(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'moderated', words: 'Content policy violation' },
    });
    await expect(service.retrieve('none' as UpstreamId)).rejects.toMatchObject({ code: 'task_unknown' });
    expect(await create(mock, { ...FOX, prompt: 'a heron' })).toMatchObject({ kind: 'refused' });
  });
});

it('reads no cost with a key of one’s own at the provider, who bills the rest', () => {
  const done = { id: 'a', status: 'completed' };
  expect(OPENROUTER.decodeTask({ ...done, usage: { cost: 0.01, is_byok: true } })).not.toHaveProperty('cost');
  expect(OPENROUTER.decodeTask({ ...done, usage: { cost: '0.25' } })).not.toHaveProperty('cost');
});
