import { z } from 'zod';

/** The parts of the app manifest that the fake uses. */
export interface Manifest {
  /** Bot scopes that an installation grants. */
  readonly scopes: readonly string[];
  /** Events to which the app is subscribed. */
  readonly events: readonly string[];
  /** Slash commands with their slash; `shouldEscape` if links and mentions in them are escaped. */
  readonly commands: ReadonlyMap<string, { readonly shouldEscape: boolean }>;
  /** Kind of each shortcut by callback id. */
  readonly shortcuts: ReadonlyMap<string, 'message' | 'global'>;
  /** Domains of whose links the app is told. */
  readonly unfurlDomains: readonly string[];
  readonly hasHome: boolean;
  /** True if the app has the assistant pane. */
  readonly hasAssistant: boolean;
  /** True if users can type in their direct messages with the app. */
  readonly hasComposer: boolean;
}

/** @see docs.slack.dev/reference/app-manifest */
const schema = z.looseObject({
  display_information: z.looseObject({ name: z.string().min(1).max(35) }),
  features: z.looseObject({
    app_home: z
      .looseObject({
        home_tab_enabled: z.boolean().default(false),
        messages_tab_enabled: z.boolean().default(false),
        messages_tab_read_only_enabled: z.boolean().default(false),
      })
      .optional(),
    // @see docs.slack.dev/reference/app-manifest: unfurl_domains, "a maximum of 5"
    unfurl_domains: z
      .array(z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/u))
      .max(5)
      .default([]),
    // @see docs.slack.dev/reference/app-manifest: assistant_view
    assistant_view: z.looseObject({ assistant_description: z.string().min(1) }).optional(),
    bot_user: z.looseObject({ display_name: z.string().min(1).max(80) }),
    slash_commands: z
      .array(
        z.looseObject({
          command: z.string().startsWith('/').max(32),
          description: z.string().min(1).max(2000),
          usage_hint: z.string().max(1000).optional(),
          should_escape: z.boolean().default(false),
        }),
      )
      .max(50)
      .default([]),
    shortcuts: z
      .array(
        z.looseObject({
          name: z.string().min(1).max(24),
          callback_id: z.string().min(1).max(255),
          description: z.string().min(1).max(150),
          type: z.enum(['message', 'global']),
        }),
      )
      .max(10)
      .default([]),
  }),
  oauth_config: z.looseObject({ scopes: z.looseObject({ bot: z.array(z.string()).max(255) }) }),
  settings: z.looseObject({
    event_subscriptions: z.looseObject({ bot_events: z.array(z.string()).default([]) }).optional(),
    interactivity: z.looseObject({ is_enabled: z.boolean() }),
  }),
});

/** Parses a manifest. @throws ZodError if Slack would reject the manifest */
export function readManifest(manifest: unknown): Manifest {
  const { features, oauth_config: oauth, settings } = schema.parse(manifest);
  const { app_home: home, assistant_view: assistant } = features;
  return {
    scopes: oauth.scopes.bot,
    events: settings.event_subscriptions?.bot_events ?? [],
    commands: new Map(features.slash_commands.map((one) => [one.command, { shouldEscape: one.should_escape }])),
    shortcuts: new Map(features.shortcuts.map((one) => [one.callback_id, one.type])),
    unfurlDomains: features.unfurl_domains,
    hasHome: home?.home_tab_enabled ?? false,
    hasAssistant: assistant !== undefined,
    hasComposer: home?.messages_tab_enabled === true && !home.messages_tab_read_only_enabled,
  };
}

/** Default manifest: an app that can use every feature of the fake. */
export const MANIFEST: unknown = {
  display_information: { name: 'Dailies' },
  features: {
    app_home: { home_tab_enabled: true, messages_tab_enabled: true },
    bot_user: { display_name: 'dailies' },
    slash_commands: [{ command: '/video', description: 'Makes videos', should_escape: true }],
    shortcuts: [
      { name: 'Animate this', callback_id: 'animate', description: 'Makes a clip', type: 'message' },
      { name: 'New clip', callback_id: 'new_clip', description: 'Makes a clip', type: 'global' },
    ],
  },
  oauth_config: {
    scopes: {
      bot: [
        'commands',
        'chat:write',
        'chat:write.public',
        'files:write',
        'files:read',
        'reactions:read',
        'reactions:write',
        'app_mentions:read',
        'im:history',
        'im:read',
        'im:write',
        'channels:read',
        'channels:join',
        'usergroups:read',
        'users:read',
      ],
    },
  },
  settings: {
    event_subscriptions: {
      bot_events: [
        'app_mention',
        'message.im',
        'reaction_added',
        'app_home_opened',
        'app_uninstalled',
        'tokens_revoked',
        'member_joined_channel',
      ],
    },
    interactivity: { is_enabled: true },
  },
};
