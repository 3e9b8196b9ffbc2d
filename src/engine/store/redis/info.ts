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

/** Resolves to the reply; undefined where this user may not run the command or a hosted Redis does not have it. */
export async function unlessForbidden<Reply>(request: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await request;
  } catch (thrown) {
    if (thrown instanceof Error && /^(NOPERM|ERR)\b/.test(thrown.message)) return undefined;
    throw thrown;
  }
}
