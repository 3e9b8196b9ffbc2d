import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

let house: BotHouse;

beforeEach(() => {
  house = new BotHouse(CATALOG);
});

async function said(words: string, caller: Caller = ada()): Promise<string> {
  return replyText(await house.bot.text(caller, words));
}

describe('/video privacy', () => {
  it('says what is stored, and the commands', async () => {
    const text = await said('privacy');
    expect(text).toContain('/video privacy export');
    expect(text).toContain('/video delete');
    expect(house.posted).toEqual([]);
  });

  it('refuses what it does not know, and buys nothing', async () => {
    expect(await said('privacy of a red fox')).toMatch(/^refused: “of a red fox” is nothing .* Available: export/);
    expect(house.orders).toEqual([]);
  });
});

describe('/video privacy export', () => {
  it('sends the caller their own data, privately and once per interaction', async () => {
    const caller = ada();
    expect(await said('privacy export', caller)).toBe('I sent you what I store about you. Only you can see it.');
    await said('privacy export', caller);
    expect(house.posted[0]).toMatchObject({
      of: { platform: caller.platform, team: caller.team },
      to: { kind: 'person', person: caller.user, near: caller.channel },
      notice: { kind: 'person_export', person: caller.user },
    });
    expect(house.posted[1]?.key).toEqual(house.posted[0]?.key);
  });

  it('says that it follows, or that the caller cannot be messaged', async () => {
    house.postOutcome = 'waiting';
    expect(await said('privacy export')).toMatch(/^I’m putting your data together/);
    house.postOutcome = 'undeliverable';
    expect(await said('privacy export')).toMatch(/^refused: I couldn’t send you the file. Allow direct messages/);
    house.postOutcome = 'failed';
    expect(await said('privacy export')).toMatch(/^refused: I couldn’t send you the file. Your administrator/);
  });
});
