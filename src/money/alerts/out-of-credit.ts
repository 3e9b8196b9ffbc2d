import type { Clock } from '../../clock.ts';
import { collection, type Store, type Versioned } from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import type { TaskObserver } from '../../pipeline/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { NoticeOrder, Notices, NoticeTeam } from '../notices.ts';
import { merged } from './budget-alerts.ts';

export interface CreditAlertSettings {
  /** False: none in the team. */
  readonly alerts: boolean;
  /** Channel for alerts; absent: none. */
  readonly reportChannel?: string;
}

/** Options of {@link OutOfCreditAlerts}. */
interface OutOfCreditOptions {
  readonly store: Pick<Store, 'keyv' | 'commit'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notices: Pick<Notices, 'claim'>;
  readonly settings: (of: NoticeTeam) => Promise<CreditAlertSettings>;
  /** Platforms on which the deployment's operators are notified. */
  readonly operatorsOn: readonly string[];
}

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

const creditIncidents = collection<typeof KEY, IncidentRecord>({
  name: 'credit_incidents',
  holds: 'the last time without credit at the video service',
  personal: 'nobody',
});

const NOTICE = { kind: 'out_of_credit' } as const;
/** Delay of the check after a create: the creates of a burst cost one read. */
const CHECK_AFTER_MS = 2_000;

/**
 * Alerts the operators, once per incident over all replicas, when the video service refuses a create since its account
 * is out of credit; and each team with a report channel at its first refused clip. A create that succeeds ends the
 * incident. What the store misses is made up for by the next refusal.
 */
export class OutOfCreditAlerts implements TaskObserver {
  readonly #options: OutOfCreditOptions;
  /** Time of the latest create that succeeded since the last check. */
  #acceptedAtMs: number | null = null;
  #working: Promise<void> = Promise.resolve();

  constructor(options: OutOfCreditOptions) {
    this.#options = options;
  }

  changed(task: Task, event: Parameters<TaskObserver['changed']>[1], before: Task | null): void {
    const { clock } = this.#options;
    if (event === 'refused' && task.failure?.code === 'no_balance') {
      const { platform, team } = task.origin;
      const atMs = clock.now();
      this.#next(() => this.#refused({ platform, team }, atMs));
      return;
    }
    // An id that a person enters proves nothing about the credit.
    if (event !== 'accepted' || before?.state !== 'sending') return;
    const isPlanned = this.#acceptedAtMs !== null;
    this.#acceptedAtMs = clock.now();
    if (!isPlanned) clock.after(CHECK_AFTER_MS, () => this.#next(() => this.#accepted()));
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

  async #refused(of: NoticeTeam, atMs: number): Promise<void> {
    await this.#accepted();
    const { store, logger } = this.#options;
    const before = await this.#read();
    let incident = before?.incident ?? 0;
    if (before === undefined || before.isOver) {
      incident += 1;
      const record = creditIncidents.replacing(KEY, before, { incident, sinceMs: atMs, isOver: false });
      const claims = this.#options.operatorsOn.map((platform) => this.#claim({ platform, team: '' }, incident));
      // Refused where another replica began the incident at the same time: its number is the same.
      if (await store.commit(merged([{ records: [record] }, ...claims]))) {
        logger.error({ event: 'out_of_credit' }, 'the account of the video service is out of credit');
      }
    }
    if (await this.#isNotified(of)) await store.commit(this.#claim(of, incident));
  }

  /** Returns whether a team gets the alert as well: without a report channel, its platform's operators have it. */
  async #isNotified(of: NoticeTeam): Promise<boolean> {
    const { alerts, reportChannel } = await this.#options.settings(of);
    return alerts && (reportChannel !== undefined || !this.#options.operatorsOn.includes(of.platform));
  }

  #claim(of: NoticeTeam, incident: number) {
    const key = [KEY, String(incident), of.platform, of.team];
    const order: NoticeOrder = { key, of, to: { kind: 'team' }, notice: NOTICE };
    return this.#options.notices.claim(order);
  }

  /** Ends the incident that began before the latest create that succeeded. */
  async #accepted(): Promise<void> {
    const atMs = this.#acceptedAtMs;
    if (atMs === null) return;
    // What fails here is made up for by the next create that succeeds.
    this.#acceptedAtMs = null;
    const before = await this.#read();
    if (before !== undefined && !before.isOver && before.sinceMs < atMs) {
      // Refused where another replica ended it.
      await this.#options.store.commit({
        records: [creditIncidents.replacing(KEY, before, { ...before, isOver: true })],
      });
    }
  }

  #read(): Promise<IncidentRecord | undefined> {
    return creditIncidents.get(this.#options.store, KEY);
  }
}
