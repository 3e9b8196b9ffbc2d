import { execFile } from 'node:child_process';
import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { dataLimit } from '../clips/index.ts';
import type { Config } from '../config/index.ts';
import { CHECK_TIMEOUT_MS, type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

const run = promisify(execFile);

const GIB = 1024 ** 3;
/** Free space below which new clips soon fail. */
const LITTLE_BYTES = GIB;
/** Free space below which a single clip may fail. */
const NEXT_TO_NONE_BYTES = GIB / 8;
const NOT_THERE = 'not there yet; the first start creates it';
/** Share of the limit from which on an operator should know. */
const NEARLY_FULL = 0.8;
/** Encoders with which clips are fitted into an upload limit. */
const ENCODERS = ['libx264', 'aac'] as const;

/** Checks the data folder: whether files can be written there, the free space, and what takes up how much. */
export async function checkDataFolder(
  config: Pick<Config, 'dataDir' | 'retention' | 'maxDataBytes'>,
): Promise<Findings> {
  const folder = resolve(config.dataDir);
  const existing = await nearestFolder(folder);
  const isThere = existing === folder;
  const writable = await Promise.all(
    [existing, ...(isThere ? await foldersIn(folder) : [])].map(async (path) =>
      (await isWritable(path)) ? [] : [path],
    ),
  );
  const closed = writable.flat();
  const { bavail, bsize } = await statfs(existing);
  const freeBytes = bavail * bsize;
  const { total, sizes } = isThere ? await sizesIn(folder) : { total: 0, sizes: NOT_THERE };
  const place = `${folder} (${sizes})`;
  return [
    closed.length === 0
      ? ok(place)
      : wrong(
          `this user may not write to ${closed.join(', ')}`,
          'Give the user that runs Dailies the right to (chown), or mount it for writing.',
        ),
    space(freeBytes),
    bounds(config, { total, freeBytes }),
  ];
}

/** Describes how long clips and prompts are kept, and how much of the limit of the data folder is used. */
function bounds(
  config: Pick<Config, 'dataDir' | 'retention' | 'maxDataBytes'>,
  { total, freeBytes }: { readonly total: number; readonly freeBytes: number },
): Finding {
  const { clipsDays, promptsDays } = config.retention;
  const days = (count: number): string => (count === 0 ? 'for good' : `for ${count} day(s)`);
  const clips = clipsDays === 0 ? promptsDays : promptsDays === 0 ? clipsDays : Math.min(clipsDays, promptsDays);
  const kept = `clips are kept ${days(clips)}, prompts ${days(promptsDays)}, or as a team sets for less`;
  const subject = 'Retention';
  const limit = dataLimit(config);
  if (limit === null) return ok(`${kept}; the data folder has no limit`, subject);
  const name = config.maxDataBytes === null ? '80 % of the disk' : 'MAX_DATA_BYTES';
  const used = `${Math.floor((100 * total) / limit)} % of ${name} (${formatBytes(limit)}) are used`;
  const found = `${kept}; ${used}`;
  const fix = 'Set KEEP_CLIPS_DAYS to fewer days, or raise MAX_DATA_BYTES.';
  if (total >= limit) return wrong(`${found}: no orders are taken`, fix, subject);
  if (total >= NEARLY_FULL * limit) return warning(found, fix, subject);
  if (config.maxDataBytes === null || limit <= total + freeBytes) return ok(found, subject);
  const beyond = `MAX_DATA_BYTES (${formatBytes(limit)}) is more than the disk has, so the disk is full first`;
  return warning(beyond, `Set it to less than ${formatBytes(total + freeBytes)}.`, subject);
}

function space(freeBytes: number): Finding {
  const free = `${formatBytes(freeBytes)} free`;
  const fix = 'Free space, move the data folder to a larger disk, or set KEEP_CLIPS_DAYS and MAX_DATA_BYTES.';
  if (freeBytes < NEXT_TO_NONE_BYTES) return wrong(free, fix, 'Disk');
  return freeBytes < LITTLE_BYTES ? warning(free, fix, 'Disk') : ok(free, 'Disk');
}

/** Returns the folder itself, or the nearest existing one around it. */
async function nearestFolder(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder || dirname(path) === path ? path : nearestFolder(dirname(path));
}

async function foldersIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Describes a folder: its total size, and that of each folder in it. */
async function sizesIn(folder: string): Promise<{ readonly total: number; readonly sizes: string }> {
  const untilMs = performance.now() + CHECK_TIMEOUT_MS / 2;
  const parts: string[] = [];
  let total = await filesBytes(folder, false, untilMs);
  for (const path of await foldersIn(folder)) {
    const bytes = await filesBytes(path, true, untilMs);
    total += bytes;
    parts.push(`${path.slice(folder.length + 1)} ${formatBytes(bytes)}`);
  }
  const least = performance.now() > untilMs ? 'at least ' : '';
  return { total, sizes: [`${least}${formatBytes(total)}`, ...parts].join(', ') };
}

/** Adds up the sizes of files until the time is up. */
async function filesBytes(folder: string, isDeep: boolean, untilMs: number): Promise<number> {
  let bytes = 0;
  // A file may be deleted, or a folder be closed to this user.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (performance.now() > untilMs) break;
    const path = join(folder, entry.name);
    if (entry.isFile()) bytes += (await stat(path).catch(() => null))?.size ?? 0;
    else if (isDeep && entry.isDirectory()) bytes += await filesBytes(path, true, untilMs);
  }
  return bytes;
}

/** Formats a size, such as `1.4 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/** Checks the ffmpeg that fits clips into upload limits. @param path `null`: none was found. */
export async function checkFfmpeg(path: string | null): Promise<Findings> {
  const install = 'Install ffmpeg with libx264, or set FFMPEG_PATH.';
  const without =
    'a clip above the platform’s upload limit is linked (with PUBLIC_URL) instead of attached as a smaller copy';
  if (path === null) return warning(`none on PATH: ${without}`, install);
  const options = { timeout: CHECK_TIMEOUT_MS - 1_000 };
  try {
    const [{ stdout: version }, { stdout: encoders }] = await Promise.all([
      run(path, ['-hide_banner', '-version'], options),
      run(path, ['-hide_banner', '-encoders'], options),
    ]);
    const [line = ''] = version.split('\n');
    const missing = ENCODERS.filter((name) => !new RegExp(`^\\s*\\S+\\s+${name}\\s`, 'm').test(encoders));
    const found = `${path}, ${/version \S+/.exec(line)?.[0] ?? line}`;
    if (missing.length === 0) return ok(`${found}, with ${ENCODERS.join(' and ')}`);
    return wrong(`${found}, lacks the encoder ${missing.join(' and ')}: ${without}`, install);
  } catch (thrown) {
    const reason = thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
    return wrong(`${path} does not run: ${reason}`, install);
  }
}
