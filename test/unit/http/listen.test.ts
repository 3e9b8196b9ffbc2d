import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listen } from '#src/http/server.ts';

let http: FastifyInstance;
beforeEach(() => {
  http = fastify();
});
afterEach(() => http.close());

it('returns the address it listens on', async () => {
  const address = await listen(http, { host: '127.0.0.1', port: 0 });
  expect(address).toBe(`http://127.0.0.1:${(http.server.address() as AddressInfo).port}`);
});

it('reports an occupied port, and the variable that sets another one', async () => {
  const other = fastify();
  await other.listen({ host: '127.0.0.1', port: 0 });
  const { port } = other.server.address() as AddressInfo;
  const listening = listen(http, { host: '127.0.0.1', port });
  await expect(listening).rejects.toMatchObject({
    code: 'internal',
    message: `listening at 127.0.0.1:${port}: another program uses that port; stop it, or set PORT to another one (EADDRINUSE)`,
  });
  await other.close();
});

it.each([
  ['EADDRNOTAVAIL', 'HOST is not an address of this machine'],
  ['ENOTFOUND', 'HOST is not an address of this machine'],
  ['EACCES', 'this user may not use that port; set PORT to one from 1024 on'],
  ['EMFILE', 'listen EMFILE'],
])('explains %s', async (code, sentence) => {
  const thrown = Object.assign(new Error(`listen ${code}`), { code });
  const server = { listen: () => Promise.reject(thrown) };
  await expect(listen(server, { host: 'h', port: 80 })).rejects.toMatchObject({
    message: `listening at h:80: ${sentence} (${code})`,
    cause: thrown,
  });
});
