import { DailiesError } from '../../errors.ts';
import type { Model } from '../model.ts';
import type { VideoRequest } from '../request.ts';

/** Reference images of a request by their role: URLs, or `data:` URIs. */
interface ImagesByRole {
  readonly first?: string;
  readonly last?: string;
  /** What the clip shows. */
  readonly references: readonly string[];
}

/**
 * Returns the images of a request by the role that the catalog gives them.
 * @throws DailiesError `bad_request` for more than a first and a last frame: the third would be dropped from a paid clip.
 */
export function imagesByRole({ media }: VideoRequest, { imageRole, title }: Model): ImagesByRole {
  const [first, last, ...others] = media.image;
  if (imageRole === 'reference') return { references: media.image };
  if (others.length > 0) throw notTaken(`${title} takes two images at most: the first frame and the last frame.`);
  return { ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }), references: [] };
}

/** Makes the error of a request that a service cannot take; nothing was sent. */
export function notTaken(words: string): DailiesError {
  return new DailiesError(`writing a request: ${words}`, { code: 'bad_request', retryable: false, words });
}
