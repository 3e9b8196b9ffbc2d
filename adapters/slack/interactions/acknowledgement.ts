import type { AckFn } from '@slack/bolt';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';

type Acknowledge = AckFn<unknown>;
/** @returns whether the acknowledgement left on its connection. */
type TryToAcknowledge = (answer?: unknown) => Promise<boolean>;

/** Acknowledges once, or never. */
export interface AcknowledgeOnce extends Acknowledge {
  /** Whether nothing more is said to Slack. */
  readonly isDone: () => boolean;
  /** Whether the connection was gone: Slack says that a command or a press failed. */
  readonly hasFailed: () => boolean;
  /** Leaves it to Slack to send it again, for this reason. */
  readonly refuse: (reason: DailiesError) => void;
}

/** `ack`, which does not reject where the connection is gone meanwhile. */
export function ifConnected(ack: Acknowledge, logger: Logger): TryToAcknowledge {
  return (answer) =>
    ack(answer).then(
      () => true,
      (thrown: unknown) => {
        const error = asDailiesError(thrown, 'acknowledging a request of Slack');
        logger.warn({ event: 'slack_acknowledgement_failed', err: error }, 'Slack could not be answered');
        return false;
      },
    );
}

/** Acknowledges the first time it is called. */
export function acknowledgeOnce(ack: TryToAcknowledge, first: PromiseWithResolvers<unknown>): AcknowledgeOnce {
  let isDone = false;
  let hasFailed = false;
  const acknowledge: Acknowledge = async (answer) => {
    if (isDone) return;
    isDone = true;
    first.resolve(answer);
    hasFailed = !(await ack(answer));
  };
  const refuse = (reason: DailiesError): void => {
    isDone = true;
    first.reject(reason);
  };
  return Object.assign(acknowledge, { isDone: () => isDone, hasFailed: () => hasFailed, refuse });
}
