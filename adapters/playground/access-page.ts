import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml, NOTE_STYLE } from '#src/http/index.ts';

export const ACCESS_PATH = '/playground/access';

/** Page shown to a browser that is not (yet) authorized to see the chat page. */
interface AccessPage {
  /** Plain text; escaped here. */
  readonly sentence: string;
  /** True: the page has a field for the access token. */
  readonly asksForToken: boolean;
}

/** The referrer policy lets browsers send the origin with the form, which the access check validates. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(NOTE_STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
} as const;

/** Returns whether a request is a page load in a browser, which accepts HTML. */
export function isBrowsing({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/** Sends a page with a field for the access token, or with the reason for the refusal alone. */
export function sendAccessPage(reply: FastifyReply, page: AccessPage): FastifyReply {
  return reply.headers(HEADERS).send(accessPage(page));
}

function accessPage({ sentence, asksForToken }: AccessPage): string {
  const form = `
<form method="post" action="${ACCESS_PATH}">
<label for="token">Access token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" aria-describedby="why">
<button>Open</button>
</form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dailies</title>
<style>${NOTE_STYLE}</style>
</head>
<body>
<main>
<h1>Dailies</h1>
<p id="why"${asksForToken ? ' role="status"' : ''}>${escapeHtml(sentence)}</p>${asksForToken ? form : ''}
</main>
</body>
</html>
`;
}
