import { approvalCard } from '#commands/sentences/cards/approval.ts';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { beginning } from '#commands/sentences/format.ts';
import { withoutDirection } from '#commands/ui/card.ts';
import type { ApprovalNotice, MessageRef, Notice, Upload } from '#src/chat/index.ts';
import { type MessageStore, readAddress } from './message-store.ts';
import type { Notice as PostedNotice, TaskPosts } from './posts.ts';
import { type Body, noticeText, renderCard, storedName } from './render.ts';

/** Options of {@link postNotice}. */
interface NoticeOptions {
  readonly messages: Pick<TaskPosts, 'offer' | 'postOnce' | 'followUp'>;
  readonly records: Pick<MessageStore, 'recall' | 'remember'>;
}

/** Longest alternative text. @see https://discord.com/developers/docs/resources/message#attachment-object */
export const DESCRIPTION_LENGTH = 1024;

/** @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
const SUPPRESS_EMBEDS = 1 << 2;

/**
 * Posts a notice, or finds it: as the bot itself, or where it is not a member, as a follow-up to the task's message.
 */
export async function postNotice(
  { messages, records }: NoticeOptions,
  { key, place, replyTo, mention, view, files = [] }: Notice,
): Promise<MessageRef> {
  const { guild, hasBot, isDirect } = readAddress(place.address);
  if (view.kind === 'approval' && (hasBot || replyTo === null)) {
    const body = renderRequest(view, guild ?? guildOf(place.team));
    return messages.offer(`notice:${key}`, place.channel, body, replyTo?.message ?? null);
  }
  const message = {
    content: noticeText(cardOf(view, mention), isDirect ? null : (guild ?? guildOf(place.team))),
    allowed_mentions: { parse: [], users: mention === null ? [] : [mention.id], replied_user: false },
    flags: SUPPRESS_EMBEDS,
  };
  if (hasBot || replyTo === null) {
    const notice = { ...message, ...attaching(files), replyTo: replyTo?.message ?? null };
    return messages.postOnce(`notice:${key}`, place.channel, notice);
  }
  const known = await records.recall<MessageRef>(`notice:${key}`);
  if (known !== undefined) return known;
  const posted = await messages.followUp(replyTo, message);
  await records.remember(`notice:${key}`, posted);
  return posted;
}

/** Users, and roles, in `allowed_mentions`. @see https://discord.com/developers/docs/resources/message#allowed-mentions-object */
const MAX_ALLOWED = 100;

/** Renders the notice to the approvers of a request, which pings them only. */
export function renderRequest(view: ApprovalNotice, guild: string | null): Body {
  const idsOf = (isPerson: boolean): readonly string[] =>
    view.pings
      .filter(({ kind }) => (kind === 'person') === isPerson)
      .slice(0, MAX_ALLOWED)
      .map(({ id }) => id);
  const allowed = { parse: [], users: idsOf(true), roles: idsOf(false), replied_user: false } as const;
  return { ...renderCard(approvalCard(view), { guild }), allowed_mentions: allowed };
}

/** Returns the files of a new message with their alternative texts; an attachment's id is its position. */
function attaching(files: readonly Upload[]): Pick<PostedNotice, 'files' | 'attachments'> {
  if (files.length === 0) return {};
  const sent = files.map((file) => ({ ...file, name: storedName(file.name) }));
  const attachments = sent.map(({ name, description }, id) => ({
    id,
    filename: name,
    description: beginning(withoutDirection(description), DESCRIPTION_LENGTH),
  }));
  return { files: sent, attachments };
}

function guildOf(team: string): string | null {
  return /^\d+$/.test(team) ? team : null;
}
