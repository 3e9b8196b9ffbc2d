import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGoogle } from '@ai-sdk/google';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Dialect } from '#src/videos/dialects/dialect.ts';
import { GOOGLE } from '#src/videos/dialects/google/index.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { UpstreamId, VideoService } from '#src/videos/service.ts';
import {
  GOOGLE_CLIP,
  type GoogleOptions,
  googleError,
  interaction,
  OMNI_ID,
  omniVideo,
  startGoogle,
  VEO_ID,
  veoDone,
} from '#test/fakes/services/google.ts';
import { type HttpReply, startHttp } from '#test/fakes/services/http.ts';
import { clientOf } from '../client.ts';
import { capturedFetch } from './captured-fetch.ts';
import { createTask, exampleCatalog, folder, modelIn } from './journey.ts';

const CATALOG = exampleCatalog('google');

const VEO: VideoRequest = {
  model: 'veo-3.1-720p',
  prompt: 'a red fox',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};
const OMNI: VideoRequest = { ...VEO, model: 'omni-1.1-720p' };

const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
const JPEG = '/9j/4AAQSkZJRgABAQ==';
const FIRST = `data:image/png;base64,${PNG}`;
const LAST = `data:image/jpeg;base64,${JPEG}`;
const LINK = 'https://images.example/first.png';

const withImages = (request: VideoRequest, ...image: string[]): VideoRequest => ({
  ...request,
  media: { ...request.media, image },
});

const modelOf = ({ model }: VideoRequest, changes: Partial<Model> = {}): Model => modelIn(CATALOG, model, changes);

interface StartOptions extends GoogleOptions {
  readonly catalog?: Catalog;
  readonly dialect?: Dialect;
}

async function start({ catalog = CATALOG, dialect = GOOGLE, ...options }: StartOptions = {}) {
  const service = await startGoogle(options);
  onTestFinished(() => service.close());
  return { service, client: clientOf(service, { dialect, catalog: () => catalog }) };
}

const create = (client: VideoService, request = VEO) => createTask(client, request);

/** Orders that both libraries write. */
const VEO_REFERENCES = withImages({ ...VEO, model: 'veo-3.1-references', seconds: 8 }, FIRST, LAST);
const OMNI_REFERENCES = withImages({ ...OMNI, model: 'omni-1.2-references' }, FIRST, LAST);

