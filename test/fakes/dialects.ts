import type { FakeTask } from './video-service.ts';

/** Wire format of a service's tasks. */
export interface Dialect {
  /** Default 200. */
  readonly createStatus?: 200 | 201 | 202;
  readonly task: (task: FakeTask) => unknown;
}

type Statuses = Readonly<Record<FakeTask['status'], string>>;

const STATUS_NAMES: Statuses = {
  queued: 'queued',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  unknown: 'unknown',
};

function plain(task: FakeTask, statuses: Statuses = STATUS_NAMES) {
  const { id, model, progress, created_at } = task;
  return { id, object: 'video', model, status: statuses[task.status], progress, created_at };
}

function isEnded({ status }: FakeTask): boolean {
  return status === 'completed' || status === 'failed';
}

/** The dialect of the specification, with its own error text for failures. */
export const SPECIFIED: Dialect = {
  task: (task) => ({ ...plain(task), ...(task.failure === null ? {} : { error: task.failure }) }),
};

/**
 * Dialects of the services seen in the field, by their peculiarity.
 * @see docs/video-service.md "Dialects"
 */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  specified: SPECIFIED,
  'new-api: an end time while it runs, the failure in metadata.url': {
    task: (task) => ({
      ...plain(task),
      completed_at: task.created_at + 1,
      metadata: { url: task.failure?.message ?? (task.status === 'completed' ? 'https://cdn.example/clip.mp4' : '') },
    }),
  },
  'upper case, percent as text, created with 201': {
    createStatus: 201,
    task: (task) => ({
      ...plain(task, {
        queued: 'PENDING',
        in_progress: 'PROCESSING',
        completed: 'SUCCESS',
        failed: 'FAILURE',
        unknown: 'WARMING_UP',
      }),
      progress: `${task.progress}%`,
      fail_reason: task.failure?.message ?? '',
    }),
  },
  'an envelope, 202, end time in milliseconds': {
    createStatus: 202,
    task: (task) => ({
      code: 200,
      message: 'success',
      data: {
        ...plain(task, { ...STATUS_NAMES, queued: 'submitted', in_progress: 'running', completed: 'succeeded' }),
        finished_at: isEnded(task) ? task.created_at * 1000 : null,
        ...(task.failure === null ? {} : { error: task.failure.message }),
      },
    }),
  },
  'no progress, ISO end time, the failure in detail': {
    task: (task) => ({
      ...plain(task, { ...STATUS_NAMES, queued: 'initializing', in_progress: 'processing', completed: 'done' }),
      progress: null,
      ended_at: isEnded(task) ? '2026-11-20T12:00:00Z' : null,
      ...(task.failure === null ? {} : { detail: task.failure.message }),
    }),
  },
  'statuses of its own while it runs, the failure in msg': {
    task: (task) => ({
      ...plain(task, { ...STATUS_NAMES, queued: 'in_line', in_progress: 'dreaming', failed: 'cancelled' }),
      updated_at: task.created_at,
      ...(task.failure === null ? {} : { msg: task.failure.message, code: task.failure.code }),
    }),
  },
};
