import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';

it('rejects interactions beyond the limit with a message, without running them', async () => {
  const house = await DiscordHouse.start({ mostInHand: 2 });
  const gate = Promise.withResolvers<void>();
  house.bot.gate = gate.promise;
  const ask = () => house.discord.people.slash('video models');
  const taken = [ask(), ask()];
  for (const asked of taken) await house.heard(asked);

  const third = ask();
  const said = await house.answerTo(third);
  expect(plainOf(said)).toContain('too busy to take this right now');
  expect(said.visibleTo).toBe(house.discord.users.alice);
  expect(house.bot.heard).toHaveLength(2);

  gate.resolve();
  for (const asked of taken) await house.answerTo(asked);
  await setImmediate();
  const later = ask();
  await house.heard(later);
  await house.answerTo(later);
  expect(house.bot.heard).toHaveLength(3);
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});
