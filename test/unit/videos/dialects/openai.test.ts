import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { checkRequest } from '#src/videos/check.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import { OPENAI } from '#src/videos/dialects/openai/index.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import type { Model } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome, UpstreamId } from '#src/videos/service.ts';
import { wholeClip } from '#test/fakes/clip.ts';
import { startHttp } from '#test/fakes/services/http.ts';
import { type FakeGateway, type FakeGatewayOptions, refuse, startGateway } from '#test/fakes/services/openai.ts';
import { clientOf } from '../client.ts';
import { ourRequest, theirRequest } from './golden.ts';
import { createTask, exampleCatalog, folder, modelIn } from './journey.ts';

const SORA = {
  name: 'Sora',
  id: 'sora-2',
  title: 'Sora 2',
  billing: 'per_second',
  price: '0.10',
  currency: 'USD',
  seconds: [4, 8, 12],
  aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
  resolutions: ['480p', '720p', '1080p'],
  media: { image: { min: 0, max: 2 }, audio: { min: 0, max: 1 }, video: { min: 0, max: 1 } },
};
/** Model without aspect ratios and resolutions. */
const PLAIN = { ...SORA, name: 'plain', id: 'plain-1', title: 'Plain', aspectRatios: [], resolutions: [] };
const CATALOG = parseCatalog({ models: [SORA, PLAIN] });

const FOX: VideoRequest = {
  model: 'Sora',
  prompt: 'a red fox – “quick”',
  seconds: 8,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};
const IMAGE = 'https://files.example/fox.png';
/** PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const CLIP = wholeClip(60_000);

const modelOf = (name: string, changes: Partial<Model> = {}): Model => modelIn(CATALOG, name, changes);

function withImages(...image: readonly string[]): VideoRequest {
  return { ...FOX, media: { ...FOX.media, image } };
}

async function start(options: Partial<FakeGatewayOptions> = {}): Promise<FakeGateway> {
  const gateway = await startGateway({ models: ['sora-2', 'plain-1'], clip: CLIP, ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

function client(service: Pick<FakeGateway, 'baseUrl' | 'token'>, options: Partial<VideoClientOptions> = {}) {
  return clientOf(service, { dialect: OPENAI, catalog: () => CATALOG, ...options });
}

function create(
  service: Pick<FakeGateway, 'baseUrl' | 'token'>,
  request: VideoRequest = FOX,
  options: Partial<VideoClientOptions> = {},
): Promise<CreateOutcome> {
  return createTask(client(service, options), request);
}

it('is registered under its name', () => {
  expect(DIALECTS['openai']).toBe(OPENAI);
});

/** The package sends every order as a form, also one without a file; the gateways document JSON for those. */
describe('golden requests: what the package openai 7.57.0 sends', () => {
  const BASE = 'https://gateway.example';
  const ours = (request: VideoRequest, model = modelOf(request.model)) =>
    ourRequest(OPENAI, { request, model }, BASE, 'sk-1');
  const theirs = (params: OpenAI.VideoCreateParams) =>
    theirRequest(
      (fetch) => new OpenAI({ apiKey: 'sk-1', baseURL: `${BASE}/v1`, fetch, maxRetries: 0 }).videos.create(params),
      { id: 'video_1', object: 'video', status: 'queued' },
    );
  const ORDER = { model: 'sora-2', prompt: FOX.prompt, seconds: '8', size: '1280x720' } as const;

  it('an order without an image', async () => {
    const expected = await theirs(ORDER);
    expect(expected.type).toBe('multipart/form-data');
    expect(await ours(FOX)).toEqual({ ...expected, type: 'application/json' });
  });

  it('an order without settings', async () => {
    const { aspectRatio: _ratio, resolution: _resolution, ...bare } = FOX;
    const expected = await theirs({ model: 'plain-1', prompt: FOX.prompt, seconds: '8' });
    expect(await ours({ ...bare, model: 'plain' })).toEqual({ ...expected, type: 'application/json' });
  });

  it('a data: URI, as a file of a form', async () => {
    const image = await toFile(Buffer.from(PIXEL, 'base64'), 'input_reference.png', { type: 'image/png' });
    const expected = await theirs({ ...ORDER, input_reference: image });
    expect(expected.fields['input_reference']).toEqual({
      type: 'image/png',
      name: 'input_reference.png',
      base64: PIXEL,
    });
    expect(await ours(withImages(`data:image/png;base64,${PIXEL}`))).toEqual(expected);
  });

  it('the URL of an image: on purpose a string, which LiteLLM and new-api read, and not OpenAI’s object', async () => {
    const expected = await theirs({ ...ORDER, input_reference: { image_url: IMAGE } });
    const { 'input_reference[image_url]': url, ...others } = expected.fields;
    expect(await ours(withImages(IMAGE))).toEqual({
      ...expected,
      type: 'application/json',
      fields: { ...others, input_reference: url },
    });
  });

  it('a reference image: the shape knows no roles', async () => {
    const reference = modelOf('Sora', { imageRole: 'reference' });
    expect(await ours(withImages(IMAGE), reference)).toEqual(await ours(withImages(IMAGE)));
  });

  it.each([
    ['720p', '9:16', '720x1280'],
    ['720p', '16:9', '1280x720'],
  ] as const)('the sizes of OpenAI: %s %s', async (resolution, aspectRatio, size) => {
    const expected = await theirs({ ...ORDER, size });
    expect((await ours({ ...FOX, resolution, aspectRatio })).fields).toEqual(expected.fields);
  });
});

