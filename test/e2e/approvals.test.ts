import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import {
  type Answer,
  administer,
  answered,
  buttonOf,
  makeDir,
  noticeBelow,
  type RunningDailies,
  startDailies,
} from './dailies.ts';

// Counted by the POSTs that reach the video service: a requested clip is bought by its approval alone, and once.

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

/** Returns the text of the private answer to a command or press. */
async function shown(answer: Answer): Promise<string> {
  return (await dailies.message(answered(answer))).text;
}

/** Orders a clip for $0.40 as Cleo. */
const order = async (text = 'a red fox', id?: string) =>
  answered(
    await dailies.interact(`/video create ${text} --seconds 8`, { user: 'cleo', ...(id === undefined ? {} : { id }) }),
  );

const pressed = async (notice: string, action: string, user: string) =>
  dailies.press(notice, buttonOf(await dailies.message(notice), action), { user });

test('buys an expensive clip after its approval by another person, once, also after a crash', async () => {
  expect(await administer(dailies, '/video settings --approve_above 0.20')).toContain('$0.20');
  expect(await administer(dailies, '/video budget team 40')).toContain('$40.00');
  expect(await administer(dailies, '/video approvers add @ben')).toContain('ben');

  const request = await order('a red fox', 'first');
  expect((await dailies.reaches(request, 'requested')).text).toContain(
    'Waiting for approval by ben: $0.40 is above the team’s limit of $0.20 for a clip.',
  );
  const notice = await noticeBelow(dailies, request);
  expect(notice.text).toContain('cleo requests a clip for $0.40. The team has $40.00 left.');
  expect(notice.buttons.map(({ label }) => label)).toEqual(['Approve · $0.40', 'Deny']);

  await dailies.kill();
  expect(upstream.posts).toBe(0);
  dailies = await startDailies({ dir: dir.path, upstream });
  expect(await order('a red fox', 'first')).toBe(request);
  expect((await dailies.message(request)).state).toBe('requested');

  const own = await pressed(notice.id, 'approve', 'cleo');
  expect(own.body.error).toBe('You requested this, so someone else has to approve it.');
  expect((await pressed(notice.id, 'approve', 'operator')).body.error).toBe('Only ben can approve this.');
  expect(upstream.posts).toBe(0);

  const [approve] = notice.buttons;
  expect(await shown(await pressed(notice.id, 'approve', 'ben'))).toContain('Approved for $0.40. The clip for cleo');
  const done = await dailies.reaches(request, 'completed');
  expect(done.text).toContain('Approved by ben.');
  // Completed is shown before the clip is there.
  await expect.poll(async () => (await dailies.message(request)).attachments).toHaveLength(1);
  expect(upstream.posts).toBe(1);

  expect(await administer(dailies, '/video approvers add @dan')).toContain('dan');
  await expect.poll(async () => (await dailies.message(notice.id)).buttons).toEqual([]);
  expect((await dailies.message(notice.id)).text).toContain('Approved by ben.');
  const late = await dailies.press(notice.id, approve?.id ?? '', { user: 'dan' });
  expect(await shown(late)).toContain('ben already approved this');
  expect(upstream.posts).toBe(1);
});

test('buys nothing after a denial, which shows its reason, and nothing after a withdrawal', async () => {
  await administer(dailies, '/video settings --approve_above 0.20');
  await administer(dailies, '/video approvers add @ben');
  const denied = await order();
  const notice = await noticeBelow(dailies, denied);
  const { form } = (await pressed(notice.id, 'deny', 'ben')).body;
  const reason = { reason: 'too long for a test' };
  const answer = { id: 'denial', user: 'ben', message: notice.id, form: form?.id, values: reason };
  expect(await shown(await dailies.post('/playground/forms', answer))).toContain('Denied.');
  expect((await dailies.reaches(denied, 'declined')).text).toContain('Denied by ben: too long for a test.');

  const withdrawn = await order('a wolf');
  const other = await noticeBelow(dailies, withdrawn);
  expect(await shown(await pressed(withdrawn, 'withdraw', 'cleo'))).toContain('Withdrawn. Nothing was charged.');
  await dailies.reaches(withdrawn, 'declined');
  const late = await dailies.press(other.id, buttonOf(other, 'approve'), { user: 'ben' });
  expect(await shown(late)).toContain('cleo already withdrew this request');
  expect(upstream.posts).toBe(0);
});

test('asks for an approval over a budget, which an approver exceeds once', async () => {
  await administer(dailies, '/video budget team 0.30');
  await administer(dailies, '/video approvers add @ben');
  const refused = await dailies.interact('/video create a red fox --seconds 8', { user: 'cleo' });
  expect(refused.body.error).toContain('$0.30');
  const refusal = (await dailies.messages()).find(
    ({ visibleTo, buttons }) => visibleTo === 'cleo' && buttons.some(({ id }) => id.startsWith('ask:')),
  );
  const request = answered(await pressed(refusal?.id ?? '', 'ask', 'cleo'));
  expect((await dailies.reaches(request, 'requested')).text).toContain('$0.40 would exceed the budget.');

  const notice = await noticeBelow(dailies, request);
  expect(notice.text).toContain('The team has $0.30 left.');
  const offer = answered(await pressed(notice.id, 'approve', 'ben'));
  expect((await dailies.message(offer)).text).toContain('You can grant $0.10 once. The budget itself stays at $0.30.');
  expect(upstream.posts).toBe(0);
  const approve = buttonOf(await dailies.message(offer), 'approve');
  const presses = await Promise.all([1, 2].map(() => dailies.press(offer, approve, { user: 'ben' })));
  expect(presses.map(({ status }) => status)).toEqual([202, 202]);
  await dailies.reaches(request, 'completed');
  expect(upstream.posts).toBe(1);
  expect(await administer(dailies, '/video usage')).toContain('$0.40');
  // The grant was for that clip: the budget has no room for another one.
  expect((await dailies.interact('/video create a wolf --seconds 4', { user: 'cleo' })).body.error).toContain('$0.00');
  expect(upstream.posts).toBe(1);
});
