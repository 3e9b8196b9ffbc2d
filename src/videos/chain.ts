import type { RequestDraft, VideoRequest } from './request.ts';

/** Image of a draft that stands for the last frame of the shot before; the library has no image of this name. */
export const LAST_FRAME = '@last-frame';

/** Returns whether the draft of a clip asks for the last frame of the shot before. */
export function isChained({ image = [] }: Pick<RequestDraft, 'image'>): boolean {
  return image.flatMap((words) => words.split(/\s+/u)).some(isLastFrame);
}

/** Returns whether a word stands for the last frame of the shot before. */
export function isLastFrame(word: string): boolean {
  return word.trim().toLowerCase() === LAST_FRAME;
}

/** Returns the request of a chained clip as it was ordered, without the frame of an earlier take; any other unchanged. */
export function unframed(request: VideoRequest): VideoRequest {
  const { chain, media } = request;
  if (chain?.frame === undefined) return request;
  return { ...request, chain: {}, media: { ...media, image: media.image.filter((url) => url !== chain.frame) } };
}
