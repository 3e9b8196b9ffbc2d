import manifest from '../manifest.json' with { type: 'json' };

/** Scopes for previews of the bot's own links. */
const LINK_SCOPES = ['links:read', 'links:write'] as const;

/** Returns the domain of the bot's own links, of which Slack can tell it; `null` without one, such as for an IP address. */
function domainOf(publicUrl: string | null | undefined): string | null {
  const { hostname = '' } = URL.parse(publicUrl ?? '') ?? {};
  return /\.[a-z][a-z0-9-]+$/u.test(hostname) ? hostname : null;
}

/** Returns the scopes of the manifest. @param publicUrl as for {@link slackManifest} */
export function botScopes(publicUrl: string | null | undefined): readonly string[] {
  const { bot } = manifest.oauth_config.scopes;
  return domainOf(publicUrl) === null ? bot : [...bot, ...LINK_SCOPES].toSorted();
}

/**
 * Returns the app's manifest, for creating the app on Slack.
 * @param publicUrl public base URL of the bot's HTTP server, which HTTP mode needs, and previews of its links. `null`: none.
 * @param mode default: HTTP mode where there is a URL.
 * @see https://docs.slack.dev/reference/app-manifest
 */
export function slackManifest(
  publicUrl: string | null,
  mode: 'socket' | 'http' = publicUrl === null ? 'socket' : 'http',
): object {
  const domain = domainOf(publicUrl);
  const { features, settings, oauth_config: oauth } = manifest;
  const { bot_events: events } = settings.event_subscriptions;
  const app = {
    ...manifest,
    features: { ...features, ...(domain === null ? {} : { unfurl_domains: [domain] }) },
    oauth_config: { ...oauth, scopes: { bot: botScopes(publicUrl) } },
    settings: {
      ...settings,
      event_subscriptions: { bot_events: domain === null ? events : [...events, 'link_shared'].toSorted() },
    },
  };
  if (mode === 'socket' || publicUrl === null) return app;
  const url = `${publicUrl.replace(/\/+$/, '')}/slack/events`;
  return {
    ...app,
    features: { ...app.features, slash_commands: features.slash_commands.map((command) => ({ ...command, url })) },
    oauth_config: { ...app.oauth_config, redirect_urls: [url.replace(/events$/, 'oauth_redirect')] },
    settings: {
      ...app.settings,
      event_subscriptions: { ...app.settings.event_subscriptions, request_url: url },
      interactivity: { ...settings.interactivity, request_url: url },
      socket_mode_enabled: false,
    },
  };
}
