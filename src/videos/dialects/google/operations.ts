import { z } from 'zod';
import { idOf } from '../../model.ts';
import { imagesByRole, notTaken } from '../images.ts';
import { inlineImage } from './images.ts';
import type { Answer, Reading } from './reading.ts';

/** Matches the name of an operation: `models/{model}/operations/{id}`, or `operations/{id}`. */
export const OPERATION = /^(?:models\/[^/]+\/)?operations\/[^/]+$/;

/**
 * Veo: `POST models/{model}:predictLongRunning` returns the name of an operation, which is `done` with a `response` or
 * an `error`. The clip is a file of the API, kept for two days; the service may redirect to another origin.
 * @see https://ai.google.dev/gemini-api/docs/veo
 */
export const OPERATIONS: Reading = {
  createCall(request, model) {
    const { prompt, seconds, aspectRatio, resolution, media } = request;
    const { first, last, references } = imagesByRole(request, model);
    if (media.audio.length + media.video.length > 0) throw notTaken(`${model.title} takes no audio and no videos.`);
    const instance = {
      prompt,
      ...(first === undefined ? {} : { image: veoImage(first, model.title) }),
      ...(last === undefined ? {} : { lastFrame: veoImage(last, model.title) }),
      ...(references.length === 0
        ? {}
        : {
            referenceImages: references.map((each) => ({ image: veoImage(each, model.title), referenceType: 'asset' })),
          }),
    };
    const parameters = {
      ...(aspectRatio === undefined ? {} : { aspectRatio }),
      ...(resolution === undefined ? {} : { resolution }),
      // A number: the service refuses the string of its documentation.
      durationSeconds: seconds,
      ...model.parameters,
    };
    const path = `/v1beta/models/${encodeURIComponent(idOf(model))}:predictLongRunning`;
    return { path, body: { instances: [instance], parameters } };
  },
  taskPath: (name) => `/v1beta/${name.split('/').map(encodeURIComponent).join('/')}`,
  read(answer) {
    const { data: found } = operationSchema.safeParse(answer);
    if (found === undefined || (found.name === undefined && found.done === undefined)) return null;
    const id = found.name ?? null;
    if (found.done !== true) return { id, status: 'in_progress' };
    // One with an `error` is done, too, and has no clip.
    return { id, status: 'completed', ...resultOf(found) };
  },
};

/** Veo takes images inline only. */
function veoImage(given: string, title: string): object {
  const image = inlineImage(given);
  if (image === null) throw notTaken(`${title} takes images as files only, not by a link.`);
  return { bytesBase64Encoded: image.base64, mimeType: image.mimeType };
}

const operationSchema = z.object({
  name: z.string().regex(OPERATION).optional().catch(undefined),
  done: z.boolean().optional().catch(undefined),
  response: z
    .object({
      generateVideoResponse: z
        .object({
          generatedSamples: z
            .array(
              z
                .object({ video: z.object({ uri: z.string().min(1).optional() }) })
                .optional()
                .catch(undefined),
            )
            .default([]),
          raiMediaFilteredReasons: z.array(z.string()).catch([]),
          raiMediaFilteredCount: z.number().catch(0),
        })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});

function resultOf({ response }: z.infer<typeof operationSchema>): Pick<Answer, 'clip' | 'words' | 'isFiltered'> {
  const result = response?.generateVideoResponse;
  const address = result?.generatedSamples.find((sample) => sample?.video.uri !== undefined)?.video.uri;
  if (address !== undefined) return { clip: { address } };
  const [words] = result?.raiMediaFilteredReasons ?? [];
  const isFiltered = words !== undefined || (result?.raiMediaFilteredCount ?? 0) > 0;
  // Not the documented shape: what it says about a clip cannot be read.
  if (!isFiltered && (result === undefined || result.generatedSamples.length > 0)) return {};
  return { isFiltered, ...(words === undefined ? {} : { words }) };
}
