export { bearerOf, type Entrance, isSameSecret, WrongTokens } from './access-tokens.ts';
export { readBounded } from './bounded-body.ts';
export { escapeHtml, notePage, sendNotePage } from './note-page.ts';
export { missing } from './readiness.ts';
export { acceptForms, cookieOf, isFromOtherOrigin, isFromOtherSite, isRead, setCookie } from './requests.ts';
export { dispositionOf, sendFile } from './send-file.ts';
export { addStatusRoutes, createHttpServer, Draining, listen } from './server.ts';
export { decodedText, notText } from './shared-page/decoded-text.js';
export { servePage } from './static-page.ts';