describe('the request to Veo is that of @ai-sdk/google', () => {
  type Video = ReturnType<ReturnType<typeof createGoogle>['video']>;
  type Options = Partial<Parameters<NonNullable<Video['doStart']>>[0]>;

  async function theirs(options: Options) {
    const { fetch, sent } = capturedFetch({ name: VEO_ID });
    await createGoogle({ apiKey: 'key', fetch })
      .video('veo-3.1-generate-preview')
      .doStart?.({
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

  const png = { type: 'file', data: PNG, mediaType: 'image/png' } as const;
  const jpeg = { type: 'file', data: JPEG, mediaType: 'image/jpeg' } as const;

  it.each<[string, VideoRequest, Model, Options]>([
    ['plain', VEO, modelOf(VEO), {}],
    [
      'another ratio and resolution',
      { ...VEO, model: 'veo-3.1-1080p', aspectRatio: '9:16', resolution: '1080p', seconds: 8 },
      modelOf({ ...VEO, model: 'veo-3.1-1080p' }),
      { aspectRatio: '9:16', resolution: '1920x1080', duration: 8 },
    ],
    [
      'a first frame',
      withImages(VEO, FIRST),
      modelOf(VEO),
      { frameImages: [{ image: png, frameType: 'first_frame' }] },
    ],
    [
      'a first and a last frame',
      withImages(VEO, FIRST, LAST),
      modelOf(VEO),
      {
        frameImages: [
          { image: png, frameType: 'first_frame' },
          { image: jpeg, frameType: 'last_frame' },
        ],
      },
    ],
    ['references', VEO_REFERENCES, modelOf(VEO_REFERENCES), { duration: 8, inputReferences: [png, jpeg] }],
    [
      'further parameters',
      VEO,
      modelOf(VEO, { parameters: { personGeneration: 'allow_adult' } }),
      { providerOptions: { google: { personGeneration: 'allow_adult' } } },
    ],
  ])('%s', async (_name, request, model, options) => {
    const sent = await theirs(options);
    const { instances, parameters } = sent.body as { instances: unknown; parameters: Record<string, unknown> };
    // The library names the number of clips, which the Gemini API does not document: it makes one.
    const { sampleCount, ...others } = parameters;
    expect(sampleCount).toBe(1);
    const { path, body } = GOOGLE.createCall(request, model);
    expect(body).toEqual({ instances, parameters: others });
    expect(`${GOOGLE.base}${path}`).toBe(sent.url);
    expect(sent.method).toBe('POST');
  });

  it('with the same authentication', async () => {
    const { service, client } = await start();
    expect(await create(client)).toMatchObject({ kind: 'accepted' });
    const sent = await theirs({});
    const [ours] = service.requests;
    expect(sent.headers.get('x-goog-api-key')).toBe('key');
    expect(ours?.headers['x-goog-api-key']).toBe(service.token);
    expect(ours?.headers.authorization).toBeUndefined();
  });

  it('has a number for the length, and no sound, which Veo always makes', () => {
    const { body } = GOOGLE.createCall(VEO, modelOf(VEO, { sound: false }));
    expect(body).toEqual({
      instances: [{ prompt: 'a red fox' }],
      parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 6 },
    });
  });
});

describe('the request to Omni is that of @ai-sdk/google', () => {
  type Interactions = ReturnType<ReturnType<typeof createGoogle>['interactions']>;
  type Content = Extract<Parameters<Interactions['doGenerate']>[0]['prompt'][number], { role: 'user' }>['content'];

  async function theirs(images: Content, format: Record<string, string>) {
    const { fetch, sent } = capturedFetch({ id: OMNI_ID, status: 'completed', steps: [] });
    await createGoogle({ apiKey: 'key', fetch })
      .interactions('gemini-omni-1.1-flash')
      .doGenerate({
        prompt: [{ role: 'user', content: [...images, { type: 'text', text: 'a red fox' }] }],
        providerOptions: { google: { background: true, responseFormat: [{ type: 'video', ...format }] } },
      });
    return sent();
  }

  const file = (mediaType: string, data: string) =>
    ({ type: 'file', mediaType, data: { type: 'data', data } }) as const satisfies Content[number];
  const link = { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL(LINK) } } as const;
  const FORMAT = { aspectRatio: '16:9', resolution: '720p', duration: '6s', delivery: 'uri' };

  it.each<[string, VideoRequest, Content, Record<string, string>, string | undefined]>([
    ['plain', OMNI, [], FORMAT, undefined],
    [
      'another ratio and resolution',
      { ...OMNI, aspectRatio: '9:16', resolution: '1080p', seconds: 10 },
      [],
      { ...FORMAT, aspectRatio: '9:16', resolution: '1080p', duration: '10s' },
      undefined,
    ],
    ['a first frame', withImages(OMNI, FIRST), [file('image/png', PNG)], FORMAT, 'image_to_video'],
    ['a first frame by a link', withImages(OMNI, LINK), [link], FORMAT, 'image_to_video'],
    [
      'a first and a last frame',
      withImages(OMNI, FIRST, LAST),
      [file('image/png', PNG), file('image/jpeg', JPEG)],
      FORMAT,
      'image_to_video',
    ],
    [
      'references',
      withImages(OMNI, FIRST, LAST),
      [file('image/png', PNG), file('image/jpeg', JPEG)],
      FORMAT,
      'reference_to_video',
    ],
  ])('%s', async (_name, request, images, format, task) => {
    const sent = await theirs(images, format);
    const { input, response_format: formats, ...others } = sent.body as Record<string, unknown>;
    const role = task === 'reference_to_video' ? 'reference' : 'first_frame';
    const { path, body } = GOOGLE.createCall(request, modelOf(OMNI, { imageRole: role }));
    const { input: ourInput, response_format: ourFormat, generation_config: config, ...ours } = body as typeof others;
    expect(ours).toEqual(others);
    // The library lists formats and wraps the input in steps; the examples of the documentation do neither.
    expect([ourFormat]).toEqual(formats);
    const [step] = input as readonly { content: readonly { text?: string }[] }[];
    expect(typeof ourInput === 'string' ? [{ type: 'text', text: ourInput }] : ourInput).toEqual(step?.content);
    // The library has no field for the role of images, which the documentation calls the task.
    expect(config).toEqual(task === undefined ? undefined : { video_config: { task } });
    expect(`${GOOGLE.base}${path}`).toBe(sent.url);
  });
});

describe('a request that Google cannot take', () => {
  const audio: VideoRequest = { ...VEO, media: { ...VEO.media, audio: ['https://audio.example/a.mp3'] } };
  it.each<[string, VideoRequest, string]>([
    ['an image by a link, to Veo', withImages(VEO, LINK), 'Veo 3.1 (720p) takes images as files only, not by a link.'],
    [
      'a third frame',
      withImages(VEO, LINK, LINK, LINK),
      'Veo 3.1 (720p) takes two images at most: the first frame and the last frame.',
    ],
    ['audio, to Veo', audio, 'Veo 3.1 (720p) takes no audio and no videos.'],
    ['audio, to Omni', { ...audio, model: OMNI.model }, 'Gemini Omni 1.1 Flash (720p) takes no audio and no videos.'],
  ])('is refused without being sent: %s', async (_name, request, words) => {
    const any = { min: 0, max: 9 };
    const models = CATALOG.models.map((model) => ({ ...model, media: { image: any, audio: any, video: any } }));
    const { service, client } = await start({ catalog: { ...CATALOG, models } });
    const outcome = await create(client, request);
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'bad_request', retryable: false, words } });
    expect(service.requests).toEqual([]);
  });
});

