/** Fields of Redis's INFO, by name. @see {@link https://redis.io/docs/latest/commands/info/} */
export type RedisInfo = ReadonlyMap<string, string>;

export function parseInfo(text: string): RedisInfo {
  const fields = text.split('\r\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    fields.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
}

/**
 * Counts the replicas that are connected and in sync; one that is still loading the initial snapshot does not count.
 */
export function replicasOf(info: RedisInfo): number {
  return [...info].filter(([field, value]) => /^slave\d+$/.test(field) && value.includes('state=online')).length;
}

/** Resolves to the reply; undefined where this user may not run the command or a hosted Redis does not have it. */
export async function unlessForbidden<Reply>(request: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await request;
  } catch (thrown) {
    if (thrown instanceof Error && /^(NOPERM|ERR)\b/.test(thrown.message)) return undefined;
    throw thrown;
  }
}
