import { type FileHandle, open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import type { FastifyInstance } from 'fastify';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { fileNameOf } from '../media/index.ts';
import { typedPrompt } from '../tasks/index.ts';
import { type Catalog, titleOf } from '../videos/index.ts';
import type { ClipTask } from './clips.ts';
import { type EnteredRoute, GALLERY_PATH } from './requests.ts';
import type { GalleryOptions } from './routes.ts';

/** Clips and bytes of one download at most. */
const MAX_CLIPS = 200;
const MAX_BYTES = 4 * 1024 ** 3;
/** Downloads of several clips at once, per process, of which each person has one: each keeps a file open and the disk busy. */
const MAX_AT_ONCE = 10;

const TOO_LARGE = 'These clips have more than 4 GB together. Choose fewer.';
const OWN = 'You are downloading many clips already. Wait until that has ended, or cancel it, then try again.';
const BUSY = 'Others are downloading many clips just now. Try again in a minute.';
const ids = z.object({
  ids: z
    .string()
    .regex(/^[\w-]{1,100}(,[\w-]{1,100})*$/)
    .transform((text) => [...new Set(text.split(','))])
    .refine(({ length }) => length <= MAX_CLIPS),
});

interface Entry {
  readonly task: ClipTask;
  /** Name in the archive; `null` where its file is missing. */
  readonly name: string | null;
}

/** Adds the download of several clips as one archive, not compressed, with a table of them. */
export function addBulk(http: FastifyInstance, route: EnteredRoute, options: GalleryOptions): void {
  const { clips } = options;
  const running = new Set<string>();
  http.get(
    `${GALLERY_PATH}/zip`,
    // A HEAD request would read every clip and send none of it.
    { exposeHeadRoute: false },
    route(async ({ scope, session: { platform, team, user } }, request, reply) => {
      const { ids: wanted } = ids.parse(request.query);
      const found = await Promise.all(wanted.map((id) => clips.findClip(scope, id)));
      const tasks = found.filter((task) => task !== undefined);
      if (tasks.length === 0) return reply.code(404).send({ error: 'There are no such clips.' });
      const bytes = tasks.reduce((sum, { clip }) => sum + clip.bytes, 0);
      if (bytes > MAX_BYTES) return reply.code(413).send({ error: TOO_LARGE });
      const person = JSON.stringify([platform, team, user.id]);
      const error = running.has(person) ? OWN : BUSY;
      if (error === OWN || running.size >= MAX_AT_ONCE)
        return reply.code(429).header('retry-after', '60').send({ error });
      running.add(person);
      const left = new AbortController();
      reply.raw.once('close', () => {
        running.delete(person);
        left.abort();
      });
      return reply
        .type('application/zip')
        .header('content-disposition', 'attachment; filename="dailies-clips.zip"')
        .send(archiveOf(tasks, options, left.signal));
    }),
  );
}

/** Returns an archive that is made while it is read. A failure ends it early; the browser reports it as failed. */
function archiveOf(tasks: readonly ClipTask[], options: GalleryOptions, signal: AbortSignal): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as Readable;
  zip.on('error', (thrown: Error) => stream.destroy(thrown));
  fill(zip, tasks, { ...options, signal }).catch((thrown: unknown) => zip.emit('error', thrown));
  return stream;
}

/**
 * Adds the clips one after the other, the table last. A clip is looked for when it is its turn, which may be many
 * minutes after the request: until then its local copy may be evicted, or the clip be deleted.
 */
async function fill(
  zip: ZipFile,
  tasks: readonly ClipTask[],
  { fileOf, catalog, signal }: GalleryOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const entries: Entry[] = [];
  for (const [at, task] of tasks.entries()) {
    const found = await opened(task, fileOf);
    const name = `${String(at + 1).padStart(3, '0')}-${fileNameOf(task).toWellFormed()}`;
    entries.push({ task, name: found === null ? null : name });
    if (found === null) continue;
    // An open file can be read to its end, also once it is deleted.
    const content = addAbortSignal(signal, found.file.createReadStream());
    const sent = finished(content);
    // One of another length makes the archive fail.
    zip.addReadStream(content, name, { compress: false, size: found.bytes, mtime: new Date(task.createdAtMs) });
    await sent;
  }
  zip.addBuffer(Buffer.from(manifestOf(entries, catalog())), 'manifest.csv', { compress: false });
  zip.end();
}

/** Opens the file of a clip, which may be downloaded again from the service; `null` where it is missing. */
async function opened(
  task: ClipTask,
  fileOf: GalleryOptions['fileOf'],
): Promise<{ readonly file: FileHandle; readonly bytes: number } | null> {
  const clip = await fileOf(task).catch(() => undefined);
  const file = clip === undefined ? null : await open(clip.path).catch(() => null);
  return clip === undefined || file === null ? null : { file, bytes: clip.bytes };
}

/** Returns the table of an archive. Texts of users that a spreadsheet would run as a formula are escaped. */
function manifestOf(entries: readonly Entry[], catalog: Catalog): string {
  const rows = entries.map(({ task, name }) => ({
    file: name ?? '',
    id: task.id,
    prompt: typedPrompt(task.request),
    model: titleOf(catalog, task.request.model),
    seconds: task.request.seconds,
    aspect: task.request.aspectRatio ?? '',
    resolution: task.request.resolution ?? '',
    price: task.price.amount,
    currency: task.price.currency,
    by: task.origin.user.name,
    created: new Date(task.createdAtMs).toISOString(),
    style: task.request.style ?? '',
    sent_prompt: task.request.prompt,
  }));
  return stringify(rows, { header: true, bom: true, record_delimiter: 'windows', escape_formulas: true });
}
