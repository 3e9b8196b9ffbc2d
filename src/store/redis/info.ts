/** What Redis says of itself: the fields of its INFO, by name. @see {@link https://redis.io/docs/latest/commands/info/} */
export type RedisInfo = ReadonlyMap<string, string>;

/** Reads the text of INFO, of all sections or of one. */
export function parseInfo(text: string): RedisInfo {
  const fields = text.split('\r\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    fields.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
}

/** How many replicas are connected and get every write as it happens; one that is still being filled does not count. */
export function replicasOf(info: RedisInfo): number {
  return [...info].filter(([field, value]) => /^slave\d+$/.test(field) && value.includes('state=online')).length;
}

/** The answer, or undefined where this user may not ask, or this Redis does not know the question: rented ones tell little. */
export async function unlessForbidden<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (thrown instanceof Error && /^(NOPERM|ERR)\b/.test(thrown.message)) return undefined;
    throw thrown;
  }
}
