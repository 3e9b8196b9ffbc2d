import { describe, expect, it, vi } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { limitSentence } from '#commands/orders/refused-orders.ts';
import type { LimitReached } from '#src/tasks/limits.ts';
import type { Task } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { errorOf } from '#test/fakes/videos.ts';
import { CATALOG } from '../videos/models.ts';

const FULL: LimitReached = { of: 'person', kind: 'open', max: 3, found: 3 };

describe('order over a limit', () => {
  const ways: readonly (readonly [string, (house: BotHouse, task: string) => Promise<unknown>])[] = [
    ['a command', ({ bot }) => bot.command(ada(), 'create', { prompt: ['a fox'] })],
    ['a typed command', ({ bot }) => bot.text(ada(), 'a fox')],
    ['a form', ({ bot }) => bot.submit(ada(), 'create', { prompt: 'a fox' })],
    ['an edited form', ({ bot }, task) => bot.submit(ada(), `edit:${task}`, { prompt: 'a fox' })],
    ['the retry command', ({ bot }, task) => bot.text(ada(), `retry ${task}`)],
    ['the retry button', ({ bot }, task) => bot.press(ada(), `retry:${task}:0.2USD`)],
    ['the retry reaction', ({ bot }, task) => bot.react(ada(), { channel: 'clips', message: `m-${task}` }, '🔁')],
  ];

  it.each(ways)('by %s is refused with an explanation and counted', async (_way, run) => {
    const house = new BotHouse(CATALOG);
    const { id } = await house.seed(ada(), 'a fox');
    house.limit = FULL;
    const reply = await run(house, id);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(limitSentence(FULL)) });
    expect(house.overLimit).toEqual([FULL]);
    expect(house.records.size).toBe(1);
  });

  it.each(ways)('by %s at the limit of the data folder is counted', async (_way, run) => {
    const house = new BotHouse(CATALOG);
    const { id } = await house.seed(ada(), 'a fox');
    vi.spyOn(house.tasks, 'submit').mockRejectedValue(errorOf('data_full'));
    await expect(run(house, id)).rejects.toMatchObject({ code: 'data_full' });
    expect(house.refusedAsFull).toBe(1);
  });

  it('saves the prompt of a form', async () => {
    const house = new BotHouse(CATALOG);
    house.limit = FULL;
    const reply = await house.bot.submit(ada(), 'create', { prompt: 'a fox in a very long coat' });
    if (reply.kind !== 'refused') throw new TypeError(reply.kind);
    house.limit = null;
    await house.bot.press(ada(), reply.buttons?.[0]?.id ?? '');
    expect([...house.records.values()].map(({ request }) => request.prompt)).toEqual(['a fox in a very long coat']);
  });
});

describe('limit of open clips', () => {
  const labelsOf = (reply: Reply): readonly string[] =>
    reply.kind === 'refused' ? (reply.buttons ?? []).map(({ label }) => label) : [];

  const undecided = (house: BotHouse, caller: Caller, prompt: string): Promise<Task> =>
    house.seed(
      caller,
      prompt,
      { kind: 'send', owner: 'o', atMs: 0 },
      { kind: 'lost', failure: { code: 'lost_answer', words: null } },
    );

  it('lists the caller’s undecided clips with their buttons', async () => {
    const house = new BotHouse(CATALOG);
    await undecided(house, bob(), 'another’s fox');
    const { id } = await undecided(house, ada(), 'a doubtful fox');
    await house.seed(ada(), 'a running fox');
    house.limit = FULL;
    const reply = await house.bot.text(ada(), 'one more');
    expect(reply).toMatchObject({
      kind: 'refused',
      sentence: `${limitSentence(FULL)}\nOne of them is unconfirmed and waits for your decision:\n“a doubtful fox” · 4 s · $0.20`,
    });
    expect(labelsOf(reply)).toEqual(['Try again · $0.20', 'Enter its ID', 'Send again · $0.20', 'Dismiss']);
    if (reply.kind !== 'refused') throw new TypeError(reply.kind);
    await house.bot.press(ada(), reply.buttons?.at(-1)?.id ?? '');
    expect(house.task(id).leftBy).toMatchObject({ id: 'U1' });
    expect(labelsOf(await house.bot.text(ada(), 'one more'))).toEqual(['Try again · $0.20']);
  });

  it('lists and numbers up to three undecided clips, with a hint to the others', async () => {
    const house = new BotHouse(CATALOG);
    for (const prompt of ['fox one', 'fox two', 'fox three', 'fox four']) await undecided(house, ada(), prompt);
    house.limit = FULL;
    const reply = await house.bot.text(ada(), 'one more');
    expect(reply).toMatchObject({
      sentence: expect.stringMatching(
        /4 of them.*\n1\. “fox four”.*\n2\. “fox three”.*\n3\. “fox two”.*\nAnd 1 more; \/video status/s,
      ),
    });
    expect(labelsOf(reply).slice(1, 4)).toEqual(['1 · Enter its ID', '1 · Send again · $0.20', '1 · Dismiss']);
    expect(labelsOf(reply)).toHaveLength(10);
  });

  it('lists no clips of other channels for a channel’s limit', async () => {
    const house = new BotHouse(CATALOG);
    await undecided(house, ada({ channel: 'films' }), 'a fox elsewhere');
    house.limit = { ...FULL, of: 'channel' };
    expect(labelsOf(await house.bot.text(ada(), 'one more'))).toEqual(['Try again · $0.20']);
  });

  it('lists no undecided clips for a limit per minute', async () => {
    const house = new BotHouse(CATALOG);
    await undecided(house, ada(), 'a doubtful fox');
    house.limit = { ...FULL, kind: 'perMinute', freeInMs: 1_000 };
    expect(labelsOf(await house.bot.text(ada(), 'one more'))).toEqual(['Try again · $0.20']);
  });
});

describe('sentence of a limit', () => {
  const sentences: readonly (readonly [LimitReached, string])[] = [
    [
      FULL,
      'You already have 3 orders in progress (limit 3; clips ordered together count as one). Try again when one is done; /video status shows yours. A cancelled one counts until the video service is done with it.',
    ],
    [
      { of: 'channel', kind: 'open', max: 1, found: 1 },
      'This channel already has 1 order in progress (limit 1; clips ordered together count as one). Try again when one is done, or send this in another channel; /video status shows yours.',
    ],
    [
      { of: 'person', kind: 'perMinute', max: 10, found: 10, freeInMs: 12_001 },
      'You’ve reached your limit of 10 orders a minute. Try again in 13 s.',
    ],
    [
      { of: 'channel', kind: 'perMinute', max: 1, found: 1, freeInMs: 60_000 },
      'This channel has reached its limit of 1 order a minute. Try again in 1 min.',
    ],
  ];

  it.each(sentences)('%j', (limit, sentence) => {
    expect(limitSentence(limit)).toBe(sentence);
  });
});
