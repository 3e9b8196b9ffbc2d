import { styleText } from 'node:util';

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
