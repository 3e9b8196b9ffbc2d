import type { Line } from '../ui/card.ts';

/** Says whether a change was one; `null` where none was asked for. */
export function savedLine(
  isChanged: boolean | null,
  { saved = 'Saved.', subject = 'it was' }: { readonly saved?: string; readonly subject?: string } = {},
): Line | null {
  if (isChanged === null) return null;
  return [isChanged ? saved : `Nothing changed: ${subject} like this already.`];
}
