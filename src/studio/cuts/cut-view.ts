import { type Handover, type TaskView, viewOf } from '../../chat/index.ts';
import type { Cut } from '../../orders/index.ts';
import { isContentRemoved, type Task, type TaskState, typedPrompt } from '../../tasks/index.ts';

/** States in which a cut is shown. */
const STATES = { joining: 'polling', joined: 'completed', failed: 'failed' } as const satisfies Readonly<
  Record<Cut['state'], TaskState>
>;

/** Returns the stand-in by which a cut is handled like a task; `shots` are the tasks of its clips that are known. */
export function standInOf(cut: Cut, shots: readonly Task[]): Task {
  const [first] = shots;
  if (first === undefined) throw new TypeError(`showing cut ${cut.id}: it has no clip`);
  const { id, origin, file, endedAtMs, requestedAtMs } = cut;
  const { style: _, typed: _typed, ...request } = first.request;
  const seconds = Math.max(1, Math.ceil(file?.seconds ?? shots.reduce((sum, { request }) => sum + request.seconds, 0)));
  return {
    revision: cut.revision,
    id,
    state: STATES[cut.state],
    request: { ...request, seconds, prompt: isContentRemoved(first) ? '' : typedPrompt(first.request) },
    origin,
    price: { ...first.price, amount: '0' },
    createdAtMs: requestedAtMs,
    sends: 0,
    unsentTries: 0,
    presented: true,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(file === undefined ? {} : { clip: { path: '', bytes: file.bytes, contentType: 'video/mp4' } }),
  };
}

/** Builds the view of a cut's message; pure. */
export function cutViewOf(
  cut: Cut,
  shots: readonly Task[],
  { nowMs, handover }: { readonly nowMs: number; readonly handover: Handover | null },
): TaskView {
  const view = viewOf(standInOf(cut, shots), {
    nowMs,
    progress: null,
    isRunning: true,
    model: undefined,
    usual: null,
    retrying: null,
    deadlineMs: Number.POSITIVE_INFINITY,
    slowestPollMs: 0,
    refundKnown: false,
    handover,
  });
  return {
    ...view,
    retryPrice: null,
    buttons: cut.state === 'failed' ? ['join'] : [],
    cut: {
      shots: shots.map((shot) => ({
        prompt: isContentRemoved(shot) ? null : typedPrompt(shot.request),
        seconds: shot.request.seconds,
      })),
      file: cut.state === 'joined' ? (cut.file ?? null) : null,
      failure: cut.failure ?? null,
    },
  };
}
