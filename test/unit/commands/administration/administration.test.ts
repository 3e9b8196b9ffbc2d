import { describe, expect, it } from 'vitest';
import { OPTION_FIELDS } from '#adapters/discord/registration/commands.ts';
import { declarations } from '#commands/registry.ts';
import { administratorsOnly } from '#commands/sentences/access.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const administrative = declarations.filter(({ isAdministrative }) => isAdministrative === true);

describe.each(administrative)('/video $name', ({ name, example }) => {
  it.each(['slack', 'discord', 'playground'])('is refused to members on %s, without any effect', async (platform) => {
    const house = new BotHouse(CATALOG);
    const caller = bob({ platform, mayManage: true });
    const expected = { kind: 'refused', sentence: administratorsOnly(platform) };
    expect(await house.bot.text(caller, example)).toEqual(expected);
    expect(await house.bot.command(caller, name, {})).toEqual(expected);
    expect(await house.settings.get(caller)).toMatchObject({ revision: 0 });
  });

  it('is for administrators and people named in ADMINS, on their own platform', async () => {
    const house = new BotHouse(CATALOG);
    expect((await house.bot.text(bob({ mayAdminister: true }), `${name}`)).kind).toBe('private');
    house.admins = [{ platform: 'slack', user: 'U2' }];
    expect((await house.bot.text(bob(), name)).kind).toBe('private');
    expect((await house.bot.text(bob({ platform: 'discord' }), name)).kind).toBe('refused');
    expect((await house.bot.text(ada(), name)).kind).toBe('refused');
  });

  it('suggests nothing to members', async () => {
    const house = new BotHouse(CATALOG);
    expect(await house.bot.suggest(bob(), name, 'time_zone', 'Eur', {})).toEqual([]);
  });
});

describe('the help', () => {
  const help = async (caller = ada()) => cardText(await cardOf(new BotHouse(CATALOG), caller));
  const cardOf = async (house: BotHouse, caller: ReturnType<typeof ada>) => {
    const reply = await house.bot.command(caller, 'help', {});
    if (reply.kind !== 'private') throw new TypeError('the help is private');
    return reply.card;
  };

  it('lists administrative commands to administrators alone, in short', async () => {
    expect(await help()).not.toContain('/video settings');
    expect(await help(ada({ mayAdminister: true }))).toMatch(/Administer[\s\S]*\/video settings` Shows or changes/u);
  });

  it('names them as on Discord', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada({ mayAdminister: true, fields: OPTION_FIELDS });
    expect(cardText(await cardOf(house, caller))).toMatch(/Administer with `\/video-admin`[\s\S]*\n`settings` Shows/u);
    const one = replyText(await house.bot.command(caller, 'help', { command: ['settings'] }));
    expect(one).toContain('/video-admin settings time_zone:Europe/Berlin');
  });
});
