import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { isOnTerminal, type Logger } from '../logger.ts';
import { findFfmpeg } from '../media/ffmpeg.ts';
import { sandboxCatalog } from '../sandbox/catalog.ts';
import { CatalogError, parseCatalog, readCatalog } from '../videos/catalog.ts';
import type { Catalog } from '../videos/model.ts';
import { ENV_FILE, loadEnvFile } from './env-file.ts';

/** What was configured, and what its files say. */
export interface Settings {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly ffmpeg: string | null;
}

/**
 * Reads `.env` of the working directory, if there is one (what the environment says itself comes first), and the files
 * that are configured. Lists everything that is wrong at once and ends the process, before anything is connected.
 */
export async function readSettingsOrExit(): Promise<Settings> {
  const problems = loadEnvFile();
  const { MODEL_CATALOG: path, FFMPEG_PATH: configured, PATH = '' } = process.env;
  const note = (name: string) => (thrown: unknown) => {
    if (!(thrown instanceof ConfigError) && !(thrown instanceof CatalogError)) throw thrown;
    problems.push(...thrown.problems.map((problem) => `${name}${problem}`));
  };
  const config = await Promise.try(() => readConfig(process.env)).catch(note(''));
  const isGiven = path !== undefined && path.trim() !== '';
  const catalog = await (isGiven ? readCatalog(path) : Promise.try(parseCatalog, sandboxCatalog)).catch(
    note('MODEL_CATALOG: '),
  );
  const wanted = configured?.trim() === '' ? undefined : configured;
  const ffmpeg = await findFfmpeg(wanted, PATH);
  if (wanted !== undefined && ffmpeg === null) {
    problems.push(`FFMPEG_PATH: ${JSON.stringify(wanted)} is not allowed; it takes a program that can be run`);
  }
  if (config !== undefined && catalog !== undefined && problems.length === 0) return { config, catalog, ffmpeg };
  const list = problems.map((problem) => `  ${problem}\n`).join('');
  const from = existsSync(ENV_FILE) ? `the environment and ${resolve(ENV_FILE)}` : 'the environment';
  process.stderr.write(`Dailies cannot start with this configuration (read from ${from}):\n${list}`);
  process.exit(1);
}

/**
 * The catalog, read again at every SIGHUP; a wrong one is refused then and the old one stays. Without a file to read, or on
 * a terminal, SIGHUP is left alone: it means there that the terminal was closed.
 */
export function followCatalog(
  { config: { modelCatalog: path }, catalog: first }: Settings,
  logger: Logger,
): () => Catalog {
  let catalog = first;
  if (path === undefined || isOnTerminal()) return () => first;
  process.on('SIGHUP', () => {
    readCatalog(path).then(
      (read) => {
        catalog = read;
        logger.info({ models: read.models.length }, 'the model catalog was read again');
      },
      (thrown: unknown) => logger.error({ err: thrown }, 'the new model catalog is wrong; the old one stays'),
    );
  });
  return () => catalog;
}
