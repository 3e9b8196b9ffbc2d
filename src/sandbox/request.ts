import { z } from 'zod';
import { type Catalog, defaultResolution, type Model, offersSeconds, secondsInWords } from '../videos/model.ts';
import { ASPECT_RATIOS, type AspectRatio, type MediaKind, RESOLUTIONS, type Resolution } from '../videos/request.ts';
import { type ErrorResponse, invalidRequest, modelNotFound } from './refusal.ts';

const urlsSchema = z.array(z.string().regex(/^https?:\/\//, 'must begin with http:// or https://')).default([]);

/** @see docs/video-service.md "Creation request" */
const bodySchema = z.strictObject({
  model: z.string().min(1, 'must not be empty'),
  prompt: z.string().min(1, 'must not be empty'),
  duration: z.int('must be a whole number').min(1, 'must be at least 1'),
  video_duration: z.int('must be a whole number').min(1, 'must be at least 1'),
  aspect_ratio: z.enum(ASPECT_RATIOS, `must be one of ${ASPECT_RATIOS.join(', ')}`).optional(),
  resolution: z.enum(RESOLUTIONS, `must be one of ${RESOLUTIONS.join(', ')}`).optional(),
  image_urls: urlsSchema,
  audio_urls: urlsSchema,
  video_urls: urlsSchema,
});

type Body = z.output<typeof bodySchema>;

/** Valid creation request, with defaults filled in. */
export interface AcceptedRequest {
  readonly model: Model;
  readonly prompt: string;
  readonly seconds: number;
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
}

/** Result of {@link readRequest}. */
export type ReadRequest =
  | { readonly ok: true; readonly request: AcceptedRequest }
  | { readonly ok: false; readonly refusal: ErrorResponse };

/** Validates the body of a creation: strict types (no `"6"` for 6), no unknown field, no option the model lacks. */
export function readRequest(body: unknown, catalog: Catalog): ReadRequest {
  const parsed = bodySchema.safeParse(body, { reportInput: true });
  if (!parsed.success) return { ok: false, refusal: invalidRequest(parsed.error.issues.flatMap(issueMessages)) };
  const input = parsed.data;
  const model = catalog.models.find(({ name }) => name === input.model);
  if (model === undefined) {
    const known = catalog.models.map(({ name }) => name);
    return { ok: false, refusal: modelNotFound(input.model, known) };
  }
  const problems = [
    ...promptProblems(input, model),
    ...lengthProblems(input, model),
    ...choiceProblems('aspect_ratio', input.aspect_ratio, model.aspectRatios, model),
    ...choiceProblems('resolution', input.resolution, model.resolutions, model),
    ...mediaProblems('image', input.image_urls, model),
    ...mediaProblems('audio', input.audio_urls, model),
    ...mediaProblems('video', input.video_urls, model),
  ];
  if (problems.length > 0) return { ok: false, refusal: invalidRequest(problems) };
  return { ok: true, request: fillIn(input, model) };
}

function fillIn(input: Body, model: Model): AcceptedRequest {
  return {
    model,
    prompt: input.prompt,
    seconds: input.video_duration,
    aspectRatio: input.aspect_ratio ?? model.aspectRatios[0] ?? '16:9',
    resolution: input.resolution ?? resolutionInName(model.name) ?? defaultResolution(model) ?? '720p',
    media: { image: input.image_urls, audio: input.audio_urls, video: input.video_urls },
  };
}

/** Returns the resolution in a name such as `sketch-480p`: "When omitted, some models infer it from the model name". */
function resolutionInName(name: string): Resolution | undefined {
  return RESOLUTIONS.find((resolution) => name.endsWith(`-${resolution}`));
}

function issueMessages(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: there is no such field`);
  const [field, index] = issue.path.map(String);
  if (field === undefined) return ['the body must be a JSON object'];
  const path = index === undefined ? field : `${field}[${index}]`;
  return [`${path}: ${issue.input === undefined ? 'is missing' : issue.message}`];
}

function promptProblems({ prompt }: Body, { name, promptMaxLength }: Model): readonly string[] {
  const length = Array.from(prompt).length;
  if (length <= promptMaxLength) return [];
  return [`prompt: ${length} characters are more than the ${promptMaxLength} that ${name} takes`];
}

function lengthProblems(input: Body, model: Model): readonly string[] {
  const problems: string[] = [];
  if (!offersSeconds(model, input.video_duration)) {
    const offered = secondsInWords(model).join(', ');
    problems.push(`video_duration: ${input.video_duration} is not offered by ${model.name}; it takes ${offered}`);
  }
  const duration = model.billing === 'per_call' ? 1 : input.video_duration;
  if (input.duration !== duration) {
    const why = model.billing === 'per_call' ? 'is billed per call' : 'is billed per second, as long as video_duration';
    problems.push(`duration: must be ${duration}, not ${input.duration}: ${model.name} ${why}`);
  }
  return problems;
}

function choiceProblems(
  field: string,
  chosen: string | undefined,
  offered: readonly string[],
  { name }: Model,
): readonly string[] {
  if (chosen === undefined || offered.includes(chosen)) return [];
  if (offered.length === 0) return [`${field}: ${name} takes none`];
  return [`${field}: ${chosen} is not offered by ${name}; it takes ${offered.join(', ')}`];
}

function mediaProblems(kind: MediaKind, urls: readonly string[], { name, media }: Model): readonly string[] {
  const { min, max } = media[kind];
  if (urls.length >= min && urls.length <= max) return [];
  const allowed = min === max ? String(max) : `${min} to ${max}`;
  return [`${kind}_urls: ${urls.length} given; ${name} takes ${allowed}`];
}
