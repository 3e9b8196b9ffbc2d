import { z } from 'zod';
import type { ErrorReading } from '../dialect.ts';

const text = z.string().min(1).optional().catch(undefined);

/**
 * Error of the API, of an operation or of an interaction. `code` is the HTTP status, a number of gRPC, or in the
 * Interactions API a word.
 * @see https://ai.google.dev/gemini-api/docs/troubleshooting and google/rpc/status.proto
 */
const errorSchema = z.object({
  error: z.object({
    code: z.union([z.number(), z.string()]).optional().catch(undefined),
    status: text,
    message: text,
    details: z.array(z.object({ reason: text })).catch([]),
  }),
});

/** Codes of gRPC, by number. @see https://grpc.io/docs/guides/status-codes/ */
const RPC_CODES: ReadonlyMap<number, string> = new Map([
  [1, 'cancelled'],
  [2, 'unknown'],
  [3, 'invalid_argument'],
  [4, 'deadline_exceeded'],
  [5, 'not_found'],
  [7, 'permission_denied'],
  [8, 'resource_exhausted'],
  [9, 'failed_precondition'],
  [13, 'internal'],
  [14, 'unavailable'],
  [16, 'unauthenticated'],
]);

/** Codes of Google that mean one of ours. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['api_key_invalid', 'invalid_api_key'],
  ['unauthenticated', 'unauthorized'],
  ['prohibited_content', 'safety'],
  ['blocklist', 'safety'],
  ['spii', 'safety'],
]);

/** Codes of the refusals that Google tells apart in words only. */
const CODES_OF_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^models\/\S+ is not found\b/, 'model_not_found'],
  [/^Invalid interaction name\b/, 'task_not_found'],
  [/\bblocked\b.*\bsafety\b/i, 'safety'],
];

/** Decodes an error; the front end of Google wraps it in a list. */
export function decodeError(answer: unknown): ErrorReading {
  const { data } = errorSchema.safeParse(Array.isArray(answer) ? answer[0] : answer);
  if (data === undefined) return { codes: [], words: null, success: undefined };
  const { code, status, message, details } = data.error;
  const named = typeof code === 'number' ? RPC_CODES.get(code) : code;
  const given = [status, named, ...details.map(({ reason }) => reason)].filter((each) => each !== undefined);
  const words = (message ?? '').slice(0, 1_000);
  const said = CODES_OF_WORDS.filter(([pattern]) => pattern.test(words)).map(([, each]) => each);
  const codes = [...said, ...given.map((each) => each.toLowerCase())].map((each) => SYNONYMS.get(each) ?? each);
  return { codes: [...new Set(codes)], words: message ?? null, success: undefined };
}
