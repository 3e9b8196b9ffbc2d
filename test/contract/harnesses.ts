import { expect } from 'vitest';
import {
  buttonsOf as buttonsOnDiscord,
  DiscordHouse,
  plainOf as plainOnDiscord,
  selectsOf as selectsOnDiscord,
} from '#test/fakes/discord-house.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import {
  buttonsOf as buttonsOnSlack,
  plainOf as plainOnSlack,
  SlackHouse,
  selectsOf as selectsOnSlack,
} from '#test/fakes/slack-house.ts';
import type { ShownMessage } from './confirmation.contract.ts';

/** Starts a house on Discord, with what the harnesses of private messages have in common. */
export async function startOnDiscord() {
  const house = await DiscordHouse.start();
  const { discord, bot } = house;
  const { general } = discord.channels;
  const shared = {
    bot,
    messages: async () =>
      discord.messages(general).map((one) => shown(one.id, one, [plainOnDiscord, buttonsOnDiscord, selectsOnDiscord])),
    remove: async () => {
      expect(discord.violations).toEqual([]);
      await house.remove();
    },
  };
  return { house, discord, shared };
}

/** As {@link startOnDiscord}, on Slack. */
export async function startOnSlack() {
  const house = await SlackHouse.start();
  const { slack, bot } = house;
  const { general } = slack.channels;
  const shared = {
    bot,
    messages: async () =>
      slack.messages(general).map((one) => shown(one.ts, one, [plainOnSlack, buttonsOnSlack, selectsOnSlack])),
    remove: async () => {
      await house.remove();
      expect(slack.violations).toEqual([]);
    },
  };
  return { house, slack, shared };
}

/** As {@link startOnDiscord}, on the playground, for one of its users. */
export async function startOnPlayground(user: string) {
  const house = await PlaygroundHouse.start();
  const shared = {
    bot: house.bot,
    messages: async () =>
      (await house.messages('general', `&user=${user}`)).map((one) => ({ ...one, selects: one.card.selects ?? [] })),
    remove: () => house.remove(),
  };
  return { house, shared };
}

function shown<Message extends { readonly visibleTo: string | null }>(
  id: string,
  message: Message,
  [textOf, buttonsOf, selectsOf]: readonly [
    (of: Message) => string,
    (of: Message) => ShownMessage['buttons'],
    (of: Message) => ShownMessage['selects'],
  ],
): ShownMessage {
  const { visibleTo } = message;
  return { id, text: textOf(message), buttons: buttonsOf(message), selects: selectsOf(message), visibleTo };
}
