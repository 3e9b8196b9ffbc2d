import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#src/clock.ts';
import { readBody } from './body.ts';
import { callbackRoutes } from './callback-route.ts';
import { channelRoutes } from './channel-routes.ts';
import { commandRoutes } from './command-routes.ts';
import type { Faults } from './faults.ts';
import type { Gateway } from './gateway.ts';
import { generalRoutes } from './general-routes.ts';
import type { RateLimits } from './limits.ts';
import { Refusal } from './refusal.ts';
import { ok, type Route } from './routes.ts';
import { webhookRoutes } from './webhook-routes.ts';
import type { World } from './world.ts';

/** @see discord docs: events/gateway, "Get Gateway Bot" */
const gatewayRoute: Route = {
  by: 'bot',
  bucket: 'other',
  handle: ({ query }) => ok(JSON.parse(query.get('gateway') ?? '')),
};

const ROUTES = {
  'GET /gateway/bot': gatewayRoute,
  ...generalRoutes,
  ...commandRoutes,
  ...callbackRoutes,
  ...webhookRoutes,
  ...channelRoutes,
} as const satisfies Record<string, Route>;

/** An endpoint by its method and path, as used in faults. */
export type RouteName = keyof typeof ROUTES;

const PATTERNS = Object.entries<Route>(ROUTES).map(([name, route]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, route, method, pattern: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`) };
});

/** A request with the status of its response. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query below the version, the tokens of interactions included. */
  readonly path: string;
  /** Its pattern; null if no endpoint matched. */
  readonly route: RouteName | null;
  /** 0 if the connection was dropped. */
  readonly status: number;
  /** JSON, without files. */
  readonly body: unknown;
}

/** Components behind the API. */
export interface ServerParts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly limits: RateLimits;
  readonly faults: Faults;
  readonly requests: RecordedRequest[];
}

interface Matched {
  readonly name: string;
  readonly route: Route;
  readonly groups: Readonly<Record<string, string>>;
}

interface Reply {
  readonly status: number;
  readonly json: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly onSent?: () => void;
  /** Closes the socket instead of responding. */
  readonly isDropped?: boolean;
}

/** Starts the API, the CDN and the gateway on a free port of 127.0.0.1. */
export async function listen(parts: ServerParts): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => void answer(parts, request, response));
  server.on('upgrade', (request, socket, head) => parts.gateway.accept(request, socket, head));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { world, requests } = parts;
  const { method = '', url: address = '/' } = request;
  const url = new URL(address, `http://${request.headers.host ?? '127.0.0.1'}`);
  response.on('error', () => {});
  request.on('error', () => {});
  if (url.pathname.startsWith('/cdn/')) return world.files.serve(url, response);
  const path = url.pathname.replace(/^\/api\/v10/, '');
  const matched = matching(method, path);
  const seen: { body: unknown } = { body: null };
  const reply = await handled(parts, request, { url, path, matched, seen });
  requests.push({
    method,
    path: `${path}${url.search}`,
    route: (matched?.name ?? null) as RouteName | null,
    status: reply.isDropped === true ? 0 : reply.status,
    body: seen.body,
  });
  // Unread data has to be drained before the client reads the response.
  request.resume();
  if (reply.isDropped === true) response.socket?.destroy();
  else {
    response.on('finish', () => reply.onSent?.());
    // Discord's own time, from which the bot can compute the age of an interaction.
    response.setHeader('date', new Date(world.clock.now()).toUTCString());
    if (reply.status === 204) response.writeHead(204, reply.headers).end();
    else {
      const headers = { 'content-type': 'application/json', ...reply.headers };
      response.writeHead(reply.status, headers).end(JSON.stringify(reply.json));
    }
  }
  world.changed();
}

interface Arrival {
  readonly url: URL;
  readonly path: string;
  readonly matched: Matched | null;
  /** Receives the body for the record. */
  readonly seen: { body: unknown };
}

async function handled(parts: ServerParts, request: IncomingMessage, arrival: Arrival): Promise<Reply> {
  const { world, limits, faults } = parts;
  const { url, matched, seen } = arrival;
  const arrivedMs = systemClock.monotonic();
  let headers: Reply['headers'] = {};
  try {
    checkConventions(world, request, arrival);
    if (matched === null)
      throw new Refusal(404, 0, { violation: `no such endpoint: ${request.method} ${arrival.path}` });
    const { name, route, groups } = matched;
    if (route.by === 'bot') authorize(world, request, name);
    const resource = groups['token'] ?? groups['channel'] ?? groups['guild'] ?? '';
    const fault = await faults.meet(name, resource);
    const standing = limits.take(route, name, { resource, arrivedMs });
    headers = standing.headers;
    const { json, files } = await readBody(request);
    seen.body = json;
    if (name === 'GET /gateway/bot') url.searchParams.set('gateway', JSON.stringify(parts.gateway.description));
    const at = (part: string): string => decodeURIComponent(groups[part] ?? '');
    if (name.startsWith('PATCH /channels/')) checkAge(parts, at('channel'), at('message'));
    const done = route.handle({ world, at, query: url.searchParams, json, files });
    const isDropped = fault?.kind === 'drop';
    if (fault?.kind === 'fail') throw new Refusal(fault.status, fault.code);
    const reply = { headers, onSent: standing.onSent, isDropped };
    return done === undefined
      ? { status: 204, json: null, ...reply }
      : { status: done.status ?? 200, json: done.json, ...reply };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) {
      // An aborted upload is no violation; any other error is the fake's own and must be reported.
      const isBroken = !request.complete;
      if (!isBroken) world.violate(`the fake broke at ${arrival.path}: ${String(thrown)}`);
      return { status: 500, json: { message: '500: Internal Server Error', code: 0 }, headers, isDropped: isBroken };
    }
    if (thrown.violation !== null) world.violate(thrown.violation);
    return { status: thrown.status, json: thrown.body, headers: { ...headers, ...thrown.headers } };
  }
}

/** Checks the rules for every request. @see discord docs: reference, "API Versioning" and "User Agent" */
function checkConventions(world: World, request: IncomingMessage, { url }: Arrival): void {
  if (!url.pathname.startsWith('/api/v10/')) world.violate(`request without version 10: ${url.pathname}`);
  if (!/^DiscordBot \(.+, .+\)/.test(request.headers['user-agent'] ?? '')) {
    world.violate(`request without a valid User-Agent: ${request.method} ${url.pathname}`);
  }
  if (url.href.includes(world.token)) world.violate("the bot's token in an address");
}

/** @see discord docs: reference, "Authentication": `Authorization: Bot TOKEN` */
function authorize(world: World, request: IncomingMessage, name: string): void {
  const isRight = request.headers.authorization === `Bot ${world.token}`;
  if (isRight && !world.isTokenRefused) return;
  const violation = isRight ? {} : { violation: `${name} without the bot's token` };
  throw new Refusal(401, 0, { ...violation, body: { message: '401: Unauthorized' } });
}

function checkAge({ world, limits }: ServerParts, channelId: string, messageId: string): void {
  const message = world.messages.get(messageId);
  if (message !== undefined) limits.takeEdit(channelId, world.clock.now() - message.createdMs);
}

function matching(method: string, path: string): Matched | null {
  for (const { name, route, method: wanted, pattern } of PATTERNS) {
    const groups = wanted === method ? pattern.exec(path)?.groups : undefined;
    if (groups !== undefined || (wanted === method && pattern.test(path))) return { name, route, groups: groups ?? {} };
  }
  return null;
}
