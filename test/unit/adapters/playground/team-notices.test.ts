import { expect, it } from 'vitest';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { spendReport } from '#test/fakes/views.ts';

it('shows a notice for one user to that user only', async () => {
  const house = await PlaygroundHouse.start();
  const operator = { id: 'operator', name: 'operator' };
  const nowhere = { team: 'playground', channel: '', address: {} };
  const channel = await house.platform.channels.directChannel(nowhere, 'operator');
  const place = { ...nowhere, channel };
  const notice = { key: 'report:1', place, replyTo: null, mention: null, view: spendReport(), onlyFor: operator };
  await house.platform.notify(notice);
  await house.platform.notify(notice);
  const visibleTo = async (user: string): Promise<number> => {
    const response = await fetch(`${house.url}/playground/messages?channel=${channel}&user=${user}`);
    return ((await response.json()) as readonly unknown[]).length;
  };
  expect([await visibleTo('operator'), await visibleTo('ada')]).toEqual([1, 0]);
  await house.remove();
});
