import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createXai } from '@ai-sdk/xai';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { XAI } from '#src/videos/dialects/xai/index.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { UpstreamId, VideoService } from '#src/videos/service.ts';
import { startHttp } from '#test/fakes/services/http.ts';
import { error, startXai, XAI_CLIP, XAI_ID, type XaiOptions, xaiDone, xaiPending } from '#test/fakes/services/xai.ts';
import { clientOf } from '../client.ts';
import { capturedFetch } from './captured-fetch.ts';
import { createTask, exampleCatalog, folder, modelIn } from './journey.ts';

const CATALOG = exampleCatalog('xai');

const FOX: VideoRequest = {
  model: 'grok-1.5-720p',
  prompt: 'a red fox',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};
const FIRST = 'https://images.example/first.png';
const LAST = 'https://images.example/last.png';
const DATA = 'data:image/png;base64,iVBORw0KGgo=';
const VOICE = 'https://audio.example/voice.mp3';

const withMedia = (media: Partial<VideoRequest['media']>, changes: Partial<VideoRequest> = {}): VideoRequest => ({
  ...FOX,
  ...changes,
  media: { ...FOX.media, ...media },
});

async function start(options: XaiOptions = {}, catalog: Catalog = CATALOG) {
  const service = await startXai(options);
  onTestFinished(() => service.close());
  return { service, client: clientOf(service, { dialect: XAI, catalog: () => catalog }) };
}

const create = (client: VideoService, request = FOX) => createTask(client, request);

const modelWith = (name: string, changes: Partial<Model>): Model => modelIn(CATALOG, name, changes);

describe('the request is that of @ai-sdk/xai', () => {
  type Video = ReturnType<ReturnType<typeof createXai>['video']>;
  type Options = Partial<Parameters<NonNullable<Video['doStart']>>[0]>;

  async function theirs(options: Options, id = 'grok-imagine-video-1.5') {
    const { fetch, sent } = capturedFetch({ request_id: XAI_ID });
    const video = createXai({ apiKey: 'key', fetch }).video(id);
    await video.doStart?.({
      prompt: 'a red fox',
      n: 1,
      aspectRatio: '16:9',
      resolution: '1280x720',
      duration: 6,
      fps: undefined,
      seed: undefined,
      image: undefined,
      frameImages: undefined,
      inputReferences: undefined,
      generateAudio: undefined,
      providerOptions: {},
      ...options,
    });
    return sent();
  }

  const url = (address: string) => ({ type: 'url', url: address, mediaType: 'image/png' }) as const;
  const references = modelWith('grok-1.5-references', {});

  it.each<[string, VideoRequest, Model, Options]>([
    ['plain', FOX, modelWith('grok-1.5-720p', {}), {}],
    [
      'another ratio and resolution',
      { ...FOX, aspectRatio: '9:16', resolution: '1080p', seconds: 15 },
      modelWith('grok-1.5-1080p', {}),
      { aspectRatio: '9:16', resolution: '1920x1080', duration: 15 },
    ],
    ['silent', FOX, modelWith('grok-1.5-720p', { sound: false }), { generateAudio: false }],
    [
      'a first frame',
      withMedia({ image: [FIRST] }),
      modelWith('grok-1.5-720p', {}),
      { frameImages: [{ image: url(FIRST), frameType: 'first_frame' }] },
    ],
    [
      'a first and a last frame',
      withMedia({ image: [FIRST, LAST] }),
      modelWith('grok-1.5-720p', {}),
      {
        frameImages: [
          { image: url(FIRST), frameType: 'first_frame' },
          { image: url(LAST), frameType: 'last_frame' },
        ],
      },
    ],
    [
      'a first frame inline',
      withMedia({ image: [DATA] }),
      modelWith('grok-1.5-720p', {}),
      {
        frameImages: [
          { image: { type: 'file', data: 'iVBORw0KGgo=', mediaType: 'image/png' }, frameType: 'first_frame' },
        ],
      },
    ],
    ['references', withMedia({ image: [FIRST, LAST] }), references, { inputReferences: [url(FIRST), url(LAST)] }],
    [
      'references with a voice',
      withMedia({ image: [FIRST], audio: [VOICE] }),
      references,
      { inputReferences: [url(FIRST), { type: 'url', url: VOICE, mediaType: 'audio/mpeg' }] },
    ],
    [
      'further parameters',
      FOX,
      modelWith('grok-1.5-720p', { parameters: { user: 'team-1' } }),
      { providerOptions: { xai: { user: 'team-1' } } },
    ],
  ])('%s', async (_name, request, model, options) => {
    const sent = await theirs(options);
    const { path, body } = XAI.createCall(request, model);
    expect(body).toEqual(sent.body);
    expect(`${XAI.base}${path}`).toBe(sent.url);
    expect(sent.method).toBe('POST');
  });

  it.each<[string, VideoRequest]>([
    ['frames', withMedia({ image: [FIRST, LAST] })],
    ['references with a voice', withMedia({ image: [FIRST], audio: [VOICE] }, { model: 'grok-1.5-references' })],
    ['a silent clip', { ...FOX, model: 'silent' }],
  ])('and the strict fake accepts it with %s', async (_name, request) => {
    const silent = modelWith('grok-1.5-720p', { name: 'silent', id: 'grok-imagine-video-1.5', sound: false });
    const { client } = await start({}, { ...CATALOG, models: [...CATALOG.models, silent] });
    expect(await create(client, request)).toMatchObject({ kind: 'accepted' });
  });

  it('with the same authentication, and nothing but our own task id besides', async () => {
    const { service, client } = await start();
    await create(client);
    const sent = await theirs({});
    const [ours] = service.requests;
    expect(JSON.parse(ours?.body ?? '')).toEqual(sent.body);
    expect(ours?.headers.authorization).toBe(`Bearer ${service.token}`);
    expect(sent.headers.get('authorization')).toBe('Bearer key');
    expect(ours?.headers['idempotency-key']).toBe('task-1');
  });

  it.each<[string, VideoRequest]>([
    ['a third frame', withMedia({ image: [FIRST, LAST, FIRST] })],
    ['a video', withMedia({ video: ['https://videos.example/a.mp4'] })],
  ])('but %s, which it would drop from a paid clip, is refused without a request', async (_name, request) => {
    const media = { image: { min: 0, max: 9 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 9 } };
    const model = modelWith('grok-1.5-720p', { media });
    const { service, client } = await start({}, { models: [model], defaultModel: model });
    const outcome = await create(client, request);
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'bad_request', retryable: false } });
    expect(service.requests).toEqual([]);
  });
});

