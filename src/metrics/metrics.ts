import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DeliveryObserver } from '../chat/deliver.ts';
import type { Entrance } from '../http/wrong-tokens.ts';
import type { TaskObserver } from '../pipeline/repository.ts';
import { JOB_KINDS, type JobHandler, type JobKind, type QueueName } from '../queue/queue.ts';
import type { LimitReached } from '../tasks/limits.ts';
import { rowOf } from '../tasks/state-machine.ts';
import { createMeters, type Meters } from './meters.ts';
import { addTaskGauges, type GaugeSources } from './task-gauges.ts';

/** The registry behind `/metrics`, with the observers that feed it. No label contains an id, a prompt or a token. */
export interface Metrics {
  readonly registry: Registry;
  readonly taskObserver: TaskObserver;
  readonly deliveryObserver: DeliveryObserver;
  /** Counts a request that was rejected because of a limit. */
  readonly limitReached: (limit: Pick<LimitReached, 'of' | 'kind'>) => void;
  /** Counts a poll by its outcome: `ok` or an error code. */
  readonly polled: (outcome: string) => void;
  /** Counts jobs that the queue had lost and the reconciler found. */
  readonly foundLost: (lane: QueueName, count: number) => void;
  /** Counts a wrong access token. */
  readonly wrongToken: (entrance: Entrance) => void;
  /** Counts an unhandled error. */
  readonly unhandled: (kind: 'rejection' | 'exception') => void;
  /** Meters of the outgoing calls of this process. */
  readonly meters: Meters;
  /** Wraps job handlers so that the errors they throw are counted. */
  stepping(steps: Readonly<Record<JobKind, JobHandler>>): Readonly<Record<JobKind, JobHandler>>;
  /** Registers the gauges that are read at each scrape. */
  watch(sources: GaugeSources): void;
}

const LAG_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

const OUTCOMES = { accepted: 'accepted', refused: 'rejected', unsent: 'unsent', lost: 'uncertain' } as const;
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * Creates the process's metrics, in a registry of their own. Counters cover this process only and can be summed over
 * replicas. Gauges that are read from the store cannot, as their help text says.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'dailies_build_info',
    help: 'Always 1; the labels hold the versions of Dailies and Node.js',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1);
  const tasks = new Counter({
    name: 'dailies_tasks_total',
    help: 'Tasks claimed: interactions that asked for a clip',
    registers,
  });
  const refused = new Counter({
    name: 'dailies_refused_total',
    help: 'Orders over a limit, by reason: person_open, person_minute, channel_open, channel_minute',
    labelNames: ['reason'],
    registers,
  });
  const creates = new Counter({
    name: 'dailies_creates_total',
    help: 'Creates by outcome: accepted, rejected, unsent, uncertain',
    labelNames: ['outcome'],
    registers,
  });
  // Initialized to 0, since Prometheus misses the first increase of a new series.
  for (const outcome of Object.values(OUTCOMES)) creates.inc({ outcome }, 0);
  const uncertain = new Counter({
    name: 'dailies_uncertain_total',
    help: 'Creates whose response was lost; each needs a decision by a person',
    registers,
  });
  const conflicts = new Counter({
    name: 'dailies_upstream_id_conflicts_total',
    help: 'Creates answered with an id that another task has; each needs a check in the console of the service',
    registers,
  });
  const ended = new Counter({
    name: 'dailies_tasks_ended_total',
    help: 'Ended tasks, by state',
    labelNames: ['state'],
    registers,
  });
  const polls = new Counter({
    name: 'dailies_polls_total',
    help: 'Polls by outcome: ok or an error code',
    labelNames: ['outcome'],
    registers,
  });
  // Initialized to 0, since the alert queries whether there are any.
  polls.inc({ outcome: 'ok' }, 0);
  const foundLost = new Counter({
    name: 'dailies_sweeper_found_total',
    help: 'Jobs lost by the queue, found in the store and scheduled again, by queue',
    labelNames: ['lane'],
    registers,
  });
  const deliveries = new Counter({
    name: 'dailies_deliveries_total',
    help: 'Delivered outcomes, by handover of the clip',
    labelNames: ['platform', 'handover'],
    registers,
  });
  const failures = new Counter({
    name: 'dailies_delivery_failures_total',
    help: 'Deliveries and notices that failed and are retried, by error code',
    labelNames: ['platform', 'code'],
    registers,
  });
  const deliveryLag = new Histogram({
    name: 'dailies_delivery_lag_seconds',
    help: 'Delay from the end of a task to its outcome in the chat',
    labelNames: ['platform'],
    buckets: LAG_SECONDS,
    registers,
  });
  const jobFailures = new Counter({
    name: 'dailies_step_failures_total',
    help: 'Jobs that failed and are retried, by kind: an unavailable store, or a defect',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of JOB_KINDS) jobFailures.inc({ kind }, 0);
  const wrongTokens = new Counter({
    name: 'dailies_wrong_tokens_total',
    help: 'Wrong access tokens, by entrance: playground, board',
    labelNames: ['entrance'],
    registers,
  });
  const unhandled = new Counter({
    name: 'dailies_unhandled_errors_total',
    help: 'Unhandled errors: rejections, after which the process continues, and exceptions, after which it exits',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of ['rejection', 'exception']) unhandled.inc({ kind }, 0);

  return {
    registry,
    meters: createMeters(registry),
    taskObserver: {
      changed(task, event, before) {
        if (event === 'claimed') tasks.inc();
        if (event === 'accepted' || event === 'refused' || event === 'unsent' || event === 'lost') {
          creates.inc({ outcome: OUTCOMES[event] });
        }
        if (event === 'lost') uncertain.inc();
        if (event === 'lost' && task.failure?.code === 'id_taken') conflicts.inc();
        const hadEnded = before !== null && rowOf(before.state).countsAsEnd;
        if (rowOf(task.state).countsAsEnd && !hadEnded) ended.inc({ state: task.state });
      },
    },
    deliveryObserver: {
      delivered(task, handover, lagMs) {
        const { platform } = task.origin;
        deliveries.inc({ platform, handover: handover?.kind ?? 'none' });
        if (lagMs !== null) deliveryLag.observe({ platform }, lagMs / 1_000);
      },
      failedOnce: (task, error) => failures.inc({ platform: task.origin.platform, code: error.code }),
    },
    limitReached: ({ of, kind }) => refused.inc({ reason: `${of}_${kind === 'open' ? 'open' : 'minute'}` }),
    polled: (outcome) => polls.inc({ outcome }),
    wrongToken: (entrance) => wrongTokens.inc({ entrance }),
    foundLost: (lane, count) => foundLost.inc({ lane }, count),
    unhandled: (kind) => unhandled.inc({ kind }),
    stepping(handlers) {
      const counted =
        (kind: JobKind): JobHandler =>
        async (id, signal) => {
          try {
            return await handlers[kind](id, signal);
          } catch (thrown) {
            // A job that is aborted by the shutdown has not failed.
            if (!signal.aborted) jobFailures.inc({ kind });
            throw thrown;
          }
        };
      return Object.fromEntries(JOB_KINDS.map((kind) => [kind, counted(kind)])) as Record<JobKind, JobHandler>;
    },
    watch: (sources) => addTaskGauges(registry, sources),
  };
}
