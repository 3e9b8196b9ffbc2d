import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteOldest, type TakePicture } from '../media/index.ts';
import { Serial } from '../serial.ts';
import { SingleFlight } from '../single-flight.ts';
import type { Clip } from '../videos/index.ts';

/** Options of {@link Posters}. */
interface PostersOptions {
  /** Folder of the clips, whose pictures go with them. All can be taken again, so anyone may delete them. */
  readonly folder: string;
  /** `null` where there is no ffmpeg. */
  readonly takePicture: TakePicture | null;
  /** Returns whether the removal of a task's clip has begun. */
  readonly isRemoved: (id: string) => Promise<boolean>;
  /** Most pictures in the folder; beyond it, the oldest are deleted. Default 10,000, about 150 MB. */
  readonly maxFiles?: number;
}

/** Name of a picture: as the clip's, which is deleted with all files that have its id before the first dot. */
const SUFFIX = '.poster.jpg';

interface PictureOptions {
  /** Path of the picture of an image, beside it. Default: in the folder of the clips. */
  readonly path?: string;
  /** Length of the clip, of which a strip of frames is taken. Default: one frame is. */
  readonly stripSeconds?: number | undefined;
}

const MAX_FILES = 10_000;
/** Pictures taken between two looks at the size of the folder. */
const CHECK_EVERY = 100;
/** Pictures that may wait for the one in progress: a page shows 24. Beyond it, browsers show the video itself. */
const MAX_WAITING = 60;
/** Ids that are a file name, so that a forged record cannot name another folder. */
const FILE_NAME = /^[\w-]+$/;

/** Pictures of clips, cached in a folder. One is taken at a time, since ffmpeg competes with the jobs of the bot. */
export class Posters {
  readonly #options: PostersOptions;
  readonly #taking = new SingleFlight<string, string | null>();
  readonly #serial = new Serial<'ffmpeg'>();
  #taken = 0;

  constructor(options: PostersOptions) {
    this.#options = options;
  }

  /** Whether pictures can be taken. */
  get isOn(): boolean {
    return this.#options.takePicture !== null;
  }

  /** Returns the path of a picture by the id of its task or image; `null` where it cannot be taken, or too many wait. Never rejects. */
  async of(
    id: string,
    file: () => Promise<Clip | undefined>,
    { path: given, stripSeconds }: PictureOptions = {},
  ): Promise<string | null> {
    const { folder, takePicture } = this.#options;
    if (takePicture === null || !FILE_NAME.test(id)) return null;
    const path = given ?? join(folder, `${id}${stripSeconds === undefined ? '' : '.strip'}${SUFFIX}`);
    if (await isThere(path)) return path;
    if (this.#taking.get(path) === undefined && this.#taking.size >= MAX_WAITING) return null;
    const take = () => this.#take(id, file, { path, stripSeconds });
    return this.#taking.run(path, () => this.#serial.run('ffmpeg', take).catch(() => null));
  }

  async #take(
    id: string,
    file: () => Promise<Clip | undefined>,
    { path, stripSeconds }: Required<PictureOptions>,
  ): Promise<string | null> {
    const { folder, takePicture, isRemoved, maxFiles = MAX_FILES } = this.#options;
    const from = (await file())?.path;
    if (from === undefined || takePicture === null) return null;
    if (!(await takePicture(from, path, stripSeconds))) return null;
    // A removal that began meanwhile may have listed its files before this one was there; a later one deletes it.
    if (!(await isThere(from)) || (await isRemoved(id).catch(() => true))) {
      await rm(path, { force: true });
      return null;
    }
    if (this.#taken % CHECK_EVERY === 0) await deleteOldest(folder, SUFFIX, maxFiles);
    this.#taken += 1;
    return path;
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}
