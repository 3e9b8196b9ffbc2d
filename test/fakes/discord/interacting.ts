import { randomBytes } from 'node:crypto';
import { bits, type Permission } from './permissions.ts';
import type { Channel, Interaction } from './records.ts';
import type { Json } from './refusal.ts';
import { ANSWER_WITHIN_MS } from './tokens.ts';
import { channelJson, memberJson, userJson } from './wire.ts';
import type { World } from './world.ts';

/** @see discord docs: interactions/receiving-and-responding, "Interaction Type" */
const TYPES = { command: 2, component: 3, autocomplete: 4, modal: 5 } as const;

/** Who does something, and where. */
export interface Circumstances {
  /** A user's id. Default: alice. */
  readonly user?: string;
  /** A channel's id. Default: `general`; for what is done to a message, the message's. */
  readonly channel?: string;
  /** What the user may do there besides what everybody may. Default: nothing. */
  readonly permissions?: readonly Permission[];
  /** `attachment_size_limit`. Default: the bot's own limit. */
  readonly attachmentSizeLimit?: number;
  /** The user's language. Default `en-US`. */
  readonly locale?: string;
  /** Fields of the interaction that are left out, as servers of an earlier date leave them out. Default none. */
  readonly without?: readonly string[];
}

/** What is done. */
export interface Deed {
  readonly kind: Interaction['kind'];
  readonly userId: string;
  readonly channelId: string;
  readonly data: Json;
  readonly sourceId?: string | null;
  /** The message of {@link Deed.sourceId}, as the bot gets it. */
  readonly message?: Json;
  readonly circumstances: Circumstances;
}

/** Everybody's rights; what `permissions` adds comes on top. */
export const EVERYBODY: readonly Permission[] = [
  'VIEW_CHANNEL',
  'SEND_MESSAGES',
  'ADD_REACTIONS',
  'USE_APPLICATION_COMMANDS',
];

/**
 * Somebody does something that the bot has to answer: it goes to the bot, and one that a connected bot has not answered
 * after three seconds is a violation.
 */
export function interact(world: World, { kind, userId, channelId, data, circumstances, ...deed }: Deed): Interaction {
  const channel = world.channel(channelId);
  if (!world.isSeenBy(userId, channel)) throw new Error(`The person does not see channel ${channelId}.`);
  const id = world.freshId();
  const token = Buffer.from(`interaction:${id}:${randomBytes(48).toString('hex')}`).toString('base64url');
  const maxFileBytes = circumstances.attachmentSizeLimit ?? world.maxFileBytes;
  const isUserInstall = !channel.isBotHere;
  const user = userJson(world.user(userId));
  const may = bits([...EVERYBODY, ...(circumstances.permissions ?? [])]);
  const guild = channel.guildId === null ? {} : { guild: { id: channel.guildId, locale: 'en-US', features: [] } };
  const whole: Json = {
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
    ...(deed.message === undefined ? {} : { message: deed.message }),
  };
  const left = new Set(circumstances.without);
  const payload: Json = Object.fromEntries(Object.entries(whole).filter(([field]) => !left.has(field)));
  const interaction: Interaction = {
    id,
    token,
    kind,
    userId,
    channelId: channel.id,
    createdMs: world.clock.now(),
    maxFileBytes,
    isUserInstall,
    sourceId: deed.sourceId ?? null,
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
