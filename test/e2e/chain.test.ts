import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { c2paBox } from '../fakes/boxes.ts';
import { sendBytes } from '../fakes/clip.ts';
import { freePort } from '../fakes/ports.ts';
import { FFMPEG, lastFrameHash, makeShot } from '../fakes/shots.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, questionToDelete, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

const WITHIN = 300_000;
const PROMPTS = ['a fox', 'it runs', 'it sleeps'] as const;
/** Pictures of the shots: each ends with another one. */
const FRAMES = [9, 30, 41] as const;

/** Body of a create, as the service received it. */
interface Create {
  readonly prompt: string;
  readonly image_urls?: readonly string[];
}

/**
 * Has the service make another shot for each create, whose first image it fetches at once, as services do. The second
 * shot meets a rate limit of two seconds until `recover` is called; what `a wolf` asks for fails.
 */
async function serveShots(): Promise<{
  readonly creates: readonly Create[];
  readonly refused: readonly Create[];
  readonly images: readonly string[];
  readonly recover: () => void;
}> {
  const files = await Promise.all(
    FRAMES.map(async (frames, at) => readFile(await makeShot(join(dir.path, `${at}.mp4`), { frames }))),
  );
  const creates: Create[] = [];
  const refused: Create[] = [];
  const images: string[] = [];
  let isBusy = true;
  const promptOf = new Map<string, string>();
  const { create, retrieve } = upstream.handlers;
  upstream.handlers.create = (call) => {
    const body = JSON.parse(call.request.body) as Create;
    if (body.prompt === 'it runs' && isBusy) {
      refused.push(body);
      call.refuse(429, 'rate_limit_exceeded', 'Too many requests.', { 'retry-after': '2' });
      return;
    }
    creates.push(body);
    create(call);
    const id = [...upstream.tasks.keys()].at(-1) ?? '';
    promptOf.set(id, body.prompt);
    const [image] = body.image_urls ?? [];
    if (image === undefined) return;
    const path = join(dir.path, `image-${images.length}.png`);
    images.push(path);
    void fetch(image).then(async (response) => writeFile(path, Buffer.from(await response.arrayBuffer())));
  };
  upstream.handlers.retrieve = (call) => {
    if (call.task !== undefined && promptOf.get(call.task.id) === 'a wolf') {
      call.task.status = 'failed';
      call.task.failure = { code: 'generation_failed', message: 'boom' };
    }
    retrieve(call);
  };
  upstream.handlers.content = (call) => {
    const at = PROMPTS.findIndex((prompt) => prompt === promptOf.get(call.task?.id ?? ''));
    sendBytes(call, Buffer.concat([files[at] ?? Buffer.alloc(0), c2paBox('trainedAlgorithmicMedia')]));
  };
  return {
    creates,
    refused,
    images,
    recover() {
      isBusy = false;
    },
  };
}

/** Starts the bot with all that chaining needs, always at the same address. */
async function start(port: number, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const links = { PORT: `${port}`, PUBLIC_URL: `http://127.0.0.1:${port}`, LINK_SECRET: 'a secret of this test' };
  dailies = await startDailies({ dir: dir.path, upstream, env: { ...links, FFMPEG_PATH: FFMPEG, ...env } });
}

async function order(lines: readonly string[]): Promise<string> {
  const asked = answered(await dailies.interact(`/video storyboard --chain\n${lines.join('\n')}`));
  const { buttons, text } = await dailies.message(asked);
  expect(text).toContain('Each shot starts with the last frame of the one before');
  const create = buttons.find(({ label }) => label.startsWith('Create'));
  return answered(await dailies.press(asked, create?.id ?? ''));
}

