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

describe('/video usage csv', () => {
  it.each(['usage csv', 'usage --csv', 'usage everyone csv', 'usage --month 2026-10 --csv'])(
    'sends the rows of the month to the caller alone: %s',
    async (words) => {
      const caller = ada();
      const month = words.includes('2026-10') ? 'October' : 'November';
      expect(await said(words, caller)).toBe(`I sent you the CSV for ${month} 2026. Only you can see it.`);
      expect(house.posted).toMatchObject([
        {
          of: { platform: caller.platform, team: caller.team },
          to: { kind: 'person', person: caller.user, near: caller.channel },
          notice: { kind: 'export', period: month === 'October' ? '2026-10' : '2026-11', who: null },
        },
      ]);
    },
  );

  it('sends it once for a redelivered command', async () => {
    const caller = ada();
    await said('usage csv', caller);
    await said('usage csv', caller);
    const keys = house.posted.map(({ key }) => JSON.stringify(key));
    expect(new Set(keys).size).toBe(1);
  });

  it('lists one person', async () => {
    await said('usage me csv');
    expect(house.posted[0]?.notice).toMatchObject({ who: ada().user });
  });

  it('lists the current channel only for a guest', async () => {
    const guest = { ...ada(), isExternal: true };
    await said('usage csv', guest);
    expect(house.posted[0]?.notice).toMatchObject({ channel: guest.channel });
  });

  it('says that it follows, or that the caller cannot be messaged', async () => {
    house.postOutcome = 'waiting';
    expect(await said('usage csv')).toBe('I’m putting the CSV for November 2026 together. I’ll send it to you alone.');
    house.postOutcome = 'undeliverable';
    expect(await said('usage csv')).toBe(
      'refused: I couldn’t send you the file. Allow direct messages from this app, or from this server, and try again.',
    );
    house.postOutcome = 'failed';
    expect(await said('usage csv')).toBe(
      'refused: I couldn’t send you the file. Your administrator can find the reason in the log.',
    );
  });

  it('sends nothing for a month that is none', async () => {
    expect(await said('usage --month 2026-13 --csv')).toMatch(/^refused: /);
    expect(house.posted).toEqual([]);
  });
});