describe('a clip', () => {
  it('is created, polled and downloaded from another origin, which does not get the key', async () => {
    const { service, client } = await start();
    expect(await create(client)).toEqual({
      kind: 'accepted',
      task: { id: XAI_ID, status: 'unknown', progress: null, failure: null },
    });
    const id = XAI_ID as UpstreamId;
    expect(await client.retrieve(id)).toEqual({ id, status: 'in_progress', progress: 0, failure: null });
    expect(await client.retrieve(id)).toEqual({ id, status: 'in_progress', progress: 40, failure: null });
    const cost = { amount: '1.12', currency: 'USD' };
    expect(await client.retrieve(id)).toEqual({ id, status: 'completed', progress: 100, failure: null, cost });
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(id, path)).toEqual({ path, bytes: XAI_CLIP.length, contentType: 'video/mp4' });
    expect((await readFile(path)).equals(XAI_CLIP)).toBe(true);
    expect(service.created).toBe(1);
    expect(service.storage.requests.map(({ path: asked }) => asked)).toEqual(['/xai-video.mp4']);
    expect(JSON.stringify(service.storage.requests)).not.toContain(service.token);
  });

  it('may be in the files of xAI', async () => {
    const storage = await startHttp(() => ({ status: 200, bytes: XAI_CLIP }));
    onTestFinished(() => storage.close());
    const stored = { file_output: { file_id: 'f', filename: 'a.mp4', public_url: `${storage.baseUrl}/a.mp4` } };
    const { client } = await start({ polls: [{ status: 200, json: { status: 'done', video: stored } }] });
    await create(client);
    expect(await client.retrieve(XAI_ID as UpstreamId)).toMatchObject({ status: 'completed' });
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(XAI_ID as UpstreamId, path)).toMatchObject({ bytes: XAI_CLIP.length });
  });

  it('is not ready while it runs', async () => {
    const { client } = await start({ polls: [xaiPending(10)] });
    await create(client);
    const path = join(await folder(), 'clip.mp4');
    await expect(client.download(XAI_ID as UpstreamId, path)).rejects.toMatchObject({
      code: 'not_ready',
      retryable: true,
    });
  });

  it('says that a clip is billed that moderation blocked, and what it has cost', async () => {
    const usage = { cost_in_usd_ticks: 2_500_000_000 };
    const done = { status: 200, json: { status: 'done', video: { respect_moderation: false }, usage } };
    const error = {
      code: 'Client specified an invalid argument',
      error: 'Generated video rejected by content moderation.',
    };
    for (const poll of [done, { status: 400, json: { ...error, usage } }]) {
      const { client } = await start({ polls: [poll] });
      await create(client);
      expect(await client.retrieve(XAI_ID as UpstreamId)).toMatchObject({
        failure: { code: 'moderated', isBilled: true },
        cost: { amount: '0.25', currency: 'USD' },
      });
    }
  });

  it.each<[string, NonNullable<XaiOptions['polls']>[number], object]>([
    ['an empty 202', { status: 202, bytes: Buffer.alloc(0) }, { status: 'unknown', progress: null, failure: null }],
    ['an unknown status', { status: 200, json: { status: 'paused' } }, { status: 'unknown', failure: null }],
    [
      'a clip without a status',
      { status: 200, json: { video: { url: 'https://x.example/a.mp4' } } },
      { status: 'completed' },
    ],
    [
      'a progress of 140',
      { status: 200, json: { status: 'pending', progress: 140.7 } },
      { status: 'in_progress', progress: 100 },
    ],
  ])('%s is read', async (_name, poll, expected) => {
    const { client } = await start({ polls: [poll] });
    await create(client);
    expect(await client.retrieve(XAI_ID as UpstreamId)).toMatchObject(expected);
  });
});

