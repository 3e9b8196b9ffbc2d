import { z } from 'zod';
import { malformed } from './refusal.ts';

/**
 * Validates arguments against a schema.
 * @param error Slack's error code for invalid arguments, e.g. `invalid_blocks`
 * @param root prefix of the JSON pointers in the messages
 * @throws Refusal with Slack's messages, counted as a violation
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { error = 'invalid_arguments', root = '', what }: { error?: string; root?: string; what: string },
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // @see docs.slack.dev/apis/web-api "Error messages", e.g. "must provide an object [json-pointer:/view]"
  const messages = result.error.issues.map(({ message, path }) => {
    return `${message} [json-pointer:${[root, ...path.map(String)].join('/')}]`;
  });
  throw malformed(error, messages, `${error} in ${what}`);
}

/**
 * Accepts JSON as text: form fields that are not text are sent as JSON. @see docs.slack.dev/apis/web-api "URL-encoded
 * bodies"
 */
export function json<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (typeof value === 'string' ? parsed(value) : value), schema);
}

/** Schema of a boolean as JSON or as text of a form. */
export const flag = z.preprocess(
  (value) => (typeof value === 'string' ? value === 'true' || value === '1' : value),
  z.boolean(),
);

/** Schema of an integer as JSON or as text of a form. */
export const whole = z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.int());

/**
 * Schema of a message's id. Must be text, because numbers lose digits. @see
 * docs.slack.dev/reference/methods/chat.postMessage, `thread_ts`
 */
export const timestamp = z.string().regex(/^\d{10}\.\d{6}$/, 'is no message timestamp');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
