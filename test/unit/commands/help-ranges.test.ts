import { expect, it } from 'vitest';
import { declarations } from '#commands/registry.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../videos/models.ts';

/** Words that say which values an option takes: numbers, alternatives, an example, or one thing of a kind. */
const RANGE = /\d| or |such as|separated|any for|per line|\b(?:a|one) (?:channel|person|command|link|style|image)/u;

it.each(declarations.filter(({ options }) => options.length > 0))(
  'the help on $name gives the range of each option',
  async ({ name, options }) => {
    const house = new BotHouse(CATALOG);
    const text = replyText(await house.bot.command(ada({ mayAdminister: true }), 'help', { command: [name] }));
    const lines = text.split('\n').filter((line) => line.startsWith('• '));
    expect(lines.map((line) => /`(\w+)`/u.exec(line)?.[1])).toEqual(options.map((option) => option.name));
    // A flag takes no value, and a closed set is its own range.
    const open = options.filter(({ kind, choices }) => kind !== 'flag' && choices === undefined);
    for (const option of open) expect(lines.find((line) => line.includes(`\`${option.name}\``))).toMatch(RANGE);
  },
);

it.each([
  ['review', 'own', 'whether people may sign off their own clips, in the whole team · on or off (default on)'],
  ['settings', 'time_zone', 'a time zone such as Europe/Berlin (default UTC)'],
  ['settings', 'confirm_above', 'an amount such as 2 or 12.50 EUR, or off'],
  ['budget', 'amount', 'an amount such as 100 or 100 EUR, or off'],
  ['approvers', 'until', 'a day such as 2026-12-24'],
  ['pause', 'until', 'a duration, time or day such as 2h, 14:00 or 2026-11-30 (default until you end it)'],
  ['library', 'change', 'add or remove, and a name such as @mug (default the list)'],
  ['library', 'image', 'one image'],
  ['style', 'before', 'words before each prompt, up to 1,000 characters'],
  [
    'style',
    'off',
    'removes this part of the style; all removes the style · before, after, avoid, model, seconds, aspect, resolution, images or all',
  ],
  ['policy', 'change', 'whether people and words are added or removed · add or remove (default add)'],
])('the help on %s describes %s as %s', async (command, option, range) => {
  const house = new BotHouse(CATALOG);
  const text = replyText(await house.bot.command(ada({ mayAdminister: true }), 'help', { command: [command] }));
  expect(text.split('\n')).toContain(`• \`${option}\`: ‹${range}›`);
});
