import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Finder } from '#adapters/slack/messages/post-once.ts';
import type { Run } from '#adapters/slack/web-api/client.ts';
import { rateLimited } from '#adapters/slack/web-api/errors.ts';
import { DailiesError } from '#src/errors.ts';

const NOW_MS = 1_700_000_000_000;
const PAGE = 15;
const SOUGHT = { to: { team: 'T1' }, channel: 'C1', thread: null, key: 'task:1', sinceMs: NOW_MS } as const;

/** A channel of which the app may fetch one page of 15 messages a minute. */
class Channel {
  /** Newest first. */
  readonly messages: { ts: string; metadata: { event_payload: { key: string } } }[] = [];
  readonly finder = new Finder(this, pino({ level: 'silent' }));
  #looksLeft = 0;

  say(count: number, key = 'another'): void {
    for (let left = count; left > 0; left -= 1) {
      const ts = `${NOW_MS / 1000 + this.messages.length}.000000`;
      this.messages.unshift({ ts, metadata: { event_payload: { key } } });
    }
  }

  async deliver<Result>(_to: object, _operation: string, run: Run<Result>): Promise<Result> {
    if (this.#looksLeft === 0) throw rateLimited('looking', 60_000);
    this.#looksLeft -= 1;
    const history = async ({ cursor = '0' }: { readonly cursor?: string }) => {
      const end = Number(cursor) + PAGE;
      const next = end < this.messages.length ? String(end) : '';
      return { messages: this.messages.slice(Number(cursor), end), response_metadata: { next_cursor: next } };
    };
    return run({ conversations: { history } } as never, {} as never);
  }

  /** Searches once a minute until the search ends. */
  async findPatiently(most = 10) {
    for (let minutes = 1; ; minutes += 1) {
      this.#looksLeft = 1;
      try {
        return { found: await this.finder.find(SOUGHT), minutes };
      } catch (thrown) {
        if (minutes === most || !(thrown instanceof DailiesError && thrown.retryable)) throw thrown;
      }
    }
  }
}

describe('a search limited to one page a minute', () => {
  it('resumes at its cursor, and finds the message', async () => {
    const channel = new Channel();
    channel.say(1, SOUGHT.key);
    channel.say(40);
    expect(await channel.findPatiently()).toMatchObject({ found: { channel: 'C1' }, minutes: 3 });
  });

  it('ends without a result after checking the newest page again', async () => {
    const channel = new Channel();
    channel.say(40);
    expect(await channel.findPatiently()).toEqual({ found: null, minutes: 4 });
    channel.say(1, SOUGHT.key);
    expect(await channel.findPatiently()).toMatchObject({ found: { channel: 'C1' }, minutes: 1 });
  });
});
