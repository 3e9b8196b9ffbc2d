import { z } from 'zod';
import { type Block, checkedBlocks } from './blocks.ts';
import { flag, json, timestamp } from './form.ts';
import { parse } from './mrkdwn.ts';
import type { Channel, Json, Message } from './records.ts';
import { malformed, Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** Fields of a message's content, the same in all methods. */
export const content = {
  text: z.string().optional(),
  blocks: json(z.array(z.unknown())).optional(),
  attachments: json(z.array(z.unknown()).max(100)).optional(),
  metadata: json(z.looseObject({ event_type: z.string().min(1), event_payload: z.looseObject({}) })).optional(),
  mrkdwn: flag.optional(),
  parse: z.enum(['none', 'full']).optional(),
  link_names: flag.optional(),
  unfurl_links: flag.optional(),
  unfurl_media: flag.optional(),
};

/** Target and author of a message. */
export interface Place {
  readonly channel: Channel;
  readonly authorId: string;
  readonly threadTs: string | null;
  readonly visibleTo: string | null;
  readonly fileIds?: readonly string[];
  readonly isBroadcast?: boolean;
}

/** Validated contents of a message. */
export interface Contents {
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly metadata: Json | null;
}

interface Given {
  readonly text?: string | undefined;
  readonly blocks?: readonly unknown[] | undefined;
  readonly attachments?: readonly unknown[] | undefined;
  readonly metadata?: Json | undefined;
}

/**
 * Validates the contents of a message.
 * @throws Refusal no_text, msg_too_long, invalid_blocks
 * @see docs.slack.dev/reference/methods/chat.postMessage: "no_text"; text up to 40,000 characters
 */
export function checkedContents(world: World, form: Given, { what, maxText = 40_000 }: Saying): Contents {
  const blocks = checkedBlocks(form.blocks ?? [], what);
  // Slack fetches images itself, and a private file needs a token. @see slack.md, point 7
  if (/"(?:image|thumbnail|video)_url":"[^"]*\/files-pri\//.test(JSON.stringify(blocks))) {
    throw malformed('invalid_blocks', ['downloading image failed'], `${what} passes a private address on`);
  }
  demandPictures(world, blocks, 'invalid_blocks');
  const { text = '' } = form;
  const isEmpty = text === '' && blocks.length === 0 && (form.attachments ?? []).length === 0;
  if (isEmpty) throw new Refusal('no_text', { violation: `${what} without contents` });
  if (text.length > maxText) throw new Refusal('msg_too_long', { violation: `${what}: ${text.length} characters` });
  // "text … is used as fallback text to display in notifications": Slack does not enforce it, but its absence is an
  // error all the same.
  if (text.trim() === '') world.violate(`${what} has no text for notifications`);
  return { text, blocks, metadata: form.metadata ?? null };
}

/** Fetches pictures like Slack. @throws Refusal, which is no error of the app's: its picture may be gone */
export function demandPictures(world: World, blocks: readonly unknown[], code: string): void {
  const pictures = [...JSON.stringify(blocks).matchAll(/"image_url":"(?<url>[^"]*)"/g)].map(([, url = '']) => url);
  if (pictures.some((url) => world.unreachable.some((origin) => url.startsWith(origin))))
    throw new Refusal(code, { body: { errors: ['downloading image failed'] } });
}

/** Name of the request for violations, and its limits. */
export interface Saying {
  readonly what: string;
  readonly maxText?: number;
}

/** Posts a new message of any author and notifies the mentioned users. */
export function post(world: World, place: Place, contents: Contents): Message {
  const message: Message = {
    ts: world.freshTs(),
    channelId: place.channel.id,
    authorId: place.authorId,
    createdMs: world.clock.now(),
    threadTs: place.threadTs,
    visibleTo: place.visibleTo,
    fileIds: place.fileIds ?? [],
    text: contents.text,
    blocks: contents.blocks,
    metadata: contents.metadata,
    unfurls: new Map(),
    isBroadcast: place.isBroadcast === true,
    edits: 0,
    isDeleted: false,
    reactions: new Map(),
  };
  world.messages.set(message.ts, message);
  for (const ping of parse(message.text, message.blocks).pings) {
    world.pings.push({ ...ping, ts: message.ts, channelId: message.channelId });
  }
  const isOwn = world.user(message.authorId).isBot && message.visibleTo === null;
  // "automatically cleared when the app sends a reply": docs.slack.dev/ai/developing-agents
  const pane = place.threadTs === null || !isOwn ? undefined : world.panes.get(place.threadTs);
  if (pane !== undefined && place.threadTs !== null) world.panes.set(place.threadTs, { ...pane, status: '' });
  if (isOwn && place.channel.kind === 'dm') world.ownMessage(message);
  return message;
}

/**
 * Returns the thread to reply in.
 * @throws Refusal invalid_thread_ts, thread_not_found
 * @see docs.slack.dev/reference/methods/chat.postMessage: "Avoid using a reply's ts value; use its parent instead";
 * github.com/slackapi/bolt-js/issues/2307, github.com/jenkinsci/slack-plugin/issues/584
 */
export function threadOf(world: World, channel: Channel, threadTs: string | undefined): string | null {
  if (threadTs === undefined || threadTs === '') return null;
  if (!timestamp.safeParse(threadTs).success) {
    throw new Refusal('invalid_thread_ts', { violation: `${threadTs} is not a valid thread_ts` });
  }
  const parent = world.messages.get(threadTs);
  const isThere = parent?.channelId === channel.id && parent.visibleTo === null && !parent.isDeleted;
  if (parent === undefined || !isThere) throw new Refusal('thread_not_found');
  if (parent.threadTs !== null) world.violate(`thread_ts ${threadTs} is a reply, not a thread's parent`);
  return parent.threadTs ?? parent.ts;
}

/**
 * Checks that the app may post in a channel.
 * @throws Refusal is_archived, not_in_channel
 * @see docs.slack.dev/reference/scopes/chat.write.public: public channels without being in them
 */
export function demandVoice(world: World, channel: Channel, { isUpload = false } = {}): void {
  const team = world.team(channel.teamId);
  if (channel.isArchived) throw new Refusal('is_archived');
  if (channel.members.has(team.botUserId)) return;
  // Files need membership in any case. @see github.com/slackapi/python-slack-sdk issues on files_upload_v2:
  // not_in_channel
  if (isUpload || channel.kind !== 'public' || !team.scopes.has('chat:write.public'))
    throw new Refusal('not_in_channel');
}
