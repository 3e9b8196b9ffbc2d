import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import type { FastifyInstance } from 'fastify';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { fileNameOf } from '../../chat/file-name.ts';
import type { ClipTask } from './clips.ts';
import type { FileOptions } from './files.ts';
import { GALLERY_PATH } from './requests.ts';
import type { EnteredRoute } from './session-scope.ts';

/** Clips and bytes of one download at most. */
const MAX_CLIPS = 200;
const MAX_BYTES = 4 * 1024 ** 3;
/** Downloads of several clips at once, per process: each keeps a file open and the disk busy. */
const MAX_AT_ONCE = 3;

const TOO_LARGE = 'These clips have more than 4 GB together. Choose fewer.';
const BUSY = 'Others are downloading many clips just now. Try again in a minute.';
const ids = z.object({
  ids: z
    .string()
    .regex(/^[\w-]{1,100}(,[\w-]{1,100})*$/)
    .transform((text) => [...new Set(text.split(','))])
    .refine(({ length }) => length <= MAX_CLIPS),
});

/** Clip in an archive. */
interface Entry {
  readonly task: ClipTask;
  /** Name in the archive; `null` where its file is missing. */
  readonly name: string | null;
  readonly path: string;
}

/** Adds the download of several clips as one archive, not compressed, with a table of them. */
export function addBulk(http: FastifyInstance, route: EnteredRoute, { clips, fileOf }: FileOptions): void {
  let running = 0;
  http.get(
    `${GALLERY_PATH}/zip`,
    // A HEAD request would read every clip and send none of it.
    { exposeHeadRoute: false },
    route(async ({ scope }, request, reply) => {
      const { ids: wanted } = ids.parse(request.query);
      const found = await Promise.all(wanted.map((id) => clips.findClip(scope, id)));
      const tasks = found.filter((task) => task !== undefined);
      if (tasks.length === 0) return reply.code(404).send({ error: 'There are no such clips.' });
      const bytes = tasks.reduce((sum, { clip }) => sum + clip.bytes, 0);
      if (bytes > MAX_BYTES) return reply.code(413).send({ error: TOO_LARGE });
      if (running >= MAX_AT_ONCE) return reply.code(429).header('retry-after', '60').send({ error: BUSY });
      running += 1;
      reply.raw.once('close', () => {
        running -= 1;
      });
      const archive = archiveOf(await entriesOf(tasks, fileOf));
      reply.raw.once('close', archive.stop);
      return reply
        .type('application/zip')
        .header('content-disposition', 'attachment; filename="dailies-clips.zip"')
        .send(archive.stream);
    }),
  );
}

/** Finds the files one after the other: a missing one may be downloaded again from the service. */
async function entriesOf(tasks: readonly ClipTask[], fileOf: FileOptions['fileOf']): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const [at, task] of tasks.entries()) {
    const path = (await fileOf(task).catch(() => undefined))?.path ?? '';
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    const name = `${String(at + 1).padStart(3, '0')}-${fileNameOf(task).toWellFormed()}`;
    entries.push({ task, name: isThere ? name : null, path });
  }
  return entries;
}

function archiveOf(entries: readonly Entry[]): { readonly stream: NodeJS.ReadableStream; readonly stop: () => void } {
  const zip = new ZipFile();
  let open: ReadStream | null = null;
  zip.addBuffer(Buffer.from(manifestOf(entries)), 'manifest.csv', { compress: false });
  for (const { name, path, task } of entries) {
    if (name === null) continue;
    const options = { compress: false, mtime: new Date(task.createdAtMs) };
    zip.addReadStreamLazy(name, options, (opened) => {
      open = createReadStream(path);
      // A file that vanishes meanwhile ends the download; the browser reports it as failed.
      open.once('error', (thrown) => zip.emit('error', thrown));
      opened(null, open);
    });
  }
  zip.end();
  const { outputStream: stream } = zip;
  zip.on('error', (thrown) => 'destroy' in stream && (stream as ReadStream).destroy(thrown as Error));
  return { stream, stop: () => void open?.destroy() };
}

/** Returns the table of an archive. Texts of users that a spreadsheet would run as a formula are escaped. */
function manifestOf(entries: readonly Entry[]): string {
  const rows = entries.map(({ task, name }) => ({
    file: name ?? '',
    id: task.id,
    prompt: task.request.prompt,
    model: task.request.model,
    seconds: task.request.seconds,
    aspect: task.request.aspectRatio ?? '',
    resolution: task.request.resolution ?? '',
    price: task.price.amount,
    currency: task.price.currency,
    by: task.origin.user.name,
    created: new Date(task.createdAtMs).toISOString(),
  }));
  return stringify(rows, { header: true, bom: true, record_delimiter: 'windows', escape_formulas: true });
}
