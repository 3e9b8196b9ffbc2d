import type { Clock } from '#src/clock.ts';

/**
 * `fetch` that asks for nothing that Slack has put off: until the time of a Retry-After is over, the same method is
 * answered here with what is left of it.
 * @see https://docs.slack.dev/apis/web-api/rate-limits
 */
export function createGate(clock: Clock): typeof fetch {
  const closedUntilMs = new Map<string, number>();
  return async (input, init) => {
    const method = new URL(input instanceof Request ? input.url : input).pathname;
    const leftMs = (closedUntilMs.get(method) ?? 0) - clock.now();
    if (leftMs > 0) return putOff(leftMs);
    const answer = await fetch(input, init);
    const seconds = Number.parseInt(answer.headers.get('retry-after') ?? '', 10);
    if (answer.status === 429 && Number.isFinite(seconds)) closedUntilMs.set(method, clock.now() + seconds * 1000);
    return answer;
  };
}

function putOff(leftMs: number): Response {
  return new Response(null, { status: 429, headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) } });
}
