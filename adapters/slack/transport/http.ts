import type { ServerResponse } from 'node:http';
import { HTTPModuleFunctions, HTTPReceiver, type InstallationStore } from '@slack/bolt';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { sendInstalled, sendNotInstalled } from '../installation/oauth-pages.ts';
import { createSdkLogger } from '../web-api/sdk-logger.ts';

/** What the paths under `/slack` are made of. */
export interface HttpOptions {
  readonly http: FastifyInstance;
  readonly logger: Logger;
  readonly apiUrl?: string | undefined;
  /** HTTP mode: requests at `POST /slack/events`. Absent: nothing is taken there. */
  readonly signingSecret?: string | undefined;
  /** Installation at `/slack/install`. */
  readonly installation?: InstallationSettings | undefined;
  /** Whether requests are taken now. */
  readonly isOpen: () => boolean;
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** What an installation takes. */
export interface InstallationSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly stateSecret: string;
  /** How this server is reached from outside; absent: Slack uses the address in the app's settings. */
  readonly publicUrl?: string | undefined;
  readonly scopes: readonly string[];
  readonly store: InstallationStore;
}

/** Slack's largest requests, forms with everything that was filled in, have a quarter of this. */
const MAX_BODY_BYTES = 1_000_000;
const { defaultProcessEventErrorHandler: defaultErrorHandler } = HTTPModuleFunctions;
const MOST_AHEAD_SECONDS = 300;
const FORM = 'application/x-www-form-urlencoded';
const EVENTS = '/slack/events';
const INSTALL = '/slack/install';
const REDIRECT = '/slack/oauth_redirect';

/**
 * Bolt's own handling of Slack's requests (signature over the raw body, age, form or JSON, the challenge) and of the
 * installation, on the bot's HTTP server; Bolt listens nowhere itself.
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
      logger.warn({ err: error }, 'a request of Slack could not be taken; it is sent again');
      response.writeHead(503).end();
      return false;
    },
    ...(installation === undefined ? {} : installerOf(installation, apiUrl)),
  });
  const hand = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
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
      // Bolt throws at what it has no handler for; nobody else would end the answer.
      logger.warn({ err: thrown }, 'a request was none of Slack’s');
      if (!reply.raw.headersSent) reply.raw.writeHead(404);
      reply.raw.end();
    }
    return undefined;
  };
  http.register(async (room) => {
    // The signature is over the bytes as they came.
    room.removeAllContentTypeParsers();
    const parsing = { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES } as const;
    room.addContentTypeParser('*', parsing, (_request, body, done) => done(null, body));
    if (signingSecret !== undefined) room.post(EVENTS, hand);
    if (installation === undefined) return;
    // Bolt answers GET alone.
    room.get(INSTALL, { exposeHeadRoute: false }, hand);
    room.get(REDIRECT, { exposeHeadRoute: false }, hand);
  });
  return receiver;
}

/** "More than five minutes from local time" in either direction; Bolt looks at the past alone. @see https://docs.slack.dev/authentication/verifying-requests-from-slack */
function isFromFuture({ headers }: FastifyRequest, nowMs: number): boolean {
  const sent = headers['x-slack-request-timestamp'];
  return sent !== undefined && !(Number(sent) - nowMs / 1000 <= MOST_AHEAD_SECONDS);
}

/**
 * Whether what Bolt parses of a body is an object: it takes `null`, which a signature may cover as well, for one and
 * throws where nobody catches. Content types are compared as Bolt compares them.
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
      // A page of its own with one button would only be in the way.
      directInstall: true,
      callbackOptions: {
        success: (_installation: unknown, _options: unknown, _request: unknown, response: ServerResponse) =>
          sendInstalled(response),
        failure: (error: Error, _options: unknown, _request: unknown, response: ServerResponse) =>
          sendNotInstalled(error, response),
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