describe('the strict fake accepts', () => {
  it.each<[string, VideoRequest]>([
    ['frames for Veo', withImages(VEO, FIRST, LAST)],
    ['references for Veo', VEO_REFERENCES],
    ['frames for Omni', withImages(OMNI, FIRST, LAST)],
    ['a link for Omni', withImages(OMNI, LINK)],
    ['references for Omni', OMNI_REFERENCES],
  ])('%s', async (_name, request) => {
    // The client takes URLs from people only, so the images are put in their place.
    const links = request.media.image.map(() => LINK);
    const dialect: Dialect = { ...GOOGLE, createCall: (_given, model) => GOOGLE.createCall(request, model) };
    const { client } = await start({ dialect });
    expect(await create(client, withImages(request, ...links))).toMatchObject({ kind: 'accepted' });
  });
});

describe.each<[string, VideoRequest, string]>([
  ['Veo', VEO, VEO_ID],
  ['Omni', OMNI, OMNI_ID],
])('a clip of %s', (_name, request, upstreamId) => {
  const id = upstreamId as UpstreamId;

  it('is created, polled and downloaded behind a redirect to another origin, which does not get the key', async () => {
    const { service, client } = await start();
    expect(await create(client, request)).toEqual({
      kind: 'accepted',
      task: { id, status: 'in_progress', progress: null, failure: null },
    });
    expect(await client.retrieve(id)).toEqual({ id, status: 'in_progress', progress: null, failure: null });
    expect(await client.retrieve(id)).toEqual({ id, status: 'completed', progress: null, failure: null });
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(id, path)).toEqual({ path, bytes: GOOGLE_CLIP.length, contentType: 'video/mp4' });
    expect((await readFile(path)).equals(GOOGLE_CLIP)).toBe(true);
    expect(service.requests.map(({ path: asked }) => asked).at(-1)).toBe('/v1beta/files/abc-123:download?alt=media');
    expect(service.requests.every(({ headers }) => headers['x-goog-api-key'] === service.token)).toBe(true);
    expect(service.storage.requests.map(({ path: asked }) => asked)).toEqual(['/signed.mp4?sig=1']);
    expect(JSON.stringify(service.storage.requests)).not.toContain(service.token);
  });

  it('is not ready while its file is processed', async () => {
    const { client } = await start({ processing: 1 });
    await create(client, request);
    await client.retrieve(id);
    const path = join(await folder(), 'clip.mp4');
    await expect(client.download(id, path)).rejects.toMatchObject({ code: 'not_ready', retryable: true });
    expect(await client.download(id, path)).toMatchObject({ bytes: GOOGLE_CLIP.length });
  });

  it.each<[string, HttpReply, object]>([
    ['a server error', googleError(500, 'INTERNAL', 'Internal error.'), { code: 'unavailable' }],
    [
      'a rate limit',
      { ...googleError(429, 'RESOURCE_EXHAUSTED', 'Quota.'), headers: { 'retry-after': '30' } },
      { code: 'rate_limited', retryAfterMs: 30_000 },
    ],
    ['another 400', googleError(400, 'INVALID_ARGUMENT', 'Multiple credentials.'), { code: 'bad_answer' }],
  ])('survives %s of a poll', async (_case, poll, thrown) => {
    const { client } = await start({ polls: [poll] });
    await create(client, request);
    await expect(client.retrieve(id)).rejects.toMatchObject({ ...thrown, retryable: true });
  });
});

