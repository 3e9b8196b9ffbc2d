import type { MessageRef } from '#src/chat/index.ts';
import type { Line, Part } from './card.ts';

/** What is shown where it exists, as `message && [{ message, label: 'See it' }]` writes it. */
export type Optional<Shown> = Shown | null | undefined | false;

/** Leaves out what is absent or an empty text. */
export function present<Shown extends object | string>(some: readonly Optional<Shown>[]): readonly Shown[] {
  const shown: Shown[] = [];
  for (const one of some) if (one !== null && one !== undefined && one !== false && one !== '') shown.push(one);
  return shown;
}

/** Builds a line of parts, and of lines that continue it. Leaves out what is absent or empty. */
export function lineOf(...some: readonly Optional<Part | Line>[]): Line {
  return present(present<Part | Line>(some).flat());
}

/** Joins facts by ` · `; leaves out those that are absent or empty. */
export function facts(...some: readonly Optional<Line | string>[]): Line {
  const line: Part[] = [];
  for (const one of some) {
    const fact = lineOf(one);
    line.push(...(line.length > 0 && fact.length > 0 ? [' · '] : []), ...fact);
  }
  return line;
}

/** Joins lines by a separator, and the last one by another. Default: the same. */
export function joinLines(lines: readonly Line[], separator = ', ', last = separator): Line {
  return lines.flatMap((line, index) => {
    if (index === 0) return line;
    return [index === lines.length - 1 ? last : separator, ...line];
  });
}

/** Begins a line with the name of what it shows. */
export function labelled(label: string, ...value: Line): Line {
  return [{ strong: label }, ': ', ...value];
}

/** Continues a sentence with a link to a message, where there is one. */
export function seeItHere(message: MessageRef | undefined): Line {
  return message === undefined ? [] : [' ', { message, label: 'See it here' }, '.'];
}
