import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assistantMethods } from './assistant-methods.ts';
import { jsonOf, readArgs, readText } from './body.ts';
import { chatMethods } from './chat-methods.ts';
import { conversationMethods } from './conversation-methods.ts';
import { type Faults, refuse } from './faults.ts';
import { fileMethods } from './file-methods.ts';
import { generalMethods } from './general-methods.ts';
import type { RateLimits } from './limits.ts';
import type { Call, Method } from './methods.ts';
import { oauthMethods, showAuthorization } from './oauth.ts';
import type { Json, Team } from './records.ts';
import { Refusal } from './refusal.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { Sockets } from './socket.ts';
import { serveFile, takeUpload } from './storage.ts';
import { viewMethods } from './view-methods.ts';
import type { World } from './world.ts';

const METHODS = {
  ...assistantMethods,
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...generalMethods,
  ...oauthMethods,
  ...viewMethods,
} as const satisfies Record<string, Method>;

/** Name of a call in faults and records: a method, the upload of a file's bytes, or the use of a response_url. */
export type MethodName = keyof typeof METHODS | 'upload' | 'response_url';

/** Components behind the API. */
export interface ServerParts {
  readonly world: World;
  readonly sockets: Sockets;
  readonly limits: RateLimits;
  readonly faults: Faults;
  readonly responseUrls: ResponseUrls;
}

/** The response to a request. */
interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Closes the socket instead of responding. */
  readonly isDropped: boolean;
}

/** Arguments and workspace collected while a request is handled, for the record. */
interface Note {
  args: Json;
  team: Team | null;
}

/** Starts the Web API, file storage, response_urls and Socket Mode on a free port of 127.0.0.1. */
export async function listen(parts: ServerParts): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => void answer(parts, request, response));
  server.on('upgrade', (request, socket, head) => parts.sockets.accept(request, socket, head));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { world } = parts;
  const url = new URL(request.url ?? '/', world.origin());
  response.on('error', () => {});
  request.on('error', () => {});
  if (url.pathname.startsWith('/files-pri/')) return serveFile(world, request, response, url.pathname);
  if (url.pathname === '/oauth/v2/authorize') return showAuthorization(world, url, response);
  const [, kind = '', name = ''] = /^\/(api|upload\/v1|response)\/([^/]+)$/.exec(url.pathname) ?? [];
  const method = kind === 'api' ? name : kind === 'response' ? 'response_url' : 'upload';
  const note: Note = { args: {}, team: null };
  const handle = async (): Promise<string> => {
    if (kind === 'api') return callMethod(parts, { request, url, method, note });
    if (kind === 'upload/v1') return takeUpload(world, request, name);
    if (kind === 'response') return useResponseUrl(parts, request, { key: name, note });
    throw new Refusal('unknown_method', { status: 404, violation: `no such address: ${url.pathname}` });
  };
  const reply = await guarded(parts, method, handle);
  const parsed = reply.isDropped ? null : (jsonOf(reply.body) ?? { text: reply.body });
  world.calls.push({ method, teamId: note.team?.id ?? null, args: note.args, answer: parsed, status: reply.status });
  // Unread data has to be drained before the client reads the response.
  request.resume();
  if (reply.isDropped) response.socket?.destroy();
  else response.writeHead(reply.status, { ...scopesOf(note), ...reply.headers }).end(reply.body);
  world.changed();
}

/**
 * "The x-oauth-scopes header lists the scopes of the token". @see docs.slack.dev/authentication/installing-with-oauth
 */
function scopesOf({ team }: Note): Record<string, string> {
  return team === null ? {} : { 'x-oauth-scopes': [...team.scopes].join(',') };
}

