import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DeliveryObserver } from '../chat/index.ts';
import { VERSION } from '../config/index.ts';
import { JOB_KINDS, type JobHandler, type JobKind, type QueueName } from '../engine/index.ts';
import type { EnhancerFailure } from '../enhancer/index.ts';
import type { Entrance } from '../http/index.ts';
import type { TaskObserver } from '../pipeline/index.ts';
import type { CutObserver } from '../studio/index.ts';
import { type LimitReached, rowOf, type SpendScope } from '../tasks/index.ts';
import { createInstruments } from './calls.ts';
import { addTaskGauges, type GaugeSources } from './task-gauges.ts';

const LAG_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

const OUTCOMES = { accepted: 'accepted', refused: 'rejected', unsent: 'unsent', lost: 'uncertain' } as const;

/**
 * Creates the registry behind `/metrics`, with the observers that feed it. No label contains an id, a prompt or a token.
 * Counters cover this process only and can be summed over replicas. Gauges that are read from the store cannot, as
 * their help text says.
 */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'dailies_build_info',
    help: 'Always 1; the labels hold the versions of Dailies and Node.js',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: VERSION, node: process.version }, 1);
  const counters = countersOf(registry);
  initialize(counters);
  const taskObserver: TaskObserver = {
    changed(task, event, before) {
      if (event === 'claimed') counters.tasks.inc();
      if (event === 'accepted' || event === 'refused' || event === 'unsent' || event === 'lost') {
        counters.creates.inc({ outcome: OUTCOMES[event] });
      }
      if (event === 'lost') counters.uncertain.inc();
      if (event === 'lost' && task.failure?.code === 'id_taken') counters.conflicts.inc();
      const hadEnded = before !== null && rowOf(before.state).countsAsEnd;
      if (rowOf(task.state).countsAsEnd && !hadEnded) counters.ended.inc({ state: task.state });
    },
  };
  return {
    registry,
    instrument: createInstruments(registry),
    taskObserver,
    deliveryObserver: deliveryObserverOf(registry, counters),
    limitReached: ({ of, kind }: Pick<LimitReached, 'of' | 'kind'>) =>
      counters.refused.inc({ reason: `${of}_${kind === 'open' ? 'open' : 'minute'}` }),
    overBudget: (scope: SpendScope) => counters.refused.inc({ reason: `${scope}_budget` }),
    /** Counts a purchase refused at `MAX_DATA_BYTES`. */
    dataFull: () => counters.refused.inc({ reason: 'data_full' }),
    /** @param outcome `ok`, or why a prompt was not improved */
    improved: (outcome: 'ok' | EnhancerFailure) => counters.improvements.inc({ outcome }),
    /** @param outcome `ok` or an error code. */
    polled: (outcome: string) => counters.polls.inc({ outcome }),
    wrongToken: (entrance: Entrance) => counters.wrongTokens.inc({ entrance }),
    /** Counts jobs that the queue had lost and the reconciler found. */
    foundLost: (lane: QueueName, count: number) => counters.foundLost.inc({ lane }, count),
    /** Counts an alert or report that reached no one. */
    noticeLost: () => counters.noticesLost.inc(),
    /** Counts a clip, or a clip with its prompt, that retention removed, and the bytes of the clip. */
    expired: (what: 'clip' | 'prompt', bytes: number) => {
      counters.expired.inc({ what });
      counters.freedBytes.inc(bytes);
    },
    cutObserver: cutObserverOf(registry, counters),
    unhandled: (kind: 'rejection' | 'exception') => counters.unhandled.inc({ kind }),
    stepping: (handlers: Readonly<Record<JobKind, JobHandler>>) =>
      counted(handlers, (kind) => counters.jobFailures.inc({ kind })),
    watch: (sources: GaugeSources) => addTaskGauges(registry, sources),
  };
}

/** Metrics of this process. */
export type Metrics = ReturnType<typeof createMetrics>;

function deliveryObserverOf(registry: Registry, counters: Counters): DeliveryObserver {
  const deliveryLag = new Histogram({
    name: 'dailies_delivery_lag_seconds',
    help: 'Delay from the end of a task to its outcome in the chat',
    labelNames: ['platform'],
    buckets: LAG_SECONDS,
    registers: [registry],
  });
  return {
    delivered(task, handover, lagMs) {
      const { platform } = task.origin;
      counters.deliveries.inc({ platform, handover: handover?.kind ?? 'none' });
      if (lagMs !== null) deliveryLag.observe({ platform }, lagMs / 1_000);
    },
    failedOnce: (task, error) => counters.failures.inc({ platform: task.origin.platform, code: error.code }),
  };
}

