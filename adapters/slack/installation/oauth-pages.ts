import type { ServerResponse } from 'node:http';
import { DailiesError } from '#src/errors.ts';
import { notePage } from '#src/http/index.ts';

/** Headers besides those of every {@link notePage}: its address, with the code of an installation, stays here. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

interface Page {
  readonly status: number;
  readonly title: string;
  readonly sentence: string;
}

const INSTALLED: Page = {
  status: 200,
  title: 'Dailies is installed',
  sentence: 'Now type /video in a channel. In a private one, type /invite @Dailies first.',
};
const CANCELLED: Page = {
  status: 403,
  title: 'Not installed',
  sentence: 'The installation was cancelled, and nothing was changed. Open /slack/install to start again.',
};
const OUTDATED: Page = {
  status: 400,
  title: 'Not installed',
  sentence: 'This installation was begun elsewhere, or too long ago. Open /slack/install to start again.',
};
const FAILED: Page = {
  status: 502,
  title: 'Not installed',
  sentence: 'Slack did not complete the installation. Open /slack/install to try again; the log of the bot says more.',
};

/** Responds with the page after an installation. @param error of Bolt or the installation store; `null`: it succeeded */
export function sendOutcome(response: ServerResponse, error: Error | null): void {
  const { status, ...page } = error === null ? INSTALLED : pageOf(error);
  const { headers, html } = notePage(page);
  response.writeHead(status, { ...headers, ...HEADERS }).end(html);
}

/** @see https://docs.slack.dev/tools/node-slack-sdk/oauth#handling-errors for the codes */
function pageOf(error: Error): Page {
  const original: unknown = 'original' in error ? error.original : error;
  if (original instanceof DailiesError && original.code === 'missing_permission')
    return { status: 403, title: 'Not installed', sentence: original.words ?? CANCELLED.sentence };
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'slack_oauth_installer_authorization_error') return CANCELLED;
  return /state/.test(code) ? OUTDATED : FAILED;
}
