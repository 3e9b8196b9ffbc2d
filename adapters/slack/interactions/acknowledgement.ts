import type { AckFn } from '@slack/bolt';
import { asDailiesError, type DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';

type Acknowledge = AckFn<unknown>;
/** @returns whether the acknowledgement was sent. */
type TryToAcknowledge = (answer?: unknown) => Promise<boolean>;

/** Acknowledges a request at most once. */
export interface AcknowledgeOnce extends Acknowledge {
  /** Returns whether the request was acknowledged or refused. */
  readonly isDone: () => boolean;
  /** Returns whether the connection was lost: Slack then shows the user an error for a command or a press. */
  readonly hasFailed: () => boolean;
  /** Rejects the request with this reason, so that Slack retries it. */
  readonly refuse: (reason: DailiesError) => void;
}

/** Wraps `ack` so that it resolves to `false` instead of rejecting when the connection is lost. */
export function ifConnected(ack: Acknowledge, logger: Logger): TryToAcknowledge {
  return (answer) =>
    ack(answer).then(
      () => true,
      (thrown: unknown) => {
        const error = asDailiesError(thrown, 'acknowledging a request of Slack');
        logger.warn({ event: 'slack_acknowledgement_failed', err: error }, 'failed to acknowledge a Slack request');
        return false;
      },
    );
}

/** Creates an acknowledgement that only acts on its first call, and settles `first` with its outcome. */
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
