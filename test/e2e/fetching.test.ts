import { expect } from 'vitest';
import { answered, buttonOf } from './dailies.ts';
import { test } from './fixtures.ts';

test('a finished clip that cannot be downloaded says why, and is fetched again by its button', async ({
  upstream,
  start,
}) => {
  const { content } = upstream.handlers;
  let downloads = 0;
  upstream.handlers.content = ({ refuse }) => {
    downloads += 1;
    refuse(404, 'not_found', 'There is no such file.');
  };
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a lighthouse in a storm'));
  const shown = async () => (await dailies.message(message)).text;
  await expect.poll(shown, { timeout: 60_000 }).toContain('The clip is finished, but I couldn’t fetch it yet: ');
  expect(downloads).toBeGreaterThan(1);
  const refetch = buttonOf(await dailies.message(message), 'refetch');
  upstream.handlers.content = content;
  await dailies.press(message, refetch);
  await expect.poll(async () => (await dailies.message(message)).attachments.length).toBe(1);
});
