import { afterEach, describe, expect, it } from 'vitest';
import { accessSentence } from '#commands/sentences/access.ts';
import type { AccessConfig } from '#src/config/access.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse, type SlackHouseOptions } from '#test/fakes/slack-house.ts';
import { taskView } from '#test/fakes/views.ts';

let house: SlackHouse;
let slack: FakeSlack;

const STANDARD: AccessConfig = { teams: null, admits: [] };

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

async function start(options: SlackHouseOptions = {}): Promise<void> {
  house = await SlackHouse.start({ access: STANDARD, ...options });
  slack = house.slack;
}

/** What one person alone is told in `general`, once there is something. */
async function toldTo(user: string, times = 1): Promise<readonly string[]> {
  const { general } = slack.channels;
  await slack.until(() => house.whispers(user, general).length >= times, 'a private sentence');
  return house.whispers(user, general).map((one) => plainOf(one) || one.text);
}

/** One of the bot's messages that anyone in `general` can press and react to. */
async function ownMessage(): Promise<string> {
  slack.people.slash('/video a fox');
  const { caller } = await house.heard(({ what }) => what === 'a fox');
  const { mayManage: _mayManage, ...origin } = caller;
  return (await house.platform.open('task-1' as TaskId, origin, taskView())).message;
}

describe.each([
  ['people of another organisation', 'erin', accessSentence({ reason: 'external' })],
  ['guests', 'gwen', accessSentence({ reason: 'guest' })],
] as const)('%s', (_who, name, sentence) => {
  it('get one private sentence and nothing else: mentions, buttons, reactions, shortcuts, Home', async () => {
    await start();
    const user = slack.users[name];
    const message = await ownMessage();
    const heardBefore = house.bot.heard.length;
    slack.people.mention('list', { user });
    slack.people.react(message, 'repeat', { user });
    slack.people.press(message, 'details:task-1', { user });
    slack.people.messageShortcut('animate_this', message, { user });
    expect(await toldTo(user, 4)).toEqual([sentence, sentence, sentence, sentence]);
    slack.people.openHome({ user });
    // Somebody else goes on undisturbed, after all of this was looked at.
    slack.people.slash('/video a hen');
    await house.heard(({ what }) => what === 'a hen');
    expect(house.bot.heard.slice(heardBefore).map(({ what }) => what)).toEqual(['a hen']);
  });

  it('order where that is on', async () => {
    await start({ access: { teams: null, admits: ['external', 'guest'] } });
    slack.people.mention('a red fox in snow', { user: slack.users[name] });
    const { caller } = await house.heard();
    expect(caller.user.name).toBe(name);
    // Slack shows neither of them every channel of the workspace.
    expect(caller.isExternal).toBe(true);
  });
});

it('a guest gets nothing by command either', async () => {
  await start();
  slack.people.slash('/video a fox', { user: slack.users.gwen });
  expect(await toldTo(slack.users.gwen)).toEqual([accessSentence({ reason: 'guest' })]);
  expect(house.bot.heard).toEqual([]);
});

it('where Slack does not say who somebody is, a command is to be given again and a mention waits', async () => {
  await start();
  slack.failHttp('users.info', 503);
  slack.people.slash('/video a fox');
  await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length > 0, 'a whisper');
  expect(house.bot.heard).toEqual([]);
  slack.people.slash('/video a fox');
  await house.heard();
});

it('without users:read nobody can be told from a member, and the bot works', async () => {
  await start();
  slack.removeScopes(['users:read']);
  slack.people.slash('/video a fox');
  await house.heard();
});

describe('a workspace', () => {
  it('that ALLOW_TEAMS does not name gets nothing, though its token works', async () => {
    await start({ access: { teams: ['slack:T0OTHER'], admits: [] } });
    slack.people.slash('/video a fox');
    const [said] = await toldTo(slack.users.alice);
    expect(said).toContain(`slack:${slack.team.id}`);
    expect(house.bot.heard).toEqual([]);
  });
});

describe('before anything is bought', () => {
  const place = () => ({ team: slack.team.id, channel: slack.channels.general, address: {} });

  it.each(['chat:write', 'files:write', 'files:read'])('a missing %s is named, and by /readyz', async (scope) => {
    await start();
    expect(await house.platform.missingRight(place())).toBeNull();
    slack.removeScopes([scope]);
    const missing = await house.platform.missingRight(place());
    expect(missing).toMatchObject({ kind: 'scope', right: scope });
    expect(house.platform.notReady()).toContain(scope);
  });

  it('a channel that may not be looked at is no reason to buy', async () => {
    await start();
    slack.removeScopes(['channels:read']);
    expect(await house.platform.missingRight(place())).toMatchObject({ kind: 'scope', right: 'channels:read' });
  });

  it('a revoked token refuses, though the channel is known, and is named by /readyz', async () => {
    await start();
    expect(await house.platform.missingRight(place())).toBeNull();
    expect(house.platform.notReady()).toBeNull();
    slack.revokeToken();
    await expect(house.platform.missingRight(place())).rejects.toMatchObject({ code: 'unauthorised' });
    expect(house.platform.notReady()).toBe('Slack does not accept SLACK_BOT_TOKEN any more (token_revoked).');
  });

  it('a Slack that does not answer is no reason to refuse', async () => {
    await start();
    slack.failHttp('auth.test', 503);
    expect(await house.platform.missingRight(place())).toBeNull();
  });
});
