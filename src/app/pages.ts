import { createGalleryPress } from '#commands/gallery/press.ts';
import type { AppDeps } from '../app.ts';
import { WrongTokens } from '../http/index.ts';
import { serveMedia } from '../media/index.ts';
import type { TaskId } from '../tasks/index.ts';
import type { Parts } from './parts.ts';

type PageParts = Pick<Parts, 'http' | 'queue' | 'find' | 'clipLinks' | 'gallery' | 'bot' | 'platforms'>;

/** Adds the signed links, the gallery, and the queue dashboard if it is enabled. */
export async function addPages(
  { config, links, clock, logger, metrics }: AppDeps,
  { http, queue, find, clipLinks, gallery, bot, platforms }: PageParts,
): Promise<void> {
  await serveMedia(http, { links, find, redirectFor: (id) => clipLinks.redirectFor(id as TaskId) });
  await gallery.serve(createGalleryPress({ bot, platforms, admins: config.admins, logger }));
  if (config.boardToken === undefined || !('queues' in queue)) return;
  const { serveBoard } = await import('./board.ts');
  const wrongTokens = new WrongTokens({ entrance: 'board', clock, logger, counted: metrics.wrongToken });
  await serveBoard(http, { queues: queue.queues(), token: config.boardToken, wrongTokens });
}
