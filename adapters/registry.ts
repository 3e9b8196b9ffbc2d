import { resolve } from 'node:path';
import type { Adapter, AdapterDeps, CheckDeps, ConfiguredPlatform } from '#commands/adapter.ts';
import { retentionOf } from '#src/clips/index.ts';
import type { Config, PlatformConfig } from '#src/config/index.ts';
import { type Check, ok } from '#src/doctor/index.ts';
import { WrongTokens } from '#src/http/index.ts';
import { AuditTrail, TeamSettingsRepository } from '#src/teams/index.ts';
import { type DiscordSettings, discordConfig } from './discord/config.ts';
import { type SlackSettings, slackConfig } from './slack/config.ts';

/** Platform that the configuration may turn on, with its settings as {@link config} returns them. */
interface Entry<Settings = unknown> {
  readonly config: PlatformConfig<Settings>;
  /** Loads the adapter with its SDK, and creates it. */
  open(settings: Settings, deps: AdapterDeps): Promise<Adapter>;
  /** Returns the checks of the settings, for `npm run doctor`. */
  checks(settings: Settings, deps: CheckDeps): Promise<readonly Check[]>;
}

/** The platforms besides the playground: a new one adds its entry here. */
const ENTRIES: readonly Entry[] = [
  {
    config: discordConfig,
    open: async (settings, deps) => (await import('./discord/index.ts')).openDiscord(settings, deps),
    checks: async (settings, deps) => (await import('./discord/diagnosis.ts')).discordChecks(settings, deps),
  } satisfies Entry<DiscordSettings>,
  {
    config: slackConfig,
    open: async (settings, deps) => (await import('./slack/index.ts')).openSlack(settings, deps),
    checks: async (settings, deps) => (await import('./slack/diagnosis.ts')).slackChecks(settings, deps),
  } satisfies Entry<SlackSettings>,
];

/** Configurations of the platforms, for `readConfig`. */
export const PLATFORM_CONFIGS: readonly PlatformConfig[] = ENTRIES.map(({ config }) => config);

/** Returns the platforms that are turned on. Their SDKs are loaded when they are opened. */
export function configuredPlatforms({ playground, platforms }: Config): readonly ConfiguredPlatform[] {
  const enabled = ENTRIES.filter(({ config }) => config.name in platforms);
  return [
    ...(playground.isOn ? [PLAYGROUND] : []),
    ...enabled.map((entry) => {
      const { name, title } = entry.config;
      return {
        name,
        title,
        open: (deps: AdapterDeps) => entry.open(platforms[name], deps),
        checks: (deps: CheckDeps) => entry.checks(platforms[name], deps),
      };
    }),
  ];
}

const PLAYGROUND: ConfiguredPlatform = {
  name: 'playground',
  title: 'Playground',
  async checks({ config: { playground, http } }) {
    const access = playground.accessToken === undefined ? 'without a token, for this machine alone' : 'with a token';
    const found = `on, at port ${http.port}, ${access}`;
    return [{ subject: 'Chat page', run: () => ok(found) }];
  },
  async open({ config, countWrongToken: counted, ...deps }) {
    const { createPlayground } = await import('./playground/index.ts');
    const { TEAM: team } = await import('./playground/schema.ts');
    const settings = new TeamSettingsRepository(deps.store, new AuditTrail(deps.store, deps.clock));
    return createPlayground({
      ...deps,
      dataDir: resolve(config.dataDir),
      host: config.http.host,
      publicUrl: config.links === undefined ? null : new URL(config.links.publicUrl),
      accessToken: config.playground.accessToken ?? null,
      promptsKeptMs: async () => {
        const own = await settings.get({ platform: 'playground', team });
        return retentionOf(config.retention, own, deps.clock.now()).promptsMs;
      },
      wrongTokens: new WrongTokens({ ...deps, entrance: 'playground', counted }),
      isEmbeddedService: config.videoService === undefined,
    });
  },
};