describe('the request', () => {
  const fieldsOf = (request: VideoRequest, model = modelOf(request.model)) => OPENAI.createCall(request, model).body;

  it.each([
    ['480p', '16:9', '854x480'],
    ['480p', '9:16', '480x854'],
    ['720p', '4:3', '960x720'],
    ['720p', '1:1', '720x720'],
    ['1080p', '16:9', '1920x1080'],
    ['1080p', '3:4', '1080x1440'],
  ] as const)('has a size for %s %s', (resolution, aspectRatio, size) => {
    expect(fieldsOf({ ...FOX, resolution, aspectRatio })).toMatchObject({ size });
  });

  it('has a size where only one of the settings is known', () => {
    const { aspectRatio: _ratio, resolution: _resolution, ...bare } = FOX;
    expect(fieldsOf({ ...bare, aspectRatio: '9:16' })).toMatchObject({ size: '720x1280' });
    expect(fieldsOf({ ...bare, resolution: '1080p' })).toMatchObject({ size: '1920x1080' });
  });

  it('has the parameters of the catalog, last', () => {
    const model = modelOf('Sora', { parameters: { user: 'dailies', size: '1792x1024', metadata: { fps: 24 } } });
    expect(fieldsOf(FOX, model)).toEqual({
      model: 'sora-2',
      prompt: FOX.prompt,
      seconds: '8',
      size: '1792x1024',
      user: 'dailies',
      metadata: { fps: 24 },
    });
    const form = fieldsOf(withImages(`data:image/png;base64,${PIXEL}`), model) as FormData;
    expect([form.get('user'), form.get('metadata')]).toEqual(['dailies', '{"fps":24}']);
  });

  it.each([
    ['data:image/jpeg;base64,/9j/4A==', 'image/jpeg', 'input_reference.jpg', '/9j/4A=='],
    ['data:image/webp;base64,UklGRg==', 'image/webp', 'input_reference.webp', 'UklGRg=='],
  ])('has the file of %s', async (uri, type, name, base64) => {
    const file = (fieldsOf(withImages(uri)) as FormData).get('input_reference') as File;
    expect([file.type, file.name]).toEqual([type, name]);
    expect(Buffer.from(await file.arrayBuffer()).toString('base64')).toBe(base64);
  });

  it('does not take a prompt for an image', async () => {
    const form = fieldsOf({ ...withImages(`data:image/png;base64,${PIXEL}`), prompt: 'data: the film' }) as FormData;
    expect([form.get('prompt'), form.get('seconds')]).toEqual(['data: the film', '8']);
    expect(fieldsOf({ ...FOX, prompt: 'data: the film' })).toMatchObject({ prompt: 'data: the film' });
  });

  it.each(['data:image/png', 'data:text/html;base64,PGI+', 'data:,x', 'data:image/png,%%'])(
    'is refused for %s',
    (uri) => {
      expect(() => fieldsOf(withImages(uri))).toThrow(expect.objectContaining({ code: 'bad_request' }));
    },
  );

  it.each<[string, Partial<VideoRequest['media']>]>([
    ['a second image', { image: [IMAGE, 'https://files.example/end.png'] }],
    ['audio', { audio: ['https://files.example/a.mp3'] }],
    ['video beside an image', { image: [IMAGE], video: ['https://files.example/a.mp4'] }],
  ])('is not sent with %s, for which the shape has no field', async (_, media) => {
    const gateway = await start();
    const outcome = await create(gateway, { ...FOX, media: { ...FOX.media, ...media } });
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'bad_request', retryable: false } });
    expect(outcome.kind === 'refused' && outcome.error.words).toContain('one image');
    expect(gateway.requests).toHaveLength(0);
  });
});

