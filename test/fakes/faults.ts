import { type Serving, sendBytes } from './clip.ts';
import type { Call, Handler } from './video-service.ts';

/** Creates the task of a create, regardless of the response sent afterwards. */
function accept({ service, request }: Call): void {
  const { model } = JSON.parse(request.body) as { model: string };
  service.add({ model });
}

/** Accepts the create and never responds. */
export const acceptAndNeverAnswer: Handler = (call) => {
  accept(call);
};

/** Accepts the create and resets the connection. */
export const acceptAndReset: Handler = (call) => {
  accept(call);
  call.response.socket?.resetAndDestroy();
};

/** Accepts the create; a gateway in between fails with an HTML page. */
export function acceptAndGatewayError(status: 500 | 502 | 503 | 504): Handler {
  return (call) => {
    accept(call);
    call.response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><h1>${status}</h1></html>`);
  };
}

/** Accepts the create and sends the first half of the response. */
export const acceptAndHalfAnswer: Handler = (call) => {
  accept(call);
  const whole = JSON.stringify({ id: 'task_1', object: 'video', status: 'queued', progress: 0 });
  call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
  call.response.write(whole.slice(0, whole.length / 2), () => call.response.socket?.destroySoon());
};

/** Accepts the create and responds with a body larger than a client should read. */
export const acceptAndFlood: Handler = (call) => {
  accept(call);
  call.response.writeHead(200, { 'content-type': 'application/json' });
  call.response.end(`{"id":"${'x'.repeat(2 * 1024 * 1024)}"}`);
};

/** Responds with `status` and an error in the specification's format. */
export function refuse(
  status: number,
  code: string,
  message = 'No.',
  headers: Readonly<Record<string, string>> = {},
): Handler {
  return (call) => call.refuse(status, code, message, headers);
}

/** Responds with JSON. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Handler {
  return (call) => call.json(status, body, headers);
}

/** Responds with the text, as plain text by default. */
export function text(status: number, body: string, contentType = 'text/plain'): Handler {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': contentType }).end(body);
  };
}

/** Responds with a redirect. */
export function redirect(status: 301 | 302 | 303 | 307 | 308, location: string): Handler {
  return ({ response }) => {
    response.writeHead(status, { location }).end();
  };
}

/** Serves bytes with the given options. */
export function serve(bytes: Buffer, serving: Serving = {}): Handler {
  return (call) => sendBytes(call, bytes, serving);
}

/** Handles each request by the next of `handlers`, and every later one by the last. */
export function inTurn(...handlers: readonly [Handler, ...Handler[]]): Handler {
  let turn = 0;
  return (call) => {
    const handler = handlers[Math.min(turn, handlers.length - 1)];
    turn += 1;
    handler?.(call);
  };
}
