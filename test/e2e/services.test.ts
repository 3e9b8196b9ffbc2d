import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { modelEntry } from '../fakes/catalog-entries.ts';
import { ARK_KEY, startArk } from '../fakes/services/ark.ts';
import { FFMPEG, makeShot } from '../fakes/shots.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { administer, answered, buttonOf, makeDir, runToEnd, startDailies } from './dailies.ts';

let services: readonly [FakeVideoService, FakeVideoService];
let dir: Awaited<ReturnType<typeof makeDir>>;

beforeEach(async () => {
  services = [await startVideoService({ token: 'sk-own' }), await startVideoService({ token: 'sk-other' })];
  dir = await makeDir();
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.close()));
  await dir.remove();
});

const QUICK = modelEntry('quick', { service: 'own' });
const SLOW = modelEntry('slow', { service: 'other', id: 'slow-2' });

/** Writes the files of two services, and returns the variables that name them. */
async function configured(models: readonly object[] = [QUICK, SLOW]) {
  const at = (name: string): string => join(dir.path, name);
  const [own, other] = services;
  const entries = [
    { name: 'own', dialect: 'v1-videos', base: own.baseUrl, key: { file: at('own.key') } },
    { name: 'other', dialect: 'v1-videos', base: other.baseUrl, key: { env: 'OTHER_KEY' } },
  ];
  await writeFile(at('own.key'), 'sk-own\n');
  await writeFile(at('services.json'), JSON.stringify({ services: entries }));
  await writeFile(at('catalog.json'), JSON.stringify({ models }));
  return { SERVICES: at('services.json'), MODEL_CATALOG: at('catalog.json'), OTHER_KEY: 'sk-other', LOG_LEVEL: 'info' };
}

test('two services make clips side by side, and one that is dead holds up nothing of the other', async () => {
  const [own, other] = services;
  const dailies = await startDailies({ dir: dir.path, env: await configured() });
  const slow = answered(await dailies.interact('/video create a fox --model slow'));
  await dailies.reaches(slow, 'completed');
  expect(JSON.parse(other.requests[0]?.body ?? '{}')).toMatchObject({ model: 'slow-2', prompt: 'a fox' });
  await other.close();
  const stuck = answered(await dailies.interact('/video create a wolf --model slow'));
  for (const animal of ['a bear', 'a bee']) {
    const quick = answered(await dailies.interact(`/video create ${animal} --model quick`));
    await dailies.reaches(quick, 'completed');
  }
  expect((await dailies.message(stuck)).state).not.toBe('completed');
  expect([own.posts, other.posts]).toEqual([2, 1]);
  const keys = services.map(({ requests }) => [...new Set(requests.map(({ headers }) => headers.authorization))]);
  expect(keys).toEqual([['Bearer sk-own'], ['Bearer sk-other']]);
  expect(await dailies.stop()).toBe(0);
  expect(dailies.output()).not.toMatch(/sk-own|sk-other/);
});

test('a key changes without a restart', async () => {
  const env = await configured();
  const [own] = services;
  await writeFile(join(dir.path, 'own.key'), 'sk-withdrawn');
  const dailies = await startDailies({ dir: dir.path, env });
  const refused = answered(await dailies.interact('/video create a fox --model quick'));
  await dailies.reaches(refused, 'rejected');
  await writeFile(join(dir.path, 'own.key'), 'sk-own');
  dailies.hangUp();
  await expect.poll(() => dailies.output()).toContain('catalog_reloaded');
  const message = answered(await dailies.interact('/video create a wolf --model quick'));
  await dailies.reaches(message, 'completed');
  expect(own.creates).toBe(1);
  await writeFile(join(dir.path, 'services.json'), '{');
  dailies.hangUp();
  await expect.poll(() => dailies.output()).toContain('catalog_reload_failed');
  await dailies.reaches(answered(await dailies.interact('/video create a bee --model quick')), 'completed');
  expect(await dailies.stop()).toBe(0);
});

test('a clip that its service refuses is offered at the next model of another one', async () => {
  const [own, other] = services;
  const env = await configured();
  await writeFile(join(dir.path, 'own.key'), 'sk-withdrawn');
  const dailies = await startDailies({ dir: dir.path, env });
  const refused = answered(await dailies.interact('/video create a fox --model quick'));
  const { buttons } = await dailies.reaches(refused, 'rejected');
  const [button] = buttons.filter(({ id }) => id.startsWith('elsewhere:'));
  expect(button?.label).toBe('Make it with slow · $0.25');
  expect([own.creates, other.creates]).toEqual([0, 0]);
  const made = answered(await dailies.press(refused, button?.id ?? ''));
  await dailies.reaches(made, 'completed');
  expect([own.creates, other.creates]).toEqual([0, 1]);
  expect(JSON.parse(other.requests[0]?.body ?? '{}')).toMatchObject({ model: 'slow-2', prompt: 'a fox' });
  await administer(dailies, '/video policy --models quick');
  const alone = answered(await dailies.interact('/video create a wolf --model quick'));
  const shown = await dailies.reaches(alone, 'rejected');
  expect(shown.buttons.map(({ id }) => id.split(':')[0])).toEqual(['retry', 'edit', 'details']);
  expect(await dailies.stop()).toBe(0);
});

