import type { FastifyInstance } from 'fastify';
import { GalleryAccess, type Opener } from '#src/gallery/access.ts';
import { GalleryClips } from '#src/gallery/clips.ts';
import { Posters } from '#src/gallery/posters.ts';
import { type GalleryOptions, type GalleryPress, type GalleryReply, serveGallery } from '#src/gallery/routes.ts';
import { GallerySets } from '#src/gallery/sets.ts';
import { createHttpServer } from '#src/http/server.ts';
import { createLogger } from '#src/logger.ts';
import { Boards } from '#src/orders/board.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { Cuts } from '#src/studio/cuts/cuts.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Origin, Task, TaskId } from '#src/tasks/task.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { SERVED_HERE } from './clip-links.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { NO_CUTS } from './no-cuts.ts';
import { FakePlatform } from './platform.ts';
import { CLIP, newTask, originOf } from './tasks.ts';

/** Person and channel of a link to the gallery. */
export const OPENER: Opener = {
  platform: 'fake',
  team: 'T1',
  channel: 'clips',
  address: {},
  user: { id: 'ada', name: 'Ada' },
};

/** Model of the clips, at $0.05 a second. */
const CATALOG = parseCatalog({
  models: [
    {
      name: 'swift-1',
      title: 'Swift 1',
      billing: 'per_second',
      price: '0.05',
      currency: 'USD',
      seconds: [4, 6, 8],
      aspectRatios: ['16:9'],
      resolutions: ['720p'],
      media: { image: { min: 0, max: 2 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } },
      promptMaxLength: 2000,
      default: true,
    },
  ],
});

/** The routes of the gallery on in-memory parts. */
export class GalleryHouse {
  readonly store = new MemoryStore();
  readonly clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  readonly platform = new FakePlatform();
  readonly access = new GalleryAccess({
    store: this.store,
    clock: this.clock,
    platforms: new Map([['fake', this.platform]]),
    admins: [{ platform: 'fake', user: 'root' }],
  });
  readonly repository = new TaskRepository(this.store);
  readonly clips = new GalleryClips({
    store: this.store,
    repository: this.repository,
  });
  readonly http: FastifyInstance = createHttpServer(createLogger('silent'));
  readonly presses: GalleryPress[] = [];
  reply: GalleryReply = { kind: 'text', lines: ['No.'], buttons: [] };
  #added = 0;

  /** Returns the sets of the store. @param cuts default: none */
  setsWith(cuts: Pick<Cuts, 'get' | 'madeOf'> = NO_CUTS): GallerySets {
    const { clips, repository, store } = this;
    return new GallerySets({ clips, repository, boards: new Boards(store), cuts });
  }

  /** Adds the routes. @param publicUrl default: none */
  async serve(publicUrl: string | null = null, more: Partial<GalleryOptions> = {}): Promise<this> {
    await serveGallery(this.http, {
      access: this.access,
      clips: this.clips,
      sets: this.setsWith(),
      cutFileOf: NO_CUTS.find,
      catalog: () => CATALOG,
      defaults: new PersonalDefaults(this.store),
      posters: new Posters({ folder: '/nowhere', takePicture: null, isRemoved: async () => false }),
      fileOf: async ({ clip }) => clip,
      clipLinks: SERVED_HERE,
      press: async (press) => {
        this.presses.push(press);
        return this.reply;
      },
      publicUrl: publicUrl === null ? null : new URL(publicUrl),
      clock: this.clock,
      logger: createLogger('silent'),
      ...more,
    });
    return this;
  }

  /** Stores a finished clip for the whole team, a minute after the one before. */
  async add(origin: Partial<Origin> = {}, changes: Partial<Task> = {}): Promise<Task> {
    this.#added += 1;
    const task = newTask({
      id: `t${String(this.#added).padStart(4, '0')}` as TaskId,
      origin: originOf({ audience: 'team', ...origin }),
      createdAtMs: Date.UTC(2026, 10, 1) + this.#added * 60_000,
      state: 'completed',
      sends: 1,
      clip: CLIP,
      ...changes,
    });
    await this.store.commit(toChange(null, recount(task)));
    return task;
  }

  /** Redeems a link as a browser does. */
  redeem(key: string, headers: Readonly<Record<string, string>> = {}) {
    return this.http.inject({
      method: 'POST',
      url: '/gallery/open',
      headers: { host: '127.0.0.1', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams({ key }).toString(),
    });
  }

  /** Opens the gallery. @returns the Cookie header of the session */
  async open(opener: Opener = OPENER): Promise<string> {
    const response = await this.redeem((await this.access.createLink(opener)).key);
    return String(response.headers['set-cookie']).split(';')[0] ?? '';
  }

  /** Requests a path below `/gallery/` with a cookie. */
  get(path: string, cookie = '', headers: Readonly<Record<string, string>> = {}) {
    return this.http.inject({ url: `/gallery/${path}`, headers: { cookie, ...headers } });
  }

  /** Posts JSON below `/gallery/api/` with the cookie and, unless it is given, the token of its session. */
  async post(path: string, cookie: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    const token = (await this.get('api/session', cookie)).json<{ readonly token?: string }>().token ?? '';
    return this.http.inject({
      method: 'POST',
      url: `/gallery/api/${path}`,
      headers: { cookie, 'content-type': 'application/json', 'x-gallery-token': token, ...headers },
      payload: body,
    });
  }
}
