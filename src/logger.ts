import { isatty } from 'node:tty';
import { type Logger, pino, stdSerializers } from 'pino';
import { readableLine } from './log-lines.ts';
import { standardOutput } from './output.ts';

export type { Logger } from 'pino';

/** Fields redacted from the log, at the top level of a logged object or one level below. */
const SECRET_FIELDS = ['token', 'authorization', 'Authorization', 'secret', 'password', 'cookie', 'apiToken'];

/**
 * Serializes an error without its `words`: the remote side may quote a prompt there. Who asked for the clip reads them in
 * the chat. What its message repeats of its cause is there once.
 */
function loggableError(thrown: Error): object {
  const { words: _words, ...shown } = stdSerializers.err(thrown);
  if (!(thrown instanceof Error && thrown.cause instanceof Error)) return shown;
  const { message, cause } = thrown;
  if (!message.endsWith(cause.message)) return shown;
  return { ...shown, message: shown.message.replace(`${message}: ${cause.message}`, () => message) };
}

export function isOnTerminal(): boolean {
  return isatty(1);
}

/**
 * Creates the process's logger on standard output: readable lines on a terminal, JSON lines otherwise; secrets are
 * redacted as `[hidden]`. Never blocks on a slow reader. Messages are static; variable data and the `event` code go
 * into the object. No line at any level holds a prompt, a display name or a platform's user id.
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
      serializers: { err: loggableError },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[hidden]' },
    },
    stream,
  );
  output.onDropped = (dropped) =>
    logger.warn({ event: 'log_lines_dropped', dropped }, 'dropped log lines while the output was not being read');
  return logger;
}
