import { withoutDirection } from '../ui/bidi.ts';
import { shorten } from './format.ts';

const NAME_LENGTH = 60;

/** Sanitises an external name for a terminal: removes control and directional characters, and shortens it. */
export function plainName(name: string): string {
  return shorten(
    withoutDirection(name)
      .replace(/\p{Cc}+/gu, ' ')
      .trim(),
    NAME_LENGTH,
  );
}