describe('a journey', () => {
  it('creates, polls and fetches', async () => {
    const gateway = await start();
    const service = client(gateway);
    const outcome = await service.create(withImages(IMAGE), { key: 'task-1', mayStillSend: () => true });
    const id = 'video_1' as UpstreamId;
    expect(outcome).toEqual({ kind: 'accepted', task: { id, status: 'queued', progress: 0, failure: null } });
    expect(gateway.requests[0]).toMatchObject({
      path: '/v1/videos',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'task-1' },
    });
    const video = gateway.videos.get(id);
    if (video === undefined) throw new Error('no video');
    expect(video.order).toMatchObject({ model: 'sora-2', input_reference: IMAGE });
    await expect(service.download(id, join(await folder(), 'early.mp4'))).rejects.toMatchObject({ code: 'not_ready' });
    Object.assign(video, { status: 'in_progress', progress: 42 });
    expect(await service.retrieve(id)).toEqual({ id, status: 'in_progress', progress: 42, failure: null });
    Object.assign(video, { status: 'completed', progress: 100 });
    expect(await service.retrieve(id)).toEqual({ id, status: 'completed', progress: 100, failure: null });
    const path = join(await folder(), 'clip.mp4');
    expect(await service.download(id, path)).toMatchObject({ bytes: CLIP.length, contentType: 'video/mp4' });
    expect(await readFile(path)).toEqual(CLIP);
  });

  it('sends a data: URI as a file', async () => {
    const parameters = { input_reference: `data:image/png;base64,${PIXEL}` };
    const catalog = parseCatalog({ models: [{ ...SORA, parameters }] });
    const gateway = await start();
    expect(await create(gateway, FOX, { catalog: () => catalog })).toMatchObject({ kind: 'accepted' });
    const { input_reference: file, ...fields } = gateway.videos.get('video_1')?.order ?? {};
    expect(fields).toEqual({ model: 'sora-2', prompt: FOX.prompt, seconds: '8', size: '1280x720' });
    expect(file).toEqual({ type: 'image/png', name: 'input_reference.png', bytes: Buffer.from(PIXEL, 'base64') });
    expect(gateway.requests[0]?.headers).toMatchObject({
      'content-type': expect.stringMatching(/^multipart\/form-data; boundary=/),
      'idempotency-key': 'task-1',
    });
  });

  // LiteLLM encodes its provider into an id, in base64.
  it.each(['video_bGl0ZWxsbTpjdXN0b20/+==', 'a:b/c d?e#f%2F', 'väter'])('encodes the id %s', async (id) => {
    const gateway = await start({ nextId: () => id });
    const service = client(gateway);
    expect(await create(gateway)).toMatchObject({ kind: 'accepted', task: { id } });
    Object.assign(gateway.videos.get(id) ?? {}, { status: 'completed' });
    expect(await service.retrieve(id as UpstreamId)).toMatchObject({ id, status: 'completed' });
    await service.download(id as UpstreamId, join(await folder(), 'odd.mp4'));
    expect(gateway.requests.at(-1)?.path).toBe(`/v1/videos/${encodeURIComponent(id)}/content`);
  });

  it('sends the key to no other origin', async () => {
    const store = await startHttp(() => ({ status: 200, bytes: CLIP }));
    onTestFinished(() => store.close());
    const gateway = await start();
    await create(gateway);
    gateway.replies.content = { status: 302, headers: { location: `${store.baseUrl}/clip.mp4?signature=1` } };
    await client(gateway).download('video_1' as UpstreamId, join(await folder(), 'stored.mp4'));
    expect(store.requests).toHaveLength(1);
    expect(JSON.stringify(store.requests)).not.toContain(gateway.token);
    expect(gateway.requests.every(({ headers }) => headers.authorization === `Bearer ${gateway.token}`)).toBe(true);
  });
});