describe('a clip of Omni', () => {
  const id = OMNI_ID as UpstreamId;

  it('is read from the task, where it is larger than other answers may be', async () => {
    const padding = { type: 'text', text: ' '.repeat(2 * 1024 * 1024) };
    const video = omniVideo({ data: GOOGLE_CLIP.toString('base64') });
    const { service, client } = await start({ polls: [{ status: 200, json: interaction(padding, video) }] });
    await create(client, OMNI);
    expect(await client.retrieve(id)).toMatchObject({ status: 'completed' });
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(id, path)).toEqual({ path, bytes: GOOGLE_CLIP.length, contentType: 'video/mp4' });
    expect((await readFile(path)).equals(GOOGLE_CLIP)).toBe(true);
    expect(service.storage.requests).toEqual([]);
  });

  it.each<[string, string]>([
    ['queued', 'queued'],
    ['in_progress', 'in_progress'],
    ['requires_action', 'unknown'],
    ['paused', 'unknown'],
  ])('with the status %s is %s', async (said, status) => {
    const { client } = await start({ polls: [{ status: 200, json: { id: OMNI_ID, status: said } }] });
    await create(client, OMNI);
    expect(await client.retrieve(id)).toMatchObject({ status, failure: null });
  });

  it('whose id Google does not know is unknown for good', async () => {
    const { client } = await start();
    await create(client, OMNI);
    await expect(client.retrieve('v1_other' as UpstreamId)).rejects.toMatchObject({
      code: 'task_unknown',
      retryable: false,
    });
  });
});

describe('a failure', () => {
  const operation = (result: object) => ({ name: VEO_ID, done: true, ...result });
  const filtered = (result: object) => operation({ response: { generateVideoResponse: result } });
  const NO_REASON = 'Google ended the task without a clip and without a reason.';
  const SAID = 'I cannot make this video.';

  it.each<[string, VideoRequest, object, object]>([
    [
      'of Veo',
      VEO,
      operation({ error: { code: 13, message: 'Something broke.' } }),
      { code: 'generation_failed', words: 'Something broke.' },
    ],
    [
      'of Veo, by the words of a prompt',
      VEO,
      operation({ error: { code: 3, message: 'The prompt contains words that violate our usage guidelines.' } }),
      { code: 'moderated', words: 'The prompt contains words that violate our usage guidelines.' },
    ],
    [
      'of Veo, by its filters',
      VEO,
      filtered({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['A person was shown.'] }),
      { code: 'moderated', words: 'A person was shown.' },
    ],
    [
      'of Veo, by its filters without a count',
      VEO,
      filtered({ raiMediaFilteredReasons: ['A person was shown.'] }),
      { code: 'moderated', words: 'A person was shown.' },
    ],
    ['of Veo, by its filters without a reason', VEO, filtered({ raiMediaFilteredCount: 1 }), { code: 'moderated' }],
    ['of Veo, without a clip', VEO, filtered({}), { code: 'generation_failed', words: NO_REASON }],
    [
      'of Omni',
      OMNI,
      { id: OMNI_ID, status: 'failed', error: { code: 'internal', message: 'Something broke.' } },
      { code: 'generation_failed', words: 'Something broke.' },
    ],
    [
      'of Omni, by its filters',
      OMNI,
      { id: OMNI_ID, status: 'failed', error: { code: 'internal', status: 'PROHIBITED_CONTENT' } },
      { code: 'moderated' },
    ],
    ['of Omni, cancelled', OMNI, { id: OMNI_ID, status: 'cancelled' }, { code: 'generation_failed', words: NO_REASON }],
    ['of Omni, incomplete', OMNI, { id: OMNI_ID, status: 'incomplete' }, { code: 'generation_failed' }],
    ['of Omni, over its budget', OMNI, { id: OMNI_ID, status: 'budget_exceeded' }, { code: 'generation_failed' }],
    [
      'of Omni, completed in words',
      OMNI,
      interaction({ type: 'text', text: SAID }),
      { code: 'generation_failed', words: SAID },
    ],
    [
      'of Omni, completed in words about a policy',
      OMNI,
      interaction({ type: 'text', text: 'This violates our policies.' }),
      { code: 'moderated', words: 'This violates our policies.' },
    ],
  ])('%s ends the task at the first poll', async (_name, request, json, failure) => {
    const { client } = await start({ polls: [{ status: 200, json }] });
    await create(client, request);
    const id = (request === VEO ? VEO_ID : OMNI_ID) as UpstreamId;
    expect(await client.retrieve(id)).toMatchObject({ status: 'failed', failure });
  });
});

