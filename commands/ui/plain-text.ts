import { type Line, type Part, withoutDirection } from './card.ts';

export function plainText(lines: readonly Line[]): string {
  return withoutDirection(lines.map((line) => line.map(plainPart).join('')).join('\n'));
}

function plainPart(part: Part): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return part.untrusted;
  if ('strong' in part) return part.strong;
  if ('code' in part) return part.code;
  if ('timeMs' in part) return new Date(part.timeMs).toISOString();
  if ('person' in part) return part.person.name;
  if ('mention' in part) return `@${part.mention.name}`;
  if ('group' in part) return part.group.name;
  if ('message' in part) return part.label;
  if ('channel' in part) return `#${part.channel}`;
  return part.label === part.link ? part.link : `${part.label} (${part.link})`;
}
