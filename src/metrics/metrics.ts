import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DeliveryObserver } from '../chat/deliver.ts';
import type { Entrance } from '../http/wrong-tokens.ts';
import type { TaskObserver } from '../pipeline/repository.ts';
import { JOB_KINDS, type JobHandler, type JobKind, type QueueName } from '../queue/queue.ts';
import type { LimitReached } from '../tasks/limits.ts';
import type { Task } from '../tasks/task.ts';
import { createMeters, type Meters } from './meters.ts';
import { addTaskGauges, type GaugeSources } from './task-gauges.ts';

/** What `/metrics` shows, and who feeds it. No label holds an id, a prompt or a token. */
export interface Metrics {
  readonly registry: Registry;
  readonly taskObserver: TaskObserver;
  readonly deliveryObserver: DeliveryObserver;
  /** An order did not fit into a limit. */
  readonly limitReached: (limit: Pick<LimitReached, 'of' | 'kind'>) => void;
  /** A poll ended: `ok` or an error code. */
  readonly polled: (outcome: string) => void;
  /** Steps were found that the queue had lost. */
  readonly foundLost: (lane: QueueName, count: number) => void;
  /** Someone gave a wrong access token. */
  readonly wrongToken: (entrance: Entrance) => void;
  /** Counts an error that no code handled. */
  readonly unhandled: (kind: 'rejection' | 'exception') => void;
  /** What counts the calls that leave this process. */
  readonly meters: Meters;
  /** `steps`, with what they throw counted. */
  stepping(steps: Readonly<Record<JobKind, JobHandler>>): Readonly<Record<JobKind, JobHandler>>;
  /** Adds what is read at each scrape. */
  watch(surveyed: GaugeSources): void;
}

/** The events that bring a task to its end; what happens there afterwards counts no more. */
const ENDED_BY: { readonly [State in Task['state']]?: ReadonlySet<string> } = {
  completed: new Set(['completed']),
  failed: new Set(['failed']),
  rejected: new Set(['refused']),
  cancelled: new Set(['cancel', 'accepted', 'unsent']),
};
const LAG_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

const OUTCOMES = { accepted: 'accepted', refused: 'rejected', unsent: 'unsent', lost: 'uncertain' } as const;
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * The process's metrics, in a registry of their own. Counters count what this process did: added up over replicas they
 * are right. Of the gauges, those that are read from the store are not; their help says so.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'dailies_build_info',
    help: 'Always 1: which version runs here',
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
    help: 'Orders that did not fit into a limit: person_open, person_minute, channel_open, channel_minute',
    labelNames: ['reason'],
    registers,
  });
  const creates = new Counter({
    name: 'dailies_creates_total',
    help: 'Creates by how they ended: accepted, rejected, unsent, uncertain',
    labelNames: ['outcome'],
    registers,
  });
  // Named from the beginning, since Prometheus sees no first increase of what is new.
  for (const outcome of Object.values(OUTCOMES)) creates.inc({ outcome }, 0);
  const uncertain = new Counter({
    name: 'dailies_uncertain_total',
    help: 'Creates whose answer was lost: a person has to decide',
    registers,
  });
  const conflicts = new Counter({
    name: 'dailies_upstream_id_conflicts_total',
    help: 'Creates that the service answered with an id that another task holds: a person has to look',
    registers,
  });
  const ended = new Counter({
    name: 'dailies_tasks_ended_total',
    help: 'Tasks by how they ended',
    labelNames: ['state'],
    registers,
  });
  const polls = new Counter({
    name: 'dailies_polls_total',
    help: 'Polls by how they ended: ok or an error code',
    labelNames: ['outcome'],
    registers,
  });
  // Also where none was counted since the start, since the alarm asks whether there are any.
  polls.inc({ outcome: 'ok' }, 0);
  const foundLost = new Counter({
    name: 'dailies_sweeper_found_total',
    help: 'Steps that the queue had lost, found again in the store and planned',
    labelNames: ['lane'],
    registers,
  });
  const deliveries = new Counter({
    name: 'dailies_deliveries_total',
    help: 'Ended tasks whose outcome reached the chat, by how the clip was handed over',
    labelNames: ['platform', 'handover'],
    registers,
  });
  const failures = new Counter({
    name: 'dailies_delivery_failures_total',
    help: 'Deliveries and notices that have to be repeated, by error code',
    labelNames: ['platform', 'code'],
    registers,
  });
  const deliveryLag = new Histogram({
    name: 'dailies_delivery_lag_seconds',
    help: 'From the end of a task to its outcome in the chat',
    labelNames: ['platform'],
    buckets: LAG_SECONDS,
    registers,
  });
  const stepFailures = new Counter({
    name: 'dailies_step_failures_total',
    help: 'Steps of tasks that broke off and are tried again, by kind: a store that is away, or a defect',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of JOB_KINDS) stepFailures.inc({ kind }, 0);
  const wrongTokens = new Counter({
    name: 'dailies_wrong_tokens_total',
    help: 'Wrong access tokens, by entrance: playground, board',
    labelNames: ['entrance'],
    registers,
  });
  const unhandled = new Counter({
    name: 'dailies_unhandled_errors_total',
    help: 'Errors that no code handled: rejections, after which the process goes on, and exceptions, after which it ends',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of ['rejection', 'exception']) unhandled.inc({ kind }, 0);

  return {
    registry,
    meters: createMeters(registry),
    taskObserver: {
      changed(task, event) {
        if (event === 'claimed') tasks.inc();
        if (event === 'accepted' || event === 'refused' || event === 'unsent' || event === 'lost') {
          creates.inc({ outcome: OUTCOMES[event] });
        }
        if (event === 'lost') uncertain.inc();
        if (event === 'lost' && task.failure?.code === 'id_taken') conflicts.inc();
        if (ENDED_BY[task.state]?.has(event)) ended.inc({ state: task.state });
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
    stepping(steps) {
      const counted =
        (kind: JobKind): JobHandler =>
        async (id, signal) => {
          try {
            return await steps[kind](id, signal);
          } catch (thrown) {
            // What is broken off because this process stops is no failure.
            if (!signal.aborted) stepFailures.inc({ kind });
            throw thrown;
          }
        };
      return Object.fromEntries(JOB_KINDS.map((kind) => [kind, counted(kind)])) as Record<JobKind, JobHandler>;
    },
    watch: (surveyed) => addTaskGauges(registry, surveyed),
  };
}