test('each shot of a chained storyboard starts with the last picture of the clip before, once over a kill', async () => {
  const { creates, refused, images, recover } = await serveShots();
  const port = await freePort();
  await start(port);
  await order(PROMPTS);
  // Killed after the request of the second shot was recorded, and before the service accepted it.
  const metrics = () => fetch(new URL('/metrics', dailies.url)).then((response) => response.text());
  await expect.poll(() => refused.length, { timeout: WITHIN }).toBeGreaterThan(0);
  await expect.poll(metrics, { timeout: WITHIN }).toContain('dailies_open_tasks{state="claimed"} 1');
  await dailies.kill();
  recover();
  await start(port);
  await expect.poll(() => upstream.creates, { timeout: WITHIN }).toBe(3);
  expect(creates.map(({ prompt, image_urls: urls = [] }) => [prompt, urls.length])).toEqual([
    ['a fox', 0],
    ['it runs', 1],
    ['it sleeps', 1],
  ]);
  for (const body of refused) expect(body).toEqual(creates[1]);
  const hashOf = (path: string | undefined) => lastFrameHash(path ?? '').catch(() => '');
  for (const at of [0, 1]) {
    const wanted = await lastFrameHash(join(dir.path, `${at}.mp4`));
    await expect.poll(() => hashOf(images[at]), { timeout: WITHIN }).toBe(wanted);
  }
  expect(await lastFrameHash(join(dir.path, '0.mp4'))).not.toBe(await lastFrameHash(join(dir.path, '1.mp4')));
  const board = async () => (await dailies.messages()).find(({ text }) => text.includes('Storyboard: a fox'));
  await expect.poll(async () => (await board())?.text, { timeout: WITHIN }).toContain('All 3 shots are ready');
  const shot = (await dailies.messages()).find(
    ({ text, attachments }) => /it runs/u.test(text) && attachments.length > 0,
  );
  const details = answered(await dailies.press(shot?.id ?? '', `details:${shot?.task ?? ''}`));
  const { text } = await dailies.message(details);
  expect(text).toContain('image: last frame of shot 1');
  expect(text).toContain('Marked as made with AI: Content Credentials (C2PA)');
  expect(await dailies.messages().then((all) => JSON.stringify(all.map(({ text }) => text)))).not.toContain(
    'signature=',
  );
});

test('a shot whose frame was deleted while the service made it wait is not bought', async () => {
  const { creates, recover } = await serveShots();
  await start(await freePort());
  await order(PROMPTS);
  const metrics = () => fetch(new URL('/metrics', dailies.url)).then((response) => response.text());
  await expect.poll(() => upstream.posts, { timeout: WITHIN }).toBeGreaterThan(1);
  await expect.poll(metrics, { timeout: WITHIN }).toContain('dailies_open_tasks{state="claimed"} 1');
  const delivered = async () => (await dailies.messages()).find(({ attachments }) => attachments.length > 0);
  const first = await vi.waitUntil(delivered, { timeout: WITHIN });
  const question = await questionToDelete(dailies, first.task ?? '');
  const deleted = answered(await dailies.press(question.id, buttonOf(question, 'delete')));
  expect((await dailies.message(deleted)).text).toContain('Deleted');
  recover();
  const board = async () => (await dailies.messages()).find(({ text }) => text.includes('it sleeps'))?.text ?? '';
  await expect
    .poll(board, { timeout: WITHIN })
    .toMatch(/isn’t here any more, so I didn’t send it\. Not charged\.[\s\S]*Shot 2 was rejected, so shot 3 was not/u);
  expect(creates.map(({ prompt }) => prompt)).toEqual(['a fox']);
});

test('the shots after one that failed are not ordered, and cost nothing', async () => {
  const { creates } = await serveShots();
  await start(await freePort());
  await order(['a wolf', 'it runs', 'it sleeps']);
  const board = async () => (await dailies.messages()).find(({ text }) => text.includes('Storyboard: a wolf'));
  await expect
    .poll(async () => (await board())?.text ?? '', { timeout: WITHIN })
    .toMatch(
      /Shot 1 failed, so shot 2 was not ordered\. Not charged\.[\s\S]*Shot 1 failed, so shot 3 was not ordered\./u,
    );
  expect((await board())?.buttons.map(({ label }) => label).filter((label) => label.startsWith('Retry'))).toEqual([
    expect.stringMatching(/^Retry shot 1/u),
  ]);
  expect(creates).toHaveLength(1);
  const notice = async () => (await dailies.messages()).find(({ text }) => text.includes('none of your 3 shots'));
  await expect
    .poll(async () => (await notice())?.text ?? '', { timeout: WITHIN })
    .toContain('shot 1 failed, shot 2 was not ordered, shot 3 was not ordered.');
});

test('without ffmpeg or a public address, the command names what is missing and buys nothing', async () => {
  dailies = await startDailies({ dir: dir.path, upstream, env: { PATH: dir.path } });
  const { status, body } = await dailies.interact('/video storyboard --chain\na fox\nit runs');
  expect(status).toBe(400);
  expect(body.error).toContain('That needs ffmpeg and a public address (PUBLIC_URL)');
  expect(upstream.posts).toBe(0);
});

test('the embedded service reads the frame before a shot itself, without a public address', async () => {
  dailies = await startDailies({ dir: dir.path, env: { FFMPEG_PATH: FFMPEG } });
  await order(['a fox --seconds 4', 'it runs --seconds 4']);
  const board = async () => (await dailies.messages()).find(({ text }) => text.includes('Storyboard: a fox'));
  await expect.poll(async () => (await board())?.text, { timeout: WITHIN }).toContain('All 2 shots are ready');
  expect(upstream.posts).toBe(0);
});
