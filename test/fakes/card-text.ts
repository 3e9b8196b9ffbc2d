import type { Card, Line, Part } from '#commands/card.ts';
import type { Reply } from '#commands/command.ts';

/**
 * A card as a test reads it: a line of text per line, what came from outside between ‹ and ›, the bar and the buttons
 * at the end.
 */
export function cardText({ lines, progress, buttons }: Card): string {
  const bar = progress === null ? [] : [`[bar ${progress}]`];
  const below = buttons.length === 0 ? [] : [buttons.map(({ label }) => `(${label})`).join(' ')];
  return [...lines.map(lineText), ...bar, ...below].join('\n');
}

/** Any answer as a test reads it. */
export function replyText(reply: Reply | null): string {
  switch (reply?.kind) {
    case undefined:
      return 'nothing';
    case 'task':
      return `task ${reply.task}`;
    case 'private':
    case 'public':
      return cardText(reply.card);
    case 'refused':
      return `refused: ${reply.sentence}`;
    case 'form':
      return [reply.form.title, ...reply.form.fields.map(({ name, value }) => `${name}=${value}`)].join('\n');
  }
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
  if ('message' in part) return `[${part.label} → ${part.message.message}]`;
  if ('channel' in part) return `#${part.channel}`;
  return `[${part.label}](${part.link})`;
}