describe('a failure', () => {
  const failed = (code: string, message: string) => ({ status: 'failed', error: { code, message } });
  const BILLED = 'Generated video rejected by content moderation. xAI bills it all the same: 0.25 USD.';

  it.each<[string, NonNullable<XaiOptions['polls']>[number], object]>([
    [
      'by moderation, with the status done and a bill',
      {
        status: 200,
        json: {
          ...xaiDone('https://vidgen.x.ai/a.mp4'),
          video: { url: 'https://vidgen.x.ai/a.mp4', respect_moderation: false },
        },
      },
      {
        code: 'moderated',
        words: 'The moderation of xAI blocked the clip. xAI bills it all the same: 1.12 USD.',
      },
    ],
    [
      'by moderation, without a price',
      { status: 200, json: { status: 'done', video: { respect_moderation: false } } },
      { code: 'moderated', words: 'The moderation of xAI blocked the clip. xAI bills it all the same.' },
    ],
    [
      // As recorded. @see https://github.com/vercel/ai/pull/13390
      'by moderation, as a 400',
      {
        status: 400,
        json: {
          code: 'Client specified an invalid argument',
          error: 'Generated video rejected by content moderation.',
          usage: { cost_in_usd_ticks: 2_500_000_000 },
        },
      },
      { code: 'moderated', words: BILLED },
    ],
    [
      'of the prompt',
      { status: 200, json: failed('invalid_argument', 'Content blocked by moderation.') },
      { code: 'moderated', words: 'Content blocked by moderation.' },
    ],
    [
      'of the service',
      { status: 200, json: failed('internal_error', 'Something broke.') },
      { code: 'generation_failed', words: 'Something broke.' },
    ],
    [
      'by expiry',
      { status: 200, json: { status: 'expired' } },
      { code: 'generation_failed', words: 'The request expired.' },
    ],
  ])('%s ends the task at the first poll', async (_name, poll, failure) => {
    const { client } = await start({ polls: [poll] });
    await create(client);
    expect(await client.retrieve(XAI_ID as UpstreamId)).toMatchObject({ status: 'failed', failure });
  });

  it.each<[string, NonNullable<XaiOptions['polls']>[number], object]>([
    [
      'another 400',
      error(400, 'Client specified an invalid argument', 'Incorrect API key provided.'),
      { code: 'bad_answer' },
    ],
    [
      // It may be there all the same, and is billed.
      'a clip without an address',
      { status: 200, json: { status: 'done', video: {} } },
      { code: 'bad_answer' },
    ],
    ['a 400 about something else', error(400, 'x', 'Your key was blocked: usage policy.'), { code: 'bad_answer' }],
    ['a 404', error(404, 'not-found', 'No such request.'), { code: 'task_unknown' }],
    [
      'a 429',
      { ...error(429, 'rate', 'Slow down.'), headers: { 'retry-after': '7' } },
      { code: 'rate_limited', retryAfterMs: 7_000 },
    ],
    ['a 503', error(503, 'unavailable', 'Overloaded.'), { code: 'unavailable' }],
  ])('%s of a poll is no failure of the task', async (_name, poll, thrown) => {
    const { client } = await start({ polls: [poll] });
    await create(client);
    await expect(client.retrieve(XAI_ID as UpstreamId)).rejects.toMatchObject({ ...thrown, retryable: true });
  });
});

