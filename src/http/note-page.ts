import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { display: grid; min-height: 90vh; place-items: center; margin: 1rem }
main { width: min(24rem, 100%); overflow-wrap: anywhere }
h1 { font-size: 1.4rem; margin: 0 0 .5rem }
label { display: block; font-weight: 600; margin-top: 1rem }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: .6rem .75rem; border-radius: .5rem; border: 1px solid GrayText }
button { margin-top: 1rem; border: 0; background: #3b5bdb; color: #fff; font-weight: 600; cursor: pointer }
:focus-visible { outline: 3px solid #748ffc; outline-offset: 2px }
`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  // Browsers send the origin with the form, which is checked; with no-referrer they would send "null".
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** Page with a sentence and at most one form. */
interface NotePage {
  readonly title: string;
  /** Plain text; escaped here. */
  readonly sentence: string;
  /** HTML below the sentence, whose id is `why`. Default: none. */
  readonly form?: string;
}

/** Sends a page that runs no script; its headers keep its address, with the key or token there, on this server. */
export function sendNotePage(reply: FastifyReply, page: NotePage): FastifyReply {
  const { headers, html } = notePage(page);
  return reply.headers(headers).send(html);
}

/** Returns the headers and the HTML of a page that runs no script. */
export function notePage({ title, sentence, form = '' }: NotePage) {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p id="why" role="status">${escapeHtml(sentence)}</p>${form}
</main>
</body>
</html>
`;
  return { headers: HEADERS, html };
}

/** Escapes a text for HTML, in elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