describe('a finished task', () => {
  const operation = (result: object) => ({ name: VEO_ID, done: true, ...result });
  const samples = (generatedSamples: unknown) =>
    operation({ response: { generateVideoResponse: { generatedSamples } } });
  const uri = 'https://files.example/clip';

  it.each<[string, VideoRequest, object]>([
    ['of Veo, with another shape', VEO, operation({ response: { videos: [{ uri }] } })],
    ['of Veo, with a list of another shape', VEO, samples([{ file: { uri } }])],
    ['of Veo, without an answer', VEO, operation({})],
    ['of Omni, with another shape', OMNI, { id: OMNI_ID, status: 'completed', outputs: [{ type: 'video', uri }] }],
  ])('%s may have a clip: that it has none is not guessed', async (_name, request, json) => {
    const { client } = await start({ polls: [{ status: 200, json }] });
    await create(client, request);
    const id = (request === VEO ? VEO_ID : OMNI_ID) as UpstreamId;
    await expect(client.retrieve(id)).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
  });

  it.each<[string, VideoRequest, object]>([
    ['of Veo', VEO, samples([null, { video: { uri } }])],
    [
      'of Omni',
      OMNI,
      {
        id: OMNI_ID,
        status: 'completed',
        steps: [
          'odd',
          { type: 'thought', content: 'Hm.' },
          { type: 'model_output', content: [7, { type: 'video', uri }] },
        ],
      },
    ],
  ])('%s has its clip, whatever is beside it', async (_name, request, json) => {
    const { client } = await start({ polls: [{ status: 200, json }] });
    await create(client, request);
    const id = (request === VEO ? VEO_ID : OMNI_ID) as UpstreamId;
    expect(await client.retrieve(id)).toMatchObject({ status: 'completed' });
  });
});

describe.each<[string, VideoRequest]>([
  ['Veo', VEO],
  ['Omni', OMNI],
])('a refusal by %s', (_name, request) => {
  it.each<[string, HttpReply, object]>([
    [
      'no permission',
      googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission.'),
      { kind: 'refused', error: { code: 'forbidden' } },
    ],
    [
      'no valid credentials',
      googleError(401, 'UNAUTHENTICATED', 'No.'),
      { kind: 'refused', error: { code: 'unauthorised' } },
    ],
    ['payment', googleError(402, 'FAILED_PRECONDITION', 'Pay.'), { kind: 'refused', error: { code: 'no_balance' } }],
    [
      'a rate limit',
      { ...googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your quota.'), headers: { 'retry-after': '34' } },
      { kind: 'unsent', error: { code: 'rate_limited', retryAfterMs: 34_000, words: 'You exceeded your quota.' } },
    ],
    [
      'a rate limit of the front end, in a list',
      { status: 429, json: [{ error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } }] },
      { kind: 'unsent', error: { code: 'rate_limited', words: 'Slow down.' } },
    ],
    [
      'moderation',
      googleError(400, 'INVALID_ARGUMENT', 'Prompt blocked for safety reasons.'),
      { kind: 'refused', error: { code: 'moderated' } },
    ],
    [
      'a bad value',
      googleError(400, 'INVALID_ARGUMENT', 'Bad value.'),
      { kind: 'refused', error: { code: 'bad_request' } },
    ],
    ['an outage', googleError(503, 'UNAVAILABLE', 'The model is overloaded.'), { kind: 'lost' }],
    ['no id', { status: 200, json: {} }, { kind: 'lost' }],
  ])('for %s', async (_case, refusal, outcome) => {
    const { client } = await start({ refusal });
    expect(await create(client, request)).toMatchObject(outcome);
  });

  it('for an unknown model', async () => {
    const model = modelOf(request, { id: request === VEO ? 'veo-9' : 'gemini-omni-9' });
    const { client } = await start({ catalog: { models: [model], defaultModel: model } });
    expect(await create(client, request)).toMatchObject({ kind: 'refused', error: { code: 'unknown_model' } });
  });

  it('for a wrong key, which Google answers with a 400', async () => {
    const { service } = await start();
    const client = clientOf({ ...service, token: 'AIza-wrong' }, { dialect: GOOGLE, catalog: () => CATALOG });
    expect(await create(client, request)).toMatchObject({ kind: 'refused', error: { code: 'unauthorised' } });
  });
});

