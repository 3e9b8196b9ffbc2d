import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileOf } from '#test/fakes/discord/files.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const png = fileOf('fox.png', 'image/png', Buffer.from('x'));

it('/clip arrives as /video create does, with its file, and is answered to everyone', async () => {
  const { people } = house.discord;
  const options = { prompt: 'a fox', model: 'epic-pro', seconds: 10, aspect: '16:9', image: png };
  house.bot.reply = { kind: 'public', card: { lines: [['Here it is.']], progress: null, buttons: [] } };
  const answers = [];
  for (const typed of ['video create', 'clip']) answers.push(await house.answerTo(people.slash(typed, options)));
  expect(answers.map(({ visibleTo }) => visibleTo)).toEqual([null, null]);
  const [long, short] = house.bot.heard.map(({ kind, what }) => ({ kind, what: withoutIds(what) }));
  expect(short).toEqual(long);
  expect(short).toMatchObject({
    kind: 'command',
    what: {
      name: 'create',
      given: {
        prompt: ['a fox'],
        model: ['epic-pro'],
        seconds: ['10'],
        aspect: ['16:9'],
        image: [expect.stringContaining('fox.png')],
      },
    },
  });
});

it('/clip suggests as /video create does', async () => {
  const { people } = house.discord;
  house.bot.suggestions = [{ value: '10', label: '10 s · $1.20' }];
  const asked: unknown[] = [];
  house.bot.suggest = async (...args: readonly unknown[]) => {
    asked.push(args.slice(1));
    return house.bot.suggestions;
  };
  for (const typed of ['video create', 'clip']) {
    const typing = people.autocomplete(typed, { model: 'epic-pro', seconds: '' }, 'seconds');
    expect((await house.discord.answered(typing)).data).toEqual({ choices: [{ name: '10 s · $1.20', value: 10 }] });
  }
  const [long, short] = asked;
  expect(short).toEqual(long);
  expect(short).toMatchObject(['create', 'seconds', '', { model: ['epic-pro'] }]);
});

/** Blanks what differs between two uploads of one file. */
function withoutIds(what: unknown): unknown {
  return JSON.parse(JSON.stringify(what).replace(/\d{17,}|[?&](?:ex|is|hm)=\w+/gu, ''));
}
