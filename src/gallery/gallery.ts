import { join, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Platform } from '../chat/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import type { Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { type ClipLinks, createTakePicture, isRelayed, POSTER, type Relay } from '../media/index.ts';
import type { Metrics } from '../metrics/index.ts';
import { Boards } from '../orders/index.ts';
import type { Cuts } from '../studio/index.ts';
import type { Pipeline } from '../task-pipeline.ts';
import type { TaskId } from '../tasks/index.ts';
import { PersonalDefaults } from '../teams/index.ts';
import { type Catalog, type Clip, isLoopbackHost } from '../videos/index.ts';
import { GalleryAccess, type Opener } from './access.ts';
import { type ClipTask, GalleryClips } from './clips.ts';
import { Posters } from './posters.ts';
import { OPEN_PATH } from './requests.ts';
import { type GalleryOptions, type PressInGallery, serveGallery } from './routes.ts';
import { GallerySets } from './sets.ts';

/** Link to the gallery, good once. */
interface GalleryLink {
  readonly url: string;
  /** In ms since the epoch. */
  readonly expiresAtMs: number;
}

/** The gallery: a web page with the clips that a person may see. */
export interface Gallery {
  /** Returns whether the server has an address for its links. */
  isOn(): boolean;
  /**
   * Creates a link for a person; `null` where the server has no address that leads to it from outside.
   * @throws `store_unavailable`
   */
  linkFor(opener: Opener): Promise<GalleryLink | null>;
  /** Returns whether an address is a link that can still be redeemed, without redeeming it. @throws `store_unavailable` */
  isRedeemable(url: string): Promise<boolean>;
  /** Returns the path of a picture by its id, as in `PictureLink`; `null` where there is none. Never rejects. */
  pictureOf(id: string): Promise<string | null>;
  /** Adds the routes of the gallery, whose presses `press` handles. */
  serve(press: PressInGallery): Promise<void>;
}

/** Dependencies of {@link createGallery}. */
interface GalleryDeps {
  readonly config: Pick<Config, 'admins' | 'http' | 'links' | 'dataDir'>;
  readonly http: FastifyInstance;
  readonly store: Store;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'wrongToken'>;
  readonly pipeline: Pick<Pipeline, 'repository' | 'clips'>;
  readonly relay: Pick<Relay, 'find'>;
  readonly cuts: Pick<Cuts, 'find' | 'get' | 'madeOf'>;
  readonly catalog: () => Catalog;
  readonly clipLinks: Pick<ClipLinks, 'redirectFor' | 'origin'>;
  /** As in `AppDeps.ffmpeg`. */
  readonly ffmpeg: string | null;
}

/** Creates the gallery. */
export function createGallery(deps: GalleryDeps): Gallery {
  const { config, http, platforms } = deps;
  const access = new GalleryAccess({ ...deps, admins: config.admins });
  const publicUrl = config.links === undefined ? null : new URL(config.links.publicUrl);
  const served = servedBy(deps);
  return {
    isOn: () => baseUrlOf(config, http) !== null,
    async linkFor({ address, ...opener }) {
      const base = baseUrlOf(config, http);
      if (base === null) return null;
      const lasting = platforms.get(opener.platform)?.channels.lastingAddress(address) ?? {};
      const { key, expiresAtMs } = await access.createLink({ ...opener, address: lasting });
      return { url: `${base}${OPEN_PATH}?key=${key}`, expiresAtMs };
    },
    async isRedeemable(url) {
      const start = `${baseUrlOf(config, http)}${OPEN_PATH}?key=`;
      return url.startsWith(start) && (await access.openerOf(url.slice(start.length))) !== null;
    },
    serve: (press) => serveGallery(http, { ...served, access, publicUrl, press }),
    pictureOf: (name) => pictureOf(deps, served.posters, name).catch(() => null),
  };
}

async function pictureOf(
  { pipeline: { repository, clips }, relay }: GalleryDeps,
  posters: Posters,
  name: string,
): Promise<string | null> {
  const [id = '', strip] = name.split('.');
  if (isRelayed(id)) {
    const image = await relay.find(id);
    return image === undefined ? null : posters.of(id, async () => image, { path: `${image.path}${POSTER}` });
  }
  const task = await repository.get(id as TaskId);
  if (task === undefined) return null;
  const stripSeconds = strip === undefined ? undefined : task.request.seconds;
  return posters.of(id, () => clips.find(task), { stripSeconds });
}

/** Returns the parts behind the routes. */
function servedBy(deps: GalleryDeps): Omit<GalleryOptions, 'access' | 'publicUrl' | 'press'> {
  const { config, store, pipeline, cuts, catalog, clipLinks, clock, logger, metrics } = deps;
  const { repository } = pipeline;
  const folder = resolve(join(config.dataDir, 'clips'));
  const posters = new Posters({
    folder,
    takePicture: createTakePicture(deps),
    isRemoved: async (id) => (await repository.get(id as TaskId))?.removal !== undefined,
  });
  const fileOf = (task: ClipTask): Promise<Clip | undefined> =>
    pipeline.clips.find(task).catch((thrown: unknown) => {
      const event = 'clip_not_served';
      logger.warn({ event, task: task.id, err: thrown }, 'failed to fetch a missing clip for a request');
      throw thrown;
    });
  const clips = new GalleryClips({ store, repository });
  return {
    clips,
    sets: new GallerySets({ repository, clips, cuts, boards: new Boards(store) }),
    fileOf,
    cutFileOf: (id) => cuts.find(id),
    posters,
    clipLinks,
    catalog,
    defaults: new PersonalDefaults(store),
    clock,
    logger,
    countWrongToken: metrics.wrongToken,
  };
}

/** Returns the address of the server without a path; on loopback also without `PUBLIC_URL`; `null` if there is none. */
function baseUrlOf({ http: { host }, links }: GalleryDeps['config'], http: FastifyInstance): string | null {
  if (links !== undefined) return links.publicUrl;
  return isLoopbackHost(host) ? http.listeningOrigin : null;
}
