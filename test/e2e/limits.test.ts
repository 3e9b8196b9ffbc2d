import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Call, type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeAll(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  dailies = await startDailies({
    dir: dir.path,
    upstream,
    env: { MAX_OPEN_PER_PERSON: '2', MAX_OPEN_PER_CHANNEL: '3' },
  });
});

afterAll(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

test('refuses requests over a limit privately, for every way of ordering, and never buys them', async () => {
  const done = answered(await dailies.interact('/video create a fox that is done'));
  await dailies.reaches(done, 'completed');
  const retrieve = upstream.handlers.retrieve;
  const held: Call[] = [];
  upstream.handlers.retrieve = (call) => held.push(call);
  const first = { id: 'first' };
  const message = answered(await dailies.interact('/video create a fox', first));
  answered(await dailies.interact('/video create a wolf'));

  const { task } = await dailies.message(done);
  const refused = [
    await dailies.interact('/video create a third one'),
    await dailies.interact(`/video retry ${task}`),
    await dailies.press(done, buttonOf(await dailies.message(done), 'retry')),
    await dailies.react(done, '🔁'),
    await dailies.post('/playground/forms', {
      id: 'a-form',
      user: 'ana',
      channel: 'general',
      form: 'create',
      values: { prompt: 'a fourth one' },
    }),
  ];
  for (const { status, body } of refused) {
    expect(status).toBe(400);
    expect(body.error).toContain('You already have 2 orders in progress');
  }
  const notices = (await dailies.messages()).filter(({ text }) => text.includes('in progress'));
  expect(notices).toHaveLength(refused.length);
  expect(notices.every(({ visibleTo }) => visibleTo === 'ana')).toBe(true);
  expect(answered(await dailies.interact('/video create a fox', first))).toBe(message);

  answered(await dailies.interact('/video create a bear', { user: 'bob' }));
  const channel = await dailies.interact('/video create a bee', { user: 'bob' });
  expect(channel.body.error).toContain('This channel already has 3 orders');
  answered(await dailies.interact('/video create a bee', { user: 'bob', channel: 'random' }));
  await expect.poll(() => upstream.posts).toBe(5);

  const metrics = await fetch(`${dailies.url}/metrics`).then((response) => response.text());
  expect(metrics).toContain(`dailies_refused_total{reason="person_open"} ${refused.length}`);
  expect(metrics).toContain('dailies_refused_total{reason="channel_open"} 1');

  upstream.handlers.retrieve = retrieve;
  for (const call of held) retrieve(call);
  await dailies.reaches(message, 'completed');
  // The clip counts until its message shows it, which is after its state does.
  const third = async () => (await dailies.interact('/video create a third one after all')).status;
  await expect.poll(third).toBe(202);
  await expect.poll(() => upstream.posts).toBe(6);
});