test('a clip cancelled while it is queued is cancelled at its service, over a kill, and costs nothing', async () => {
  const ark = await startArk();
  onTestFinished(() => ark.close());
  ark.pause();
  const entry = { name: 'ark', dialect: 'ark', base: `${ark.api.baseUrl}/api/v3`, key: { env: 'ARK_API_KEY' } };
  const [SERVICES, MODEL_CATALOG] = [join(dir.path, 'ark.json'), join(dir.path, 'ark-catalog.json')];
  await writeFile(SERVICES, JSON.stringify({ services: [entry] }));
  const model = modelEntry('seedance', { service: 'ark', id: 'seedance-1-5-pro-251215' });
  await writeFile(MODEL_CATALOG, JSON.stringify({ models: [model] }));
  const env = { SERVICES, MODEL_CATALOG, ARK_API_KEY: ARK_KEY };
  const dailies = await startDailies({ dir: dir.path, env });
  const queued = answered(await dailies.interact('/video create a fox'));
  await dailies.reaches(queued, 'polling');
  // Its answer to the cancellation is lost with the process.
  const reached = ark.holdsWithdrawal();
  await dailies.press(queued, buttonOf(await dailies.message(queued), 'cancel'));
  await reached;
  await dailies.kill();
  const next = await startDailies({ dir: dir.path, env });
  await expect
    .poll(async () => (await next.message(queued)).text)
    .toContain('The video service cancelled it before it began. $0.25 was not charged.');
  expect(ark.taken).toBe(1);
  expect(await next.stop()).toBe(0);
});

test('a clip that the rules of its service stop costs what the catalog says', async () => {
  const [own, other] = services;
  for (const { handlers } of services) {
    const { retrieve } = handlers;
    handlers.retrieve = (call) => {
      const failure = { code: 'content_policy_violation', message: 'no' };
      if (call.task !== undefined) Object.assign(call.task, { status: 'failed', failure });
      retrieve(call);
    };
  }
  const models = [
    { ...QUICK, chargesOnRejection: 'yes' },
    { ...SLOW, chargesOnRejection: 'no' },
  ];
  const dailies = await startDailies({ dir: dir.path, env: await configured(models) });
  const [charged, free] = [
    await dailies.reaches(answered(await dailies.interact('/video create a fox --model quick')), 'failed'),
    await dailies.reaches(answered(await dailies.interact('/video create a fox --model slow')), 'failed'),
  ];
  expect(charged.text).toContain('The video service bills it all the same, so $0.25 counts as used.');
  expect(free.text).toContain('Not charged: the video service doesn’t charge for what its rules stop.');
  expect([own.creates, other.creates]).toEqual([1, 1]);
  expect(await dailies.stop()).toBe(0);
});

test('what is wrong with services and models is reported at once, before anything starts', async () => {
  const env = await configured([QUICK, modelEntry('lost', { service: 'gone' }), modelEntry('nameless')]);
  const { OTHER_KEY: _key, ...without } = env;
  const missing = await runToEnd({ dir: dir.path, env: without });
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.output).toContain('SERVICES: services[1].key.env: OTHER_KEY is not set');
  const { code, output } = await runToEnd({ dir: dir.path, env });
  expect(code).toBe(1);
  expect(output).toContain('MODEL_CATALOG: models[1].service: no service is called "gone"; SERVICES names own, other');
  expect(output).toContain('MODEL_CATALOG: models[2].service: is missing; SERVICES names own, other (nameless)');
});

test('without a public address, a chained shot carries the frame before it, over a kill, where its service takes it', async () => {
  const ark = await startArk(Date.now, await readFile(await makeShot(join(dir.path, 'shot.mp4'))));
  onTestFinished(() => ark.close());
  const images = { image: { min: 0, max: 2 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } };
  const model = modelEntry('seedance', { service: 'ark', id: 'seedance-1-5-pro-251215', media: images });
  const env = {
    ...(await configured([model, { ...QUICK, media: images }])),
    ARK_API_KEY: ARK_KEY,
    FFMPEG_PATH: FFMPEG,
  };
  const { services: entries } = JSON.parse(await readFile(env.SERVICES, 'utf8')) as { services: readonly object[] };
  const entry = { name: 'ark', dialect: 'ark', base: `${ark.api.baseUrl}/api/v3`, key: { env: 'ARK_API_KEY' } };
  await writeFile(env.SERVICES, JSON.stringify({ services: [...entries, entry] }));
  let dailies = await startDailies({ dir: dir.path, env });
  const board = (name: string) => dailies.interact(`/video storyboard --chain --model ${name}\na fox\nit runs`);
  expect((await board('quick')).body.error).toContain('a public address (PUBLIC_URL)');
  const resume = ark.pause();
  const asked = answered(await board('seedance'));
  const { buttons } = await dailies.message(asked);
  answered(await dailies.press(asked, buttons.find(({ label }) => label.startsWith('Create'))?.id ?? ''));
  // Killed before the id of its first shot was recorded, that one would be uncertain.
  const isPolled = () => ark.api.requests.some(({ method }) => method === 'GET');
  await expect.poll(isPolled).toBe(true);
  await dailies.kill();
  resume();
  dailies = await startDailies({ dir: dir.path, env });
  await expect.poll(() => ark.taken).toBe(2);
  const posts = ark.api.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
  expect(posts.map(({ content }) => content.length)).toEqual([1, 2]);
  expect(posts[1].content[1]).toMatchObject({
    role: 'first_frame',
    image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) },
  });
  expect(JSON.stringify(await dailies.messages())).not.toContain('kept.dailies.invalid');
  expect(services[0].posts).toBe(0);
  expect(await dailies.stop()).toBe(0);
  expect(dailies.output()).not.toContain('kept.dailies.invalid');
});
