import type { Reply } from '#commands/bot-port.ts';
import { type Accessory, type Block, blocksOf, type Card, type Line, linesOf, type Part } from '#commands/ui/card.ts';

/**
 * Renders a card as text for assertions: a line of text per line, untrusted text between ‹ and ›, the button of a row
 * at its end, progress bar and buttons below.
 */
export function cardText(card: Card): string {
  const { progress, buttons } = card;
  const bar = progress === null ? [] : [`[bar ${progress}]`];
  const below = buttons.length === 0 ? [] : [buttons.map(({ label }) => `(${label})`).join(' ')];
  return [...blocksOf(card).flatMap(blockText), ...bar, ...below].join('\n');
}

/** Renders any reply as text for assertions. */
export function replyText(reply: Reply | null): string {
  switch (reply?.kind) {
    case undefined:
      return 'nothing';
    case 'task':
      return `task ${reply.task}`;
    case 'private':
    case 'public':
    case 'offer':
      return cardText(reply.card);
    case 'refused':
      return `refused: ${reply.sentence}`;
    case 'form':
      return [reply.form.title, ...reply.form.fields.map(({ name, value }) => `${name}=${value}`)].join('\n');
  }
}

function blockText(block: Block): readonly string[] {
  const lines = linesOf({ blocks: [block] }).map(lineText);
  if (block.kind !== 'item' || block.accessory === undefined) return lines;
  return lines.map((line) => `${line} ${accessoryText(block.accessory)}`);
}

function accessoryText(accessory: Accessory | undefined): string {
  if (accessory === undefined) return '';
  return 'id' in accessory ? `(${accessory.label})` : `[${accessory.label} → ${accessory.message.message}]`;
}

function lineText(line: Line): string {
  return line.map(partText).join('');
}

function partText(part: Part): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return `‹${part.untrusted}›`;
  if ('strong' in part) return `*${part.strong}*`;
  if ('code' in part) return `\`${part.code}\``;
  if ('timeMs' in part) return new Date(part.timeMs).toISOString().slice(0, 16);
  if ('person' in part) return part.person.name;
  if ('mention' in part) return `@${part.mention.name}`;
  if ('group' in part) return `@[${part.group.name}]`;
  if ('message' in part) return `[${part.label} → ${part.message.message}]`;
  if ('channel' in part) return `#${part.channel}`;
  return `[${part.label}](${part.link})`;
}
