import { describe, expect, it } from 'vitest';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const TEAM = { platform: 'slack', team: 'T1' } as const;
const admin = (changes: Parameters<typeof ada>[0] = {}) => ada({ mayAdminister: true, ...changes });

describe('/video review', () => {
  it('turns reviews on in the channel, or in that of the thread, and off again, with entries in the audit log', async () => {
    const house = new BotHouse(CATALOG);
    expect(replyText(await house.bot.text(admin(), 'review'))).toContain('*Here*: off.');
    expect(replyText(await house.bot.text(admin(), 'review on'))).toContain('*Here*: on.');
    await house.bot.text(admin({ channel: 'thread-1', parentChannel: 'films' }), 'review on');
    expect(await house.settings.get(TEAM)).toMatchObject({ reviewIn: ['clips', 'films'] });
    await house.bot.text(admin(), 'review off');
    expect(await house.settings.get(TEAM)).toMatchObject({ reviewIn: ['films'] });
    const log = replyText(await house.bot.text(admin(), 'audit'));
    expect(log).toContain('turned review on in');
    expect(log).toContain('turned review off in');
  });

  it('sets the rules of the team', async () => {
    const house = new BotHouse(CATALOG);
    const words = replyText(await house.bot.text(admin(), 'review --own off --post_to <#C7|final> --keep on'));
    expect(words).toContain('Saved.');
    expect(words).toContain('someone else than the requester signs them off');
    expect(await house.settings.get(TEAM)).toMatchObject({
      signOffOwn: false,
      signedOffChannel: 'C7',
      keepSignedOff: true,
    });
    await house.bot.text(admin(), 'review --own on --keep off --off post_to');
    const after = await house.settings.get(TEAM);
    expect([after.signOffOwn, after.signedOffChannel, after.keepSignedOff]).toEqual([true, undefined, false]);
  });

  it.each([
    ['review maybe', 'state: “maybe” isn’t known. Choose on or off.'],
    ['review --own 1', 'own: “1” isn’t known. Choose on or off.'],
    ['review --off everything', 'off: “everything” isn’t known.'],
    ['review --post_to <#C7> --off post_to', 'post_to: given a value and switched off at once.'],
  ])('%s changes nothing', async (line, sentence) => {
    const house = new BotHouse(CATALOG);
    expect(replyText(await house.bot.text(admin(), line))).toContain(sentence);
    expect((await house.settings.get(TEAM)).revision).toBe(0);
  });

  it('can be on in 200 channels of a team', async () => {
    const house = new BotHouse(CATALOG);
    const reviewIn = Array.from({ length: 200 }, (_, at) => `C${at}`);
    await house.settings.change(TEAM, { person: null, surface: 'command' }, { reviewIn });
    const words = replyText(await house.bot.text(admin(), 'review on'));
    expect(words).toBe('refused: state: reviews are on in 200 channels already. Turn them off in another one first.');
    expect(replyText(await house.bot.text(admin({ channel: 'C9' }), 'review on'))).toContain('Nothing changed');
    expect(replyText(await house.bot.text(admin({ channel: 'C9' }), 'review off'))).toContain('*Here*: off.');
    expect(replyText(await house.bot.text(admin(), 'review on'))).toContain('*Here*: on.');
  });

  it('refuses a channel in which the bot cannot post, or that the caller does not see', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'permission', right: 'Attach Files', where: 'the channel’s settings' };
    expect(replyText(await house.bot.text(admin(), 'review --post_to <#C7>'))).toContain('Attach Files');
    house.memberRights.set('C8', { view: false, post: false, manage: false });
    expect(replyText(await house.bot.text(admin(), 'review --post_to <#C8>'))).toContain('there is no such channel');
    expect((await house.settings.get(TEAM)).signedOffChannel).toBeUndefined();
  });

  it('is for administrators', async () => {
    const house = new BotHouse(CATALOG);
    expect(await house.bot.text(bob(), 'review on')).toMatchObject({ kind: 'refused' });
    expect((await house.settings.get(TEAM)).revision).toBe(0);
  });
});
