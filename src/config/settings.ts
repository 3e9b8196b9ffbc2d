import { environmentSource, loadEnvFile } from '../env-file.ts';
import { isOnTerminal, type Logger } from '../logger.ts';
import { findFfmpeg } from '../media/index.ts';
import { sandboxCatalog } from '../sandbox/index.ts';
import { type Catalog, CatalogError, parseCatalog, readCatalog } from '../videos/index.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { PlatformConfig } from './platform-config.ts';

/** The configuration, with the contents of the files it names. */
export interface Settings {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly ffmpeg: string | null;
}

/** Result of {@link readSettings}: `settings` is `null` where there is a problem. */
export interface SettingsRead {
  readonly settings: Settings | null;
  /** Sentences about everything that is invalid. */
  readonly problems: readonly string[];
}

/**
 * Reads the environment, `.env` of the working directory if it exists (the environment takes precedence), and the
 * configured files.
 */
export async function readSettings(platforms: readonly PlatformConfig[]): Promise<SettingsRead> {
  const problems = loadEnvFile();
  const { MODEL_CATALOG: path, FFMPEG_PATH: configured, PATH = '' } = process.env;
  const note = (name: string) => (thrown: unknown) => {
    if (!(thrown instanceof ConfigError) && !(thrown instanceof CatalogError)) throw thrown;
    problems.push(...thrown.problems.map((problem) => `${name}${problem}`));
  };
  const config = await Promise.try(() => readConfig(process.env, platforms)).catch(note(''));
  const isGiven = path !== undefined && path.trim() !== '';
  const catalog = await (isGiven ? readCatalog(path) : Promise.try(parseCatalog, sandboxCatalog)).catch(
    note('MODEL_CATALOG: '),
  );
  const ffmpegPath = configured?.trim() === '' ? undefined : configured;
  const ffmpeg = await findFfmpeg(ffmpegPath, PATH);
  if (ffmpegPath !== undefined && ffmpeg === null) {
    problems.push(`FFMPEG_PATH: ${JSON.stringify(ffmpegPath)} is not allowed; it takes a program that can be run`);
  }
  if (config !== undefined && catalog !== undefined) problems.push(...uselessBudget(config, catalog));
  const isValid = config !== undefined && catalog !== undefined && problems.length === 0;
  return { settings: isValid ? { config, catalog, ffmpeg } : null, problems };
}

/**
 * Reads the settings as {@link readSettings} does. If anything is invalid, prints all problems at once and exits,
 * before anything is connected.
 */
export async function readSettingsOrExit(platforms: readonly PlatformConfig[]): Promise<Settings> {
  const { settings, problems } = await readSettings(platforms);
  if (settings !== null) return settings;
  const list = problems.map((problem) => `  ${problem}\n`).join('');
  process.stderr.write(`Dailies cannot start with this configuration (read from ${environmentSource()}):\n${list}`);
  process.exit(1);
}

/** Finds a budget in currencies of no model: amounts are never converted, so it would refuse every order. */
function uselessBudget({ budgetPerMonth }: Config, { models }: Catalog): readonly string[] {
  const currencies = Object.keys(budgetPerMonth);
  if (currencies.length === 0 || models.some(({ currency }) => currencies.includes(currency))) return [];
  const billed = [...new Set(models.map(({ currency }) => currency))].join(', ');
  return [`BUDGET_PER_MONTH: no model is billed in ${currencies.join(', ')}; the models use ${billed}`];
}

/**
 * Returns a getter of the catalog, which is reloaded on every SIGHUP; an invalid one is rejected and the old one stays.
 * Without a catalog file, or on a terminal, SIGHUP is not handled: there it means that the terminal was closed.
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
        logger.info({ event: 'catalog_reloaded', models: read.models.length }, 'reloaded the model catalog');
      },
      (thrown: unknown) =>
        logger.error({ event: 'catalog_reload_failed', err: thrown }, 'failed to reload the model catalog'),
    );
  });
  return () => catalog;
}
