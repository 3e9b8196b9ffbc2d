import type { OwnLink } from '#src/own-links.ts';
import { isBlind, isVisible, type Origin } from '#src/tasks/index.ts';
import { type Catalog, titleOf } from '#src/videos/index.ts';
import { type Card, facts, layOut, small } from '../ui/card.ts';
import { requestWords } from './settings.ts';

/** Place in which a link was posted. */
interface PreviewPlace extends Pick<Origin, 'platform' | 'team' | 'channel'> {
  /** True where people of other organisations, or people whom the bot does not know, may be in it. */
  readonly isExternal: boolean;
}

/**
 * Returns the preview of a link; `null` where those who see the channel may not see the clip, or while its model is hidden. It
 * has neither the prompt nor a name: it stays in the message of a person, whatever is removed or forgotten later.
 */
export function linkPreview(link: OwnLink, { models }: Catalog, place: PreviewPlace): Card | null {
  if (link.kind === 'gallery') return layOut([small(GALLERY)]);
  const { task, expiresAtMs } = link;
  const { origin, request } = task;
  const isHere = origin.platform === place.platform && origin.team === place.team;
  const viewer = { user: '', channel: place.channel, isExternal: place.isExternal };
  if (!isHere || !isVisible(origin, viewer) || isBlind(task)) return null;
  const settings = [[{ untrusted: titleOf({ models }, request.model) }], ...requestWords(request)];
  return layOut([small(...facts('Clip', ...settings, ['this link works until ', { timeMs: expiresAtMs }]))]);
}

const GALLERY =
  'Link to the gallery: it works once, and is private to the person who asked for it. Nobody else should open it.';
