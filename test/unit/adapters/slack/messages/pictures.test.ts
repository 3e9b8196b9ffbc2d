import { afterEach, expect, it } from 'vitest';
import { renderCard } from '#adapters/slack/messages/render.ts';
import type { Card, Picture } from '#commands/ui/card.ts';
import { layOut } from '#commands/ui/card.ts';
import { checkedBlocks } from '#test/fakes/slack/blocks.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { approvalNotice } from '#test/fakes/views.ts';

let house: SlackHouse | undefined;

afterEach(async () => {
  await house?.remove();
  expect(house?.slack.violations ?? []).toEqual([]);
  house = undefined;
});

const url = 'https://bot.example/media/task-1.jpg?expires=1&signature=x';
const picture = { id: 'task-1', url, alt: '\u202Ea frame of a hen' };
const open = { message: { channel: 'C1', message: '1.2' }, label: 'Open' } as const;
const wide = (shown: Picture) => ({ kind: 'picture', picture: shown }) as const;
const row = { kind: 'item', title: [{ untrusted: 'a hen' }], small: ['done'] } as const;
const list = (count: number): Card =>
  layOut(Array.from({ length: count }, () => ({ ...row, picture, accessory: open })));

// @see https://docs.slack.dev/reference/block-kit/blocks/section-block: one accessory
it('stand beside an item, with the link to its message in the small print; a button stands alone', () => {
  const details = { id: 'details:1', label: 'Details', style: 'plain' } as const;
  const card = layOut([
    { ...row, picture, accessory: open },
    { ...row, picture, accessory: details },
    { ...row, picture: { ...picture, url: null }, accessory: open },
  ]);
  const { blocks } = renderCard(card, { workspaceUrl: 'https://acme.slack.com/' });
  checkedBlocks(blocks, 'a list');
  const link = 'https://acme.slack.com/archives/C1/p12';
  expect(blocks).toMatchObject([
    { type: 'section', accessory: { type: 'image', image_url: url, alt_text: 'a frame of a hen' } },
    { type: 'context' },
    { type: 'section', accessory: { type: 'button', action_id: 'details:1' } },
    { type: 'context' },
    { type: 'section', accessory: { type: 'button', url: link } },
    { type: 'context' },
  ]);
  expect(JSON.stringify(blocks[1])).toContain(link);
});

it.each([true, false])('are left out where Slack cannot fetch them (unreachable: %s)', async (isUnreachable) => {
  house = await SlackHouse.start();
  const { slack, bot } = house;
  if (isUnreachable) slack.loseImages('https://bot.example');
  bot.reply = { kind: 'private', card: list(10) };
  slack.people.slash('/video list');
  const shown = () => house?.whispers(slack.users.alice, slack.channels.general) ?? [];
  await slack.until(() => shown().length > 0, 'the list');
  expect(shown()).toHaveLength(1);
  const [message] = shown();
  expect(plainOf(message ?? { text: '', blocks: [] }).match(/a hen/g)?.length).toBeGreaterThanOrEqual(10);
  expect(JSON.stringify(message?.blocks).match(/image_url/g)?.length ?? 0).toBe(isUnreachable ? 0 : 10);
});

it('are as wide as the message where they stand alone', () => {
  const frames = { id: 'task-1.strip', url, alt: '\u202Eframes of a hen' };
  const card = layOut([wide(frames), wide({ ...frames, url: null }), ['words']]);
  const { blocks, text } = renderCard(card, { workspaceUrl: null });
  checkedBlocks(blocks, 'details');
  expect(blocks).toMatchObject([{ type: 'image', image_url: url, alt_text: 'frames of a hen' }, { type: 'rich_text' }]);
  expect(text).toBe('words');
});

it.each([true, false])(
  'go with a request for approval until it is decided (unreachable: %s)',
  async (isUnreachable) => {
    house = await SlackHouse.start();
    const { slack, platform } = house;
    if (isUnreachable) slack.loseImages('https://bot.example');
    const { alice, bob } = slack.users;
    const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
    const view = approvalNotice({ picture: { id: 'task-1', url } });
    const posted = () => slack.messages(place.channel).map(({ blocks }) => JSON.stringify(blocks));
    const notice = await platform.notify({ key: 'ask:1', place, replyTo: null, mention: null, view });
    expect(posted()).toEqual([expect.stringContaining('requests a clip for $4.00')]);
    expect(posted()[0]?.includes(url)).toBe(!isUnreachable);
    // An edit shows none, whatever its view has: it may not fail.
    const origin = { ...place, platform: 'slack', interaction: 'i', user: { id: alice, name: 'Alice' } };
    slack.loseImages('https://bot.example');
    const declined = { how: 'denied', by: { id: bob, name: 'Bob' }, atMs: 1 } as const;
    await platform.edit(notice, origin, { ...view, decided: { approval: null, declined } }, 'final');
    expect(posted()).toEqual([expect.stringContaining('Denied')]);
    expect(posted()[0]).not.toContain('image_url');
  },
);

it.each([true, false])('are on the home tab where Slack can fetch them (unreachable: %s)', async (isUnreachable) => {
  house = await SlackHouse.start();
  const { slack, bot } = house;
  if (isUnreachable) slack.loseImages('https://bot.example');
  bot.homeCards = [list(2), layOut([wide(picture)])];
  slack.people.openHome();
  const home = () => slack.forms.home(slack.users.alice);
  await slack.until(() => home() !== null, 'a home tab');
  const shown = JSON.stringify(home()?.blocks);
  expect(shown.match(/a hen/g)?.length).toBeGreaterThanOrEqual(2);
  expect(shown.match(/image_url/g)?.length ?? 0).toBe(isUnreachable ? 0 : 3);
});
