import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/**
 * Body of a request, with the fields that are sent; `model` and `messages` are required.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
const Body = z.strictObject({
  model: z.string().min(1),
  messages: z
    .array(z.strictObject({ role: z.enum(['developer', 'system', 'user', 'assistant']), content: z.string().min(1) }))
    .min(1),
});

/** Request that the fake received. */
export type EnhancerRequest = z.output<typeof Body>;

/** OpenAI-compatible chat completions on loopback. */
export interface FakeEnhancer {
  /** Base, such as `http://127.0.0.1:4000/v1`. */
  readonly url: string;
  readonly token: string;
  /** Accepted requests. */
  readonly requests: readonly EnhancerRequest[];
  /** Number of all requests. */
  readonly hits: () => number;
  /** Content of the next answers. */
  content: string | null;
  finishReason: 'stop' | 'length' | 'content_filter';
  /** Answers in place of a completion. Default: none. */
  respond: ((response: ServerResponse) => void) | null;
  close(): Promise<void>;
}

/** Starts a {@link FakeEnhancer}, which refuses what the documented service refuses. */
export async function startEnhancer(): Promise<FakeEnhancer> {
  const requests: EnhancerRequest[] = [];
  let hits = 0;
  const server = createServer((request, response) => {
    hits += 1;
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const fake: FakeEnhancer = {
    url: `http://127.0.0.1:${port}/v1`,
    token: 'sk-enhancer',
    requests,
    hits: () => hits,
    content: 'A red fox trots through fresh snow at dawn, low camera.',
    finishReason: 'stop',
    respond: null,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    if (method !== 'POST' || url !== '/v1/chat/completions') return refuse(response, 404, 'Unknown request URL.');
    if (headers.authorization !== `Bearer ${fake.token}`) return refuse(response, 401, 'Incorrect API key provided.');
    if (headers['content-type'] !== 'application/json') return refuse(response, 400, 'The body must be JSON.');
    const { data, error } = Body.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    if (data === undefined) return refuse(response, 400, error.message);
    requests.push(data);
    if (fake.respond !== null) return fake.respond(response);
    send(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: data.model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: fake.content, refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: fake.finishReason,
        },
      ],
      usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
    });
  }
  return fake;
}

/** Refuses a request. @see https://platform.openai.com/docs/guides/error-codes */
function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
