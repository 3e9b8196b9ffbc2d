import { environmentSource, loadEnvFile } from '../env-file.ts';
import { isOnTerminal, type Logger } from '../logger.ts';
import { findFfmpeg } from '../media/index.ts';
import { sandboxCatalog } from '../sandbox/index.ts';
import {
  type Catalog,
  InvalidFileError,
  parseCatalog,
  readCatalog,
  readServices,
  type ServiceConfig,
} from '../videos/index.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { PlatformConfig } from './platform-config.ts';

/** The configuration, with the contents of the files it names. */
export interface Settings {
  readonly config: Config;
  readonly catalog: Catalog;
  /** The service of the environment, and those of the services file. Empty: the embedded sandbox. */
  readonly services: readonly ServiceConfig[];
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
  const { MODEL_CATALOG: path, SERVICES: servicesPath, FFMPEG_PATH: configured, PATH = '' } = process.env;
  const note = (name: string) => (thrown: unknown) => {
    if (!(thrown instanceof ConfigError || thrown instanceof InvalidFileError)) throw thrown;
    problems.push(...thrown.problems.map((problem) => `${name}${problem}`));
  };
  const config = await Promise.try(() => readConfig(process.env, platforms)).catch(note(''));
  const isGiven = path !== undefined && path.trim() !== '';
  const catalog = await (isGiven ? readCatalog(path) : Promise.try(parseCatalog, sandboxCatalog)).catch(
    note('MODEL_CATALOG: '),
  );
  const named = await (servicesPath === undefined || servicesPath.trim() === ''
    ? []
    : readServices(servicesPath, process.env).catch(note('SERVICES: ')));
  const ffmpegPath = configured?.trim() === '' ? undefined : configured;
  const ffmpeg = await findFfmpeg(ffmpegPath, PATH);
  if (ffmpegPath !== undefined && ffmpeg === null) {
    problems.push(`FFMPEG_PATH: ${JSON.stringify(ffmpegPath)} is not allowed; it takes a program that can be run`);
  }
  if (config !== undefined && catalog !== undefined) problems.push(...uselessBudget(config, catalog));
  const services = named === undefined ? undefined : [...(config?.videoService ? [config.videoService] : []), ...named];
  if (catalog !== undefined && services !== undefined)
    problems.push(...unknownServices(services, catalog).map((problem) => `MODEL_CATALOG: ${problem}`));
  const isValid = config !== undefined && catalog !== undefined && services !== undefined && problems.length === 0;
  const settings = isValid ? { config, catalog: withOnlyService(catalog, services), services, ffmpeg } : null;
  return { settings, problems };
}

/** Finds models of services that are not configured, and models without one where several are. */
function unknownServices(services: readonly ServiceConfig[], { models }: Catalog): readonly string[] {
  const names = services.flatMap(({ name }) => name ?? []);
  const hasUnnamed = services.length < 2 || names.length < services.length;
  const known = names.length === 0 ? 'SERVICES names none' : `SERVICES names ${names.join(', ')}`;
  return models.flatMap(({ name, service }, index) => {
    if (service === undefined) return hasUnnamed ? [] : [`models[${index}].service: is missing; ${known} (${name})`];
    return names.includes(service)
      ? []
      : [`models[${index}].service: no service is called ${JSON.stringify(service)}; ${known}`];
  });
}

/** Names the only service in the models that name none: what is ordered of them stays with it when another one comes. */
function withOnlyService(catalog: Catalog, services: readonly ServiceConfig[]): Catalog {
  const [only, other] = services;
  const service = only?.name;
  if (service === undefined || other !== undefined) return catalog;
  const models = catalog.models.map((model) => ({ service, ...model }));
  const defaultModel = models[catalog.models.indexOf(catalog.defaultModel)] ?? { service, ...catalog.defaultModel };
  return { ...catalog, models, defaultModel };
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

/** The files of the settings, as they were read last. */
export interface Followed {
  readonly catalog: () => Catalog;
  readonly services: () => readonly ServiceConfig[];
}

/**
 * Returns getters of the catalog and the services, which are reloaded on every SIGHUP; what is invalid is rejected, and the
 * old one stays. Without such a file, or on a terminal, SIGHUP is not handled: there it means that the terminal was closed.
 */
export function followFiles({ config, ...first }: Settings, logger: Logger): Followed {
  let { catalog, services } = first;
  const { modelCatalog, servicesFile, videoService } = config;
  const reload = async (): Promise<void> => {
    const [readNow, named] = await Promise.all([
      modelCatalog === undefined ? catalog : readCatalog(modelCatalog),
      servicesFile === undefined ? [] : readServices(servicesFile, process.env),
    ]);
    const next = servicesFile === undefined ? services : [...(videoService ? [videoService] : []), ...named];
    const namesOf = (all: readonly ServiceConfig[]): string => all.map(({ name = '' }) => name).join(', ');
    if (namesOf(next) !== namesOf(services))
      throw new InvalidFileError('services', [
        `services: a service that comes or goes needs a restart (${namesOf(next)})`,
      ]);
    const unknown = unknownServices(next, readNow);
    if (unknown.length > 0) throw new InvalidFileError('model catalog', unknown);
    [catalog, services] = [withOnlyService(readNow, next), next];
  };
  let reloaded = Promise.resolve();
  if (isReloadable(config))
    process.on('SIGHUP', () => {
      // One after the other: the files as they were earlier must not win.
      reloaded = reloaded.then(reload).then(
        () =>
          logger.info(
            { event: 'catalog_reloaded', models: catalog.models.length, services: services.length },
            'reloaded the catalog and services',
          ),
        (thrown: unknown) =>
          logger.error({ event: 'catalog_reload_failed', err: thrown }, 'failed to reload the catalog and services'),
      );
    });
  return { catalog: () => catalog, services: () => services };
}

/** Returns whether SIGHUP reloads files, rather than stop the bot. */
export function isReloadable({ modelCatalog, servicesFile }: Pick<Config, 'modelCatalog' | 'servicesFile'>): boolean {
  return (modelCatalog !== undefined || servicesFile !== undefined) && !isOnTerminal();
}
