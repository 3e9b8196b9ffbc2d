/** Clips that can be joined, and the files of cuts, by their pictures. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeShot, packetsOf } from '../fakes/shots.ts';
import type { CutFile } from './history.ts';
import type { Message } from './playground.ts';

/** Numbers of pictures: clips take turns, so that a cut of other clips, or in another order, has other pictures. */
const FRAMES = [25, 30, 28] as const;
const HEADER_BYTES = 8;
/** Folder of the files that were in the chat. */
const DELIVERED = 'delivered';
const WATCH_EVERY_MS = 250;

/** Playable clip. */
export interface Shot {
  readonly content: Buffer;
  /** Checksums of its pictures, in the order of decoding. */
  readonly pictures: readonly string[];
}

let made: Promise<readonly Shot[]> | undefined;

/** Returns clips that agree in everything but their length; they are made once per process. */
export function makeShots(): Promise<readonly Shot[]> {
  made ??= inFolder((folder) =>
    Promise.all(
      FRAMES.map(async (frames) => {
        const path = await makeShot(join(folder, `${frames}.mp4`), { frames });
        return { content: await readFile(path), pictures: await picturesOf(path) };
      }),
    ),
  );
  return made;
}

/** Returns a clip of `bytes` bytes that plays as `content`. @see ISO/IEC 14496-12, 8.1.2: free space boxes */
export function padded(content: Buffer, bytes: number): Buffer {
  const free = Buffer.alloc(bytes - content.length);
  free.writeUInt32BE(free.length, 0);
  free.write('free', 4, 'latin1');
  return Buffer.concat([content, free]);
}

/** Stores the files of cuts that are attached to messages. @param fetchFile returns the file at a path of the replicas */
export async function saveDelivered(
  messages: readonly Pick<Message, 'id' | 'attachments'>[],
  { folder, fetchFile }: { readonly folder: string; readonly fetchFile: (path: string) => Promise<Buffer | null> },
): Promise<void> {
  await mkdir(join(folder, DELIVERED), { recursive: true });
  for (const { id, attachments } of messages) {
    for (const { url } of attachments.filter(({ name }) => name.startsWith('cut-'))) {
      // An empty file stands for one that no replica serves.
      await writeFile(join(folder, DELIVERED, `${id}.mp4`), (await fetchFile(url)) ?? '');
    }
  }
}

/** Looks at the files with the final names of cuts while a run goes on: a later process may replace one that is not whole. */
export class CutWatch {
  readonly #folder: string;
  readonly #seen = new Set<string>();
  /** Files that were not whole. */
  readonly halves: CutFile[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Watches until `signal` aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look();
      await delay(WATCH_EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => []);
    for (const name of names.filter(isCut)) {
      const path = join(this.#folder, name);
      // It may be deleted meanwhile.
      const found = await stat(path).catch(() => null);
      const version = found === null ? '' : `${name}:${found.ino}:${found.size}`;
      if (found === null || this.#seen.has(version)) continue;
      this.#seen.add(version);
      const file = await readFile(path).catch(() => null);
      if (file !== null && !hasWholeBoxes(file))
        this.halves.push({ path: name, cut: basename(name, '.mp4'), message: null, pictures: null });
    }
  }
}

function isCut(name: string): boolean {
  return /\/cut-[0-9a-f]{32}\.mp4$/u.test(name);
}

/** Reads every file below a folder that has the final name of a cut, and those of {@link saveDelivered}. */
export async function readCuts(folder: string): Promise<readonly CutFile[]> {
  const all = await readdir(folder, { recursive: true });
  const names = all.filter((name) => isCut(name) || name.startsWith(`${DELIVERED}/`));
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const isWhole = hasWholeBoxes(await readFile(path));
      const pictures = isWhole ? await picturesOf(path).catch(() => null) : null;
      const [, cut = null] = /^(cut-[0-9a-f]{32})\.mp4$/u.exec(basename(name)) ?? [];
      return { path: name, cut, message: cut === null ? basename(name, '.mp4') : null, pictures };
    }),
  );
}

/** Returns whether the boxes of a file add up to its size, with all that a player needs among them. */
export function hasWholeBoxes(file: Buffer): boolean {
  const types = new Set<string>();
  let at = 0;
  while (at + HEADER_BYTES <= file.length) {
    const short = file.readUInt32BE(at);
    // A size of 1 is followed by the real one.
    const size = short === 1 && at + 2 * HEADER_BYTES <= file.length ? Number(file.readBigUInt64BE(at + 8)) : short;
    if (size < HEADER_BYTES) return false;
    types.add(file.toString('latin1', at + 4, at + HEADER_BYTES));
    at += size;
  }
  return at === file.length && ['ftyp', 'moov', 'mdat'].every((type) => types.has(type));
}

async function picturesOf(path: string): Promise<readonly string[]> {
  return (await packetsOf(path, 'v')).map(({ checksum }) => checksum);
}

async function inFolder<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-shots-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
