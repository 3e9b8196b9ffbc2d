import {
  type Catalog,
  collectSettings,
  defaultSeconds,
  MEDIA_KINDS,
  type Model,
  offerInWords,
  SETTINGS,
} from '../videos/index.ts';
import { STEERING } from './steering.ts';

/** Returns a curl command that creates a clip with the default model. @param token token in shell syntax. */
export function curlLine(baseUrl: string, token: string, { defaultModel: model }: Catalog): string {
  const body = {
    model: model.name,
    prompt: 'a red fox running through snow, cinematic',
    duration: model.billing === 'per_call' ? 1 : defaultSeconds(model),
    ...collectSettings(({ wireName, defaultOf }) => [wireName, defaultOf(model)]),
  };
  const headers = `-H "Authorization: Bearer ${token}" -H "Content-Type: application/json"`;
  return `curl ${baseUrl}/v1/videos ${headers} -d '${JSON.stringify(body)}'`;
}

/** Returns the help page of `GET /`: the API, the models and the test directives. */
export function helpText(baseUrl: string, catalog: Catalog): string {
  return `Dailies sandbox: a local video service that really renders.

  POST ${baseUrl}/v1/videos               creates a task
  GET  ${baseUrl}/v1/videos/{id}          how far it is: queued, in_progress, completed or failed
  GET  ${baseUrl}/v1/videos/{id}/content  the clip of a completed task (MP4; Range)
  GET  ${baseUrl}/sandbox/ledger          what was charged and refunded

All but this page take "Authorization: Bearer <token>". For example:

  ${curlLine(baseUrl, '<token>', catalog)}

Models
${catalog.models.map((model) => `  ${modelLine(model)}`).join('\n')}

Write one of these in a prompt to see how things go wrong. The clip
${STEERING.map(({ write, effect }) => `  ${write.padEnd(18)} ${effect}`).join('\n')}
`;
}

function modelLine(model: Model): string {
  const media = MEDIA_KINDS.filter((kind) => model.media[kind].max > 0).map(
    (kind) => `${model.media[kind].min} to ${model.media[kind].max} ${kind}`,
  );
  return [
    model.name.padEnd(14),
    `${model.price} ${model.currency} ${model.billing === 'per_call' ? 'a call' : 'a second'}`,
    ...SETTINGS.map(({ wireName, unit, offerOf }) => {
      const offered = offerInWords(offerOf(model)).join(', ');
      return offered === '' ? `no ${wireName}` : `${offered} ${unit}`.trim();
    }),
    ...media,
  ].join(' · ');
}
