import { expect, it } from 'vitest';
import { PENDING_WORDS } from '#adapters/playground/page/messages/phases.js';
import { isPending, PHASES } from '#src/chat/view.ts';

it('names every phase in which a clip is still to come', () => {
  const pending = Object.keys(PHASES).filter((phase) => isPending(phase as keyof typeof PHASES));
  expect(Object.keys(PENDING_WORDS)).toEqual(pending);
});
