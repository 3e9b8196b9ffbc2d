import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeldWire } from '../fakes/held-wire.ts';
import { type Answer, administer, answered, buttonOf, noticeBelow, type RunningDailies } from './dailies.ts';
import { Replicas } from './replicas.ts';

// A replica that is stopped between its gates and its commit, while another one changes what it was judged by. That its commit has
// left, and has not arrived, shows that it has read; SIGSTOP alone could stop it earlier or later.

const PROMPT = 'a red fox in the fog';

let replicas: Replicas;
let toRedis: HeldWire;
/** Reaches Redis through the wire. */
let stopped: RunningDailies;
let other: RunningDailies;

beforeEach(async () => {
  replicas = await Replicas.prepare();
  toRedis = await HeldWire.start(replicas.redis.port);
  other = await replicas.start();
  stopped = await replicas.start({ STORE_URL: `redis://127.0.0.1:${toRedis.port}` });
});

afterEach(async () => {
  await replicas.remove();
  await toRedis.close();
});

/** Has the replica stopped once its commit is on its way, and go on after the change. @returns its answer */
async function during(act: () => Promise<Answer>, change: string): Promise<Answer> {
  // Only a commit writes a task, with its prompt.
  const { held, release } = toRedis.hold(PROMPT);
  const answer = act();
  await held;
  stopped.freeze();
  await administer(other, change);
  release();
  stopped.thaw();
  return answer;
}

const order = () => stopped.interact(`/video create ${PROMPT} --seconds 4`);

const CHANGES = [
  ['a pause', '/video pause over the plan', 'operator paused spending: over the plan.'],
  ['a policy', '/video policy --words fox', 'prompt: “fox” isn’t allowed here.'],
  ['a setting', '/video settings --confirm_above 5', 'settings changed just now. Nothing was bought; try again.'],
] as const;

test.each(CHANGES)(
  '%s refuses an order that was judged before it',
  { timeout: 600_000 },
  async (_name, change, said) => {
    const { status, body } = await during(order, change);
    expect(status).toBe(400);
    expect(body.error).toContain(said);
    expect(replicas.upstream.posts).toBe(0);
    expect((await other.messages()).flatMap(({ task }) => task ?? [])).toEqual([]);
  },
);

test('a pause refuses an approval that was judged before it, and the request keeps waiting', {
  timeout: 600_000,
}, async () => {
  await administer(other, '/video settings --approve_above 0.10');
  await administer(other, '/video approvers add @ben');
  const request = answered(await order());
  const notice = await noticeBelow(other, request);
  const approve = () => stopped.press(notice.id, buttonOf(notice, 'approve'), { user: 'ben' });
  const { status, body } = await during(approve, '/video pause over the plan');
  expect(status).toBe(400);
  expect(body.error).toContain('operator paused all purchases: over the plan. The request keeps waiting.');
  expect((await other.message(request)).state).toBe('requested');
  expect(replicas.upstream.posts).toBe(0);
  await administer(other, '/video pause --off');
  answered(await approve());
  await other.reaches(request, 'completed');
  expect(replicas.upstream.posts).toBe(1);
});
