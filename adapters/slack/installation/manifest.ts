import manifest from '../manifest.json' with { type: 'json' };

/** The rights that an installation asks for. */
export const BOT_SCOPES: readonly string[] = manifest.oauth_config.scopes.bot;

/**
 * The app's manifest, to paste where an app is created on Slack.
 * @param publicUrl how the bot's HTTP server is reached from outside: the variant for HTTP mode. `null`: for Socket
 *   Mode, which needs no address.
 * @see https://docs.slack.dev/reference/app-manifest
 */
export function slackManifest(publicUrl: string | null): object {
  if (publicUrl === null) return manifest;
  const url = `${publicUrl.replace(/\/+$/, '')}/slack/events`;
  const { features, settings, oauth_config: oauth } = manifest;
  return {
    ...manifest,
    features: { ...features, slash_commands: features.slash_commands.map((command) => ({ ...command, url })) },
    oauth_config: { ...oauth, redirect_urls: [url.replace(/events$/, 'oauth_redirect')] },
    settings: {
      ...settings,
      event_subscriptions: { ...settings.event_subscriptions, request_url: url },
      interactivity: { ...settings.interactivity, request_url: url },
      socket_mode_enabled: false,
    },
  };
}
