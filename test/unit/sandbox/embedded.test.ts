import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '#src/clock.ts';
import { createLeases, type Leases } from '#src/engine/cluster/leases.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { type EmbeddedSandbox, embedSandbox } from '#src/sandbox/embedded.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { SKETCH, temporaryFolder } from '#test/fakes/sandbox-client.ts';
import { pass } from '#test/fakes/settle.ts';

const catalog = parseCatalog(sandboxCatalog);
const WAY_OUT = /VIDEO_API_BASE_URL.*npm run sandbox/;
let clock: ManualClock;
let table: LeaseTable;
let dataDir: string;

beforeEach(async () => {
  clock = new ManualClock();
  table = new LeaseTable(clock);
  dataDir = await temporaryFolder();
});

interface Replica {
  readonly leases: Leases;
  readonly exclusive?: boolean;
  readonly dataDir?: string;
  readonly clock?: Clock;
}

function leasesOf(owner: string): Leases {
  return createLeases({ backend: table, clock, owner });
}

/** Starts the sandbox of one replica; closes it when the test ends. */
async function embed({ leases, exclusive = false, ...more }: Replica): Promise<EmbeddedSandbox> {
  const options = { store: { exclusive, leases }, dataDir, clock, catalog: () => catalog, ...more };
  const logger = pino({ level: 'silent' });
  const started = embedSandbox({ ...options, logger, ownFile: () => Promise.resolve(null) });
  const settled = started.then(
    () => true,
    () => true,
  );
  await expect.poll(async () => Promise.race([settled, pass(clock, 500).then(() => false)])).toBe(true);
  const embedded = await started;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= embedded.close());
  onTestFinished(close);
  return { ...embedded, close };
}

const call = (sandbox: EmbeddedSandbox, path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' };
  return fetch(`${sandbox.baseUrl}${path}`, { ...init, headers });
};

it('keeps its tasks over a restart', async () => {
  const first = await embed({ leases: leasesOf('one') });
  const body = JSON.stringify({ ...SKETCH, prompt: 'a fox [stuck]' });
  const { id } = (await (await call(first, '/v1/videos', { method: 'POST', body })).json()) as { id: string };
  await first.close();
  const again = await embed({ leases: leasesOf('two') });
  expect((await call(again, `/v1/videos/${id}`)).status).toBe(200);
});

it('is refused to a second replica in another folder, with the way out in the error', async () => {
  const first = await embed({ leases: leasesOf('one') });
  const second = { leases: leasesOf('two'), dataDir: await temporaryFolder() };
  await expect(embed(second)).rejects.toMatchObject({ code: 'store_locked', message: expect.stringMatching(WAY_OUT) });
  await first.close();
  expect((await call(await embed(second), '/sandbox/ledger')).status).toBe(200);
});

it('is refused to a second process in its folder, whatever its store', async () => {
  await embed({ leases: leasesOf('one') });
  const second = { leases: leasesOf('two'), exclusive: true };
  await expect(embed(second)).rejects.toMatchObject({ code: 'store_locked', message: expect.stringMatching(WAY_OUT) });
});

it('starts once the lease of a killed replica has expired', async () => {
  // Never renewed again.
  await createLeases({ backend: table, clock: new ManualClock(), owner: 'killed' }).take('sandbox', 10_000);
  const sandbox = await embed({ leases: leasesOf('one') });
  expect((await call(sandbox, '/sandbox/ledger')).status).toBe(200);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
});

it('fails with the reason while the store is unavailable', async () => {
  table.isAway = true;
  await expect(embed({ leases: leasesOf('one') })).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('needs no lease with a store of its own', async () => {
  table.isAway = true;
  const sandbox = await embed({ leases: leasesOf('one'), exclusive: true });
  expect((await call(sandbox, '/sandbox/ledger')).status).toBe(200);
});
