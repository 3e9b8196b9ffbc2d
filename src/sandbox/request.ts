import { z } from 'zod';
import {
  type AspectRatio,
  type Catalog,
  collectSettings,
  isOffered,
  MEDIA_KINDS,
  type MediaKind,
  type Model,
  offerInWords,
  RESOLUTIONS,
  type RequestSettings,
  type Resolution,
  SETTINGS,
  type Setting,
} from '../videos/index.ts';
import { invalidRequest, modelNotFound, Refused } from './refusal.ts';

const urlsSchema = z.array(z.string().regex(/^https?:\/\//, 'must begin with http:// or https://')).default([]);

/** @see docs/video-service.md "Creation request" */
const bodySchema = z.strictObject({
  model: z.string().min(1, 'must not be empty'),
  prompt: z.string().min(1, 'must not be empty'),
  duration: z.int('must be a whole number').min(1, 'must be at least 1'),
  ...Object.fromEntries(SETTINGS.map(({ wireName, schema }) => [wireName, schema])),
  image_urls: urlsSchema,
  audio_urls: urlsSchema,
  video_urls: urlsSchema,
});

type Body = z.output<typeof bodySchema>;

/** Valid creation request, with defaults filled in. */
export interface AcceptedRequest extends RequestSettings {
  readonly model: Model;
  readonly prompt: string;
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
}

/**
 * Validates the body of a creation: strict types (no `"6"` for 6), no unknown field, no option the model lacks.
 * @throws Refused
 */
export function readRequest(body: unknown, catalog: Catalog): AcceptedRequest {
  const parsed = bodySchema.safeParse(body, { reportInput: true });
  if (!parsed.success) throw new Refused(invalidRequest(parsed.error.issues.flatMap(issueMessages)));
  const input = parsed.data;
  const model = catalog.models.find(({ name }) => name === input.model);
  if (model === undefined) {
    const known = catalog.models.map(({ name }) => name);
    throw new Refused(modelNotFound(input.model, known));
  }
  const settings = settingsOf(input);
  const problems = [
    ...promptProblems(input, model),
    ...SETTINGS.flatMap((setting) => settingProblems(setting, settings, model)),
    ...durationProblems(input.duration, settings.seconds, model),
    ...MEDIA_KINDS.flatMap((kind) => mediaProblems(kind, input[`${kind}_urls`], model)),
  ];
  if (problems.length > 0) throw new Refused(invalidRequest(problems));
  return fillIn(input, settings, model);
}

/** Returns the settings of a body, whose values the schema has checked. */
function settingsOf(body: Readonly<Record<string, unknown>>): RequestSettings {
  return collectSettings(({ field, wireName }) => [field, body[wireName]]) as unknown as RequestSettings;
}

function fillIn(input: Body, settings: RequestSettings, model: Model): AcceptedRequest {
  const inName = resolutionInName(model.name);
  return {
    aspectRatio: '16:9',
    resolution: '720p',
    ...collectSettings(({ field, defaultOf }) => [field, defaultOf(model)]),
    ...(inName === undefined ? {} : { resolution: inName }),
    ...settings,
    model,
    prompt: input.prompt,
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

function settingProblems(
  { wireName, field, offerOf }: Setting,
  settings: RequestSettings,
  model: Model,
): readonly string[] {
  const chosen = settings[field];
  const offer = offerOf(model);
  if (chosen === undefined || isOffered(offer, chosen)) return [];
  const offered = offerInWords(offer).join(', ');
  if (offered === '') return [`${wireName}: ${model.name} takes none`];
  return [`${wireName}: ${chosen} is not offered by ${model.name}; it takes ${offered}`];
}

function durationProblems(given: number, seconds: number, { name, billing }: Model): readonly string[] {
  const duration = billing === 'per_call' ? 1 : seconds;
  if (given === duration) return [];
  const why = billing === 'per_call' ? 'is billed per call' : 'is billed per second, as long as video_duration';
  return [`duration: must be ${duration}, not ${given}: ${name} ${why}`];
}

function mediaProblems(kind: MediaKind, urls: readonly string[], { name, media }: Model): readonly string[] {
  const { min, max } = media[kind];
  if (urls.length >= min && urls.length <= max) return [];
  const allowed = min === max ? String(max) : `${min} to ${max}`;
  return [`${kind}_urls: ${urls.length} given; ${name} takes ${allowed}`];
}
