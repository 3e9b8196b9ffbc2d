import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import { readableLine } from './log-lines.ts';
import { standardOutput } from './output.ts';

export type { Logger } from 'pino';

/** Fields that never reach a log, wherever they stand in a logged object (one level deep or at the top). */
const SECRET_FIELDS = ['token', 'authorization', 'Authorization', 'secret', 'password', 'cookie', 'apiToken'];

/** Whether somebody may be looking: standard output is a terminal. */
export function isOnTerminal(): boolean {
  return isatty(1);
}

/**
 * The process's logger on standard output: readable lines on a terminal, JSON lines otherwise; secrets replaced by
 * `[hidden]`. It never waits for its reader. Messages are static sentences; what varies goes into the object. Prompts are
 * logged at `debug` only.
 */
export function createLogger(level: string): Logger {
  const output = standardOutput();
  const isColoured = process.env['NO_COLOR'] === undefined;
  const stream = isOnTerminal() ? { write: (line: string) => output.write(readableLine(line, isColoured)) } : output;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[hidden]' },
    },
    stream,
  );
  output.onDropped = (dropped) => logger.warn({ dropped }, 'log lines were dropped while nobody read them');
  return logger;
}
