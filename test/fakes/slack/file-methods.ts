import { z } from 'zod';
import { checkedBlocks } from './blocks.ts';
import { checked, json, timestamp, whole } from './form.ts';
import type { Call, Method } from './methods.ts';
import { demandVoice, post, threadOf } from './posting.ts';
import type { Channel, SlackFile } from './records.ts';
import { malformed, Refusal } from './refusal.ts';
import { fileJson } from './wire.ts';
import { id, type World } from './world.ts';

/** @see docs.slack.dev/reference/methods/files.getUploadURLExternal */
const uploadUrlForm = z.looseObject({
  filename: z.string().min(1),
  length: whole.pipe(z.int().min(1)),
  alt_txt: z.string().optional(),
  snippet_type: z.string().optional(),
});

/** @see docs.slack.dev/reference/methods/files.completeUploadExternal */
const completeForm = z.looseObject({
  files: json(z.array(z.looseObject({ id: z.string().min(1), title: z.string().min(1).optional() })).min(1)),
  channel_id: z.string().optional(),
  channels: z.string().optional(),
  thread_ts: timestamp.optional(),
  initial_comment: z.string().optional(),
  blocks: json(z.array(z.unknown())).optional(),
});
type Completion = z.output<typeof completeForm>;

const fileForm = z.looseObject({ file: z.string().min(1) });

/**
 * "Description for the image is longer than the limit of 1000 character": reference/methods/files.getUploadURLExternal.
 */
const MAX_ALT_TEXT = 1000;

/** Returns an uploaded file that the app may complete now. @throws Refusal file_not_found */
function uploaded({ world, team }: Call, fileId: string): SlackFile {
  const file = world.files.get(fileId);
  if (file?.teamId !== team.id || file.isDeleted)
    throw new Refusal('file_not_found', { violation: `unknown file ${fileId}` });
  // "This method can only be called once": reference/methods/files.completeUploadExternal
  if (file.isComplete) throw new Refusal('file_not_found', { violation: `doubled file: ${fileId} completed twice` });
  if (file.sha256 === null)
    throw new Refusal('file_not_found', { violation: `${fileId} completed before its bytes were sent` });
  return file;
}

/** Reports a second file with the same bytes in the same channel and thread. */
function reportDuplicates(world: World, file: SlackFile, channel: Channel, threadTs: string | null): void {
  const twin = world.files.values().find((one) => {
    const isThere = one.shares.some((share) => share.channelId === channel.id && share.threadTs === threadTs);
    return one !== file && isThere && one.sha256 === file.sha256 && one.length === file.length && !one.isDeleted;
  });
  if (twin !== undefined) world.violate(`doubled file: ${file.id} has the bytes of ${twin.id} in ${channel.id}`);
}

function targetOf(call: Call, form: Completion): Channel | null {
  const { world, team } = call;
  if (form.channel_id === undefined && form.channels === undefined) return null;
  const ids = [...(form.channels?.split(',') ?? []), form.channel_id].filter((one) => one !== undefined);
  if (ids.length !== 1) throw malformed('invalid_arguments', ['one channel alone'], 'files.completeUploadExternal');
  const channel = world.reachable(team, ids[0] ?? '');
  demandVoice(world, channel, { isUpload: true });
  return channel;
}

