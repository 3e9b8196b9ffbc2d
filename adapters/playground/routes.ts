import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AdapterDeps } from '#commands/adapter.ts';
import { sentenceOf } from '#commands/sentences/errors.ts';
import { DailiesError } from '#src/errors.ts';
import { dispositionOf, sendFile } from '#src/http/index.ts';
import type { Logger } from '#src/logger.ts';
import type { LiveStreams } from './event-stream.ts';
import type { AttachmentFolder } from './files.ts';
import type { InteractionHandler } from './interactions.ts';
import {
  type Message,
  type MessageStore,
  playgroundMessages,
  shotIn,
  showsPoster,
  toWire,
  type WireMessage,
} from './message-store.ts';
import { wireModels } from './models.ts';
import type { CachedResponse } from './response-cache.ts';
import {
  commandsQuery,
  dismissalBody,
  eventsQuery,
  formBody,
  interactionBody,
  messagesQuery,
  pressBody,
  reactionBody,
  suggestionsQuery,
} from './schema.ts';

/** Options of {@link addRoutes}. */
interface RouteOptions extends Pick<AdapterDeps, 'catalog' | 'clipOf' | 'posterOf' | 'clipLinks' | 'logger'> {
  readonly handler: InteractionHandler;
  readonly messages: MessageStore;
  readonly files: AttachmentFolder;
  readonly streams: LiveStreams;
  /** True: the embedded service renders the clips free of charge, and the page says so. */
  readonly isEmbeddedService: boolean;
  /** Returns `null` while interactions are accepted, else the reason for the 503. */
  readonly closed: () => string | null;
}

/** Registers the HTTP API of the playground; responses are JSON, and an error is `{"error": sentence}`. */
export function addRoutes(http: FastifyInstance, options: RouteOptions): void {
  // By default Fastify parses text/plain too, which a form of any page can send.
  http.removeContentTypeParser('text/plain');
  http.setErrorHandler((thrown, _request, reply) => sendError(thrown, reply, options.logger));
  addActions(http, options);
  addReads(http, options);
  addFiles(http, options);
}

function addActions(http: FastifyInstance, { handler, closed }: RouteOptions): void {
  const act = <Body>(path: string, schema: z.ZodType<Body>, run: (body: Body) => Promise<CachedResponse>): void => {
    http.post(path, { bodyLimit: 256 * 1024 }, async (request, reply) => {
      const reason = closed();
      if (reason !== null) return reply.code(503).header('retry-after', '2').send({ error: reason });
      const response = await run(schema.parse(request.body ?? {}));
      return reply.code(response.status).send(response.body);
    });
  };
  act('/playground/interactions', interactionBody, (body) => handler.interact(body));
  act('/playground/presses', pressBody, (body) => handler.press(body));
  act('/playground/reactions', reactionBody, (body) => handler.react(body));
  act('/playground/forms', formBody, (body) => handler.submit(body));
  http.post('/playground/gallery', async (request, reply) => {
    const found = await handler.galleryLink(commandsQuery.parse(request.body ?? {}));
    return reply.code('error' in found ? 400 : 200).send(found);
  });
  act('/playground/dismissals', dismissalBody, async (body) => {
    await handler.dismiss(body);
    return { status: 202, body: { message: null } };
  });
}

function addReads(
  http: FastifyInstance,
  { catalog, handler, messages, streams, isEmbeddedService, logger }: RouteOptions,
): void {
  http.get('/playground/messages', async (request, reply) => {
    const page = await messages.list(messagesQuery.parse(request.query));
    if (page === null) return reply.code(404).send({ error: 'There is no such message in this channel.' });
    return reply
      .header('cache-control', 'no-store')
      .header('x-has-more', String(page.hasEarlier))
      .header('x-has-later', String(page.hasLater))
      .send(toWires(page.messages, logger));
  });
  http.get('/playground/channels', async () => messages.channels());
  http.get('/playground/commands', async (request) => {
    const query = commandsQuery.parse(request.query);
    const [commands, models] = await Promise.all([
      handler.commandsFor(query),
      handler.catalogFor(query).catch(() => catalog()),
    ]);
    return { commands, models: wireModels(models), isEmbeddedService };
  });
  http.get('/playground/settings', async (request, reply) => {
    const found = await handler.settings(commandsQuery.parse(request.query));
    return reply
      .code('error' in found ? 403 : 200)
      .header('cache-control', 'no-store')
      .send(found);
  });
  http.get('/playground/suggestions', async (request) => handler.suggest(suggestionsQuery.parse(request.query)));
  http.get('/playground/events', (request, reply) =>
    streams.send(request, reply, eventsQuery.parse(request.query).user),
  );
}

