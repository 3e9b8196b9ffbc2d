import { describe, expect, it } from 'vitest';
import { limitSentence } from '#commands/sentences/limits.ts';
import type { LimitReached } from '#src/tasks/limits.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

const FULL: LimitReached = { of: 'person', kind: 'open', max: 3, found: 3 };

describe('an order over a limit', () => {
  const ways: readonly (readonly [string, (house: BotHouse, task: string) => Promise<unknown>])[] = [
    ['a command', ({ bot }) => bot.command(ada(), 'create', { prompt: ['a fox'] })],
    ['a typed command', ({ bot }) => bot.text(ada(), 'a fox')],
    ['a form', ({ bot }) => bot.submit(ada(), 'create', { prompt: 'a fox' })],
    ['an edited form', ({ bot }, task) => bot.submit(ada(), `edit:${task}`, { prompt: 'a fox' })],
    ['the retry command', ({ bot }, task) => bot.text(ada(), `retry ${task}`)],
    ['the retry button', ({ bot }, task) => bot.press(ada(), `retry:${task}`)],
    ['the retry reaction', ({ bot }, task) => bot.react(ada(), { channel: 'clips', message: `m-${task}` }, '🔁')],
  ];

  it.each(ways)('by %s is refused with its sentence, and counted', async (_way, run) => {
    const house = new BotHouse(CATALOG);
    const { id } = await house.seed(ada(), 'a fox');
    house.limit = FULL;
    const reply = await run(house, id);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(limitSentence(FULL)) });
    expect(house.overLimit).toEqual([FULL]);
    expect(house.records.size).toBe(1);
  });

  it('keeps the prompt of a form for who typed it', async () => {
    const house = new BotHouse(CATALOG);
    house.limit = FULL;
    const reply = await house.bot.submit(ada(), 'create', { prompt: 'a fox in a very long coat' });
    expect(reply).toMatchObject({ sentence: expect.stringContaining('a fox in a very long coat') });
  });
});

describe('the sentence of a limit', () => {
  const sentences: readonly (readonly [LimitReached, string])[] = [
    [
      FULL,
      'You have 3 clips not done yet, and the most at a time is 3. Send this again when one is done; /video status shows how far yours are. A cancelled one counts until the service is done with it.',
    ],
    [
      { of: 'channel', kind: 'open', max: 1, found: 1 },
      'This channel has 1 clip not done yet, and the most at a time is 1 for everybody here together. Send this again when one is done, or in another channel; /video status shows how far yours are.',
    ],
    [
      { of: 'person', kind: 'perMinute', max: 10, found: 10, freeInMs: 12_001 },
      'That was quick: 10 clips a minute is the most for one person. Send this again in 13 s.',
    ],
    [
      { of: 'channel', kind: 'perMinute', max: 1, found: 1, freeInMs: 60_000 },
      'Much is going on here: 1 clip a minute is the most for this channel. Send this again in 1 min.',
    ],
  ];

  it.each(sentences)('%j', (limit, sentence) => {
    expect(limitSentence(limit)).toBe(sentence);
  });
});
