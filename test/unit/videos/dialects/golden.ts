import type { Dialect } from '#src/videos/dialects/dialect.ts';
import type { Model } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';

/** Request as a service reads it. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** Media type without parameters. */
  readonly type: string;
  readonly authorization: string | null;
  /** Fields of the JSON or the form; a file as {@link SentFile}. */
  readonly fields: Readonly<Record<string, unknown>>;
}

interface SentFile {
  readonly type: string;
  readonly name: string;
  readonly base64: string;
}

/** Order, and the model of the catalog. */
export interface Order {
  readonly request: VideoRequest;
  readonly model: Model;
}

/** Returns the request that a dialect builds for an order, with a key, as the client writes it. */
export function ourRequest(
  dialect: Dialect,
  { request, model }: Order,
  base: string,
  key: string,
): Promise<SentRequest> {
  const { path, body, headers } = dialect.createCall(request, model);
  const written = body instanceof FormData ? { body } : { body: JSON.stringify(body), headers: JSON_TYPE };
  const credentials = dialect.authorize?.(key) ?? { authorization: `Bearer ${key}` };
  const all = { ...written.headers, ...credentials, ...headers };
  return readRequest(new Request(base + path, { method: 'POST', body: written.body, headers: all }));
}

const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Returns the request that a library sends through its injected `fetch`, answered with `json`. */
export async function theirRequest(
  send: (fetch: typeof globalThis.fetch) => Promise<unknown>,
  json: object,
): Promise<SentRequest> {
  const sent: Promise<SentRequest>[] = [];
  await send((input, init) => {
    // The package openai tries out whether this fetch can write forms.
    if (input === 'data:,') return fetch(input);
    sent.push(readRequest(new Request(input, init)));
    return Promise.resolve(Response.json(json, { status: 202 }));
  });
  const [first, ...others] = sent;
  if (first === undefined || others.length > 0) throw new Error(`the library sent ${sent.length} requests`);
  return first;
}

async function readRequest(request: Request): Promise<SentRequest> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  const fields = type === 'multipart/form-data' ? await readForm(await request.formData()) : await request.json();
  const authorization = request.headers.get('authorization');
  return { method: request.method, url: request.url, type, authorization, fields: fields as SentRequest['fields'] };
}

async function readForm(form: FormData): Promise<Readonly<Record<string, string | SentFile>>> {
  const entries = [...form].map(async ([name, value]) => [name, await readValue(value)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function readValue(value: FormDataEntryValue): Promise<string | SentFile> {
  if (typeof value === 'string') return value;
  return { type: value.type, name: value.name, base64: Buffer.from(await value.arrayBuffer()).toString('base64') };
}
