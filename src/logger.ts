import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Fields that never reach a log, wherever they stand in a logged object (one level deep or at the top). */
const SECRET_FIELDS = ['token', 'authorization', 'Authorization', 'secret', 'password', 'cookie', 'apiToken'];

/**
 * The process's logger: JSON lines on standard output, secrets replaced by `[hidden]`.
 * Messages are static sentences; what varies goes into the object. Prompts are logged at `debug` only.
 */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[hidden]' },
  });
}
