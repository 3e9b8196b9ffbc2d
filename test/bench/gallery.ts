/**
 * The gallery over 10,000 clips: the first page at the server and over the wire, a page far back, and a search; beside a
 * route that sends the same JSON from memory.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { GalleryAccess } from '#src/gallery/access.ts';
import { GalleryClips } from '#src/gallery/clips.ts';
import { Posters } from '#src/gallery/posters.ts';
import { serveGallery } from '#src/gallery/routes.ts';
import { GallerySets } from '#src/gallery/sets.ts';
import { createHttpServer } from '#src/http/server.ts';
import { createLogger } from '#src/logger.ts';
import { Boards } from '#src/orders/board.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { SERVED_HERE } from '../fakes/clip-links.ts';
import { NO_CUTS } from '../fakes/no-cuts.ts';
import { FakePlatform } from '../fakes/platform.ts';
import { newTask, originOf } from '../fakes/tasks.ts';
import { type Figure, report } from './figure.ts';
import { inFolder } from './house.ts';

const CLIPS = 10_000;
const ROUNDS = 50;
const MAX_MS = 100;
const MAX_BYTES = 200 * 1024;
const FIRST_MS = Date.UTC(2026, 9, 1);
const OPENER = { platform: 'fake', team: 'T1', channel: 'C0', address: {}, user: { id: 'U0', name: 'Person 0' } };

await inFolder(measure);

/** Writes the clips of ten people in seven channels, one in ten private. */
async function fill(store: Store, folder: string): Promise<void> {
  const path = join(folder, 'clip.mp4');
  writeFileSync(path, Buffer.alloc(1_000));
  for (let from = 0; from < CLIPS; from += 500) {
    const changes = Array.from({ length: 500 }, (_, at) => {
      const number = from + at;
      const user = { id: `U${number % 10}`, name: `Person ${number % 10}` };
      const audience = number % 10 === 3 ? ('channel' as const) : ('team' as const);
      const prompt = `take ${number}: a red fox runs through deep snow towards the camera, dusk, 35 mm, shallow focus`;
      const request = { model: 'swift-1', prompt, seconds: 6, media: { image: [], audio: [], video: [] } };
      const task = newTask({
        id: `task-${number}` as TaskId,
        origin: originOf({ user, channel: `C${number % 7}`, audience }),
        request,
        createdAtMs: FIRST_MS + number * 60_000,
        state: 'completed',
        sends: 1,
        clip: { path, bytes: 1_000, contentType: 'video/mp4' },
      });
      return store.commit(toChange(null, recount(task)));
    });
    await Promise.all(changes);
  }
}

async function measure(folder: string): Promise<void> {
  const logger = createLogger('error');
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, { logger });
  await fill(store, folder);
  const access = new GalleryAccess({
    store,
    admins: [],
    clock: systemClock,
    platforms: new Map([['fake', new FakePlatform()]]),
  });
  const repository = new TaskRepository(store);
  const clips = new GalleryClips({ store, repository });
  const seen = { clips, repository, boards: new Boards(store), cuts: NO_CUTS };
  const http = createHttpServer(logger);
  await serveGallery(http, {
    access,
    clips,
    sets: new GallerySets(seen),
    cutFileOf: NO_CUTS.find,
    catalog: () => parseCatalog(sandboxCatalog),
    defaults: new PersonalDefaults(store),
    posters: new Posters({ folder, takePicture: null, isRemoved: async () => false }),
    fileOf: async ({ clip }) => clip,
    clipLinks: SERVED_HERE,
    press: async () => ({ kind: 'text', lines: [], buttons: [] }),
    publicUrl: null,
    clock: systemClock,
    logger,
  });
  let same: unknown = {};
  http.get('/same', () => same);
  const base = await http.listen({ host: '127.0.0.1', port: 0 });
  const session = await access.redeem((await access.createLink(OPENER)).key);
  const headers = { cookie: `dailies_gallery=${session}` };
  const first = '/gallery/api/clips';
  same = await (await fetch(`${base}${first}`, { headers })).json();
  const far = `${first}?cursor=${FIRST_MS + 500 * 60_000}.task-500`;
  const runs = { first, far, person: `${first}?person=U3`, search: `${first}?text=${encodeURIComponent('take 7:')}` };
  const times = {
    bare: [] as number[],
    first: [] as number[],
    far: [] as number[],
    person: [] as number[],
    search: [] as number[],
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.bare.push(await timed(`${base}/same`, headers));
    for (const name of ['first', 'far', 'person', 'search'] as const)
      times[name].push(await timed(base + runs[name], headers));
  }
  const bytes = await wire(base, headers);
  await http.close();
  await store.close();
  const bare = `the same JSON from memory: ${medianOf(times.bare)} ms`;
  report([
    figure('gallery, first page of 10,000 clips', times.first, bare),
    {
      what: 'gallery, first visit over the wire',
      measured: `${(bytes / 1024).toFixed(1)} KB`,
      target: 'at most 200 KB',
      isMet: bytes <= MAX_BYTES,
      remark: 'page, styles, scripts, session, filters and first page, uncompressed; without pictures',
    },
    figure('gallery, page after 9,500 clips', times.far, 'by cursor; SQLite'),
    figure('gallery, first page of one person', times.person, 'two indexes intersected'),
    {
      ...figure('gallery, search that reads 2,000 records', times.search, 'then it says to which day, and continues'),
      target: '',
      isMet: null,
    },
  ]);
}

async function timed(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedMs = performance.now();
  await (await fetch(url, { headers })).arrayBuffer();
  return performance.now() - startedMs;
}

/** Returns the bytes of the bodies that a browser loads for the first page. */
async function wire(base: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const html = await (await fetch(`${base}/gallery`)).text();
  const files = [...html.matchAll(/(?:href|src)="(\/gallery\/[^"]+)"/g)].map(([, path = '']) => path);
  const calls = ['session', 'facets', 'clips'].map((name) => `/gallery/api/${name}`);
  let bytes = Buffer.byteLength(html);
  for (const path of new Set([...files, ...calls])) {
    const response = await fetch(base + path, { headers });
    if (!response.ok) throw new TypeError(`${path}: HTTP ${response.status}`);
    bytes += (await response.arrayBuffer()).byteLength;
  }
  return bytes;
}

function medianOf(times: readonly number[]): string {
  return (times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0).toFixed(1);
}

function figure(what: string, times: readonly number[], remark: string): Figure {
  const worst = Math.max(...times);
  const measured = `${medianOf(times)} ms, at most ${worst.toFixed(1)} ms`;
  return { what, measured, target: 'at most 100 ms', isMet: Number(medianOf(times)) <= MAX_MS, remark };
}
