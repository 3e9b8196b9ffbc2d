import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FileSource, SignedLink } from '../chat/index.ts';
import type { Clock } from '../clock.ts';
import { collection, type Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { TaskRepository } from '../pipeline/index.ts';
import type { ClipStorage } from '../storage/index.ts';
import { hasClip, isBlind, type Task, type TaskId } from '../tasks/index.ts';
import { KEPT_ORIGIN } from '../videos/index.ts';
import { fileNameOf } from './file-name.ts';
import { POSTER } from './old-files.ts';
import { type Relay, relayIdIn } from './relay.ts';

/** Lifetime of a link that a request is redirected to: long enough to watch a clip and to seek in it. */
const REDIRECT_LIFETIME_MS = 3_600_000;

/** End of the id of a strip of frames, before {@link POSTER}. */
const STRIP = '.strip';
/** Lifetime of a link to a picture, which lists show that are looked at once. */
const POSTER_LIFETIME_MS = 3_600_000;

/** Returns whether a picture of a task's clip may be shown: not before the reveal of its comparison, nor once it is removed. */
export function mayShowPoster(task: Task): boolean {
  return hasClip(task) && task.removal === undefined && !isBlind(task);
}

/** Where a small picture is, a JPEG. */
interface PictureLink {
  /** Names the picture in paths of the playground: of a clip (its task), a strip of its frames, or an image that was given. */
  readonly id: string;
  /** Signed and expiring; `null` where there is no public address. */
  readonly url: string | null;
}

/** Links to clips, and to pictures of them and of the images that they are made with. */
export interface ClipLinks {
  /** Returns a link for a message; `null` where nothing leads to a clip from outside. Never rejects. */
  forClip(of: FileSource): Promise<SignedLink | null>;
  /**
   * Returns the address at the storage to redirect a request for a clip to; `null` where it is served from this
   * machine. Never rejects.
   */
  redirectFor(id: TaskId, isDownload?: boolean): Promise<string | null>;
  /** Returns the picture of a clip, or a strip of its frames; `null` where none may be shown. */
  forPoster(task: Task, isStrip?: boolean): PictureLink | null;
  /** Returns the picture of an image by its address; `null` for one that is not a file of the bot's own. */
  forImage(url: string): PictureLink | null;
  /**
   * Returns what shows best what a task is about, to those who may read its prompt: its clip, the first image given with it,
   * or the clip of the same channel that it repeats. For a week, since a request for approval waits for days.
   */
  forRequest(task: Task): Promise<PictureLink | null>;
  /** Origin of the addresses at the storage; `null` where all clips are served from this machine. */
  readonly origin: string | null;
}

/** Options of {@link createClipLinks}. */
interface ClipLinksOptions {
  readonly storage: ClipStorage;
  /** Links to this server; `null`: links are off. */
  readonly links: SignedLinks | null;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly relay: Pick<Relay, 'links'>;
  /** `null`: there are no pictures. */
  readonly ffmpeg: string | null;
  readonly logger: Logger;
}

/**
 * Creates the links to clips: straight to a bucket where it has them, else to this server. A bucket tells when a clip was
 * finished, so those of a blind comparison are served from here.
 */
export function createClipLinks({ storage, links, repository, relay, ffmpeg, logger }: ClipLinksOptions): ClipLinks {
  const straight = (task: FileSource, lifetimeMs: number, isDownload = false): Promise<SignedLink | null> => {
    const file = { name: fileNameOf(task), contentType: task.clip?.contentType ?? 'video/mp4', isDownload };
    return storage.link(task.id, file, lifetimeMs).catch((thrown: unknown) => {
      logger.warn({ event: 'clip_link_failed', task: task.id, err: thrown }, 'failed to sign a link to the bucket');
      return null;
    });
  };
  const picture = (id: string, lifetimeMs?: number): PictureLink | null =>
    ffmpeg === null ? null : { id, url: links?.sign(`${id}${POSTER}`, lifetimeMs).url ?? null };
  const forPoster = (task: Task, isStrip = false, lifetimeMs = POSTER_LIFETIME_MS): PictureLink | null =>
    mayShowPoster(task) ? picture(`${task.id}${isStrip ? STRIP : ''}`, lifetimeMs) : null;
  const forImage = (url: string, lifetimeMs = POSTER_LIFETIME_MS): PictureLink | null => {
    // Of a forged address, nothing may be signed.
    const id = relay.links.idIn(url) === null ? null : relayIdIn(url);
    return id === null ? null : picture(id, lifetimeMs);
  };
  return {
    origin: storage.origin,
    async forClip(task) {
      const own = links?.sign(task.id) ?? null;
      const link = await straight(task, LINK_LIFETIME_MS);
      if (link === null || own === null) return own ?? (isBlind(task) ? null : link);
      // Links signed by temporary credentials end with them; ours redirects to a new one.
      const isLasting = link.expiresAtMs >= own.expiresAtMs && !isBlind(task);
      return isLasting && (await storage.isLinked(task.id)) ? link : own;
    },
    forPoster: (task, isStrip) => forPoster(task, isStrip),
    forImage: (url) => forImage(url),
    async forRequest(task) {
      if (isBlind(task) || task.removal !== undefined) return null;
      const { origin, request, retryOf } = task;
      const [given] = request.media.image.flatMap((url) => forImage(url, LINK_LIFETIME_MS) ?? []);
      const own = forPoster(task) ?? given;
      if (own !== undefined || retryOf === undefined) return own ?? null;
      const before = await repository.get(retryOf);
      const isSeenHere = before?.origin.channel === origin.channel;
      return isSeenHere ? forPoster(before, false, LINK_LIFETIME_MS) : null;
    },
    async redirectFor(id, isDownload) {
      if (storage.origin === null) return null;
      const task = await repository.get(id).catch(() => undefined);
      if (task?.clip === undefined || isBlind(task) || !(await storage.isLinked(id))) return null;
      return (await straight(task, REDIRECT_LIFETIME_MS, isDownload))?.url ?? null;
    },
  };
}

/** Lifetime of a link to a clip: a week, so that a link sent on a Friday works on Monday. */
export const LINK_LIFETIME_MS = 7 * 24 * 3_600_000;

/** HMAC-SHA256 in base64url. */
const SIGNATURE = /^[\w-]{43}$/;

/** Options of {@link SignedLinks}. */
interface SignedLinksOptions {
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The HMAC-SHA256 key. */
  readonly secret: string;
  readonly clock: Clock;
}

/** Signs and verifies expiring URLs of our own: `/media/{id}?expires=…&signature=…`, in seconds since the epoch. */
export class SignedLinks {
  readonly #options: SignedLinksOptions;

  constructor(options: SignedLinksOptions) {
    this.#options = options;
  }

  /**
   * Signs a URL.
   * @param lifetimeMs default {@link LINK_LIFETIME_MS}.
   * @returns the URL and its expiry (ms since the epoch).
   */
  sign(id: string, lifetimeMs = LINK_LIFETIME_MS): { readonly url: string; readonly expiresAtMs: number } {
    const { publicUrl, clock } = this.#options;
    const expires = Math.floor((clock.now() + lifetimeMs) / 1_000);
    const signature = this.#signatureOf(id, `${expires}`).toString('base64url');
    const url = `${publicUrl}/media/${encodeURIComponent(id)}?expires=${expires}&signature=${signature}`;
    return { url, expiresAtMs: expires * 1_000 };
  }

  /**
   * Returns the id in a link of ours, with its expiry (ms since the epoch) and whether it has expired; `null` for any other link, and for a forged one, which must
   * yield no file or signature.
   */
  idIn(url: string): { readonly id: string; readonly expiresAtMs: number; readonly isExpired: boolean } | null {
    if (!url.startsWith(`${this.#options.publicUrl}/media/`)) return null;
    const { pathname, searchParams } = new URL(url);
    const id = pathname.slice(pathname.lastIndexOf('/') + 1);
    const expires = searchParams.get('expires') ?? '';
    const verdict = this.verify(id, expires, searchParams.get('signature') ?? '');
    return verdict === 'forged' ? null : { id, expiresAtMs: Number(expires) * 1_000, isExpired: verdict === 'expired' };
  }

  /** Checks that a signature is ours, for exactly this id and expiry, and that the link has not expired. */
  verify(id: string, expires: string, signature: string): 'valid' | 'expired' | 'forged' {
    // Base64 decoders skip invalid characters: without the check, a signature would have several valid spellings.
    if (!SIGNATURE.test(signature)) return 'forged';
    const given = Buffer.from(signature, 'base64url');
    const ours = this.#signatureOf(id, expires);
    if (given.length !== ours.length || !timingSafeEqual(given, ours)) return 'forged';
    return Number(expires) * 1_000 > this.#options.clock.now() ? 'valid' : 'expired';
  }

  #signatureOf(id: string, expires: string): Buffer {
    return createHmac('sha256', this.#options.secret)
      .update(JSON.stringify([id, expires]))
      .digest();
  }
}

/** By their use. */
const linkKeys = collection<'kept', { readonly revision: number; readonly secret: string }>({
  name: 'link_keys',
  holds: 'the key of the addresses of kept files, of which only the bot itself makes use',
  kept: 'kept',
  personal: 'nobody',
});

/**
 * Addresses of the files that this bot keeps for services: links to this server, or without a public address, ones of
 * {@link KEPT_ORIGIN}. Those remain valid here once there is a public address.
 */
export class FileLinks {
  readonly isPublic: boolean;
  /** Signs with the first, and knows those of all. */
  readonly #links: readonly [SignedLinks, ...SignedLinks[]];

  constructor(kept: SignedLinks, links: SignedLinks | null) {
    this.isPublic = links !== null;
    this.#links = links === null ? [kept] : [links, kept];
  }

  /** Creates them, with a key that all replicas share. @param links to this server; `null`: it has no public address */
  static async open(
    store: Pick<Store, 'keyv' | 'commit'>,
    clock: Clock,
    links: SignedLinks | null,
  ): Promise<FileLinks> {
    const secret = await linkKeys.change<string>(store, 'kept', (known) => {
      if (known !== undefined) return { result: known.secret };
      const made = randomBytes(32).toString('base64url');
      return { value: { secret: made }, result: made };
    });
    return new FileLinks(new SignedLinks({ publicUrl: KEPT_ORIGIN, secret, clock }), links);
  }

  sign(id: string): string {
    return this.#links[0].sign(id).url;
  }

  idIn(url: string): ReturnType<SignedLinks['idIn']> {
    return this.#links.map((links) => links.idIn(url)).find((found) => found !== null) ?? null;
  }
}
