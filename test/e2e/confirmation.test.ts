import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptAndReset } from '../fakes/faults.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, startDailies } from './dailies.ts';

// Counted by the POSTs that reach the video service: an expensive clip is bought by its confirmation alone, and once.

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  dailies = await startDailies({ dir: dir.path, upstream });
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

/** Runs an administrative command. */
const administer = async (text: string): Promise<string> => {
  const { message = '' } = (await dailies.interact(text, { user: 'operator' })).body;
  return (await dailies.message(message)).text;
};

const restart = async (): Promise<void> => {
  await dailies.kill();
  dailies = await startDailies({ dir: dir.path, upstream });
};

test('creates one clip by any number of presses, also after a restart, and asks about another take', async () => {
  const done = answered(await dailies.interact('/video create a cheap fox --seconds 8'));
  await dailies.reaches(done, 'completed');
  expect(await administer('/video budget team --amount 100')).toContain('100');
  expect(await administer('/video budget team --amount 0.25 --soft')).toContain('0.25');

  const asked = answered(await dailies.interact('/video create a red fox --seconds 6'));
  const { text, visibleTo, buttons } = await dailies.message(asked);
  expect(visibleTo).toBe('ana');
  expect(text).toMatch(/^This clip costs \$0\.30\. The team has \$99\.60 of \$100\.00 left for \w+\./);
  expect(buttons.map(({ label }) => label)).toEqual(['Create for $0.30', 'Cancel']);

  await restart();
  expect(upstream.posts).toBe(1);
  const create = buttonOf(await dailies.message(asked), 'order');
  const presses = await Promise.all([1, 2, 3].map(() => dailies.press(asked, create)));
  expect(presses.map(({ status }) => status)).toEqual([202, 202, 202]);
  await expect.poll(() => upstream.posts).toBe(2);

  // Another take: neither the button nor the reaction buys.
  const messages = await dailies.messages();
  const clip = messages.find(({ text: words, task }) => task !== null && words.includes('a red fox'))?.id ?? '';
  const labels = async () => (await dailies.message(clip)).buttons.map(({ label }) => label);
  await expect.poll(labels).toContain('Retry · $0.30');
  await dailies.react(clip, '🔁');
  const again = answered(await dailies.press(clip, buttonOf(await dailies.message(clip), 'retry')));
  expect((await dailies.message(again)).text).toContain('The team has $99.30 of $100.00 left');
  expect(upstream.posts).toBe(2);
  await dailies.press(again, buttonOf(await dailies.message(again), 'order'));
  await expect.poll(() => upstream.posts).toBe(3);
});

test('asks beyond a soft budget, and names it', async () => {
  expect(await administer('/video budget team --amount 0.25 --soft')).toContain('0.25');
  answered(await dailies.interact('/video create a cheap fox --seconds 4'));
  const asked = answered(await dailies.interact('/video create a red fox --seconds 6'));
  expect((await dailies.message(asked)).text).toMatch(
    /^This clip costs \$0\.30\.\nIt goes over the team’s soft limit of \$0\.25 for \w+: \$0\.05 is left\./,
  );
  await dailies.press(asked, buttonOf(await dailies.message(asked), 'order'));
  await expect.poll(() => upstream.posts).toBe(2);
});

test.each(['confirm_above', 'approve_above'])(
  'refuses an order over %s at once while spending is paused',
  async (name) => {
    expect(await administer(`/video settings --${name} 0.25`)).toContain('0.25');
    expect(await administer('/video pause over this month’s plan')).toContain('paused');
    const tasks = async () => (await dailies.messages()).filter(({ task }) => task !== null).length;
    const order = () => dailies.interact('/video create a red fox --seconds 6');
    const { status, body } = await order();
    expect(status).toBe(400);
    expect(body.error).toContain('operator paused spending: over this month’s plan.');
    expect(await tasks()).toBe(0);
    await administer('/video pause off');
    const { visibleTo, text } = await dailies.message(answered(await order()));
    if (name === 'approve_above') expect(text).toContain('Waiting for approval');
    else expect(visibleTo).toBe('ana');
    expect(upstream.posts).toBe(0);
  },
);

test('asks before an expensive clip is sent again, and sends it once', async () => {
  const { create } = upstream.handlers;
  upstream.handlers.create = acceptAndReset;
  const lost = await dailies.reaches(
    answered(await dailies.interact('/video create a red fox --seconds 6')),
    'uncertain',
  );
  upstream.handlers.create = create;
  expect(await administer('/video settings --confirm_above 0.25')).toContain('0.25');
  expect(await administer('/video budget team --amount 100')).toContain('100');
  const again = buttonOf(lost, 'again');
  const asked = await dailies.message(answered(await dailies.press(lost.id, again)));
  expect(asked.visibleTo).toBe('ana');
  expect(asked.text).toMatch(/^This clip costs \$0\.30\. The team has \$99\.70 of \$100\.00 left for \w+\.\nIt may be/);
  expect(upstream.posts).toBe(1);
  await Promise.all([1, 2, 3].map(() => dailies.press(asked.id, buttonOf(asked, 'again'))));
  await expect.poll(() => upstream.posts).toBe(2);
  await dailies.reaches(lost.id, 'completed');
  expect(upstream.posts).toBe(2);
});