describe('a refusal', () => {
  it('of an unknown key', async () => {
    const gateway = await start();
    expect(await create({ ...gateway, token: 'sk-other' })).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthorised', words: 'Incorrect API key.' },
    });
    await expect(client({ ...gateway, token: 'sk-other' }).retrieve('video_1' as UpstreamId)).rejects.toMatchObject({
      code: 'unauthorised',
      retryable: false,
    });
  });

  it('of a model that the gateway does not have', async () => {
    const gateway = await start({ models: ['other'] });
    expect(await create(gateway)).toMatchObject({ kind: 'refused', error: { code: 'unknown_model' } });
  });

  it.each([
    // OpenAI.
    [400, 'moderation_blocked', 'Your request was blocked by our moderation system.', 'moderated'],
    [400, 'content_policy_violation', 'No.', 'moderated'],
    [429, 'insufficient_quota', 'You exceeded your current quota.', 'no_balance'],
    // LiteLLM: the type is the code.
    [400, 'budget_exceeded', 'Budget has been exceeded! Current cost: 5, Max budget: 5', 'no_balance'],
    [401, 'key_model_access_denied', 'key not allowed to access model', 'unknown_model'],
    [400, 'expired_key', 'Authentication Error, Expired Key.', 'unauthorised'],
    // new-api.
    [402, 'payment_required', 'Top up.', 'no_balance'],
    [403, 'insufficient_user_quota', 'user quota is not enough', 'no_balance'],
    [503, 'model_not_found', 'no available channel for model sora-2', 'unknown_model'],
    [400, 'sensitive_words_detected', 'No.', 'moderated'],
    [400, 'invalid_size', 'sora-2 size is invalid', 'bad_request'],
  ])('%i %s', async (status, code, words, expected) => {
    const gateway = await start();
    gateway.replies.create = {
      status,
      json: { error: { message: words, type: code, param: null, code: String(status) } },
    };
    expect(await create(gateway)).toMatchObject({ kind: 'refused', error: { code: expected, words } });
    // new-api: at the top, without an envelope.
    gateway.replies.create = { status, json: { code, message: words, data: null } };
    expect(await create(gateway)).toMatchObject({ kind: 'refused', error: { code: expected, words } });
  });

  it('of a rate limit is unsent, with the time to wait', async () => {
    const gateway = await start();
    gateway.replies.create = refuse(429, 'rate_limit_exceeded', 'Slow down.', { 'retry-after': '7' });
    const error = { code: 'rate_limited', retryable: true, retryAfterMs: 7_000, words: 'Slow down.' };
    expect(await create(gateway)).toMatchObject({ kind: 'unsent', error });
  });

  it.each([500, 502, 503, 504])('%i proves nothing: the answer is lost', async (status) => {
    const gateway = await start();
    gateway.replies.create = refuse(status, 'server_error', 'The server had an error.');
    expect(await create(gateway)).toMatchObject({ kind: 'lost', error: { code: 'lost_answer' } });
    expect(gateway.requests).toHaveLength(1);
  });
});

