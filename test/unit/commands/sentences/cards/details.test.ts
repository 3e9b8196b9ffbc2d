import { describe, expect, it } from 'vitest';
import { detailsCard } from '#commands/orders/details.ts';
import { blocksOf } from '#commands/ui/card.ts';
import type { FileMarks } from '#src/media/ai-marks.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { NOON_MS, newTask } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../../videos/models.ts';

const TASK = newTask({ state: 'failed', sends: 1 });
const ENTRY: LedgerEntry = {
  task: TASK.id,
  send: 1,
  platform: 'fake',
  team: 'T1',
  channel: 'clips',
  user: 'ada',
  userName: 'Ada',
  model: 'swift-1',
  period: '2026-11',
  amount: '0.3',
  currency: 'USD',
  state: 'refunded',
  createdAtMs: NOON_MS,
};

describe('the price in the details', () => {
  it.each<[string, Partial<LedgerEntry>, string]>([
    ['a refund that is assumed', {}, '$0.30, failed, refunded under the service’s rules'],
    ['a refund that is awaited', { counted: 'held' }, '$0.30, failed, counted until a statement shows the refund'],
    ['a refund that a statement shows', { booked: 'refunded' }, '$0.30, refunded'],
    ['a failed clip that was billed', { booked: 'settled', counted: 'settled' }, '$0.30, billed'],
    ['a doubtful send that was never billed', { state: 'in_doubt', booked: 'released' }, '$0.30, not charged'],
    ['a doubtful send', { state: 'in_doubt', counted: 'doubted' }, '$0.30, unconfirmed, may be billed'],
    ['a send in progress', { state: 'reserved', counted: 'held' }, '$0.30, in progress'],
  ])('tells %s', (_case, changes, words) => {
    expect(
      cardText(detailsCard(TASK, [{ ...ENTRY, ...changes }], { media: [], marks: null, strip: null })).split('\n'),
    ).toContain(words);
  });
});

describe('the marks in the details', () => {
  const NONE: FileMarks = { kinds: [], lost: [], texts: [] };

  it.each<[string, FileMarks, string]>([
    [
      'several marks',
      { ...NONE, kinds: ['c2pa', 'iptc', 'text'] },
      'Marked as made with AI: Content Credentials (C2PA), IPTC digital source type (XMP), a text in its metadata',
    ],
    [
      'marks beside silent credentials',
      { ...NONE, kinds: ['credentials', 'aigc'] },
      'Marked as made with AI: AIGC label (GB 45438)',
    ],
    [
      'silent credentials',
      { ...NONE, kinds: ['credentials'] },
      'Carries Content Credentials (C2PA), in which I found no mention of AI',
    ],
    ['no mark', NONE, 'Its file carries no mark of AI that I know of. Invisible watermarks can’t be read here.'],
  ])('name %s', (_case, marks, words) => {
    expect(cardText(detailsCard(TASK, [], { media: [], marks, strip: null })).split('\n')).toContain(words);
  });

  it('are left out where the file is away', () => {
    expect(cardText(detailsCard(TASK, [], { media: [], marks: null, strip: null }))).not.toMatch(/mark/iu);
  });

  it('are those of the clip’s file, and never shown of a blind clip', async () => {
    const house = new BotHouse(CATALOG);
    house.marksOf = async () => ({ ...NONE, kinds: ['c2pa'] });
    const task = await house.seed(ada(), 'a red fox');
    expect(replyText(await house.bot.press(ada(), `details:${task.id}`))).toContain('Marked as made with AI: Content');
    const set = { id: task.id, kind: 'comparison', at: 1, of: 2, upTo: task.price } as const;
    house.records.set(task.id, { ...task, set });
    expect(replyText(await house.bot.press(ada(), `details:${task.id}`))).toContain('after the reveal');
    expect(replyText(await house.bot.press(ada(), `details:${task.id}`))).not.toContain('Marked');
  });
});

describe('the frames in the details', () => {
  const strip = { id: 'task-1.strip', url: 'https://bot.example/media/task-1.strip.jpg' };
  const shown = async (house: BotHouse, id: string) => {
    const forPoster = (_task: unknown, isStrip?: boolean) => (isStrip === true ? strip : null);
    house.pictures = { ...house.pictures, forPoster };
    const reply = await house.bot.press(ada(), `details:${id}`);
    return reply.kind === 'private' ? blocksOf(reply.card).filter(({ kind }) => kind === 'picture') : null;
  };

  it('are those of the clip, named by its prompt', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    expect(await shown(house, task.id)).toEqual([
      { kind: 'picture', picture: { ...strip, alt: 'Frames of “a red fox”' } },
    ]);
  });

  it('are not asked for before the reveal of a comparison', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    const set = { id: task.id, kind: 'comparison', at: 1, of: 2, upTo: task.price } as const;
    house.records.set(task.id, { ...task, set });
    expect(await shown(house, task.id)).toEqual([]);
  });
});
