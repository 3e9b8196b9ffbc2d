import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Audiences } from '#src/chat/audiences.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/settle.ts';
import { errorOf } from '#test/fakes/videos.ts';

const OUTAGE = errorOf('platform_unavailable', { retryable: true });
const GENERAL = { team: 'T1', channel: 'general', address: {} };

function setUp() {
  const platform = new FakePlatform();
  const clock = new ManualClock();
  const platforms = new Map([[platform.name, platform]]);
  const audiences = new Audiences({ platforms, clock, logger: pino({ level: 'silent' }) });
  return { platform, clock, audiences };
}

describe('the audience of an order', () => {
  it('is the platform’s, or the channel where the platform has none, fails or times out', async () => {
    const { platform, clock, audiences } = setUp();
    expect(await audiences.at('fake', GENERAL)).toBe('team');
    platform.audiences.set('general', 'unknown');
    expect(await audiences.at('fake', GENERAL)).toBe('channel');
    platform.audiences.set('general', OUTAGE);
    expect(await audiences.at('fake', GENERAL)).toBe('channel');
    expect(await audiences.at('elsewhere', GENERAL)).toBe('channel');
    platform.audience = () => new Promise(() => undefined);
    const found = audiences.at('fake', GENERAL);
    await settle();
    clock.advance(1_500);
    expect(await found).toBe('channel');
  });
});