describe('the independent mock', () => {
  async function startMock() {
    const storage = await startHttp(() => ({ status: 200, bytes: GOOGLE_CLIP }));
    const mock = new LLMock({ port: 0, veoVideo: { pollsBeforeInProgress: 1, pollsBeforeCompleted: 2 } });
    mock.onVideo('a red fox', { video: { id: 'v', status: 'completed', url: `${storage.baseUrl}/a.mp4` } });
    mock.onVideo('a blue fox', { video: { id: 'w', status: 'failed', error: 'Rejected.' } });
    mock.onMessage('a red fox', { content: 'I cannot make this video.' });
    const baseUrl = await mock.start();
    onTestFinished(async () => {
      await Promise.all([mock.stop(), storage.close()]);
    });
    return { storage, baseUrl };
  }

  async function idOfCreated(client: VideoService, request: VideoRequest): Promise<UpstreamId> {
    const outcome = await create(client, request);
    if (outcome.kind !== 'accepted') throw outcome.error;
    return outcome.task.id;
  }

  it('makes clips of Veo', async () => {
    const { storage, baseUrl } = await startMock();
    const client = clientOf({ baseUrl, token: 'google-mock' }, { dialect: GOOGLE, catalog: () => CATALOG });
    const id = await idOfCreated(client, VEO);
    expect(await client.retrieve(id)).toEqual({ id, status: 'in_progress', progress: null, failure: null });
    expect(await client.retrieve(id)).toEqual({ id, status: 'completed', progress: null, failure: null });
    const path = join(await folder(), 'clip.mp4');
    expect(await client.download(id, path)).toMatchObject({ bytes: GOOGLE_CLIP.length });
    expect(JSON.stringify(storage.requests)).not.toContain('google-mock');
    const other = await idOfCreated(client, { ...VEO, prompt: 'a blue fox' });
    await client.retrieve(other);
    expect(await client.retrieve(other)).toMatchObject({
      status: 'failed',
      failure: { code: 'generation_failed', words: 'Rejected.' },
    });
  });

  it('answers Omni in words: it makes no clips, and has no GET', async () => {
    const { baseUrl } = await startMock();
    // The mock streams by default, where the API does not.
    const models = [modelOf(OMNI, { parameters: { stream: false } })] as const;
    const catalog = { models, defaultModel: models[0] };
    const client = clientOf({ baseUrl, token: 'google-mock' }, { dialect: GOOGLE, catalog: () => catalog });
    expect(await create(client, OMNI)).toMatchObject({
      kind: 'accepted',
      task: { status: 'failed', failure: { code: 'generation_failed', words: 'I cannot make this video.' } },
    });
  });
});

it('reads an operation without trusting its shape', () => {
  expect(GOOGLE.decodeTask({ name: 'files/abc', state: 'ACTIVE' })).toBeNull();
  expect(GOOGLE.acceptedId({ name: 'files/abc' }, { path: '' })).toBeNull();
  expect(GOOGLE.acceptedId({ error: { code: 500 } }, { path: '' })).toBeNull();
  expect(GOOGLE.decodeTask(veoDone('https://x.example/a.mp4'))).toMatchObject({ id: VEO_ID, status: 'completed' });
  expect(GOOGLE.clipIn?.({ id: OMNI_ID, status: 'in_progress' })).toBeUndefined();
});

it('encodes ids in paths, each by the form of its API', () => {
  expect(GOOGLE.paths.task(VEO_ID as UpstreamId)).toBe(`/v1beta/${VEO_ID}`);
  expect(GOOGLE.paths.task('operations/a b' as UpstreamId)).toBe('/v1beta/operations/a%20b');
  expect(GOOGLE.paths.content('../models/x' as UpstreamId)).toBe('/v1beta/interactions/..%2Fmodels%2Fx');
});

it('config/catalogs/google.json is priced by resolution, one entry each', () => {
  expect(CATALOG.models.every(({ resolutions }) => resolutions.length === 1)).toBe(true);
  expect(CATALOG.defaultModel.name).toBe('omni-1.1-720p');
});
