import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { type EmbeddedSandbox, embedSandbox } from '#src/sandbox/embedded.ts';
import type { Store } from '#src/store/store.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { SKETCH, temporaryFolder } from '#test/fakes/sandbox-client.ts';

const catalog = parseCatalog(sandboxCatalog);
const logger = pino({ level: 'silent' });
let store: Store;
let dataDir: string;
const ownFile = () => Promise.resolve(null);

beforeEach(async () => {
  store = new MemoryStore(false);
  dataDir = await temporaryFolder();
});

/** Starts the sandbox of one replica; closes it when the test ends. */
async function embed(more: { readonly dataDir?: string; readonly clock?: Clock } = {}): Promise<EmbeddedSandbox> {
  const options = { store, dataDir, clock: systemClock, catalog: () => catalog, random: Math.random, logger, ownFile };
  const embedded = await embedSandbox({ ...options, ...more });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await embedded.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...embedded, close };
}

/** Expects that starting a sandbox times out with an error that contains `words`. */
async function expectLocked(words: string): Promise<void> {
  const clock = new ManualClock();
  let outcome: unknown = null;
  embed({ clock }).catch((thrown: unknown) => {
    outcome = thrown;
  });
  await expect
    .poll(() => {
      clock.advance(1_000);
      return outcome;
    })
    .toMatchObject({ code: 'store_locked', message: expect.stringContaining(words) });
}

const call = (sandbox: EmbeddedSandbox, path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' };
  return fetch(`${sandbox.baseUrl}${path}`, { ...init, headers });
};

/** Orders a clip. @returns its id. */
async function order(sandbox: EmbeddedSandbox): Promise<string> {
  const body = JSON.stringify({ ...SKETCH, prompt: 'a fox [stuck]' });
  const { id } = (await (await call(sandbox, '/v1/videos', { method: 'POST', body })).json()) as { id: string };
  return id;
}

async function statusOf(sandbox: EmbeddedSandbox, path: string): Promise<number | null> {
  return call(sandbox, path).then(
    ({ status }) => status,
    () => null,
  );
}

it('is one sandbox for all replicas of a folder, with failover when the serving one exits', async () => {
  const first = await embed();
  const second = await embed();
  const third = await embed();
  expect(second).toMatchObject({ baseUrl: first.baseUrl, token: first.token });
  expect(third).toMatchObject({ baseUrl: first.baseUrl, token: first.token });
  const id = await order(second);
  expect(await statusOf(first, `/v1/videos/${id}`)).toBe(200);
  await first.close();
  await expect.poll(() => statusOf(second, `/v1/videos/${id}`), { timeout: 5_000 }).toBe(200);
  expect(await statusOf(third, `/v1/videos/${await order(third)}`)).toBe(200);
});

it('keeps its address after all replicas have exited', async () => {
  const first = await embed();
  const id = await order(first);
  await first.close();
  const again = await embed();
  expect(again).toMatchObject({ baseUrl: first.baseUrl, token: first.token });
  expect(await statusOf(again, `/v1/videos/${id}`)).toBe(200);
});

it('stores its token in a file that only its owner can read', async () => {
  const { token } = await embed();
  const file = join(dataDir, 'address.json');
  expect(await readFile(file, 'utf8')).toContain(token);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('is refused in a second folder, with the way out in the error', async () => {
  const first = await embed();
  const elsewhere = await temporaryFolder();
  await expect(embed({ dataDir: elsewhere })).rejects.toMatchObject({
    code: 'store_locked',
    message: expect.stringMatching(/VIDEO_API_BASE_URL/),
  });
  await expect(embed({ dataDir: elsewhere })).rejects.toThrow(dataDir);
  await first.close();
  await embed({ dataDir: elsewhere });
});

it("is refused while another machine serves the folder on that machine's loopback", async () => {
  await embed();
  const file = join(dataDir, 'address.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), host: 'elsewhere' }));
  await expectLocked('on elsewhere runs it');
});

it('names the port in use, and a new sandbox picks a free one', async () => {
  const first = await embed();
  const port = Number(new URL(first.baseUrl).port);
  await first.close();
  const squatter = createServer().listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  onTestFinished(() => void squatter.close());
  await expectLocked(`port ${port}`);
  // In a folder without a published address.
  const draws = [(port - 20_000 + 0.5) / 12_000];
  const options = {
    store,
    clock: systemClock,
    catalog: () => catalog,
    logger,
    ownFile,
    random: () => draws.shift() ?? Math.random(),
  };
  const fresh = await embedSandbox({ ...options, dataDir: await temporaryFolder() });
  onTestFinished(() => fresh.close());
  expect(draws).toEqual([]);
  expect(await statusOf(fresh, '/sandbox/ledger')).toBe(200);
});

it('is private to the process with a private store', async () => {
  store = new MemoryStore();
  const { baseUrl, token } = await embed();
  expect(await statusOf({ baseUrl, token, close: async () => undefined }, '/sandbox/ledger')).toBe(200);
  await expect(stat(join(dataDir, 'address.json'))).rejects.toThrow('ENOENT');
});