/** Runs the handler with its faults and turns refusals into responses. */
async function guarded({ world, faults }: ServerParts, method: string, handle: () => Promise<string>): Promise<Reply> {
  try {
    const fault = await faults.meet(method);
    const body = await handle();
    refuse(fault);
    const type = body.startsWith('{') ? 'application/json; charset=utf-8' : 'text/plain';
    return { status: 200, body, headers: { 'content-type': type }, isDropped: fault?.kind === 'drop' };
  } catch (thrown) {
    // The app closed the connection in the middle of its request.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ECONNRESET')
      return { status: 500, body: '', headers: {}, isDropped: true };
    if (!(thrown instanceof Refusal)) {
      // Reports an error of the fake itself as such, so that it does not pass for Slack's.
      world.violate(`the fake failed at ${method}: ${String(thrown)}`);
      return { status: 500, body: String(thrown), headers: {}, isDropped: false };
    }
    if (thrown.violation !== null) world.violate(thrown.violation);
    const headers = { 'content-type': 'application/json; charset=utf-8', ...thrown.headers };
    return { status: thrown.status, body: JSON.stringify(thrown.body), headers, isDropped: false };
  }
}

interface Arrival {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly method: string;
  readonly note: Note;
}

async function callMethod(parts: ServerParts, { request, url, method, note }: Arrival): Promise<string> {
  const { world, limits, sockets } = parts;
  const args = await readArgs(request, url);
  note.args = args;
  const known = (METHODS as Readonly<Record<string, Method>>)[method];
  if (known === undefined) throw new Refusal('unknown_method', { violation: `no such method: ${method}` });
  // "Tokens should be passed as an HTTP Authorization header or alternatively, as a POST parameter": never in a URL.
  if (url.searchParams.has('token')) world.violate(`${method}: a token in an address`);
  const header = request.headers.authorization ?? '';
  const token = /^Bearer (.+)$/.exec(header)?.[1] ?? (typeof args['token'] === 'string' ? args['token'] : '');
  const basic = /^Basic (.+)$/.exec(header)?.[1] ?? null;
  const team = teamOf(world, known, { token, method });
  note.team = team;
  limits.takeCall(method, known.tier, team.id);
  demandScope(known, team);
  const call: Call = {
    world,
    method,
    team,
    args,
    limits,
    socketAddress: () => sockets.address(),
    basic: basic === null ? null : Buffer.from(basic, 'base64').toString('utf8'),
  };
  return JSON.stringify({ ok: true, ...known.handle(call) });
}

/**
 * Returns the workspace of a token.
 * @throws Refusal not_authed, invalid_auth, token_revoked, account_inactive, not_allowed_token_type
 * @see docs.slack.dev/apis/web-api "Authentication", docs.slack.dev/reference/methods/auth.test
 */
function teamOf(world: World, { by }: Method, { token, method }: { token: string; method: string }): Team {
  const [first] = world.teams.values();
  if (first === undefined) throw new Error('The fake has no workspace.');
  if (by === 'none') return first;
  if (token === '') throw new Refusal('not_authed', { violation: `${method} without a token` });
  if (by === 'app' && token === world.appToken) return first;
  const team = world.teams.values().find(({ botToken }) => botToken === token);
  if (by === 'bot' && team !== undefined) return team;
  for (const { ended } of world.teams.values()) {
    const error = ended.get(token);
    if (error !== undefined) throw new Refusal(error);
  }
  const isOtherKind = team !== undefined || token === world.appToken;
  if (isOtherKind) throw new Refusal('not_allowed_token_type', { violation: `${method} with the other kind of token` });
  throw new Refusal('invalid_auth');
}

/** @see docs.slack.dev/apis/web-api: `missing_scope` with `needed` and `provided` */
function demandScope({ scopes }: Method, team: Team): void {
  if (scopes.length === 0 || scopes.some((one) => team.scopes.has(one))) return;
  throw new Refusal('missing_scope', { body: { needed: scopes.join(','), provided: [...team.scopes].join(',') } });
}

async function useResponseUrl(
  { world, responseUrls }: ServerParts,
  request: IncomingMessage,
  { key, note }: { readonly key: string; readonly note: Note },
): Promise<string> {
  const body = jsonOf(await readText(request));
  if (body === null) throw new Refusal('invalid_payload', { status: 400, violation: 'a response_url wants JSON' });
  note.args = body;
  if (request.headers.authorization !== undefined) world.violate('a token sent to a response_url');
  responseUrls.use(key, body);
  return 'ok';
}
