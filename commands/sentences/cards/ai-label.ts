import type { Line, Optional } from '../../ui/card.ts';

/** Returns the word that says of a clip that it is made with AI, where its team wants that on its cards. */
export function aiLabel({ isLabelled }: { readonly isLabelled?: boolean | undefined }): Optional<Line> {
  return isLabelled === true && [{ strong: 'AI' }];
}
