import type { DeserializedData } from 'keyv';
import { DailiesError } from '../../errors.ts';
import type { StoredRecord } from './store.ts';

/** Matches JSON that may contain a string beginning with a colon. Has false positives, no false negatives. */
const COLON_STRING = /[:,[]":/;

/**
 * Serializes JSON values exactly as Keyv 5 does: a string that begins with a colon gets a second one. Reimplemented
 * because Keyv's own serializer walks every value in JavaScript: a task takes 8.5 µs instead of 3 to write and 18 instead
 * of 3.7 to read, which makes a poll on Redis 6 % dearer.
 *
 * @see {@link https://github.com/jaredwray/keyv/tree/main/core/serialize}
 */
export function serialize(envelope: DeserializedData<unknown>): string {
  const text = JSON.stringify(envelope);
  return COLON_STRING.test(text) ? JSON.stringify(envelope, (_key, value: unknown) => escapeColon(value)) : text;
}

/**
 * Parses the text that {@link serialize}, or Keyv, wrote.
 * @throws `internal` where the text is damaged. It must not be treated as an absent record: it may be a claim.
 */
export function deserialize<Value>(text: string): DeserializedData<Value> {
  try {
    return COLON_STRING.test(text)
      ? JSON.parse(text, (_key, value: unknown) => unescapeColon(value))
      : JSON.parse(text);
  } catch {
    // Without the parser's error as the cause: it quotes the record.
    throw new DailiesError('reading a record: it is damaged', { code: 'internal', retryable: false });
  }
}

/** Parses the text that {@link serialize}, or Keyv, wrote into a record. */
export function storedRecord(key: string, text: string): StoredRecord {
  const { value, expires } = deserialize(text);
  return { key, value, ...(typeof expires === 'number' ? { endsAtMs: expires } : {}) };
}

function escapeColon(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(':') ? `:${value}` : value;
}

function unescapeColon(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(':') ? value.slice(1) : value;
}
