import { type Serving, sendBytes } from './clip.ts';
import type { Call, Handler } from './video-service.ts';

/** Makes the task of a create, whatever is answered after. */
function accept({ service, request }: Call): void {
  const { model } = JSON.parse(request.body) as { model: string };
  service.add({ model });
}

/** Takes the create and says nothing, ever. */
export const acceptAndNeverAnswer: Handler = (call) => {
  accept(call);
};

/** Takes the create and resets the connection. */
export const acceptAndReset: Handler = (call) => {
  accept(call);
  call.response.socket?.resetAndDestroy();
};

/** Takes the create; the front in between gives up with a page of HTML. */
export function acceptAndGatewayError(status: 500 | 502 | 503 | 504): Handler {
  return (call) => {
    accept(call);
    call.response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><h1>${status}</h1></html>`);
  };
}

/** Takes the create and sends the first half of its answer. */
export const acceptAndHalfAnswer: Handler = (call) => {
  accept(call);
  const whole = JSON.stringify({ id: 'task_1', object: 'video', status: 'queued', progress: 0 });
  call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
  call.response.write(whole.slice(0, whole.length / 2), () => call.response.socket?.destroySoon());
};

/** Takes the create and answers with more than anybody should read. */
export const acceptAndFlood: Handler = (call) => {
  accept(call);
  call.response.writeHead(200, { 'content-type': 'application/json' });
  call.response.end(`{"id":"${'x'.repeat(2 * 1024 * 1024)}"}`);
};

/** Answers with `status`, an error of the specification's shape. */
export function refuse(
  status: number,
  code: string,
  message = 'No.',
  headers: Readonly<Record<string, string>> = {},
): Handler {
  return (call) => call.refuse(status, code, message, headers);
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Handler {
  return (call) => call.json(status, body, headers);
}

/** Answers with any text, by default as a success that says nothing. */
export function text(status: number, body: string, contentType = 'text/plain'): Handler {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': contentType }).end(body);
  };
}

/** Leads elsewhere. */
export function redirect(status: 301 | 302 | 303 | 307 | 308, location: string): Handler {
  return ({ response }) => {
    response.writeHead(status, { location }).end();
  };
}

/** Serves bytes in a certain way. */
export function serve(bytes: Buffer, serving: Serving = {}): Handler {
  return (call) => sendBytes(call, bytes, serving);
}

/** Each request is handled by the next of `handlers`, and every later one by the last. */
export function inTurn(...handlers: readonly [Handler, ...Handler[]]): Handler {
  let turn = 0;
  return (call) => {
    const handler = handlers[Math.min(turn, handlers.length - 1)];
    turn += 1;
    handler?.(call);
  };
}
