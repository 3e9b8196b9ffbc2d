import type { Clock } from './clock.ts';
import type { Membership } from './cluster/membership.ts';
import type { Logger } from './logger.ts';
import type { PollPace } from './pipeline/backoff.ts';
import { type Clips, createClips } from './pipeline/clip-files.ts';
import { createPoller, type ProgressObserver } from './pipeline/poll.ts';
import { createPollCache, type PollCache } from './pipeline/poll-cache.ts';
import { createTaskRepository, type TaskRepository } from './pipeline/repository.ts';
import { createSubmitter } from './pipeline/submit.ts';
import { createTaskService, type TaskService } from './pipeline/task-service.ts';
import type { JobHandler, JobKind, WorkQueue } from './queue/queue.ts';
import type { Store } from './store/store.ts';
import type { Limits } from './tasks/limits.ts';
import type { VideoService } from './videos/service.ts';

/** Dependencies of {@link createPipeline}. */
export interface PipelineDeps {
  readonly store: Store;
  readonly queue: WorkQueue;
  readonly videos: VideoService;
  readonly membership: Membership;
  readonly clock: Clock;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly pace: PollPace;
  readonly createTimeoutMs: number;
  /** As in `TaskServiceOptions`. */
  readonly limits?: Limits;
  /** As in `TaskServiceOptions`. */
  readonly assertWritable?: () => Promise<void>;
  /** Folder of the clip files: an absolute path. */
  readonly clipsDir: string;
  /** As in `PollerOptions`. */
  readonly maxRepeatedFetches: number;
  /** Scope of task ids at the video service, such as its base URL. */
  readonly upstreamService?: string;
}

/** Parts that move a task from its claim to a clip on disk; the chat delivers it from there. */
export interface Pipeline {
  readonly repository: TaskRepository;
  readonly tasks: TaskService;
  readonly clips: Clips;
  readonly pollCache: PollCache;
  /** Creates the job handlers of the pipeline's queues, which report progress to `observer`. */
  readonly createHandlers: (
    observer: ProgressObserver,
  ) => Pick<Readonly<Record<JobKind, JobHandler>>, 'send' | 'poll' | 'fetch'>;
}

/** Creates the task pipeline on a store and a queue; nothing runs before the queue starts with its handlers. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { store, queue, clock, pace } = deps;
  const repository = createTaskRepository(store, deps.upstreamService);
  const followed = createPollCache({ repository, queue, nowMs: () => clock.now(), exclusive: store.exclusive });
  repository.subscribe(followed.taskObserver);
  const clips = createClips({ ...deps, leases: store.leases });
  return {
    repository,
    clips,
    pollCache: followed,
    tasks: createTaskService({ ...deps, repository }),
    createHandlers: (observer) => ({
      send: createSubmitter({ ...deps, repository, observer, firstPollMs: pace.firstMs }),
      ...createPoller({ ...deps, repository, followed, observer, clips }),
    }),
  };
}
