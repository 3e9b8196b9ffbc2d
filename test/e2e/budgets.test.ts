import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { administer, answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

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

const order = (id: string, text = '/video create a fox --seconds 4') => dailies.interact(text, { id, user: 'ana' });

test('a budget is set, used up, lowered and raised, and no clip is bought beyond it', async () => {
  expect((await dailies.interact('/video budget team 1', { user: 'ana' })).body.error).toContain('Only');
  expect(await administer(dailies, '/video budget team 0.40 USD')).toContain(
    'The monthly budget of the team is now $0.40.',
  );

  const bought = [answered(await order('first')), answered(await order('second'))];
  for (const message of bought) await dailies.reaches(message, 'completed');
  const refused = await order('third');
  expect(refused.status).toBe(400);
  expect(refused.body.error).toContain('budget: $0.00 of $0.40 left, this clip costs $0.20.');
  expect(refused.body.error).toContain('operator can raise it.');
  expect(upstream.posts).toBe(2);
  // The same interaction again changes nothing.
  expect((await order('third')).status).toBe(400);

  expect(await administer(dailies, '/video budget team 0.30')).toContain('It is over by $0.10');
  expect((await order('fourth')).body.error).toContain('is over by $0.10');
  expect(await administer(dailies, '/video usage')).toContain('$0.40 of $0.30 used · over by $0.10');

  expect(await administer(dailies, '/video budget team 0.75')).toContain('is now $0.75 (it was $0.30)');
  const long = await order('fifth', '/video create a wolf --seconds 8');
  expect(long.body.error).toContain('6 s for $0.30 would fit.');
  const notice = (await dailies.messages()).find(({ visibleTo, text }) => visibleTo === 'ana' && text.includes('6 s'));
  const shorter = notice?.buttons.find(({ label }) => label === 'Create 6 s · $0.30');
  const created = answered(await dailies.press(notice?.id ?? '', shorter?.id ?? '', { user: 'ana' }));
  await dailies.reaches(created, 'completed');
  expect(upstream.posts).toBe(3);

  expect(await administer(dailies, '/video budget team off')).toContain('was removed (it was $0.75)');
  await dailies.reaches(answered(await order('sixth')), 'completed');
  expect(upstream.posts).toBe(4);
});

test('the budget of the environment stands above the teams, and is removed with its variable', async () => {
  for (const id of ['first', 'second', 'third', 'fourth'])
    await dailies.reaches(answered(await order(id)), 'completed');
  await dailies.kill();
  dailies = await startDailies({
    dir: dir.path,
    upstream,
    env: { BUDGET_PER_MONTH: '0.90 USD', ADMINS: 'playground:eve' },
  });
  const refused = await order('fifth');
  expect(refused.body.error).toContain('The budget of this installation is used up.');
  expect(refused.body.error).not.toContain('$');
  expect((await dailies.interact('/video create a fox --seconds 4', { user: 'eve' })).body.error).toContain(
    'exceed the installation’s',
  );
  await dailies.kill();
  dailies = await startDailies({ dir: dir.path, upstream });
  await dailies.reaches(answered(await order('sixth')), 'completed');
  expect(upstream.posts).toBe(5);
});
