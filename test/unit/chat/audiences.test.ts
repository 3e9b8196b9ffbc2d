import { describe, expect, it } from 'vitest';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { settle } from '#test/fakes/settle.ts';
import { errorOf } from '#test/fakes/videos.ts';

const OUTAGE = errorOf('platform_unavailable', { retryable: true });
const GENERAL = { team: 'T1', channel: 'general', address: {} };

describe('the audience of an order', () => {
  it('is the platform’s, or the channel where the platform has none, fails or times out', async () => {
    const { platform, clock, chat } = new ChatHouse();
    expect(await chat.audienceAt('fake', GENERAL)).toBe('team');
    platform.audiences.set('general', 'unknown');
    expect(await chat.audienceAt('fake', GENERAL)).toBe('channel');
    platform.audiences.set('general', OUTAGE);
    expect(await chat.audienceAt('fake', GENERAL)).toBe('channel');
    expect(await chat.audienceAt('elsewhere', GENERAL)).toBe('channel');
    platform.channels.audience = () => new Promise(() => undefined);
    const found = chat.audienceAt('fake', GENERAL);
    await settle();
    clock.advance(1_500);
    expect(await found).toBe('channel');
  });
});
