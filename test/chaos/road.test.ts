import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Cut } from './plan.ts';
import { Road } from './road.ts';

/** Connection over a road, and what its server received. */
interface Travelled {
  readonly road: Road;
  readonly client: Socket;
  readonly received: () => string;
}

async function travel(): Promise<Travelled> {
  let received = '';
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        received += bytes.toString();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const road = await Road.start((server.address() as { port: number }).port);
  const client = dial({ port: road.port, host: '127.0.0.1' }).on('error', () => undefined);
  onTestFinished(async () => {
    client.destroy();
    await road.close();
    server.close();
  });
  await once(client, 'connect');
  client.write('a');
  await expect.poll(() => received).toBe('a');
  return { road, client, received: () => received };
}

test('a slow road delivers everything', async () => {
  const { road, client, received } = await travel();
  road.cut('slow');
  client.write('b');
  client.write('c');
  await expect.poll(received).toBe('abc');
});

test.each<Cut | 'mended'>(['slow', 'reset', 'refuse', 'mended'])(
  'a connection that lost bytes transports nothing after them: silent, then %s',
  async (next) => {
    const { road, client, received } = await travel();
    road.cut('silent');
    client.write('b');
    if (next === 'mended') await road.mend();
    else road.cut(next);
    client.write('c');
    await expect.poll(() => client.closed).toBe(true);
    expect(received()).toBe('a');
  },
);
