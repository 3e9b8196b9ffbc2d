import type { Clock } from '../clock.ts';
import type { Broadcast } from '../cluster/broadcast.ts';
import type { StepRetry } from '../tasks/step-retry.ts';

/** The pause that the video service asked for before anything more is sent to it, known to every replica. */
export interface SendHold {
  /** Why and until when nothing is sent; `null` where nothing is held back. */
  current(): StepRetry | null;
  /** Tells every replica of a pause. */
  announce(retry: StepRetry): void;
  /** Hears of no more pauses. */
  stop(): void;
}

const TOPIC = 'send-hold';

/** Keeps the latest pause in memory: one that a replica missed is told again by the next refusal. */
export function createSendHold({
  broadcast,
  clock,
}: {
  readonly broadcast: Broadcast;
  readonly clock: Clock;
}): SendHold {
  let held: StepRetry | null = null;
  const stop = broadcast.subscribe(TOPIC, (text) => {
    held = parse(text) ?? held;
  });
  return {
    current() {
      if (held !== null && held.nextAtMs <= clock.now()) held = null;
      return held;
    },
    announce(retry) {
      held = retry;
      broadcast.publish(TOPIC, JSON.stringify(retry));
    },
    stop,
  };
}

/** Reads what another replica, perhaps of another version, told; `null` where it makes no sense. */
function parse(text: string): StepRetry | null {
  try {
    const { step, code, words, nextAtMs } = JSON.parse(text) as Partial<StepRetry>;
    if (step !== 'send' || code === undefined || typeof nextAtMs !== 'number') return null;
    return { step, code, words: words ?? null, nextAtMs };
  } catch {
    return null;
  }
}
