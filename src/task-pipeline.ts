import type { Job, JobHandler, JobKind } from './engine/index.ts';
import { createTakeLastFrame, LastFrames, type Relay } from './media/index.ts';
import { Boards } from './orders/index.ts';
import {
  Clips,
  type ClipsOptions,
  createPoller,
  LostCreates,
  PollCache,
  type PollerOptions,
  type ProgressObserver,
  type ServiceKey,
  StoryboardPacing,
  Submitter,
  type SubmitterOptions,
  TaskRepository,
  TaskService,
  type TaskServiceOptions,
} from './pipeline/index.ts';
import { deferUpload } from './storage/index.ts';
import { Chaining } from './studio/index.ts';

/** Dependencies of {@link createPipeline}. */
interface PipelineDeps
  extends Omit<TaskServiceOptions, 'repository' | 'videos'>,
    Omit<SubmitterOptions, 'repository' | 'observer' | 'pacing' | 'frames' | 'firstPollMs'>,
    Omit<PollerOptions, 'repository' | 'followed' | 'observer' | 'clips'>,
    Pick<ClipsOptions, 'storage'> {
  /** Identifies a video service, such as by its base URL. Default: there is only one. */
  readonly serviceKey?: ServiceKey;
  /** Path of the ffmpeg that takes the last frames of clips. Default: none. */
  readonly ffmpeg?: string | null;
  /** Signs the addresses of these frames, and serves them. */
  readonly relay: Pick<Relay, 'links' | 'reaches' | 'serveFrames'>;
}

/** Parts that move a task from its claim to a clip on disk; the chat delivers it from there. */
export interface Pipeline {
  readonly repository: TaskRepository;
  readonly tasks: TaskService;
  readonly clips: Clips;
  readonly pollCache: PollCache;
  /** Looks for uncertain tasks in the lists of their services. */
  readonly lostCreates: Job;
  /** Last frames of clips, with which the next shots of storyboards start. */
  readonly frames: Pick<LastFrames, 'missing'>;
  /** Creates the job handlers of the pipeline's queues, which report progress to `observer`. */
  readonly createHandlers: (
    observer: ProgressObserver,
  ) => Pick<Readonly<Record<JobKind, JobHandler>>, 'send' | 'poll' | 'fetch' | 'frame'>;
}

/** Creates the task pipeline on a store and a queue; nothing runs before the queue starts with its handlers. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { store, queue, clock, pace } = deps;
  const repository = new TaskRepository(store, deps.serviceKey);
  const followed = new PollCache({ repository, queue, clock, exclusive: store.exclusive });
  const pacing = new StoryboardPacing({ repository, queue, clock, deadlineMs: pace.deadlineMs });
  const lostCreates = new LostCreates({ ...deps, repository });
  for (const observer of [followed, pacing, lostCreates.observer]) repository.subscribe(observer);
  const clips = new Clips({
    ...deps,
    leases: store.leases,
    deferStorage: (id) => deferUpload(deps, id),
    isRemoved: async (id) => (await repository.get(id))?.removal !== undefined,
  });
  const { ffmpeg = null, relay } = deps;
  const frames = new LastFrames({ ...deps, repository, clips, takeLastFrame: createTakeLastFrame(ffmpeg) });
  relay.serveFrames((id) => frames.find(id));
  const chaining = new Chaining({ ...deps, repository, frames, boards: new Boards(store) });
  repository.subscribe(chaining);
  return {
    repository,
    clips,
    frames,
    pollCache: followed,
    lostCreates: lostCreates.job,
    tasks: new TaskService({ ...deps, repository }),
    createHandlers: (observer) => {
      const submitter = new Submitter({ ...deps, repository, observer, pacing, frames, firstPollMs: pace.firstMs });
      repository.subscribe(submitter);
      return {
        send: submitter.run,
        ...createPoller({ ...deps, repository, followed, observer, clips }),
        frame: (id, signal) => chaining.run(id, signal),
      };
    },
  };
}
