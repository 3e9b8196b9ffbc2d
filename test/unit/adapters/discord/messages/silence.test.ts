import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Notice } from '#src/chat/platform.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import type { CardView } from '#src/chat/view.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import {
  approvalNotice,
  cutView,
  endNotice,
  reviewNotice,
  setView,
  signedOffNotice,
  spendReport,
  taskView,
} from '#test/fakes/views.ts';

/** @see https://discord.com/developers/docs/resources/message#message-object-message-flags: SUPPRESS_NOTIFICATIONS */
const SILENT = 1 << 12;

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const here = () => ({ team: house.discord.guildId, channel: house.discord.channels.general, address: {} });
const person = () => ({ id: house.discord.users.alice, name: 'alice' });
const origin = (): Origin => ({ ...here(), platform: 'discord', user: person(), interaction: 'reaction:1' });
const SET = '0123456789abcdef' as TaskId;
const CARD = setCardId(SET);
const MEMBER = { view: taskView(), message: null };
const boardOf = (kind: 'takes' | 'comparison' | 'storyboard'): CardView =>
  setView({ kind, id: SET, of: 2 }, [MEMBER, MEMBER]);
const isSilent = (id: string): boolean => (house.discord.message(id).flags & SILENT) !== 0;

describe('a message of the bot’s own is silent:', () => {
  it.each<readonly [string, () => readonly [string, CardView]]>([
    ['a clip or take', () => ['0123456789abcdef', taskView({ task: '0123456789abcdef' as TaskId })]],
    ['a card of takes', () => [CARD, boardOf('takes')]],
    ['a comparison', () => [CARD, boardOf('comparison')]],
    ['a board', () => [CARD, boardOf('storyboard')]],
    ['a cut', () => ['cut-0123456789abcdef', cutView()]],
  ])('%s', async (_what, of) => {
    const [id, view] = of();
    const { message } = await house.platform.open(id as TaskId, origin(), view);
    expect(isSilent(message)).toBe(true);
  });

  it.each<readonly [string, () => Partial<Notice>]>([
    ['the end of an order in a subscribed channel', () => ({ view: endNotice(origin(), { subscribed: true }) })],
    ['a review note, which names its requester', () => ({ view: reviewNotice(), mention: person() })],
    ['a signed-off clip', () => ({ view: signedOffNotice() })],
    ['a report', () => ({ view: spendReport() })],
  ])('%s', async (what, notice) => {
    const { message } = await house.platform.notify({
      key: what,
      place: here(),
      replyTo: null,
      mention: null,
      view: spendReport(),
      ...notice(),
    });
    expect(isSilent(message)).toBe(true);
  });
});

it.each<readonly [string, () => Partial<Notice>]>([
  ['the mention at the end of an order', () => ({ view: endNotice(origin()), mention: person() })],
  ['a request for approval', () => ({ view: approvalNotice({ pings: [{ kind: 'person', ...person() }] }) })],
  ['what is for one person alone', () => ({ view: spendReport(), onlyFor: person() })],
])('%s notifies', async (what, notice) => {
  const place = { ...here(), ...(what.startsWith('what') ? { channel: house.discord.dm(person().id) } : {}) };
  const { message } = await house.platform.notify({
    key: what,
    place,
    replyTo: null,
    mention: null,
    view: spendReport(),
    ...notice(),
  });
  expect(isSilent(message)).toBe(false);
});
