import { LogLevel, type Logger as SdkLogger } from '@slack/bolt';
import type { Logger } from '#src/logger.ts';

/**
 * Forwards the SDK's warnings and errors. Its lower levels are dropped: they contain whole payloads, with prompts and
 * URLs that work like a password.
 */
export function createSdkLogger(logger: Logger): SdkLogger {
  const join = (parts: readonly unknown[]): string => parts.map(textOf).join(' ').slice(0, 500);
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts: unknown[]) => logger.debug({ event: 'slack_sdk_warning', sdk: join(parts) }, 'Slack SDK warning'),
    error: (...parts: unknown[]) => logger.warn({ event: 'slack_sdk_error', sdk: join(parts) }, 'Slack SDK error'),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
}

function textOf(part: unknown): string {
  return part instanceof Error ? part.message : String(part);
}
