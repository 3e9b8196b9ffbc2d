import manifest from '../manifest.json' with { type: 'json' };

export const BOT_SCOPES: readonly string[] = manifest.oauth_config.scopes.bot;

/**
 * Returns the app's manifest, for creating the app on Slack.
 * @param publicUrl public base URL of the bot's HTTP server, for HTTP mode. `null`: Socket Mode, which needs no URL.
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
