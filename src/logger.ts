import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { type Logger, pino, stdSerializers } from 'pino';
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

const COLOURS = { warn: 'yellow', error: 'red', fatal: 'red', debug: 'gray', trace: 'gray' } as const;
const STACK_LEVELS: ReadonlySet<string> = new Set(['error', 'fatal']);

/**
 * Formats a log line for a terminal: time of day, level, message, then the fields as `name=value`. The message of an
 * error ends the line; at level `error` and above, an `internal` error is followed by its stack.
 * @param json one line of pino's output.
 */
export function readableLine(json: string, isColoured: boolean): string {
  const { level = 'info', time = '', msg = '', err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const at = new Date(String(time)).toTimeString().slice(0, 8);
  const name = String(level).padEnd(5);
  const colour = COLOURS[String(level) as keyof typeof COLOURS];
  const shown = isColoured && colour !== undefined ? styleText(colour, name, { validateStream: false }) : name;
  const values = Object.entries(fields).map(([field, value]) => ` ${field}=${valueText(value)}`);
  return `${at} ${shown} ${printable(String(msg))}${values.join('')}${errorText(err, String(level))}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
  return printable(text);
}

function errorText(err: unknown, level: string): string {
  if (typeof err !== 'object' || err === null) return err === undefined ? '' : `: ${valueText(err)}`;
  const { message = '', stack, code = 'internal' } = err as Record<string, unknown>;
  const frames = String(stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  const trace = STACK_LEVELS.has(level) && code === 'internal' ? frames.map((line) => `\n${printable(line)}`) : [];
  return `: ${printable(String(message))}${trace.join('')}`;
}

/** Escapes control and bidirectional characters: text from outside must not control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (found) => {
    return `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
