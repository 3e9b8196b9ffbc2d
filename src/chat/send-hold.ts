import type { Clock } from '../clock.ts';
import type { Broadcast } from '../cluster/broadcast.ts';
import type { StepRetry } from '../tasks/step-retry.ts';

/** Pause of submissions that the video service requested, shared by all replicas. */
export interface SendHold {
  /** Returns the reason and the end of the pause; `null` where there is none. */
  current(): StepRetry | null;
  /** Broadcasts a pause to every replica. */
  announce(retry: StepRetry): void;
  /** Unsubscribes from the broadcast. */
  stop(): void;
}

const TOPIC = 'send-hold';

/** Creates a {@link SendHold} that keeps the latest pause in memory: the next refusal broadcasts a missed one again. */
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

/** Parses a message of another replica, perhaps of another version; `null` where it is invalid. */
function parse(text: string): StepRetry | null {
  try {
    const { step, code, words, nextAtMs } = JSON.parse(text) as Partial<StepRetry>;
    if (step !== 'send' || code === undefined || typeof nextAtMs !== 'number') return null;
    return { step, code, words: words ?? null, nextAtMs };
  } catch {
    return null;
  }
}
