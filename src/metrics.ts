import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DeliveryObserver } from './chat/delivery.ts';
import type { Store } from './store/store.ts';
import type { LimitReached } from './tasks/limits.ts';
import type { WorkQueue } from './tasks/queue.ts';
import type { TaskObserver } from './tasks/recorder.ts';
import { OUTBOX, stateIndex } from './tasks/records.ts';
import type { Task } from './tasks/task.ts';

/** What `/metrics` shows, and who feeds it. No label holds an id, a prompt or a token. */
export interface Metrics {
  readonly registry: Registry;
  readonly taskObserver: TaskObserver;
  readonly deliveryObserver: DeliveryObserver;
  /** An order did not fit into a limit. */
  readonly limitReached: (limit: Pick<LimitReached, 'of' | 'kind'>) => void;
  /** A poll ended: `ok` or an error code. */
  readonly polled: (outcome: string) => void;
  /** Measures what is read at each scrape. */
  watch(sources: { readonly store: Store; readonly queue: WorkQueue }): void;
}

/** States in which a task waits for something. */
const OPEN_STATES = ['claimed', 'sending', 'uncertain', 'polling', 'completed', 'cancelled'] as const;
/** The events that bring a task to its end; what happens there afterwards counts no more. */
const ENDED_BY: { readonly [State in Task['state']]?: ReadonlySet<string> } = {
  completed: new Set(['completed']),
  failed: new Set(['failed']),
  rejected: new Set(['refused']),
  cancelled: new Set(['cancel', 'accepted', 'unsent']),
};
const LAG_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

/** The process's metrics, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
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
  const uncertain = new Counter({
    name: 'dailies_uncertain_total',
    help: 'Creates whose answer was lost: a person has to decide',
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
  const deliveries = new Counter({
    name: 'dailies_deliveries_total',
    help: 'Ended tasks whose outcome reached the chat, by how the clip was handed over',
    labelNames: ['handover'],
    registers,
  });
  const failures = new Counter({
    name: 'dailies_delivery_failures_total',
    help: 'Deliveries and notices that have to be repeated, by error code',
    labelNames: ['code'],
    registers,
  });
  const deliveryLag = new Histogram({
    name: 'dailies_delivery_lag_seconds',
    help: 'From the end of a task to its outcome in the chat',
    buckets: LAG_SECONDS,
    registers,
  });
  const outcomes = { accepted: 'accepted', refused: 'rejected', unsent: 'unsent', lost: 'uncertain' } as const;

  return {
    registry,
    taskObserver: {
      changed(task, event) {
        if (event === 'claimed') tasks.inc();
        if (event === 'accepted' || event === 'refused' || event === 'unsent' || event === 'lost') {
          creates.inc({ outcome: outcomes[event] });
        }
        if (event === 'lost') uncertain.inc();
        if (ENDED_BY[task.state]?.has(event)) ended.inc({ state: task.state });
      },
    },
    deliveryObserver: {
      delivered(task, handover, lagMs) {
        deliveries.inc({ handover: handover?.kind ?? 'none' });
        if (task.endedAtMs !== undefined) deliveryLag.observe(lagMs / 1_000);
      },
      failedOnce: (_task, error) => failures.inc({ code: error.code }),
    },
    limitReached: ({ of, kind }) => refused.inc({ reason: `${of}_${kind === 'open' ? 'open' : 'minute'}` }),
    polled: (outcome) => polls.inc({ outcome }),
    watch({ store, queue }) {
      new Gauge({
        name: 'dailies_open_tasks',
        help: 'Tasks that are not ended, by state',
        labelNames: ['state'],
        registers,
        async collect() {
          for (const state of OPEN_STATES) this.set({ state }, await store.count(stateIndex(state)));
        },
      });
      new Gauge({
        name: 'dailies_outbox_tasks',
        help: 'Ended tasks whose outcome has yet to reach the chat, or those who are to be told',
        registers,
        async collect() {
          this.set(await store.count(OUTBOX));
        },
      });
      new Gauge({
        name: 'dailies_queue_lag_seconds',
        help: 'How late the last begun step of each lane was (poll: the poll lag)',
        labelNames: ['lane'],
        registers,
        async collect() {
          for (const lane of queue.lanes) this.set({ lane }, (await queue.stats(lane)).lagMs / 1_000);
        },
      });
      new Gauge({
        name: 'dailies_queue_steps',
        help: 'Steps planned and running in each lane',
        labelNames: ['lane', 'what'],
        registers,
        async collect() {
          for (const lane of queue.lanes) {
            const { planned, running } = await queue.stats(lane);
            this.set({ lane, what: 'planned' }, planned);
            this.set({ lane, what: 'running' }, running);
          }
        },
      });
    },
  };
}