function cutObserverOf(registry: Registry, { joins }: Counters): CutObserver {
  const seconds = new Histogram({
    name: 'dailies_join_seconds',
    help: 'Duration of the joins that made a cut',
    buckets: LAG_SECONDS,
    registers: [registry],
  });
  return {
    joined(outcome, ms) {
      joins.inc({ outcome });
      if (outcome === 'joined') seconds.observe(ms / 1_000);
    },
  };
}

function countersOf(registry: Registry) {
  const counter = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  return {
    tasks: counter('dailies_tasks_total', 'Tasks claimed: interactions that asked for a clip'),
    refused: counter(
      'dailies_refused_total',
      'Orders over a limit, by reason: person_open, person_minute, channel_open, team_budget, data_full, …',
      ['reason'],
    ),
    creates: counter('dailies_creates_total', 'Creates by outcome: accepted, rejected, unsent, uncertain', ['outcome']),
    uncertain: counter('dailies_uncertain_total', 'Creates whose response was lost; each needs a decision by a person'),
    conflicts: counter(
      'dailies_upstream_id_conflicts_total',
      'Creates answered with an id that another task has; each needs a check in the console of the service',
    ),
    ended: counter('dailies_tasks_ended_total', 'Ended tasks, by state', ['state']),
    polls: counter('dailies_polls_total', 'Polls by outcome: ok or an error code', ['outcome']),
    foundLost: counter(
      'dailies_sweeper_found_total',
      'Jobs lost by the queue, found in the store and scheduled again, by queue',
      ['lane'],
    ),
    deliveries: counter('dailies_deliveries_total', 'Delivered outcomes, by handover of the clip', [
      'platform',
      'handover',
    ]),
    failures: counter(
      'dailies_delivery_failures_total',
      'Deliveries and notices that failed and are retried, by error code',
      ['platform', 'code'],
    ),
    noticesLost: counter('dailies_notices_lost_total', 'Alerts and reports that reached no one'),
    jobFailures: counter(
      'dailies_step_failures_total',
      'Jobs that failed and are retried, by kind: an unavailable store, or a defect',
      ['kind'],
    ),
    wrongTokens: counter('dailies_wrong_tokens_total', 'Wrong access tokens, by entrance: playground, board, gallery', [
      'entrance',
    ]),
    expired: counter(
      'dailies_expired_total',
      'Tasks of which retention removed the clip, or the clip with its prompt',
      ['what'],
    ),
    joins: counter('dailies_joins_total', 'Joins of clips into a cut, by outcome: joined, or why not', ['outcome']),
    improvements: counter('dailies_improvements_total', 'Requests to improve a prompt, by outcome: ok, or why not', [
      'outcome',
    ]),
    freedBytes: counter('dailies_expired_bytes_total', 'Bytes of the clips that retention removed'),
    unhandled: counter(
      'dailies_unhandled_errors_total',
      'Unhandled errors: rejections, after which the process continues, and exceptions, after which it exits',
      ['kind'],
    ),
  };
}

type Counters = ReturnType<typeof countersOf>;

/** Sets counters to 0, since Prometheus misses the first increase of a new series, and an alert queries the polls. */
function initialize({ creates, polls, joins, jobFailures, unhandled }: Counters): void {
  for (const outcome of Object.values(OUTCOMES)) creates.inc({ outcome }, 0);
  polls.inc({ outcome: 'ok' }, 0);
  joins.inc({ outcome: 'joined' }, 0);
  for (const kind of JOB_KINDS) jobFailures.inc({ kind }, 0);
  for (const kind of ['rejection', 'exception']) unhandled.inc({ kind }, 0);
}

/** Wraps job handlers so that the errors they throw are counted. */
function counted(handlers: Readonly<Record<JobKind, JobHandler>>, failed: (kind: JobKind) => void) {
  const wrap =
    (kind: JobKind): JobHandler =>
    async (id, signal) => {
      try {
        return await handlers[kind](id, signal);
      } catch (thrown) {
        // A job that is aborted by the shutdown has not failed.
        if (!signal.aborted) failed(kind);
        throw thrown;
      }
    };
  return Object.fromEntries(JOB_KINDS.map((kind) => [kind, wrap(kind)])) as Record<JobKind, JobHandler>;
}
