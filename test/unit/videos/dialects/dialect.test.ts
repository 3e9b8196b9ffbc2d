import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import type { Dialect } from '#src/videos/dialects/dialect.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import { V1_VIDEOS } from '#src/videos/dialects/v1-videos.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { json } from '#test/fakes/faults.ts';
import { clientOf, startService } from '../client.ts';
import { FOX } from '../models.ts';

const ID = 'task' as UpstreamId;

async function start(changes: Partial<Dialect>, status = 200, answer: unknown = {}) {
  const service = await startService({ handlers: { retrieve: json(status, answer) } });
  return { service, client: clientOf(service, { dialect: { ...V1_VIDEOS, ...changes } }) };
}

it.each<[string, Error, object]>([
  [
    'its own error',
    new DailiesError('no', { code: 'bad_request', retryable: false, words: 'No links.' }),
    { code: 'bad_request', words: 'No links.' },
  ],
  ['a bug', new Error('oops'), { code: 'internal', retryable: false }],
])(
  'a dialect that throws %s instead of a request has refused it, and nothing is sent',
  async (_name, thrown, error) => {
    const { service, client } = await start({
      createCall() {
        throw thrown;
      },
    });
    const outcome = await client.create(FOX, { key: 'k', mayStillSend: () => true });
    expect(outcome).toMatchObject({ kind: 'refused', error });
    expect(service.requests).toEqual([]);
  },
);

it('an image of this machine is sent in the request, where it is small enough for the service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-inline-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [small, large] = [join(folder, 'small.png'), join(folder, 'large.png')];
  await writeFile(small, 'tiny');
  await writeFile(large, 'not so tiny');
  const fileOf = async (url: string) => {
    const path = url.endsWith('small') ? small : url.endsWith('large') ? large : undefined;
    return path === undefined ? undefined : { path, bytes: (await stat(path)).size, contentType: 'image/png' };
  };
  const image = ['small', 'large', 'elsewhere'].map((name) => `https://bot.example/media/${name}`);
  const media = { image, audio: [], video: [] };
  const sent = async (changes: Partial<Dialect>) => {
    const service = await startService();
    const client = clientOf(service, { dialect: { ...V1_VIDEOS, ...changes }, fileOf });
    await client.create({ model: 'epic-pro', prompt: 'a', seconds: 10, media }, { key: 'k', mayStillSend: () => true });
    return JSON.parse(service.requests[0]?.body ?? '{}').image_urls;
  };
  expect(await sent({ inlineImageBytes: 5 })).toEqual([
    `data:image/png;base64,${Buffer.from('tiny').toString('base64')}`,
    ...image.slice(1),
  ]);
  expect(await sent({})).toEqual(image);
});

it('all images in the request are no larger than the service takes together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-inline-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'image.png');
  await writeFile(path, 'tiny');
  const fileOf = async () => ({ path, bytes: 4, contentType: 'image/png' });
  const image = ['a', 'b', 'c'].map((name) => `https://bot.example/media/${name}`);
  const media = { image, audio: [], video: [] };
  const dialect = { ...V1_VIDEOS, inlineImageBytes: 5, inlineRequestBytes: 9 };
  const service = await startService();
  const client = clientOf(service, { dialect, fileOf });
  await client.create({ model: 'epic-pro', prompt: 'a', seconds: 10, media }, { key: 'k', mayStillSend: () => true });
  const inline = expect.stringMatching(/^data:image\/png;base64,/);
  expect(JSON.parse(service.requests[0]?.body ?? '{}').image_urls).toEqual([inline, inline, image[2]]);
});

it.each([400, 429, 503])('a create with the status %i and a task is neither refused nor sent again', async (status) => {
  const service = await startService({ handlers: { create: json(status, { id: 'task-1', status: 'queued' }) } });
  const outcome = await clientOf(service).create(FOX, { key: 'k', mayStillSend: () => true });
  expect(outcome).toMatchObject({ kind: 'lost', error: { code: 'lost_answer' } });
});

it('a dialect may read the failure of a task from an error response', async () => {
  const answer = { error: { message: 'The clip was rejected by moderation.' } };
  const { client } = await start({ isFailedTask: (status) => status === 400 }, 400, answer);
  expect(await client.retrieve(ID)).toEqual({
    id: ID,
    status: 'failed',
    progress: null,
    failure: { code: 'moderated', words: 'The clip was rejected by moderation.' },
  });
  const other = await start({ isFailedTask: (status) => status === 422 }, 400, answer);
  await expect(other.client.retrieve(ID)).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
});

it('a dialect may allow larger answers about a task', async () => {
  const answer = { id: ID, status: 'completed', clip: 'x'.repeat(2 * 1024 * 1024) };
  const { client } = await start({ maxAnswerBytes: 3 * 1024 * 1024 }, 200, answer);
  expect(await client.retrieve(ID)).toMatchObject({ status: 'completed' });
  const other = await start({}, 200, answer);
  // A person decides in the end: it will not get smaller.
  await expect(other.client.retrieve(ID)).rejects.toMatchObject({ code: 'bad_answer', retryable: true });
});

it('a dialect may take an empty 202 for a task that is not done; an empty 200 is none', async () => {
  const unknown = { id: null, status: 'unknown', progress: null, failure: null } as const;
  const decodeTask: Dialect['decodeTask'] = (answer) => (answer === null ? unknown : V1_VIDEOS.decodeTask(answer));
  for (const [status, changes] of [
    [202, { decodeTask }],
    [200, { decodeTask }],
    [202, {}],
  ] as const) {
    const service = await startService({
      handlers: { retrieve: ({ response }) => void response.writeHead(status).end() },
    });
    const retrieved = clientOf(service, { dialect: { ...V1_VIDEOS, ...changes } }).retrieve(ID);
    if (status === 202 && 'decodeTask' in changes) expect(await retrieved).toEqual({ ...unknown, id: ID });
    else await expect(retrieved).rejects.toMatchObject({ code: 'bad_answer' });
  }
});

it.each([
  ['v1-videos', '..'],
  ['fal', 'fal-ai/./kling-video/requests/a'],
  ['fal', 'fal-ai/x/../kling-video/requests/a'],
  ['fal', 'fal-ai//kling-video/requests/a'],
  ['google', 'models/../operations/a'],
])('an id that would lead to another task is unknown to %s, and nothing is asked: %s', async (name, id) => {
  const service = await startService({ handlers: { retrieve: json(200, { id, status: 'queued' }) } });
  const dialect = DIALECTS[name] ?? V1_VIDEOS;
  const client = clientOf(service, { dialect });
  const unknown = { code: 'task_unknown', retryable: false };
  await expect(client.retrieve(id as UpstreamId)).rejects.toMatchObject(unknown);
  await expect(client.download(id as UpstreamId, '/nowhere/clip.mp4')).rejects.toMatchObject(unknown);
  expect(service.requests).toEqual([]);
});
