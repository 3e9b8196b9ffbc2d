import { collection, merged, type Versioned } from '../../engine/index.ts';
import type { TaskObserver } from '../../pipeline/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { TeamKey } from '../../teams/index.ts';
import type { AlertDeps, NoticeOrder } from '../notices.ts';

/** The latest incident: a time without credit. */
interface IncidentRecord extends Versioned {
  /** Number of the incident, from 1. */
  readonly incident: number;
  /** Time of the refusal that began it, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  /** Set once a create has succeeded again. */
  readonly isOver: boolean;
}

const KEY = 'out-of-credit';

type Service = string | undefined;

/** By the name of the service. */
const creditIncidents = collection<Service, IncidentRecord>({
  name: 'credit_incidents',
  key: (service) => (service === undefined ? KEY : `${KEY}:${service}`),
  holds: 'the last time without credit at each video service',
  personal: 'nobody',
});

type OutOfCreditDeps = Omit<AlertDeps, 'catalog' | 'refunds'>;

/** Delay of the check after a create: the creates of a burst cost one read. */
const CHECK_AFTER_MS = 2_000;

/**
 * Alerts the operators, once per incident over all replicas, when a video service refuses a create since its account
 * is out of credit; and each team with a report channel at its first refused clip. A create that succeeds ends the
 * incident. What the store misses is made up for by the next refusal.
 */
export class OutOfCreditAlerts implements TaskObserver {
  readonly #options: OutOfCreditDeps;
  /** Time of the latest create that succeeded at each service since the last check. */
  readonly #acceptedAtMs = new Map<Service, number>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: OutOfCreditDeps) {
    this.#options = options;
  }

  changed(task: Task, event: Parameters<TaskObserver['changed']>[1], before: Task | null): void {
    const { clock } = this.#options;
    const { service } = task.request;
    if (event === 'refused' && task.failure?.code === 'no_balance') {
      const { platform, team } = task.origin;
      const atMs = clock.now();
      this.#next(() => this.#refused(service, { platform, team }, atMs));
      return;
    }
    // An id that a person enters proves nothing about the credit.
    if (event !== 'accepted' || before?.state !== 'sending') return;
    const isPlanned = this.#acceptedAtMs.has(service);
    this.#acceptedAtMs.set(service, clock.now());
    if (!isPlanned) clock.after(CHECK_AFTER_MS, () => this.#next(() => this.#accepted(service)));
  }

  stop(): Promise<void> {
    return this.#working;
  }

  /** Runs one step after another, so that a replica's own events keep their order. */
  #next(step: () => Promise<void>): void {
    this.#working = this.#working.then(step).catch((thrown: unknown) => {
      const event = 'credit_alert_failed';
      this.#options.logger.warn({ event, err: thrown }, 'failed to check the credit of the video service');
    });
  }

  async #refused(service: Service, of: TeamKey, atMs: number): Promise<void> {
    await this.#accepted(service);
    const { store, logger } = this.#options;
    const before = await creditIncidents.get(store, service);
    let incident = before?.incident ?? 0;
    if (before === undefined || before.isOver) {
      incident += 1;
      const record = creditIncidents.replacing(service, before, { incident, sinceMs: atMs, isOver: false });
      const claims = this.#options.operatorsOn.map((platform) =>
        this.#claim(service, { platform, team: '' }, incident),
      );
      // Refused where another replica began the incident at the same time: its number is the same.
      if (await store.commit(merged([{ records: [record] }, ...claims]))) {
        logger.error({ event: 'out_of_credit', service }, 'the account of the video service is out of credit');
      }
    }
    if (await this.#isNotified(of)) await store.commit(this.#claim(service, of, incident));
  }

  /** Returns whether a team gets the alert as well: without a report channel, its platform's operators have it. */
  async #isNotified(of: TeamKey): Promise<boolean> {
    const { alerts, reportChannel } = await this.#options.settings(of);
    return alerts && (reportChannel !== undefined || !this.#options.operatorsOn.includes(of.platform));
  }

  #claim(service: Service, of: TeamKey, incident: number) {
    const named = service === undefined ? {} : { service };
    const key = [KEY, String(incident), of.platform, of.team, ...(service === undefined ? [] : [service])];
    const order: NoticeOrder = { key, of, to: { kind: 'team' }, notice: { kind: 'out_of_credit', ...named } };
    return this.#options.notices.claim(order);
  }

  /** Ends the incident that began before the latest create that succeeded. */
  async #accepted(service: Service): Promise<void> {
    const atMs = this.#acceptedAtMs.get(service);
    if (atMs === undefined) return;
    // What fails here is made up for by the next create that succeeds.
    this.#acceptedAtMs.delete(service);
    const before = await creditIncidents.get(this.#options.store, service);
    if (before !== undefined && !before.isOver && before.sinceMs < atMs) {
      // Refused where another replica ended it.
      await this.#options.store.commit({
        records: [creditIncidents.replacing(service, before, { ...before, isOver: true })],
      });
    }
  }
}
