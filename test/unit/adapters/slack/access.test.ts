import { afterEach, describe, expect, it } from 'vitest';
import { accessSentence } from '#commands/sentences/access.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { AccessConfig } from '#src/teams/access-list.ts';
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

/** Returns a user's ephemeral messages in `general`, once there are `times` of them. */
async function toldTo(user: string, times = 1): Promise<readonly string[]> {
  const { general } = slack.channels;
  await slack.until(() => house.whispers(user, general).length >= times, 'a private sentence');
  return house.whispers(user, general).map((one) => plainOf(one) || one.text);
}

/** Posts one of the bot's messages in `general`, to press and react to. */
async function ownMessage(): Promise<string> {
  slack.people.slash('/video a fox');
  const { caller: origin } = await house.heard(({ what }) => what === 'a fox');
  return (await house.platform.open('task-1' as TaskId, origin, taskView())).message;
}

describe.each([
  ['people of another organisation', 'erin', accessSentence({ reason: 'external' })],
  ['guests', 'gwen', accessSentence({ reason: 'guest' })],
] as const)('%s', (_who, name, sentence) => {
  it('get only an ephemeral refusal: mentions, buttons, reactions, shortcuts, Home tab', async () => {
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
    // Members are unaffected; their command is handled after all of the above.
    slack.people.slash('/video a hen');
    await house.heard(({ what }) => what === 'a hen');
    expect(house.bot.heard.slice(heardBefore).map(({ what }) => what)).toEqual(['a hen']);
  });

  it('can create clips where the setting allows it', async () => {
    await start({ access: { teams: null, admits: ['external', 'guest'] } });
    slack.people.mention('a red fox in snow', { user: slack.users[name] });
    const { caller } = await house.heard();
    expect(caller.user.name).toBe(name);
    // Neither group sees every channel of the workspace.
    expect(caller.isExternal).toBe(true);
  });
});

it('refuses guests who use the slash command', async () => {
  await start();
  slack.people.slash('/video a fox', { user: slack.users.gwen });
  expect(await toldTo(slack.users.gwen)).toEqual([accessSentence({ reason: 'guest' })]);
  expect(house.bot.heard).toEqual([]);
});

it('asks to repeat a command and retries a mention while the user cannot be looked up', async () => {
  await start();
  slack.failHttp('users.info', 503);
  slack.people.slash('/video a fox');
  await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length > 0, 'a whisper');
  expect(house.bot.heard).toEqual([]);
  slack.people.slash('/video a fox');
  await house.heard();
});

it('treats everyone as a member without users:read', async () => {
  await start();
  slack.removeScopes(['users:read']);
  slack.people.slash('/video a fox');
  await house.heard();
});

describe('a workspace', () => {
  it('not listed in ALLOW_TEAMS is refused although its token works', async () => {
    await start({ access: { teams: ['slack:T0OTHER'], admits: [] } });
    slack.people.slash('/video a fox');
    const [said] = await toldTo(slack.users.alice);
    expect(said).toContain(`slack:${slack.team.id}`);
    expect(house.bot.heard).toEqual([]);
  });
});

describe('before a clip is created', () => {
  const place = () => ({ team: slack.team.id, channel: slack.channels.general, address: {} });

  it.each(['chat:write', 'files:write', 'files:read'])(
    'reports the missing scope %s, also in /readyz',
    async (scope) => {
      await start();
      expect(await house.platform.channels.missingRight(place())).toBeNull();
      slack.removeScopes([scope]);
      const missing = await house.platform.channels.missingRight(place());
      expect(missing).toMatchObject({ kind: 'scope', right: scope });
      expect(house.platform.notReady()).toContain(scope);
    },
  );

  it('refuses if the channel cannot be looked up', async () => {
    await start();
    slack.removeScopes(['channels:read']);
    expect(await house.platform.channels.missingRight(place())).toMatchObject({
      kind: 'scope',
      right: 'channels:read',
    });
  });

  it('refuses with a revoked token although the channel is cached, and reports it in /readyz', async () => {
    await start();
    expect(await house.platform.channels.missingRight(place())).toBeNull();
    expect(house.platform.notReady()).toBeNull();
    slack.revokeToken();
    await expect(house.platform.channels.missingRight(place())).rejects.toMatchObject({ code: 'unauthorised' });
    expect(house.platform.notReady()).toBe('Slack does not accept SLACK_BOT_TOKEN any more (token_revoked).');
  });

  it('does not refuse if the token cannot be tested', async () => {
    await start();
    slack.failHttp('auth.test', 503);
    expect(await house.platform.channels.missingRight(place())).toBeNull();
  });
});

describe('the right to administer', () => {
  const askedBy = async (user: string) => {
    const before = house.bot.heard.length;
    slack.people.mention('list', { user });
    await slack.until(() => house.bot.heard.length > before, 'a command');
    return house.bot.heard.at(-1)?.caller.mayAdminister;
  };

  it.each(['is_admin', 'is_owner', 'is_primary_owner'] as const)('is given by %s', async (right) => {
    await start();
    slack.setAdmin(slack.users.bob, right);
    expect(await askedBy(slack.users.bob)).toBe(true);
    expect(await askedBy(slack.users.alice)).toBe(false);
  });

  it.each(['erin', 'gwen'] as const)('is not given to %s, a guest or of another organisation', async (name) => {
    await start({ access: { teams: null, admits: ['external', 'guest'] } });
    slack.setAdmin(slack.users[name], 'is_admin');
    expect(await askedBy(slack.users[name])).toBe(false);
  });

  it('is not given without users:read', async () => {
    await start();
    slack.setAdmin(slack.users.alice, 'is_owner');
    slack.removeScopes(['users:read']);
    expect(await askedBy(slack.users.alice)).toBe(false);
  });
});

it('knows members of the workspace from people who left it, and from those of other organisations', async () => {
  await start();
  slack.deactivate(slack.users.carol);
  const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
  const { alice, carol, erin } = slack.users;
  const isMember = (user: string) => house.platform.channels.isMember(place, user);
  expect([await isMember(alice), await isMember(carol), await isMember(erin)]).toEqual([true, false, false]);
  const { gwen } = slack.users;
  const isFull = (user: string) => house.platform.channels.isMember(place, user, true);
  expect([await isMember(gwen), await isFull(gwen), await isFull(alice)]).toEqual([true, false, true]);
});
