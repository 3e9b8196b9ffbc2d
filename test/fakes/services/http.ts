import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RecordedRequest } from '../video-service.ts';

/** Response of a {@link startHttp} server: JSON, or bytes. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

/** A service on loopback. */
export interface HttpService {
  /** Without a path. */
  readonly baseUrl: string;
  /** Every request received completely, oldest first; the body of a form is decoded as Latin-1. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port of 127.0.0.1, for the fake of a service. @param answer `null`: it does not answer */
export async function startHttp(
  answer: (request: RecordedRequest, baseUrl: string) => HttpReply | null,
): Promise<HttpService> {
  const requests: RecordedRequest[] = [];
  let baseUrl = '';
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('error', () => {});
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const isForm = headers['content-type']?.startsWith('multipart/') === true;
      const body = Buffer.concat(parts).toString(isForm ? 'latin1' : 'utf8');
      const request: RecordedRequest = { method, path, headers, body };
      requests.push(request);
      const reply = answer(request, baseUrl);
      if (reply === null) return;
      const { status, headers: given = {}, json, bytes } = reply;
      const content = bytes ?? Buffer.from(json === undefined ? '' : JSON.stringify(json));
      const type = bytes === undefined ? 'application/json' : 'video/mp4';
      response.writeHead(status, { 'content-type': type, 'content-length': content.length, ...given });
      response.end(content);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    requests,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
