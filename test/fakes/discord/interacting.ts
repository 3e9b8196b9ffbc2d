import { randomBytes } from 'node:crypto';
import { bits, type Permission } from './permissions.ts';
import type { Channel, Interaction } from './records.ts';
import type { Json } from './refusal.ts';
import { ANSWER_WITHIN_MS } from './tokens.ts';
import { channelJson, memberJson, userJson } from './wire.ts';
import type { World } from './world.ts';

/** @see discord docs: interactions/receiving-and-responding, "Interaction Type" */
const TYPES = { command: 2, component: 3, autocomplete: 4, modal: 5 } as const;

/** The acting user, the channel and further fields of the interaction. */
export interface Circumstances {
  /** A user's id. Default: alice. */
  readonly user?: string;
  /** A channel's id. Default: `general`; for actions on a message, the message's channel. */
  readonly channel?: string;
  /** Permissions of the user in addition to {@link EVERYBODY}. Default: none. */
  readonly permissions?: readonly Permission[];
  /** `attachment_size_limit`. Default: the bot's own limit. */
  readonly attachmentSizeLimit?: number;
  /** Locale of the user. Default `en-US`. */
  readonly locale?: string;
  /** Fields to omit from the interaction, as older servers omit them. Default none. */
  readonly without?: readonly string[];
}

/** Parameters of an interaction. */
export interface Deed {
  readonly kind: Interaction['kind'];
  readonly userId: string;
  readonly channelId: string;
  readonly data: Json;
  readonly sourceId?: string | null;
  /** The message of {@link Deed.sourceId}, as sent to the bot. */
  readonly message?: Json;
  readonly circumstances: Circumstances;
}

/** Permissions of every user; those of `permissions` in {@link Circumstances} are added. */
export const EVERYBODY: readonly Permission[] = [
  'VIEW_CHANNEL',
  'SEND_MESSAGES',
  'ADD_REACTIONS',
  'USE_APPLICATION_COMMANDS',
];

/**
 * Creates an interaction and sends it to the bot. Records a violation if a connected bot does not respond within three
 * seconds.
 */
export function interact(world: World, { kind, userId, channelId, data, circumstances, ...rest }: Deed): Interaction {
  const channel = world.channel(channelId);
  if (!world.isSeenBy(userId, channel)) throw new Error(`The person does not see channel ${channelId}.`);
  const id = world.freshId();
  const token = Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url');
  const maxFileBytes = circumstances.attachmentSizeLimit ?? world.maxFileBytes;
  const isUserInstall = !channel.isBotHere;
  const user = userJson(world.user(userId));
  const may = bits([...EVERYBODY, ...(circumstances.permissions ?? [])]);
  const guild = channel.guildId === null ? {} : { guild: { id: channel.guildId, locale: 'en-US', features: [] } };
  const full: Json = {
    id,
    application_id: world.applicationId,
    type: TYPES[kind],
    token,
    version: 1,
    data,
    channel_id: channel.id,
    channel: { ...channelJson(world, channel), ...(channel.guildId === null ? {} : { permissions: may }) },
    app_permissions: bits(world.allowedIn(channel)),
    locale: circumstances.locale ?? 'en-US',
    entitlements: [],
    attachment_size_limit: maxFileBytes,
    authorizing_integration_owners: owners(channel, userId),
    context: channel.guildId !== null ? 0 : channel.kind === 'dm' ? 1 : 2,
    ...guild,
    ...(channel.guildId === null
      ? { user }
      : { guild_id: channel.guildId, guild_locale: 'en-US', member: memberJson(world.user(userId), may) }),
    ...(rest.message === undefined ? {} : { message: rest.message }),
  };
  const omitted = new Set(circumstances.without);
  const payload: Json = Object.fromEntries(Object.entries(full).filter(([field]) => !omitted.has(field)));
  const interaction: Interaction = {
    id,
    token,
    kind,
    userId,
    channelId: channel.id,
    createdMs: world.clock.now(),
    maxFileBytes,
    isUserInstall,
    sourceId: rest.sourceId ?? null,
    payload,
    isDelivered: false,
    answer: null,
    originalId: null,
    followupIds: [],
    isExpired: false,
    usesAfterExpiry: 0,
  };
  world.interactions.set(id, interaction);
  interaction.isDelivered = world.dispatch('INTERACTION_CREATE', payload) > 0;
  world.clock.after(ANSWER_WITHIN_MS + 1, () => {
    if (interaction.isDelivered && interaction.answer === null) {
      world.violate(`no answer to ${kind} ${id} within ${ANSWER_WITHIN_MS} ms`);
    }
    world.changed();
  });
  return interaction;
}

/** @see discord docs: interactions/receiving-and-responding, "Authorizing Integration Owners Object" */
function owners({ isBotHere, guildId }: Channel, userId: string): Json {
  if (!isBotHere) return { 1: userId };
  return { 0: guildId ?? '0' };
}
