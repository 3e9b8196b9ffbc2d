import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '#src/metrics.ts';
import { createRecorder } from '#src/tasks/recorder.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { TaskEvent } from '#src/tasks/transition.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { EVENTS, newTask } from '#test/fakes/tasks.ts';

const { send, accepted, unsent, refused, lost, completed, failed, fetched, cancel, abandon, want } = EVENTS;

/** Metrics after these lives. */
async function metricsOf(...lives: readonly (readonly TaskEvent[])[]): Promise<Metrics> {
  const metrics = createMetrics();
  const recorder = createRecorder(new MemoryStore(), [metrics.taskObserver]);
  for (const [at, events] of lives.entries()) {
    const task = newTask({ id: `task-${at}` as TaskId });
    await recorder.claim(task);
    await recorder.claim(task);
    for (const event of events) expect(await recorder.record(task.id, event)).toMatchObject({ done: true });
  }
  return metrics;
}

/** One metric's samples, as Prometheus reads them. */
async function samples({ registry }: Metrics, name: string): Promise<Record<string, number>> {
  const text = await registry.getSingleMetricAsString(name);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

describe('what happens to tasks', () => {
  it('counts claims and how creates ended', async () => {
    const metrics = await metricsOf([send, accepted], [send, unsent, send, refused], [send, lost], []);
    expect(await samples(metrics, 'dailies_tasks_total')).toEqual({ '': 4 });
    expect(await samples(metrics, 'dailies_creates_total')).toEqual({
      '{outcome="accepted"}': 1,
      '{outcome="unsent"}': 1,
      '{outcome="rejected"}': 1,
      '{outcome="uncertain"}': 1,
    });
    expect(await samples(metrics, 'dailies_uncertain_total')).toEqual({ '': 1 });
  });

  it('counts what did not fit into a limit, by the limit', async () => {
    const metrics = createMetrics();
    metrics.limitReached({ of: 'person', kind: 'open' });
    metrics.limitReached({ of: 'person', kind: 'open' });
    metrics.limitReached({ of: 'channel', kind: 'perMinute' });
    expect(await samples(metrics, 'dailies_refused_total')).toEqual({
      '{reason="person_open"}': 2,
      '{reason="channel_minute"}': 1,
    });
  });

  it('counts each end once', async () => {
    const metrics = await metricsOf(
      [send, accepted, completed, fetched],
      [send, accepted, failed],
      [send, refused],
      [cancel],
      [send, cancel, unsent],
      [send, cancel, accepted, failed],
      [send, accepted, cancel, completed, want, fetched],
      [send, accepted, cancel, abandon],
      [send, accepted],
    );
    expect(await samples(metrics, 'dailies_tasks_ended_total')).toEqual({
      '{state="completed"}': 1,
      '{state="failed"}': 1,
      '{state="rejected"}': 1,
      '{state="cancelled"}': 5,
    });
  });
});

describe('what happens to deliveries and polls', () => {
  it('is counted by how', async () => {
    const metrics = createMetrics();
    metrics.deliveryObserver.delivered(newTask({ endedAtMs: 1 }), { kind: 'attached' }, 700);
    metrics.deliveryObserver.delivered(newTask(), null, 0);
    metrics.deliveryObserver.failedOnce(newTask(), platformError('rate_limited'));
    metrics.polled('ok');
    metrics.polled('timed_out');
    expect(await samples(metrics, 'dailies_deliveries_total')).toEqual({
      '{handover="attached"}': 1,
      '{handover="none"}': 1,
    });
    expect(await samples(metrics, 'dailies_delivery_failures_total')).toEqual({ '{code="rate_limited"}': 1 });
    expect(await samples(metrics, 'dailies_polls_total')).toEqual({ '{outcome="ok"}': 1, '{outcome="timed_out"}': 1 });
    const lag = await samples(metrics, 'dailies_delivery_lag_seconds');
    expect(lag).toMatchObject({ '_bucket{le="0.5"}': 0, '_bucket{le="1"}': 1, _count: 1 });
  });
});

describe('what is read at each scrape', () => {
  it('is the open tasks by state, the outbox and the queue', async () => {
    const metrics = createMetrics();
    const house = new TaskHouse();
    metrics.watch({ store: house.store, queue: house.queue });
    await house.order({ key: 'a' });
    await house.order({ key: 'b' });
    expect(await samples(metrics, 'dailies_open_tasks')).toMatchObject({
      '{state="claimed"}': 2,
      '{state="polling"}': 0,
    });
    expect(await samples(metrics, 'dailies_queue_steps')).toMatchObject({ '{lane="send",what="planned"}': 2 });
    await house.pass(3_000);
    house.start();
    await house.pass(0);
    await house.service.cancel(
      (await house.service.open({ platform: 'fake', team: 'T1' }, 1))[0]?.id as TaskId,
      EVENTS.cancel.by,
    );
    expect(await samples(metrics, 'dailies_open_tasks')).toMatchObject({
      '{state="claimed"}': 0,
      '{state="polling"}': 1,
      '{state="cancelled"}': 1,
    });
    expect(await samples(metrics, 'dailies_queue_lag_seconds')).toMatchObject({ '{lane="send"}': 3 });
    expect(await samples(metrics, 'dailies_outbox_tasks')).toEqual({ '': 1 });
  });
});