describe('an accepted order', () => {
  it.each([
    ['an id in task_id', { task_id: 'a', object: 'video', status: 'queued' }],
    ['no status', { id: 'a', object: 'video' }],
    ['nulls', { id: 'a', task_id: null, object: 'video', status: 'queued', progress: null, error: null }],
    ['a status of the future', { id: 'a', object: 'video', status: 'dreaming' }],
  ])('has an id also with %s', async (_, json) => {
    const gateway = await start();
    gateway.replies.create = { status: 200, json };
    expect(await create(gateway)).toMatchObject({ kind: 'accepted', task: { id: 'a' } });
  });

  it.each([[{ id: 'req_1', error: { message: 'upstream timed out' } }], [{}], ['ok'], [{ object: 'video' }]])(
    'has none in %j: the answer is lost',
    async (json) => {
      const gateway = await start();
      gateway.replies.create = { status: 200, json };
      expect(await create(gateway)).toMatchObject({ kind: 'lost' });
    },
  );
});

describe('a poll', () => {
  const pollOf = async (json: unknown, status = 200) => {
    const gateway = await start();
    gateway.replies.task = { status, json };
    return client(gateway).retrieve('video_1' as UpstreamId);
  };

  it.each([
    ['queued', 'queued'],
    ['submitted', 'queued'],
    ['in_progress', 'in_progress'],
    ['processing', 'in_progress'],
    ['completed', 'completed'],
    ['COMPLETED', 'completed'],
    ['unknown', 'unknown'],
    ['dreaming', 'unknown'],
    ['', 'unknown'],
    ['constructor', 'unknown'],
  ])('of the state %s is %s', async (status, expected) => {
    expect(await pollOf({ id: 'video_1', object: 'video', status })).toMatchObject({ status: expected, failure: null });
  });

  it.each([
    ['failed', { code: 'gpu', message: 'The GPU melted.' }, 'generation_failed', 'The GPU melted.'],
    ['failed', null, 'generation_failed', null],
    ['failed', { code: 'moderation_blocked', message: 'Blocked.' }, 'moderated', 'Blocked.'],
    ['failed', { code: '', message: 'Rejected by our safety system.' }, 'moderated', 'Rejected by our safety system.'],
    ['cancelled', null, 'generation_failed', 'cancelled'],
    ['expired', null, 'generation_failed', 'expired'],
  ])('of a %s task has its reason: %j', async (status, error, code, words) => {
    expect(await pollOf({ id: 'video_1', object: 'video', status, error })).toMatchObject({
      status: 'failed',
      failure: { code, words },
    });
  });

  it.each([
    [55.7, 55],
    [140, 100],
    [-1, 0],
    [null, null],
    ['50%', null],
  ])('reads the progress %j as %j', async (progress, expected) => {
    const { progress: read } = await pollOf({ id: 'video_1', status: 'in_progress', progress });
    expect(read).toBe(expected);
  });

  it.each([
    [{ id: 'a', task_id: 'b', status: 'queued' }, 'a'],
    [{ task_id: 'b', status: 'queued' }, 'b'],
    [{ status: 'queued' }, null],
  ])('reads the id of %j', (answer, id) => {
    expect(OPENAI.decodeTask(answer)?.id).toBe(id);
  });

  it('tells an unknown task from a failed one', async () => {
    const gateway = await start();
    await expect(client(gateway).retrieve('none' as UpstreamId)).rejects.toMatchObject({ code: 'task_unknown' });
  });

  it.each([
    [200, { error: { message: 'upstream error', type: 'server_error' } }, 'bad_answer'],
    [200, { id: 'video_1', object: 'video', status: 7 }, 'bad_answer'],
    [500, { error: { message: 'oops' } }, 'unavailable'],
    [429, { error: { message: 'slow' } }, 'rate_limited'],
  ])('with HTTP %i and %j is no state', async (status, json, code) => {
    await expect(pollOf(json, status)).rejects.toMatchObject({ code, retryable: true });
  });

  it('does not take the error of a gateway for a failed task at once', async () => {
    await expect(pollOf({ status: 'failed', error: { message: 'rate limit' } })).rejects.toMatchObject({
      retryable: true,
    });
  });
});

