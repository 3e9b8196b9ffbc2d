import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { checkRequest } from '#src/videos/check.ts';
import { DIALECTS } from '#src/videos/dialects/registry.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { UpstreamId, VideoService } from '#src/videos/service.ts';
import { clientOf } from '../unit/videos/client.ts';
import { acceptedTask, createTask, folder, follow } from '../unit/videos/dialects/journey.ts';
import { type Fate, NO_FATE } from './fates.ts';
import type { Made } from './history.ts';
import { catalogOf, namesOf } from './money.ts';
import { type DialectName, type Listing, NO_PROFILE, wireOf } from './profiles.ts';
import { type Service, startService } from './service.ts';

const CLIP_BYTES = 70_000;
const NAMES = ['v1-videos', 'ark', 'fal', 'openrouter', 'xai'] as const satisfies readonly DialectName[];
const LISTING: Listing = { lateMs: 0, old: 0, isOldestFirst: false, faults: [], isSingle: true, stranger: null };

interface Opened {
  readonly service: Service;
  readonly client: VideoService;
  /** Order of the default model, or of another one, by its place. */
  readonly request: (prompt?: string, model?: number) => VideoRequest;
  /** Moves the clock of the service on. */
  readonly pass: (ms: number) => void;
}

/** Starts the service of a run, and a client of the product in its dialect. */
async function open(dialect: DialectName, fate: Partial<Fate> = {}, listing: Listing | null = null): Promise<Opened> {
  let timeMs = 0;
  const service = await startService({
    wire: wireOf({ ...NO_PROFILE, dialect }, 'specified'),
    listing,
    names: namesOf(dialect),
    fateOf: () => ({ ...NO_FATE, ...fate }),
    nowMs: () => timeMs,
    clipBytes: CLIP_BYTES,
  });
  onTestFinished(() => service.close());
  const catalog = parseCatalog(catalogOf(dialect));
  const spoken = DIALECTS[dialect];
  const client = clientOf(
    { baseUrl: `http://127.0.0.1:${service.port}${service.basePath}`, token: service.tokenOf(0, 0) },
    { catalog: () => catalog, createTimeoutMs: 1_000, ...(spoken === undefined ? {} : { dialect: spoken }) },
  );
  const request = (prompt = 's1-001: a red fox in snow', model = 0): VideoRequest => {
    const named = catalog.models.find(({ name }) => name === ['swift-1', 'swift-2', 'swift-3'][model]);
    const checked = checkRequest(catalog, { prompt, model: named?.name ?? '' });
    if (!checked.ok) throw new Error(JSON.stringify(checked));
    return checked.request;
  };
  return {
    service,
    client,
    request,
    pass: (ms) => {
      timeMs += ms;
    },
  };
}

function madeOf(service: Service, id: UpstreamId): Made | undefined {
  return service.made().find(({ upstreamId }) => upstreamId === id);
}

it.each(NAMES)('a clip of each model is made in the dialect %s, within its contract', async (dialect) => {
  const { service, client, request } = await open(dialect);
  for (const model of [0, 1, 2]) {
    const id = await acceptedTask(client, request(undefined, model));
    expect(await follow(client, id)).toMatchObject([{}, {}, { status: 'completed' }]);
    const clip = await client.download(id, join(await folder(), 'clip.mp4'));
    expect(clip.bytes).toBe(CLIP_BYTES + model);
    expect(madeOf(service, id)).toMatchObject({ status: 'completed', clipBytes: clip.bytes });
  }
  expect(service.misuses).toEqual([]);
  const models = ['swift-1', 'swift-2', 'swift-3'];
  expect(service.creates).toMatchObject(models.map((model) => ({ key: 'task-1', order: 's1-001', model })));
});

