import type { AckFn } from '@slack/bolt';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';

type Acknowledge = AckFn<unknown>;

/** Acknowledges once, or never. */
export interface AcknowledgeOnce extends Acknowledge {
  /** Whether nothing more is said to Slack. */
  readonly isDone: () => boolean;
  /** Leaves it to Slack to send it again, for this reason. */
  readonly refuse: (reason: DailiesError) => void;
}

/** Acknowledges the first time it is called; that the connection is gone meanwhile is Slack's to repair. */
export function acknowledgeOnce(
  ack: Acknowledge,
  first: PromiseWithResolvers<unknown>,
  logger: Logger,
): AcknowledgeOnce {
  let isDone = false;
  const acknowledge: Acknowledge = async (answer) => {
    if (isDone) return;
    isDone = true;
    first.resolve(answer);
    await ack(answer).catch((thrown: unknown) => {
      logger.warn({ err: asDailiesError(thrown, 'acknowledging a request of Slack') }, 'Slack could not be answered');
    });
  };
  const refuse = (reason: DailiesError): void => {
    isDone = true;
    first.reject(reason);
  };
  return Object.assign(acknowledge, { isDone: () => isDone, refuse });
}
