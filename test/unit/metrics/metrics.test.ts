import { describe, expect, it } from 'vitest';
import type { JobHandler } from '#src/engine/queue/queue.ts';
import { createMetrics, type Metrics } from '#src/metrics/metrics.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { samples } from '#test/fakes/samples.ts';
import { EVENTS, newTask } from '#test/fakes/tasks.ts';

const { send, accepted, unsent, refused, lost, completed, failed, fetched, cancel, abandon, want, resubmit } = EVENTS;

/** Returns the metrics after these task lifecycles. */
async function metricsOf(...lives: readonly (readonly TaskEvent[])[]): Promise<Metrics> {
  const metrics = createMetrics();
  const repository = new TaskRepository(new MemoryStore());
  repository.subscribe(metrics.taskObserver);
  for (const [at, events] of lives.entries()) {
    const task = newTask({ id: `task-${at}` as TaskId });
    await repository.claim([task]);
    await repository.claim([task]);
    for (const given of events) {
      const event = given.kind === 'accepted' ? { ...given, upstreamId: `up-${task.id}` as UpstreamId } : given;
      expect(await repository.record(task.id, event)).toMatchObject({ done: true });
    }
  }
  return metrics;
}

describe('the metrics of tasks', () => {
  it('count claims, and creates by outcome', async () => {
    const metrics = await metricsOf([send, accepted], [send, unsent, send, refused], [send, lost], []);
    expect(await samples(metrics, 'dailies_tasks_total')).toEqual({ '': 4 });
    expect(await samples(metrics, 'dailies_creates_total')).toEqual({
      '{outcome="accepted"}': 1,
      '{outcome="unsent"}': 1,
      '{outcome="rejected"}': 1,
      '{outcome="uncertain"}': 1,
    });
    expect(await samples(metrics, 'dailies_uncertain_total')).toEqual({ '': 1 });
    expect(await samples(metrics, 'dailies_upstream_id_conflicts_total')).toEqual({ '': 0 });
  });

  it('count rejections because of a limit, by limit', async () => {
    const metrics = createMetrics();
    metrics.limitReached({ of: 'person', kind: 'open' });
    metrics.limitReached({ of: 'person', kind: 'open' });
    metrics.limitReached({ of: 'channel', kind: 'perMinute' });
    metrics.overBudget('team');
    metrics.dataFull();
    expect(await samples(metrics, 'dailies_refused_total')).toEqual({
      '{reason="team_budget"}': 1,
      '{reason="data_full"}': 1,
      '{reason="person_open"}': 2,
      '{reason="channel_minute"}': 1,
    });
  });

  it('count each end once', async () => {
    const metrics = await metricsOf(
      [send, accepted, completed, fetched],
      [send, accepted, failed],
      [send, refused],
      [cancel],
      [send, cancel, unsent],
      [send, cancel, accepted, failed],
      [send, accepted, cancel, completed, want, fetched],
      [send, accepted, cancel, abandon],
      // The response to the first submission arrives late.
      [send, lost, resubmit, cancel, { ...accepted, of: { sends: 1, unsentTries: 0 } }],
      [send, accepted],
    );
    expect(await samples(metrics, 'dailies_tasks_ended_total')).toEqual({
      '{state="completed"}': 1,
      '{state="failed"}': 1,
      '{state="rejected"}': 1,
      '{state="cancelled"}': 6,
    });
  });
});

describe('the metrics of deliveries and polls', () => {
  it('count them by outcome', async () => {
    const metrics = createMetrics();
    metrics.deliveryObserver.delivered(newTask({ endedAtMs: 1 }), { kind: 'attached' }, 700);
    metrics.deliveryObserver.delivered(newTask(), null, null);
    metrics.deliveryObserver.failedOnce(newTask(), platformError('rate_limited'));
    metrics.polled('ok');
    metrics.polled('timed_out');
    expect(await samples(metrics, 'dailies_deliveries_total')).toEqual({
      '{platform="fake",handover="attached"}': 1,
      '{platform="fake",handover="none"}': 1,
    });
    expect(await samples(metrics, 'dailies_delivery_failures_total')).toEqual({
      '{platform="fake",code="rate_limited"}': 1,
    });
    expect(await samples(metrics, 'dailies_polls_total')).toEqual({ '{outcome="ok"}': 1, '{outcome="timed_out"}': 1 });
    const lag = await samples(metrics, 'dailies_delivery_lag_seconds');
    expect(lag).toMatchObject({
      '_bucket{le="0.5",platform="fake"}': 0,
      '_bucket{le="1",platform="fake"}': 1,
      '_count{platform="fake"}': 1,
    });
  });
});

it('reports zero polls right after the start', async () => {
  expect(await samples(createMetrics(), 'dailies_polls_total')).toEqual({ '{outcome="ok"}': 0 });
});

describe('the job handlers', () => {
  const steps = (step: JobHandler) => ({
    send: step,
    poll: step,
    fetch: step,
    deliver: step,
    notify: step,
    join: step,
    frame: step,
  });
  const fail: JobHandler = () => Promise.reject(new Error('the store is away'));

  it('run unchanged, and their errors are counted unless they were aborted', async () => {
    const metrics = createMetrics();
    const signal = new AbortController().signal;
    expect(await metrics.stepping(steps(async () => 7)).poll('a', signal)).toBe(7);
    await expect(metrics.stepping(steps(fail)).poll('a', signal)).rejects.toThrow('the store is away');
    await expect(metrics.stepping(steps(fail)).send('a', AbortSignal.abort())).rejects.toThrow('the store is away');
    expect(await samples(metrics, 'dailies_step_failures_total')).toMatchObject({
      '{kind="poll"}': 1,
      '{kind="send"}': 0,
    });
  });
});

it('reports the running version', async () => {
  const [info = ''] = Object.keys(await samples(createMetrics(), 'dailies_build_info'));
  expect(info).toMatch(/^{version="\d+\.\d+\.\d+",node="v24\./);
});
