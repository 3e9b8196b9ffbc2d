import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { fetchListing } from '#src/videos/listing/fetch.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

it('a service that does not answer is waited for no longer than 30 s', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a server without a port');
  const clock = new ManualClock();
  const baseUrl = `http://127.0.0.1:${address.port}/api`;
  const listing = fetchListing({ name: 'router', dialect: 'openrouter', baseUrl, token: '' }, clock).catch(
    (thrown: unknown) => (thrown as Error).message,
  );
  const [socket] = (await once(server, 'connection')) as [Socket];
  await once(socket, 'data');
  clock.advance(29_999);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  expect(await listing).toBe(`router (${baseUrl}/v1/videos/models) could not be asked: timed out.`);
  expect(clock.pending).toBe(0);
  socket.destroy();
  server.close();
  await once(server, 'close');
});