/** Methods for files. @see docs.slack.dev/messaging/working-with-files */
export const fileMethods = {
  'files.getUploadURLExternal': {
    by: 'bot',
    scopes: ['files:write'],
    tier: 4,
    handle({ world, team, args }) {
      const form = checked(uploadUrlForm, args, { what: 'files.getUploadURLExternal' });
      if ((form.alt_txt ?? '').length > MAX_ALT_TEXT)
        throw new Refusal('alt_txt_too_large', { violation: 'alt_txt too long' });
      const file: SlackFile = {
        id: id('F'),
        teamId: team.id,
        ownerId: team.botUserId,
        name: form.filename,
        title: form.filename,
        mimeType: mimeOf(form.filename),
        altText: form.alt_txt ?? null,
        length: form.length,
        sha256: null,
        content: null,
        isComplete: false,
        hiddenShares: 0,
        isStub: false,
        isDeleted: false,
        shares: [],
      };
      world.files.set(file.id, file);
      return { upload_url: `${world.origin()}/upload/v1/${file.id}`, file_id: file.id };
    },
  },
  'files.completeUploadExternal': {
    by: 'bot',
    scopes: ['files:write'],
    tier: 4,
    handle(call) {
      const { world, team, args } = call;
      const form = checked(completeForm, args, { what: 'files.completeUploadExternal' });
      const files = form.files.map(({ id: fileId }) => uploaded(call, fileId));
      const channel = targetOf(call, form);
      // "If the initial_comment field is provided, the blocks field is ignored"
      const blocks =
        form.initial_comment === undefined ? checkedBlocks(form.blocks ?? [], 'files.completeUploadExternal') : [];
      // With a markdown block Slack responds internal_error here. @see slack.md "Files"
      if (blocks.some(({ type }) => type === 'markdown'))
        throw new Refusal('internal_error', { violation: 'markdown with files' });
      const threadTs = channel === null ? null : threadOf(world, channel, form.thread_ts);
      for (const [at, file] of files.entries()) {
        file.title = form.files[at]?.title ?? file.name;
        file.isComplete = true;
        file.hiddenShares = world.slowFiles;
        if (channel !== null) reportDuplicates(world, file, channel, threadTs);
      }
      if (channel !== null) {
        const place = {
          channel,
          authorId: team.botUserId,
          threadTs,
          visibleTo: null,
          fileIds: files.map((one) => one.id),
        };
        const { ts } = post(world, place, { text: form.initial_comment ?? '', blocks, metadata: null });
        for (const file of files) file.shares.push({ channelId: channel.id, ts, threadTs });
      }
      return { files: files.map((one) => ({ id: one.id, title: one.title })) };
    },
  },
  'files.info': {
    by: 'bot',
    scopes: ['files:read'],
    tier: 4,
    handle(call) {
      const file = seen(call, checked(fileForm, call.args, { what: 'files.info' }).file);
      const answer = { file: fileJson(call.world, file), comments: [], response_metadata: { next_cursor: '' } };
      file.hiddenShares = Math.max(0, file.hiddenShares - 1);
      return answer;
    },
  },
  'files.delete': {
    by: 'bot',
    scopes: ['files:write'],
    tier: 3,
    handle(call) {
      const file = seen(call, checked(fileForm, call.args, { what: 'files.delete' }).file);
      if (file.ownerId !== call.team.botUserId) throw new Refusal('cant_delete_file');
      file.isDeleted = true;
      return {};
    },
  },
  // @see docs.slack.dev/reference/methods/files.sharedPublicURL: user tokens only
  'files.sharedPublicURL': {
    by: 'bot',
    scopes: [],
    tier: 3,
    handle() {
      throw new Refusal('not_allowed_token_type', { violation: 'files.sharedPublicURL with a bot token' });
    },
  },
} as const satisfies Record<string, Method>;

/**
 * Returns a file that is visible to the app: its own, and those shared in its channels or in public ones. @throws
 * Refusal file_not_found, file_deleted
 */
function seen({ world, team }: Call, fileId: string): SlackFile {
  const file = world.files.get(fileId);
  if (file === undefined || !isVisible(world, file, team.id) || !file.isComplete) throw new Refusal('file_not_found');
  if (file.isDeleted) throw new Refusal('file_deleted');
  return file;
}

/** Returns whether a workspace's app may see a file. */
export function isVisible(world: World, file: SlackFile, teamId: string): boolean {
  const { botUserId } = world.team(teamId);
  if (file.teamId !== teamId) return false;
  if (file.ownerId === botUserId || file.shares.length === 0) return true;
  return file.shares.some(({ channelId }) => {
    const { kind, members } = world.channel(channelId);
    return kind === 'public' || members.has(botUserId);
  });
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

/** Returns the MIME type by the file's extension; Slack detects the type itself. */
export const mimeOf = (name: string): string =>
  MIME_TYPES[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
