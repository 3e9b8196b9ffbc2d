/**
 * Video service of the benchmarks, in a process of its own so that it does not share the event loop of the measured
 * code. Accepts every create. Without `CLIP_BYTES` tasks never end; with it (such as `1000,200000`) each completes at
 * once, the first with a clip of the first size, and so on; the last size is used for all further tasks.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const sizes = (process.env['CLIP_BYTES'] ?? '').split(',').filter(Boolean).map(Number);
let creates = 0;

const server = createServer((request, response) => {
  const url = request.url ?? '';
  if (request.method === 'POST') {
    request.resume().on('end', () => {
      creates += 1;
      json(
        `{"id":"task-${creates}${sizes.length > 0 ? '-done' : ''}","object":"video","model":"swift-1","status":"queued","progress":0,"created_at":1790000000}`,
      );
    });
  } else if (url.endsWith('/content')) {
    sendClip(Number(/task-(\d+)/.exec(url)?.[1]));
  } else {
    const id = url.slice(url.lastIndexOf('/') + 1);
    const status = id.endsWith('-done') ? 'completed' : 'in_progress';
    json(
      `{"id":"${id}","object":"video","model":"swift-1","status":"${status}","progress":50,"created_at":1790000000}`,
    );
  }

  function json(body: string): void {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  }

  function sendClip(task: number): void {
    const clipBytes = sizes[Math.min(task, sizes.length) - 1] ?? 0;
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': clipBytes, 'accept-ranges': 'bytes' });
    const first = Buffer.alloc(64 * 1024);
    first.write('\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41', 'latin1');
    let left = clipBytes;
    const more = (): void => {
      while (left > 0) {
        const part = first.subarray(0, Math.min(left, first.length));
        left -= part.length;
        if (!response.write(part)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  }
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit(0));
