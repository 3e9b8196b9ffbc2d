import { HTTPModuleFunctions, HTTPReceiver, type InstallationStore } from '@slack/bolt';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { createSdkLogger } from './sdk-logger.ts';

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
const EVENTS = '/slack/events';
const INSTALL = '/slack/install';
const REDIRECT = '/slack/oauth_redirect';

/**
 * Bolt's own handling of Slack's requests (signature over the raw body, age, form or JSON, the challenge) and of the
 * installation, on the bot's HTTP server; Bolt listens nowhere itself.
 */
export function createHttpReceiver(options: HttpOptions): HTTPReceiver {
  const { http, logger, apiUrl, signingSecret, installation, isOpen } = options;
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
    reply.hijack();
    receiver.requestListener(request.raw, reply.raw);
    return undefined;
  };
  http.register(async (room) => {
    // The signature is over the bytes as they came: Bolt reads them.
    room.removeAllContentTypeParsers();
    room.addContentTypeParser('*', (_request, _payload, done) => done(null));
    if (signingSecret !== undefined) room.post(EVENTS, hand);
    if (installation === undefined) return;
    room.get(INSTALL, hand);
    room.get(REDIRECT, hand);
  });
  return receiver;
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
