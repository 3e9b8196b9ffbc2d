import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { CreateOutcome, UpstreamId, UpstreamTask, VideoService } from '#src/videos/service.ts';

/** Reads an example catalog of `config/catalogs`. */
export function exampleCatalog(name: string): Catalog {
  const file = join(import.meta.dirname, '../../../../config/catalogs', `${name}.json`);
  return parseCatalog(JSON.parse(readFileSync(file, 'utf8')));
}

/** Returns a model of a catalog, with changes. */
export function modelIn({ models }: Catalog, name: string, changes: Partial<Model> = {}): Model {
  const found = models.find((model) => model.name === name);
  if (found === undefined) throw new Error(`the catalog has no ${name}`);
  return { ...found, ...changes };
}

export function createTask(client: VideoService, request: VideoRequest): Promise<CreateOutcome> {
  return client.create(request, { key: 'task-1', mayStillSend: () => true });
}

/** Creates a task that the service has to accept. @returns its id */
export async function acceptedTask(client: VideoService, request: VideoRequest): Promise<UpstreamId> {
  const outcome = await createTask(client, request);
  if (outcome.kind !== 'accepted') throw outcome.error;
  return outcome.task.id;
}

/** Looks at a task until it has ended, at most so many times. @returns all that was seen */
export async function follow(client: VideoService, id: UpstreamId, most = 5): Promise<readonly UpstreamTask[]> {
  const seen: UpstreamTask[] = [];
  for (let look = 0; look < most; look += 1) {
    const task = await client.retrieve(id);
    seen.push(task);
    if (task.status === 'completed' || task.status === 'failed') break;
  }
  return seen;
}

/** Returns a folder for one test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'dailies-dialect-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
