import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

let house: BotHouse;

beforeEach(() => {
  house = new BotHouse(CATALOG);
});

/** Runs a command and presses the only button of the reply. */
async function confirm(words: string, caller: Caller, presser = caller): Promise<string> {
  const reply = await house.bot.text(caller, words);
  if (reply.kind !== 'private') throw new TypeError(replyText(reply));
  const [button, ...more] = buttonsOf(reply.card);
  expect(more).toEqual([]);
  return replyText(await house.bot.press(presser, button?.id ?? ''));
}

describe('/video privacy forget', () => {
  it('says what goes and what stays, and does nothing before the confirmation', async () => {
    const text = replyText(await house.bot.text(ada(), 'privacy forget'));
    for (const words of ['can’t be undone', 'in progress ends first', 'video service', 'can no longer edit', 'amounts'])
      expect(text).toContain(words);
    expect(house.forgotten).toEqual([]);
  });

  it('forgets the caller once it is confirmed', async () => {
    const caller = ada();
    expect(await confirm('privacy forget', caller)).toContain('I’m forgetting you');
    const { platform, team, user } = caller;
    expect(house.forgotten).toEqual([{ platform, team, person: user, actor: { person: user, surface: 'button' } }]);
  });
});

describe('/video erase_person', () => {
  const admin = (): Caller => bob({ mayAdminister: true });

  it.each(['erase_person <@U1|Ada>', 'privacy erase <@U1|Ada>'])(
    'erases a person after a question: %s',
    async (words) => {
      const caller = admin();
      const reply = await confirm(words, caller);
      expect(reply).toContain('I’m erasing them');
      expect(reply).not.toContain('Ada');
      expect(house.forgotten).toMatchObject([{ person: { id: 'U1' }, actor: { person: caller.user } }]);
    },
  );

  it.each(['erase_person <@U1|Ada>', 'privacy erase <@U1|Ada>'])('is for administrators alone: %s', async (words) => {
    expect(replyText(await house.bot.text(bob(), words))).toMatch(/^refused: Only .* can do this/);
  });

  it('takes any name on the chat page, also that of one who never ordered', async () => {
    const onPage = bob({ mayAdminister: true, platform: 'playground' });
    expect(await confirm('erase_person @dan', onPage)).toContain('I’m erasing them');
    expect(house.forgotten).toMatchObject([{ person: { id: 'dan', name: 'dan' } }]);
    const unknown = replyText(await house.bot.text(admin(), 'erase_person @dan'));
    expect(unknown).toBe('refused: who: I don’t know anyone here called “@dan”. Use @name.');
  });

  it('checks again who presses', async () => {
    expect(await confirm('erase_person <@U1|Ada>', admin(), bob())).toMatch(/^refused: Only/);
    expect(house.forgotten).toEqual([]);
  });

  it.each(['erase_person everyone', 'erase_person nobody-known'])('refuses what is no person: %s', async (words) => {
    expect(replyText(await house.bot.text(admin(), words))).toMatch(/^refused: /);
  });
});
