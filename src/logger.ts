import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Fields that never reach a log, wherever they stand in a logged object (one level deep or at the top). */
const SECRET_FIELDS = ['token', 'authorization', 'Authorization', 'secret', 'password', 'cookie', 'apiToken'];

/**
 * What of an error is logged. Libraries hang on their errors what they were doing: the address of a webhook with its
 * token, the arguments of AUTH, whole requests.
 */
const ERROR_FIELDS = ['type', 'message', 'stack', 'code', 'retryable', 'retryAfterMs', 'limitBytes', 'words'] as const;

function ownWords(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const all: Readonly<Record<string, unknown>> = { ...pino.stdSerializers.err(thrown) };
  return Object.fromEntries(ERROR_FIELDS.flatMap((field) => (all[field] === undefined ? [] : [[field, all[field]]])));
}

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
    serializers: { err: ownWords },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[hidden]' },
  });
}
