import type { ServerResponse } from 'node:http';
import { HTTPModuleFunctions, HTTPReceiver, type InstallationStore } from '@slack/bolt';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { SlackSettings } from '../config.ts';
import { sendOutcome } from '../installation/oauth-pages.ts';
import { createSdkLogger } from '../web-api/client.ts';

interface HttpOptions {
  readonly http: FastifyInstance;
  readonly logger: Logger;
  readonly apiUrl?: string | undefined;
  /** Verifies requests at `POST /slack/events` (HTTP mode). Absent: the route does not exist. */
  readonly signingSecret?: string | undefined;
  /** OAuth installation at `/slack/install`. */
  readonly installation?: InstallationSettings | undefined;
  /** Returns whether requests are accepted now; otherwise they get a 503. */
  readonly isOpen: () => boolean;
  /** Returns the current time in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

interface InstallationSettings extends NonNullable<SlackSettings['installation']> {
  /** Public base URL of this server; absent: Slack uses the redirect URL in the app's settings. */
  readonly publicUrl?: string | undefined;
  readonly scopes: readonly string[];
  readonly store: InstallationStore;
}

/** Largest request body: four times Slack's largest requests, submitted modals with every field filled in. */
const MAX_BODY_BYTES = 1_000_000;
const { defaultProcessEventErrorHandler: defaultErrorHandler } = HTTPModuleFunctions;
const MOST_AHEAD_SECONDS = 300;
const FORM = 'application/x-www-form-urlencoded';
const EVENTS = '/slack/events';
const INSTALL = '/slack/install';
const REDIRECT = '/slack/oauth_redirect';

/**
 * Mounts Bolt's receiver (signature over the raw body, age, form or JSON, the challenge) and its OAuth installation on
 * the bot's HTTP server; Bolt opens no port itself.
 */
export function createHttpReceiver(options: HttpOptions): HTTPReceiver {
  const { http, logger, apiUrl, signingSecret, installation, isOpen, nowMs } = options;
  const receiver = new HTTPReceiver({
    signingSecret: signingSecret ?? '',
    signatureVerification: signingSecret !== undefined,
    endpoints: [EVENTS],
    bodyLimit: MAX_BODY_BYTES,
    logger: createSdkLogger(logger),
    processEventErrorHandler: async (args) => {
      const { error, response } = args;
      if (!(error instanceof DailiesError) || !error.retryable || response.headersSent)
        return defaultErrorHandler(args);
      logger.warn(
        { event: 'slack_request_rejected', err: error },
        'failed to accept a Slack request; Slack retries it',
      );
      response.writeHead(503).end();
      return false;
    },
    ...(installation === undefined ? {} : installerOf(installation, apiUrl)),
  });
  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!isOpen()) return reply.code(503).send({ error: 'Slack is not connected yet.' });
    if (isFromFuture(request, nowMs())) return reply.code(401).send({ error: 'The request is dated in the future.' });
    if (Buffer.isBuffer(request.body)) {
      if (!holdsObject(request.body, request.headers['content-type'])) {
        return reply.code(400).send({ error: 'The body has to be a JSON object or a form.' });
      }
      // Bolt verifies the signature over these bytes. @see https://docs.slack.dev/tools/bolt-js/concepts/receiver
      Object.assign(request.raw, { rawBody: request.body });
    }
    reply.hijack();
    try {
      receiver.requestListener(request.raw, reply.raw);
    } catch (thrown) {
      // Bolt throws for a request without a handler and leaves the response open.
      logger.warn({ event: 'slack_request_unhandled', err: thrown }, 'received a request that Bolt does not handle');
      if (!reply.raw.headersSent) reply.raw.writeHead(404);
      reply.raw.end();
    }
    return undefined;
  };
  http.register(async (scope) => {
    // The signature covers the raw bytes.
    scope.removeAllContentTypeParsers();
    const parsing = { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES } as const;
    scope.addContentTypeParser('*', parsing, (_request, body, done) => done(null, body));
    if (signingSecret !== undefined) scope.post(EVENTS, handle);
    if (installation === undefined) return;
    // Bolt only handles GET.
    scope.get(INSTALL, { exposeHeadRoute: false }, handle);
    scope.get(REDIRECT, { exposeHeadRoute: false }, handle);
  });
  return receiver;
}

/** Rejects timestamps "more than five minutes from local time" in the future; Bolt rejects only past ones. @see https://docs.slack.dev/authentication/verifying-requests-from-slack */
function isFromFuture({ headers }: FastifyRequest, nowMs: number): boolean {
  const sent = headers['x-slack-request-timestamp'];
  return sent !== undefined && !(Number(sent) - nowMs / 1000 <= MOST_AHEAD_SECONDS);
}

/**
 * Returns whether Bolt would parse a body into an object: it mistakes `null`, which can be signed as well, for one and
 * throws uncaught. Compares content types as Bolt does.
 */
function holdsObject(body: Buffer, contentType: string | undefined): boolean {
  const text = body.toString();
  const json = contentType === FORM ? new URLSearchParams(text).get('payload') : text;
  return json === null || /^\s*\{/.test(json);
}

function installerOf(settings: InstallationSettings, apiUrl: string | undefined) {
  const { clientId, clientSecret, stateSecret, publicUrl, scopes, store } = settings;
  return {
    clientId,
    clientSecret,
    stateSecret,
    scopes: [...scopes],
    installationStore: store,
    ...(publicUrl === undefined ? {} : { redirectUri: `${publicUrl}${REDIRECT}` }),
    installerOptions: {
      installPath: INSTALL,
      redirectUriPath: REDIRECT,
      // Skips Bolt's install page, which has only a button.
      directInstall: true,
      callbackOptions: {
        success: (_installation: unknown, _options: unknown, _request: unknown, response: ServerResponse) =>
          sendOutcome(response, null),
        failure: (error: Error, _options: unknown, _request: unknown, response: ServerResponse) =>
          sendOutcome(response, error),
      },
      ...(apiUrl === undefined
        ? {}
        : {
            clientOptions: { slackApiUrl: apiUrl },
            authorizationUrl: new URL('../oauth/v2/authorize', withSlash(apiUrl)).href,
          }),
    },
  };
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
