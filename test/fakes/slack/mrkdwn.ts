import type { Block } from './blocks.ts';
import type { Json, Ping } from './records.ts';

/** Mentions and links in a message's text as Slack parses it. */
export interface Parsed {
  readonly pings: readonly Pick<Ping, 'kind' | 'id'>[];
  /** URLs that users can open, written as links or detected by Slack in plain text. */
  readonly links: readonly string[];
}

/** A text of a message and its parse mode. */
interface Piece {
  readonly text: string;
  /** Plain text in which Slack does not detect links. */
  readonly isVerbatim: boolean;
}

/** @see docs.slack.dev/messaging/formatting-message-text "Mentioning users", "Special mentions" */
const MENTION = /<(@[UW][A-Z0-9]+|!channel|!here|!everyone|!subteam\^S[A-Z0-9]+)(?:\|[^>]*)?>/g;
/** @see docs.slack.dev/messaging/formatting-message-text "Linking to URLs": angle brackets; plain URLs are detected */
const LINK = /<((?:https?|mailto|ftp):[^|>]+)(?:\|[^>]*)?>/g;
const BARE = /(?<![<|])\bhttps?:\/\/[^\s<>|]+/g;

/**
 * Finds mentions and links in a message: in its text, and in those parts of its blocks that are mrkdwn or rich text.
 */
export function parse(text: string, blocks: readonly Block[]): Parsed {
  const pieces: Piece[] = [{ text, isVerbatim: blocks.length > 0 }];
  const parsed: { pings: Parsed['pings'][number][]; links: string[] } = { pings: [], links: [] };
  for (const block of blocks) collect(block, pieces, parsed);
  for (const piece of pieces) {
    for (const [, inside = ''] of piece.text.matchAll(MENTION)) parsed.pings.push(mention(inside));
    for (const [, address = ''] of piece.text.matchAll(LINK)) parsed.links.push(address);
    const rest = piece.text.replace(/<[^>]*>/g, ' ');
    if (!piece.isVerbatim) for (const [address] of rest.matchAll(BARE)) parsed.links.push(address);
  }
  return { pings: unique(parsed.pings), links: [...new Set(parsed.links)] };
}

function mention(inside: string): Parsed['pings'][number] {
  if (inside.startsWith('@')) return { kind: 'user', id: inside.slice(1) };
  if (inside.startsWith('!subteam^')) return { kind: 'usergroup', id: inside.slice('!subteam^'.length) };
  const kind = inside.slice(1) as 'channel' | 'here' | 'everyone';
  return { kind, id: kind };
}

function collect(value: unknown, pieces: Piece[], parsed: { pings: Parsed['pings'][number][]; links: string[] }): void {
  if (Array.isArray(value)) for (const one of value) collect(one, pieces, parsed);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const one = value as Json;
  switch (one['type']) {
    case 'mrkdwn':
      pieces.push({ text: String(one['text']), isVerbatim: one['verbatim'] === true });
      break;
    case 'markdown':
      pieces.push({ text: String(one['text']), isVerbatim: false });
      break;
    // @see docs.slack.dev/reference/block-kit/blocks/rich-text-block: elements user, usergroup, broadcast, link
    case 'user':
      parsed.pings.push({ kind: 'user', id: String(one['user_id']) });
      break;
    case 'usergroup':
      parsed.pings.push({ kind: 'usergroup', id: String(one['usergroup_id']) });
      break;
    case 'broadcast': {
      const kind = String(one['range']) as 'channel' | 'here' | 'everyone';
      parsed.pings.push({ kind, id: kind });
      break;
    }
    case 'link':
      parsed.links.push(String(one['url']));
      break;
    default:
      for (const inside of Object.values(one)) collect(inside, pieces, parsed);
  }
}

function unique(pings: readonly Parsed['pings'][number][]): Parsed['pings'] {
  return [...new Map(pings.map((one) => [`${one.kind} ${one.id}`, one])).values()];
}

/**
 * Returns typed text as Slack sends it: `&`, `<`, `>` escaped.
 * @see docs.slack.dev/messaging/formatting-message-text "Escaping text"
 */
export const escaped = (typed: string): string =>
  typed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Returns typed text with its URLs as links. @see docs.slack.dev/messaging/formatting-message-text "Retrieving text"
 */
export const linked = (typed: string): string =>
  escaped(typed).replace(/\bhttps?:\/\/[^\s]+/g, (address) => `<${address}>`);