it('config/catalogs/openai.json has orders that are accepted', async () => {
  const catalog = exampleCatalog('openai');
  const gateway = await start({ models: catalog.models.map(({ name }) => name) });
  for (const { name } of catalog.models) {
    const checked = checkRequest(catalog, { prompt: 'a red fox', model: name });
    if (!checked.ok) throw new Error(JSON.stringify(checked.refusals));
    expect(await create(gateway, checked.request, { catalog: () => catalog })).toMatchObject({ kind: 'accepted' });
  }
  expect([...gateway.videos.values()].map(({ order }) => order['size'])).toEqual(['1280x720', '1280x720', '1280x720']);
});

describe('the fake refuses', () => {
  const ORDER = { model: 'sora-2', prompt: 'a red fox', seconds: '8' };

  it.each<[string, object, string]>([
    ['a length that is a number', { ...ORDER, seconds: 8 }, 'invalid_type'],
    ['null', { ...ORDER, size: null }, 'invalid_type'],
    ['an unknown field', { ...ORDER, duration: 8 }, 'unknown_parameter'],
    ['a size that is a ratio', { ...ORDER, size: '16:9' }, 'invalid_value'],
    ['an image as an object', { ...ORDER, input_reference: { image_url: IMAGE } }, 'invalid_json'],
    ['a data: URI in JSON', { ...ORDER, input_reference: `data:image/png;base64,${PIXEL}` }, 'invalid_json'],
    ['no prompt', { model: 'sora-2', seconds: '8' }, 'invalid_request'],
    ['no model', { prompt: 'a red fox', seconds: '8' }, 'missing_model'],
  ])('%s', async (_, order, code) => {
    const gateway = await start();
    const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(order);
    const answer = await fetch(`${gateway.baseUrl}/v1/videos`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code } }]);
  });

  it('a text in place of the file of a form', async () => {
    const gateway = await start();
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...ORDER, input_reference: IMAGE })) body.append(name, value);
    const headers = { authorization: `Bearer ${gateway.token}` };
    const answer = await fetch(`${gateway.baseUrl}/v1/videos`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_file' } }]);
  });
});

/** It answers without `object` and serves no content. */
describe('against the mock of @copilotkit/aimock 1.43.0', () => {
  const startMock = async () => {
    const mock = new LLMock({ port: 0 });
    mock.onVideo('fox', { video: { id: 'vid-1', status: 'processing' } });
    mock.onVideo('owl', { video: { id: 'vid-2', status: 'completed', url: 'https://cdn.example/owl.mp4' } });
    const baseUrl = await mock.start();
    onTestFinished(() => mock.stop());
    return { baseUrl, token: 'sk-mock' };
  };

  it('creates and polls', async () => {
    const service = client(await startMock());
    const sending = { key: 'task-1', mayStillSend: () => true };
    expect(await service.create(FOX, sending)).toMatchObject({
      kind: 'accepted',
      task: { id: 'vid-1', status: 'in_progress' },
    });
    expect(await service.create({ ...FOX, prompt: 'an owl' }, sending)).toMatchObject({ kind: 'accepted' });
    expect(await service.retrieve('vid-2' as UpstreamId)).toMatchObject({ id: 'vid-2', status: 'completed' });
    await expect(service.retrieve('vid-3' as UpstreamId)).rejects.toMatchObject({ code: 'task_unknown' });
  });

  it('refuses', async () => {
    expect(await create(await startMock(), { ...FOX, prompt: 'a heron' })).toMatchObject({ kind: 'refused' });
  });
});
