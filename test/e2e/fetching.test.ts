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
  await expect.poll(shown).toContain('The clip is finished, but I couldn’t fetch it yet: ');
  expect(downloads).toBeGreaterThan(1);
  const refetch = buttonOf(await dailies.message(message), 'refetch');
  upstream.handlers.content = content;
  await dailies.press(message, refetch);
  await expect.poll(async () => (await dailies.message(message)).attachments.length).toBe(1);
});

test('a clip that the service sends without its length, cut off in the same place twice, is delivered with a warning', async ({
  upstream,
  start,
}) => {
  upstream.handlers.content = ({ response, service }) => {
    response.shouldKeepAlive = false;
    response.writeHead(200, { 'content-type': 'video/mp4', connection: 'close', 'transfer-encoding': 'identity' });
    response.end(service.clip.subarray(0, 100_000));
  };
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a lighthouse in a storm'));
  const shown = () => dailies.message(message);
  await expect.poll(async () => (await shown()).attachments.length).toBe(1);
  expect((await shown()).text).toContain('The video service didn’t say how long this file is, so it may be cut off.');
});