/** Returns the messages as sent over HTTP, without those whose records are damaged: these are logged. */
function toWires(messages: readonly Message[], logger: Logger): readonly WireMessage[] {
  return messages.flatMap((message) => {
    try {
      return [toWire(message)];
    } catch (thrown) {
      const about = {
        event: 'damaged_record_skipped',
        namespace: playgroundMessages.name,
        key: message.id,
        err: thrown,
      };
      logger.error(about, 'skipping a damaged record');
      return [];
    }
  });
}

const fileParams = z.object({ message: z.string(), name: z.string() });

const clipParams = z.object({ message: z.string(), task: z.string() });

const posterParams = z.object({ message: z.string(), picture: z.string() });

/** Content types served inline; any other file is a download. */
const SHOWN = /^(video|audio|image)\/[\w.+-]+$/;

function addFiles(http: FastifyInstance, options: RouteOptions): void {
  const { messages, files, clipOf, clipLinks, posterOf } = options;
  http.get('/playground/posters/:message/:picture', async (request, reply) => {
    const { message, picture } = posterParams.parse(request.params);
    const shown = await messages.get(message);
    const path = shown !== undefined && showsPoster(shown, picture) ? await posterOf(picture) : null;
    return sendPoster(request, reply, path);
  });
  http.get('/playground/clips/:message/:task', async (request, reply) => {
    const { message, task } = clipParams.parse(request.params);
    const shot = shotIn((await messages.get(message))?.board, task);
    const elsewhere = shot === undefined ? null : await clipLinks.redirectFor(shot.task, false);
    if (elsewhere !== null) return reply.header('cache-control', 'no-store').redirect(elsewhere, 302);
    const clip = shot === undefined ? null : await clipOf(shot.task);
    if (clip === null) return reply.code(404).send({ error: 'There is no such file.' });
    const isShown = SHOWN.test(clip.contentType);
    void reply
      .type(isShown ? clip.contentType : 'application/octet-stream')
      .header('cache-control', 'private, max-age=3600');
    return sendFile(request, reply, clip.path);
  });
  http.get('/playground/files/:message/:name', async (request, reply) => {
    const { message, name } = fileParams.parse(request.params);
    const query = request.query as { readonly download?: string; readonly poster?: string };
    const isDownload = query.download !== undefined;
    const { task: own = null, tasks = [], attachments = [] } = (await messages.get(message)) ?? {};
    const attachment = attachments.find((file) => file.name === name);
    const task = attachment && (own ?? tasks.find(({ file }) => file === name)?.task ?? null);
    if (query.poster !== undefined) return sendPoster(request, reply, task ? await posterOf(task) : null);
    const elsewhere = task ? await clipLinks.redirectFor(task, isDownload) : null;
    if (elsewhere !== null) return reply.header('cache-control', 'no-store').redirect(elsewhere, 302);
    const isHere =
      attachment !== undefined && (await files.bring(message, name, async () => (task ? clipOf(task) : null)));
    if (!isHere) return reply.code(404).send({ error: 'There is no such file.' });
    const isShown = SHOWN.test(attachment.contentType) && !attachment.contentType.includes('svg');
    void reply
      .type(isShown ? attachment.contentType : 'application/octet-stream')
      .header('content-disposition', dispositionOf(name, !isShown))
      .header('cache-control', 'private, max-age=31536000, immutable');
    return sendFile(request, reply, join(files.path, files.fileName(message, name)));
  });
}

/** Sends the picture of a clip; nothing where there is none, which the browser takes for no error. */
async function sendPoster(request: FastifyRequest, reply: FastifyReply, path: string | null): Promise<FastifyReply> {
  if (path === null) return reply.code(204).header('cache-control', 'no-store').send();
  // Not for long: a removed clip leaves no picture.
  void reply.type('image/jpeg').header('cache-control', 'private, max-age=3600');
  return sendFile(request, reply, path);
}

function sendError(thrown: unknown, reply: FastifyReply, logger: Logger): FastifyReply {
  if (thrown instanceof z.ZodError) return reply.code(400).send({ error: wrongField(thrown) });
  if (thrown instanceof DailiesError && thrown.retryable)
    return reply
      .code(503)
      .header('retry-after', '5')
      .send({ error: sentenceOf(thrown) });
  const status = thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : 500;
  if (status >= 400 && status < 500)
    return reply.code(status).send({ error: CLIENT_ERRORS[status] ?? 'The request is wrong.' });
  logger.error({ event: 'playground_request_failed', err: thrown }, 'a playground request failed');
  const sentence =
    thrown instanceof DailiesError ? sentenceOf(thrown) : 'Something went wrong here. The log says what.';
  return reply.code(500).send({ error: sentence });
}

/** Returns the error of the first invalid field as one sentence. */
function wrongField(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'Something in the request is wrong.';
  const field = issue.path.map(String).join('.');
  return field === '' ? 'The request has to be a JSON object.' : `${field}: ${issue.message}.`;
}

const CLIENT_ERRORS: Readonly<Record<number, string>> = {
  400: 'The request has to be a JSON object.',
  413: 'That is too long.',
  415: 'Send JSON, with the header content-type: application/json.',
};
