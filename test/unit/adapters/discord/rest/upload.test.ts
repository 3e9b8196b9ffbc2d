import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { MultipartUpload, sendRequest } from '#adapters/discord/rest/client.ts';

it('sends a file unchanged, even to a slow reader, and again on a retry', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-upload-'));
  const path = join(directory, 'clip.mp4');
  const clip = randomBytes(5_000_000);
  await writeFile(path, clip);
  const received: Buffer[] = [];
  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) {
      parts.push(part);
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    }
    received.push(Buffer.concat(parts));
    response.writeHead(200, { 'content-type': 'application/json', 'x-given': 'yes' }).end('{"id":"1"}');
  };
  const server = createServer((incoming, response) => void take(incoming, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const upload = new MultipartUpload({ flags: 1 }, [
    { path, bytes: clip.length, contentType: 'video/mp4', name: 'fox.mp4' },
  ]);
  try {
    for (const _time of ['first', 'again']) {
      const response = await sendRequest(url, {
        method: 'PATCH',
        body: upload as never,
        headers: { authorization: 'Bot x' },
      });
      expect([response.status, response.headers.get('x-given'), await response.json()]).toEqual([
        200,
        'yes',
        { id: '1' },
      ]);
    }
    for (const body of received) {
      expect(`${body.length}`).toBe(upload.headers['content-length']);
      const at = body.indexOf(clip.subarray(0, 64));
      expect(digest(body.subarray(at, at + clip.length))).toBe(digest(clip));
      expect(body.subarray(0, at).toString()).toContain('{"flags":1}');
      expect(body.subarray(0, at).toString()).toContain('name="files[0]"; filename="fox.mp4"');
    }
    expect(received).toHaveLength(2);
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  }
});

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
