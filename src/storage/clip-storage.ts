import type { TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';

/** What a link to a stored clip makes a browser do with it. */
export interface LinkedFile {
  /** Name under which it is saved. */
  readonly name: string;
  readonly contentType: string;
  /** `true`: the browser saves it instead of playing it. Default: false. */
  readonly isDownload?: boolean;
}

/** URL that leads straight to a stored clip until it expires. */
export interface StorageLink {
  readonly url: string;
  /** In ms since the Unix epoch. */
  readonly expiresAtMs: number;
}

/** Names of the files on this machine that belong to clips, by task: read once to remove many clips. */
export type FilesOfClips = ReadonlyMap<string, readonly string[]>;

/**
 * Port of the place where clips last: the folder of this machine, or a bucket with copies in that folder. A clip is
 * downloaded to {@link pathOf} and then kept; it is never replaced by another one. Methods reject with
 * `storage_unavailable` (retryable) where a bucket fails, and with the errors of the file system.
 */
export interface ClipStorage {
  /** Origin of the links, such as `https://clips.s3.eu-west-1.amazonaws.com`; `null` for a folder. */
  readonly origin: string | null;
  /** Returns the path to which the clip of a task is downloaded. @throws TypeError where the id is no file name. */
  pathOf(id: TaskId): string;
  /** Makes the downloaded clip of a task last. Idempotent. @returns the clip that is kept. */
  keep(id: TaskId, clip: Clip): Promise<Clip>;
  /** Returns the clip of a task as a file on this machine; `null` where the one of that length is not kept. */
  find(id: TaskId, clip: Clip): Promise<Clip | null>;
  /** Lists the files of all clips, for {@link remove}. */
  list(): Promise<FilesOfClips>;
  /**
   * Deletes the clip of a task with everything made from it, such as fitted copies. Idempotent.
   * @param files listed after the last one was made. Default: listed for this call.
   */
  remove(id: TaskId, files?: FilesOfClips): Promise<void>;
  /**
   * Signs a link straight to a clip, which also works later if the clip is not kept yet; `null` for a folder.
   * @param lifetimeMs longest lifetime; credentials that expire earlier shorten it.
   */
  link(id: TaskId, file: LinkedFile, lifetimeMs: number): Promise<StorageLink | null>;
  /** Returns whether {@link link} leads to a clip now. Never rejects. */
  isLinked(id: TaskId): Promise<boolean>;
}
