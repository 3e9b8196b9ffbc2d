import type { Clock } from '../../clock.ts';
import type { Store } from '../../engine/index.ts';
import { parsePause, type StepRetry } from '../../tasks/index.ts';

/** Topic of the pauses of submissions that the video service asked for. */
const TOPIC = 'send-hold';

/** Latest pause of submissions, on every replica: the next refusal broadcasts a missed one again. */
export class SubmissionPause {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #broadcast: Store['broadcast'];
  readonly #unsubscribe: () => void;
  #latest: StepRetry | null = null;

  constructor({ store, clock }: { readonly store: Pick<Store, 'broadcast'>; readonly clock: Pick<Clock, 'now'> }) {
    this.#clock = clock;
    this.#broadcast = store.broadcast;
    this.#unsubscribe = store.broadcast.subscribe(TOPIC, (text) => {
      this.#latest = parsePause(text) ?? this.#latest;
    });
  }

  /** The pause that is not over; `null` for none. */
  get current(): StepRetry | null {
    return this.#latest !== null && this.#latest.nextAtMs > this.#clock.now() ? this.#latest : null;
  }

  /** Makes a pause known to this and the other replicas. */
  publish(pause: StepRetry): void {
    this.#latest = pause;
    this.#broadcast.publish(TOPIC, JSON.stringify(pause));
  }

  close(): void {
    this.#unsubscribe();
  }
}
