import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { escapeHtml, NOTE_STYLE } from '../http/index.ts';
import { GALLERY_PATH } from './requests.ts';

/** Path of a link, and of its redemption. */
export const OPEN_PATH = `${GALLERY_PATH}/open`;

/** Headers of the pages below: a form and no script. The referrer policy keeps the key of the link in its page. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(NOTE_STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  // Browsers send the origin with the form, which is checked; with no-referrer they would send "null".
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/**
 * Sends the page of a link: a button, because the previews of chats open links as well, and would use it up.
 * @param name of the person who requested it, so that no one opens another one's gallery unawares
 */
export function sendOpenPage(reply: FastifyReply, key: string, name: string): FastifyReply {
  return sendNote(
    reply,
    `This opens the clips that ${name} may see, for 12 hours. The link works once.`,
    `
<form method="post" action="${OPEN_PATH}">
<input type="hidden" name="key" value="${escapeHtml(key)}">
<button>Open the gallery as ${escapeHtml(name)}</button>
</form>`,
  );
}

/** Sends a page with one sentence. @param form HTML below it. Default: none. */
export function sendNote(reply: FastifyReply, sentence: string, form = ''): FastifyReply {
  return reply.headers(HEADERS).send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>Dailies gallery</title>
<style>${NOTE_STYLE}</style>
</head>
<body>
<main>
<h1>Dailies gallery</h1>
<p>${escapeHtml(sentence)}</p>${form}
</main>
</body>
</html>
`);
}
