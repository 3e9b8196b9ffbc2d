import { resolve } from 'node:path';
import type { ConfiguredPlatform } from '#commands/adapter.ts';
import type { Config } from '#src/config/config.ts';
import { WrongTokens } from '#src/http/wrong-tokens.ts';

/** Returns the platforms that are turned on. Their SDKs are loaded when they are opened. */
export function configuredPlatforms({ playground, discord, slack }: Config): readonly ConfiguredPlatform[] {
  return [
    ...(playground.isOn ? [PLAYGROUND] : []),
    ...(discord === undefined ? [] : [discordOf(discord)]),
    ...(slack === undefined ? [] : [slackOf(slack)]),
  ];
}

const PLAYGROUND: ConfiguredPlatform = {
  name: 'playground',
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

function discordOf(settings: NonNullable<Config['discord']>): ConfiguredPlatform {
  return {
    name: 'discord',
    async open({ config, ...deps }) {
      const { createDiscord } = await import('./discord/index.ts');
      const reachable = (task: Parameters<typeof deps.reachable>[0]) => deps.reachable(task, 'discord');
      return createDiscord({ ...deps, ...settings, access: config.access, reachable });
    },
  };
}

function slackOf(settings: NonNullable<Config['slack']>): ConfiguredPlatform {
  return {
    name: 'slack',
    async open({ config, ...deps }) {
      const { createSlack } = await import('./slack/index.ts');
      return createSlack({ ...deps, ...settings, access: config.access, publicUrl: config.links?.publicUrl });
    },
  };
}
