import { resolve } from 'node:path';
import type { Adapter, AdapterDeps, ConfiguredPlatform } from '#commands/adapter.ts';
import type { Config } from '#src/config/config.ts';
import type { PlatformConfig } from '#src/config/platform-config.ts';
import { WrongTokens } from '#src/http/access-tokens.ts';
import { discordConfig } from './discord/config.ts';
import { slackConfig } from './slack/config.ts';

/** Platform that the configuration may turn on. */
interface Entry {
  readonly config: PlatformConfig;
  /** Loads the adapter with its SDK, and creates it. @param settings as the entry's `config` returned them. */
  readonly open: (settings: unknown, deps: AdapterDeps) => Promise<Adapter>;
}

/** The platforms besides the playground: a new one adds its line here. */
const ENTRIES: readonly Entry[] = [
  entryOf(discordConfig, async (settings, deps) => (await import('./discord/index.ts')).openDiscord(settings, deps)),
  entryOf(slackConfig, async (settings, deps) => (await import('./slack/index.ts')).openSlack(settings, deps)),
];

/** Configurations of the platforms, for `readConfig`. */
export const PLATFORM_CONFIGS: readonly PlatformConfig[] = ENTRIES.map(({ config }) => config);

/** Returns the platforms that are turned on. Their SDKs are loaded when they are opened. */
export function configuredPlatforms({ playground, platforms }: Config): readonly ConfiguredPlatform[] {
  const enabled = ENTRIES.filter(({ config }) => config.name in platforms);
  return [
    ...(playground.isOn ? [PLAYGROUND] : []),
    ...enabled.map(({ config: { name, title }, open }) => ({
      name,
      title,
      open: (deps: AdapterDeps) => open(platforms[name], deps),
    })),
  ];
}

function entryOf<Settings>(
  config: PlatformConfig<Settings>,
  open: (settings: Settings, deps: AdapterDeps) => Promise<Adapter> | Adapter,
): Entry {
  return { config, open: async (settings, deps) => open(settings as Settings, deps) };
}

const PLAYGROUND: ConfiguredPlatform = {
  name: 'playground',
  title: 'Playground',
  async open({ config, countWrongToken: counted, ...deps }) {
    const { createPlayground } = await import('./playground/index.ts');
    return createPlayground({
      ...deps,
      dataDir: resolve(config.dataDir),
      host: config.http.host,
      publicUrl: config.links === undefined ? null : new URL(config.links.publicUrl),
      accessToken: config.playground.accessToken ?? null,
      wrongTokens: new WrongTokens({ ...deps, entrance: 'playground', counted }),
      isEmbeddedService: config.videoService === undefined,
    });
  },
};
