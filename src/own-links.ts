import type { Gallery } from './gallery/index.ts';
import type { SignedLinks } from './media/index.ts';
import type { TaskRepository } from './pipeline/index.ts';
import type { Task, TaskId } from './tasks/index.ts';

/** What a link of the bot's own leads to, as long as it works. */
export type OwnLink =
  | { readonly kind: 'clip'; readonly task: Task; readonly expiresAtMs: number }
  /** A one-time link to the gallery, which reading does not redeem. */
  | { readonly kind: 'gallery' };

/** Reads a link; `null` for one that is not ours, is forged, has expired or was used. */
export type ReadLink = (url: string) => Promise<OwnLink | null>;

interface LinkReaderOptions {
  readonly links: SignedLinks | null;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly gallery: () => Pick<Gallery, 'isRedeemable'>;
}

/** Creates the reader of the links to clips and to the gallery. */
export function createLinkReader({ links, repository, gallery }: LinkReaderOptions): ReadLink {
  return async (url) => {
    const found = links?.idIn(url) ?? null;
    if (found === null) return (await gallery().isRedeemable(url)) ? { kind: 'gallery' } : null;
    const task = found.isExpired ? undefined : await repository.get(found.id as TaskId);
    if (task?.clip === undefined || task.removal !== undefined) return null;
    return { kind: 'clip', task, expiresAtMs: found.expiresAtMs };
  };
}
