import { lookup } from 'node:dns';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Settings, SettingsRead } from '../config/index.ts';
import { addressesOf } from '../videos/index.ts';
import { ClockSkew } from './clock-skew.ts';
import { checkAdmins, checkCatalog, checkEnvironment, type Environment } from './configuration.ts';
import { type Check, type Diagnosis, ok, runChecks, warning, withoutSecrets } from './diagnosis.ts';
import { checkEnhancer } from './enhancer.ts';
import { checkDataFolder, checkFfmpeg } from './machine.ts';
import { checkReachability, fetchCertificate, type Network, needingPublicUrl } from './reachability.ts';
import { checkStorage } from './storage.ts';
import { checkStore } from './store.ts';
import { videoServiceChecks } from './video-service.ts';

/** Dependencies of {@link examine}. */
interface ExamineDeps extends Omit<Environment, 'problems'> {
  /** Returns the checks of the platforms that are turned on. */
  readonly platformChecks: (settings: Settings) => Promise<readonly Check[]>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Runs all checks. With an invalid configuration, only those that need none. */
export async function examine({ settings, problems }: SettingsRead, deps: ExamineDeps): Promise<readonly Diagnosis[]> {
  const first: readonly Check[] = [
    // Its start has checked it.
    { subject: 'Node', run: () => ok(`${process.versions.node} on ${process.platform} ${process.arch}`) },
    { subject: 'Configuration', run: () => checkEnvironment({ ...deps, problems }) },
    ...(settings === null ? [NOT_CHECKED] : []),
  ];
  const found = await runChecks(first, deps.clock);
  const more = settings === null ? [] : await examineSettings(settings, deps);
  return withoutSecrets([...found, ...more], deps.given);
}

const NOT_CHECKED: Check = {
  subject: 'Everything else',
  run: () =>
    warning('not checked, since it depends on the configuration', 'Correct the configuration, then run this again.'),
};

async function examineSettings(settings: Settings, deps: ExamineDeps): Promise<readonly Diagnosis[]> {
  const { config, catalog, services, ffmpeg } = settings;
  const { clock } = deps;
  const skew = new ClockSkew(clock, ownOrigins(settings));
  const found = await runChecks(
    [
      { subject: 'Model catalog', run: () => checkCatalog(config, catalog) },
      ...videoServiceChecks(services, { ...deps, catalog }),
      { subject: 'Enhancer', run: () => checkEnhancer(config, deps) },
      ...(await deps.platformChecks(settings)),
      { subject: 'ADMINS', run: () => checkAdmins(config) },
      { subject: 'Store', run: () => checkStore(config.storeUrl, deps) },
      { subject: 'Data folder', run: () => checkDataFolder(config) },
      { subject: 'Bucket', run: () => checkStorage(config.media, clock) },
      { subject: 'ffmpeg', run: () => checkFfmpeg(ffmpeg) },
      {
        subject: 'PUBLIC_URL',
        run: () => checkReachability(config, needingPublicUrl(catalog, services), systemNetwork(clock)),
      },
    ],
    clock,
  );
  return [...found, ...(await runChecks([{ subject: 'Clock', run: () => skew.result() }], clock))];
}

function ownOrigins({ config }: Settings): readonly string[] {
  const { http, links } = config;
  const local = ['127.0.0.1', 'localhost', '[::1]', http.host].map((host) => `http://${host}:${http.port}`);
  return links === undefined ? local : [...local, new URL(links.publicUrl).origin];
}

function systemNetwork(clock: Clock): Network {
  return {
    fetch,
    lookup: (host) => addressesOf(host, lookup),
    certificateOf: fetchCertificate,
    now: () => clock.now(),
  };
}
