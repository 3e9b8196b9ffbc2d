import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBytes } from './body.ts';
import { isVisible } from './file-methods.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';

/**
 * Receives the bytes of an announced file.
 * @throws Refusal with another status than 200: "a non-200 response indicates a failure"
 * @see docs.slack.dev/reference/methods/files.getUploadURLExternal
 */
export async function takeUpload(world: World, request: IncomingMessage, fileId: string): Promise<string> {
  const file = world.files.get(fileId);
  if (file === undefined) throw new Refusal('', { status: 404, violation: `upload to an unknown address: ${fileId}` });
  // "Upload a file by making a POST request to the upload URL".
  if (request.method !== 'POST') throw new Refusal('', { status: 405, violation: `${request.method} of an upload` });
  if (file.isComplete)
    throw new Refusal('', { status: 400, violation: `doubled file: bytes of ${fileId} after its end` });
  const { bytes, sha256, content } = await readBytes(request);
  if (bytes !== file.length) {
    throw new Refusal('', { status: 400, violation: `${fileId}: ${bytes} bytes sent, ${file.length} announced` });
  }
  file.sha256 = sha256;
  file.content = content;
  return `OK - ${bytes}`;
}

/** Slack's response to a request without a valid token: a sign-in page, with status 200. @see slack.md, point 7 */
const SIGN_IN =
  '<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to your workspace</body></html>';

/**
 * Serves a GET of a `url_private`.
 * @see docs.slack.dev/messaging/working-with-files "Retrieving files": "Authorization: Bearer" with files:read
 */
export function serveFile(world: World, request: IncomingMessage, response: ServerResponse, path: string): void {
  const [, fileId = ''] = /-(F[A-Z0-9]+)\//.exec(path) ?? [];
  const file = world.files.get(fileId);
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const team = world.teams.values().find(({ botToken }) => botToken !== null && botToken === token);
  const isAllowed = file !== undefined && team?.scopes.has('files:read') === true && isVisible(world, file, team.id);
  world.fetches.push({ fileId, isAllowed });
  if (!isAllowed || file.isDeleted || !file.isComplete) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(SIGN_IN);
  } else if (file.content === null) {
    response.writeHead(410).end('The fake does not keep files of this size.');
  } else {
    response.writeHead(200, { 'content-type': file.mimeType, 'content-length': file.content.length }).end(file.content);
  }
}
