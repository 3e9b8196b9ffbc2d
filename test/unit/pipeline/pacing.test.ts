import { expect, it } from 'vitest';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { CreateOutcome } from '#src/videos/service.ts';
import { deferred } from '#test/fakes/settle.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, orderOf } from '#test/fakes/tasks.ts';
import { errorOf, status } from '#test/fakes/videos.ts';

const SET = taskIdOf('fake:i1');

function storyboardOf(count: number) {
  const { request, price } = orderOf();
  const more = Array.from({ length: count - 1 }, (_, at) => ({
    request: { ...request, prompt: `shot ${at + 2}` },
    price,
  }));
  return orderOf({ request: { ...request, prompt: 'shot 1' }, set: { kind: 'storyboard', more } });
}

function prompts(house: TaskHouse): readonly string[] {
  return house.videos.posts.map(({ request }) => request.prompt);
}

it('makes two shots at a time, in their order, and the next as soon as one ends', async () => {
  const house = new TaskHouse().start();
  await house.submit(storyboardOf(5));
  await house.pass(1_000);
  expect(prompts(house)).toEqual(['shot 1', 'shot 2']);
  const running = () => status('in_progress');
  house.videos.willRetrieve(() => status('completed'), running);
  await house.pass(5_000, 1_000);
  expect(prompts(house)).toEqual(['shot 1', 'shot 2', 'shot 3']);
  house.videos.willRetrieve(() => status('failed'), running);
  await house.pass(6_000, 1_000);
  expect(prompts(house)).toEqual(['shot 1', 'shot 2', 'shot 3', 'shot 4']);
});

it('keeps to that after a restart, and with a second replica', async () => {
  const house = new TaskHouse({ exclusive: false });
  await house.submit(storyboardOf(12));
  const replicas = [house.another().start(), house.another({ owner: 'third' }).start()];
  for (const replica of replicas) await replica.service.resume();
  for (let seconds = 0; seconds < 30; seconds += 1) for (const replica of replicas) await replica.pass(500);
  expect(house.videos.posts).toHaveLength(2);
});

it('does not wait for a shot that is unconfirmed, cancelled or overdue', async () => {
  const house = new TaskHouse().start();
  house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
  await house.submit(storyboardOf(5));
  await house.pass(1_000);
  const [first, second, third] = memberIds({ id: SET, of: 5 });
  expect((await house.task(first ?? SET)).state).toBe('uncertain');
  expect(prompts(house)).toEqual(['shot 1', 'shot 2', 'shot 3']);
  await house.service.cancel(second ?? SET, ADA);
  await house.pass(0);
  expect(prompts(house)).toHaveLength(4);
  await house.service.cancel(third ?? SET, ADA);
  await house.pass(0);
  expect(prompts(house)).toHaveLength(5);
});

it('does not wait for a shot that is overdue', async () => {
  const house = new TaskHouse({ pace: { deadlineMs: 60_000 } }).start();
  await house.submit(storyboardOf(4));
  await house.pass(50_000, 5_000);
  expect(prompts(house)).toHaveLength(2);
  await house.pass(25_000, 5_000);
  expect(prompts(house)).toHaveLength(4);
});

it('does not wait for a shot that was cancelled while it was being sent', async () => {
  const house = new TaskHouse().start();
  const answer = deferred<CreateOutcome>();
  house.videos.willCreate(() => answer.promise);
  await house.submit(storyboardOf(3));
  await house.pass(1_000);
  expect(prompts(house)).toHaveLength(2);
  const sending = (await Promise.all(memberIds({ id: SET, of: 2 }).map((id) => house.task(id)))).find(
    ({ state }) => state === 'sending',
  );
  await house.service.cancel(sending?.id ?? SET, ADA);
  await house.pass(10_000, 1_000);
  expect(prompts(house)).toHaveLength(3);
});
