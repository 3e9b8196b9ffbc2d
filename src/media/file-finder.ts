import type { Logger } from '../logger.ts';
import type { Clips, TaskRepository } from '../pipeline/index.ts';
import type { TaskId } from '../tasks/index.ts';
import { fileNameOf } from './file-name.ts';
import { isRelayed, type Relay } from './relay.ts';
import type { serveMedia } from './routes.ts';

/** Returns the file that is served under an id. */
export type FindFile = Parameters<typeof serveMedia>[1]['find'];

/** Dependencies of {@link createFileFinder}. */
interface FileFinderOptions {
  readonly relay: Relay;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly clips: Pick<Clips, 'find'>;
  /** Returns the file of a cut; `undefined` for any other id. */
  readonly findCut: FindFile;
  readonly logger: Logger;
}

/** Creates the lookup of the files that are served by signed links: clips by their task's id, cuts, and relayed files. */
export function createFileFinder({ relay, repository, clips, findCut, logger }: FileFinderOptions): FindFile {
  return async (id) => {
    if (isRelayed(id)) return relay.find(id);
    const cut = await findCut(id);
    if (cut !== undefined) return cut;
    const task = await repository.get(id as TaskId);
    const clip = await (task === undefined ? undefined : clips.find(task))?.catch((thrown: unknown) => {
      logger.warn({ event: 'clip_not_served', task: id, err: thrown }, 'failed to fetch a missing clip for a request');
      throw thrown;
    });
    return task === undefined || clip === undefined ? undefined : { ...clip, name: fileNameOf(task) };
  };
}