describe('a refusal', () => {
  it.each<[string, NonNullable<XaiOptions['refusal']>, object]>([
    [
      'no permission',
      error(403, 'permission_denied', 'Not allowed.'),
      { kind: 'refused', error: { code: 'forbidden' } },
    ],
    [
      'no credits',
      error(
        403,
        'permission',
        'Your team has either used all available credits or reached its monthly spending limit.',
      ),
      { kind: 'refused', error: { code: 'no_balance' } },
    ],
    [
      'no credits, as a 429',
      error(429, 'exhausted', 'Your team has either used all available credits or reached its monthly spending limit.'),
      { kind: 'refused', error: { code: 'no_balance' } },
    ],
    ['payment required', error(402, 'payment', 'Pay.'), { kind: 'refused', error: { code: 'no_balance' } }],
    [
      'a rate limit',
      { ...error(429, 'rate', 'Too many requests.'), headers: { 'retry-after': '12' } },
      { kind: 'unsent', error: { code: 'rate_limited', retryAfterMs: 12_000 } },
    ],
    [
      'moderation',
      error(400, 'Client specified an invalid argument', 'Prompt rejected by content moderation.'),
      { kind: 'refused', error: { code: 'moderated', words: 'Prompt rejected by content moderation.' } },
    ],
    ['an outage', error(503, 'service_unavailable', 'Overloaded.'), { kind: 'lost', error: { code: 'lost_answer' } }],
    [
      'moderation with a bill',
      {
        status: 400,
        json: {
          code: 'Client specified an invalid argument',
          error: 'Prompt rejected by content moderation.',
          usage: { cost_in_usd_ticks: 500_000_000 },
        },
      },
      { kind: 'lost', error: { words: 'Prompt rejected by content moderation. xAI bills it all the same: 0.05 USD.' } },
    ],
    ['no id', { status: 200, json: {} }, { kind: 'lost', error: { code: 'lost_answer' } }],
  ])('for %s', async (_name, refusal, outcome) => {
    const { client } = await start({ refusal });
    expect(await create(client)).toMatchObject(outcome);
  });

  it('for an unknown model', async () => {
    const model = modelWith('grok-1.5-720p', { id: 'grok-imagine-video-9' });
    const { client } = await start({}, { models: [model], defaultModel: model });
    expect(await create(client)).toMatchObject({ kind: 'refused', error: { code: 'unknown_model' } });
  });

  it('for a wrong key, which xAI answers with a 400', async () => {
    const { service } = await start();
    const client = clientOf({ ...service, token: 'xai-wrong' }, { dialect: XAI, catalog: () => CATALOG });
    expect(await create(client)).toMatchObject({ kind: 'refused', error: { code: 'unauthorised' } });
  });
});

it('works with the independent mock', async () => {
  const storage = await startHttp(() => ({ status: 200, bytes: XAI_CLIP }));
  const mock = new LLMock({ port: 0, grokVideo: { pollsBeforeInProgress: 1, pollsBeforeCompleted: 2 } });
  mock.onVideo('a red fox', { video: { id: 'v', status: 'completed', url: `${storage.baseUrl}/a.mp4`, duration: 6 } });
  mock.onVideo('a blue fox', { video: { id: 'w', status: 'failed', error: 'Rejected.' } });
  const baseUrl = await mock.start();
  onTestFinished(async () => {
    await Promise.all([mock.stop(), storage.close()]);
  });
  const client = clientOf({ baseUrl, token: 'xai-mock' }, { dialect: XAI, catalog: () => CATALOG });
  const idOfCreated = async (prompt: string): Promise<UpstreamId> => {
    const outcome = await create(client, { ...FOX, prompt });
    if (outcome.kind !== 'accepted') throw outcome.error;
    return outcome.task.id;
  };
  const id = await idOfCreated('a red fox');
  expect(await client.retrieve(id)).toEqual({ id, status: 'in_progress', progress: 50, failure: null });
  expect(await client.retrieve(id)).toMatchObject({ id, status: 'completed', progress: 100, failure: null });
  const path = join(await folder(), 'clip.mp4');
  expect(await client.download(id, path)).toMatchObject({ bytes: XAI_CLIP.length });
  expect(JSON.stringify(storage.requests)).not.toContain('xai-mock');
  const other = await idOfCreated('a blue fox');
  await client.retrieve(other);
  expect(await client.retrieve(other)).toMatchObject({
    status: 'failed',
    failure: { code: 'generation_failed', words: 'Rejected.' },
  });
});

it('encodes ids in paths', () => {
  expect(XAI.paths.task('a/b c' as UpstreamId)).toBe('/v1/videos/a%2Fb%20c');
  expect(XAI.paths.content('../x' as UpstreamId)).toBe('/v1/videos/..%2Fx');
});

it('config/catalogs/xai.json is priced by resolution, one entry each', () => {
  expect(CATALOG.models.every(({ resolutions }) => resolutions.length === 1)).toBe(true);
  expect(CATALOG.defaultModel.name).toBe('grok-1.5-720p');
});