it.each(NAMES)('the errors of the service are understood in the dialect %s', async (dialect) => {
  const creates = ['busy', 'refused', 'broken', 'gateway', 'half', 'reset'] as const;
  const { service, client, request } = await open(dialect, {
    creates,
    polls: 0,
    pollFaults: ['unknown', 'error', 'missing'],
  });
  const outcomes: string[] = [];
  for (const _create of creates) outcomes.push((await createTask(client, request())).kind);
  expect(outcomes).toEqual(['unsent', 'refused', 'lost', 'lost', 'lost', 'lost']);
  service.setKeys(false);
  const refused = await createTask(client, request());
  expect(refused).toMatchObject({ kind: 'refused', error: { code: 'unauthorised' } });
  service.setKeys(true);
  const id = await acceptedTask(client, request());
  expect(await client.retrieve(id)).toMatchObject({ status: 'unknown' });
  await expect(client.retrieve(id)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(client.retrieve(id)).rejects.toMatchObject({ code: 'task_unknown' });
  expect(await client.retrieve(id)).toMatchObject({ status: 'completed' });
  expect(service.creates.map(({ fate }) => fate)).toEqual([...creates, 'withdrawn', 'right']);
  expect(service.misuses).toEqual([]);
  expect(service.events.get('requests with a withdrawn key')).toBe(1);
});

it('a clip is asked for without the key only where it was refused with one that is withdrawn', async () => {
  const { service, client, request } = await open('v1-videos', { polls: 0 });
  const id = await acceptedTask(client, request());
  await follow(client, id);
  service.setKeys(false);
  const path = join(await folder(), 'clip.mp4');
  await expect(client.download(id, path)).rejects.toMatchObject({ code: 'unauthorised' });
  expect(service.misuses).toEqual([]);
  const address = `http://127.0.0.1:${service.port}${service.basePath}/videos`;
  await fetch(`${address}/${id}`);
  await fetch(`${address}/another/content`);
  expect(service.misuses).toHaveLength(2);
});

it.each(NAMES)('a clip that fails says so in the dialect %s', async (dialect) => {
  const { client, request } = await open(dialect, { ends: 'failed', polls: 0 });
  expect(await follow(client, await acceptedTask(client, request()))).toMatchObject([{ status: 'failed' }]);
});

it.each(['openrouter', 'xai'] as const)('%s reports what a clip has cost, also one that failed', async (dialect) => {
  const done = await open(dialect, { polls: 0, cost: '0.1234567891' });
  const id = await acceptedTask(done.client, done.request());
  expect(await done.client.retrieve(id)).toMatchObject({ cost: { amount: '0.1234567891', currency: 'USD' } });
  expect(madeOf(done.service, id)?.cost).toBe('0.1234567891');
  const failed = await open(dialect, { polls: 0, cost: '0.31', ends: 'failed', isFailureBilled: true });
  const lost = await acceptedTask(failed.client, failed.request());
  expect(await failed.client.retrieve(lost)).toMatchObject({ status: 'failed', cost: { amount: '0.31' } });
  const silent = await open(dialect, { polls: 0 });
  const free = await acceptedTask(silent.client, silent.request());
  expect(await silent.client.retrieve(free)).not.toHaveProperty('cost');
  expect(madeOf(silent.service, free)?.cost).toBe(null);
});

it('Ark cancels what is queued, refuses that for what runs, and deletes what has ended', async () => {
  const { service, client, request, pass } = await open('ark', { queued: 1, polls: 0, cancels: ['lost', 'right'] });
  const first = await acceptedTask(client, request());
  expect(await client.retrieve(first)).toMatchObject({ status: 'queued' });
  await expect(client.cancel(first, () => true)).rejects.toMatchObject({ retryable: true });
  expect(await client.retrieve(first)).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } });
  const second = await acceptedTask(client, request());
  expect(await follow(client, second)).toMatchObject([{ status: 'queued' }, {}, {}, {}, { status: 'in_progress' }]);
  expect(await client.cancel(second, () => true)).toBe('refused');
  pass(10_000);
  expect(await client.retrieve(second)).toMatchObject({ status: 'completed' });
  await client.cancel(second, () => true);
  await expect(client.retrieve(second)).rejects.toMatchObject({ code: 'task_unknown' });
  expect(service.withdrawals).toMatchObject([
    { upstreamId: first, status: 'queued', deletesEnded: true, isConfirmed: false },
    { upstreamId: second, status: 'in_progress', isConfirmed: false },
    { upstreamId: second, status: 'completed', isConfirmed: false },
  ]);
});

it('fal forgets what it cancelled, and completes what a cancel came too late for', async () => {
  const cancels = ['right'] as const;
  const { service, client, request } = await open('fal', { queued: 2, polls: 0, cancels });
  const first = await acceptedTask(client, request());
  expect(await client.retrieve(first)).toMatchObject({ status: 'queued', ahead: 1 });
  expect(await client.cancel(first, () => true)).toBe('forgets');
  await expect(client.retrieve(first)).rejects.toMatchObject({ code: 'task_unknown', retryable: false });
  expect(service.withdrawals).toMatchObject([{ deletesEnded: false, isConfirmed: true }]);
  expect(madeOf(service, first)).toMatchObject({ status: 'cancelled', isForgotten: true, cancelledAtMs: 0 });
  for (const fate of ['ignored', 'started', 'completed'] as const) {
    const late = await open('fal', { queued: 2, polls: 0, cancels: [fate] });
    const id = await acceptedTask(late.client, late.request());
    await late.client.retrieve(id);
    const cancelled = late.client.cancel(id, () => true);
    if (fate === 'ignored') await expect(cancelled).rejects.toMatchObject({ retryable: true });
    else expect(await cancelled).toBe(fate === 'started' ? 'forgets' : 'refused');
    expect((await follow(late.client, id)).at(-1)).toMatchObject({ status: 'completed' });
  }
});

it('the list of Ark is late, has pages, and holds a stranger’s task beside a lost one', async () => {
  const soon = { creates: ['silent' as const], stranger: 'alike' as const };
  const listing = { ...LISTING, old: 150, isOldestFirst: true };
  const { service, client, request } = await open('ark', soon, listing);
  const fromMs = Date.now() - 10_000;
  expect((await createTask(client, request())).kind).toBe('lost');
  const own = service.creates[0]?.upstreamId;
  const found = await client.list(request(), { fromMs, untilMs: Date.now() + 10_000, look: {} });
  expect(found).toHaveLength(2);
  expect(found).toContainEqual({ id: own, isSame: true });
  const [stranger] = service.made().filter(({ isStrangers }) => isStrangers === true);
  expect(found).toContainEqual({ id: stranger?.upstreamId, isSame: true });
  expect([...service.events.keys()]).toEqual(["strangers' tasks alike", 'further pages of a list']);
  const late = await open('ark', { ...soon, stranger: 'vague' }, { ...LISTING, lateMs: 60_000 });
  await createTask(late.client, late.request());
  const soonAfter = { fromMs, untilMs: Date.now() + 10_000, look: {} };
  expect(await late.client.list(late.request(), soonAfter)).toEqual([]);
  expect(late.service.events.get('lists that were late')).toBe(1);
});

it('a request that the contract does not allow is noted', async () => {
  const { service } = await open('ark');
  const url = `http://127.0.0.1:${service.port}/api/v3/contents/generations/tasks`;
  const headers = { authorization: `Bearer ${service.tokens[0]}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    model: 'seedance-1-5-pro-251215',
    content: [{ type: 'text', text: 's1-001' }],
    seconds: 4,
  });
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(400);
  expect(service.misuses).toEqual([expect.stringContaining('InvalidParameter')]);
});
