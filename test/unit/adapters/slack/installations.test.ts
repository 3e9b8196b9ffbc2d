import { afterEach, describe, expect, it, vi } from 'vitest';
import { createForm } from '#commands/input/forms.ts';
import { approvalButtons } from '#commands/sentences/cards/approval.ts';
import { NOT_BEGUN } from '#commands/sentences/errors.ts';
import { type Block, layOut } from '#commands/ui/card.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { approvalNotice, taskView } from '#test/fakes/views.ts';

let house: SlackHouse;
let slack: FakeSlack;

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

describe('installations', () => {
  const start = async (): Promise<void> => {
    house = await SlackHouse.start({ mode: 'oauth', hasLinks: true });
    slack = house.slack;
  };

  /** Completes the installation in a browser as a member of a workspace. */
  const install = async (team: string): Promise<number> => {
    const page = await fetch(`${house.url}/slack/install`, { redirect: 'manual' });
    const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const address = /href="([^"]+oauth\/v2\/authorize[^"]*)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&');
    const back = new URL(slack.authorize(address ?? page.headers.get('location') ?? '', team), house.url);
    const landed = await fetch(`${house.url}${back.pathname}${back.search}`, { headers: { cookie } });
    return landed.status;
  };

  it('of several workspaces each use their own token', async () => {
    await start();
    expect(await install(slack.team.id)).toBe(200);
    expect(await install(slack.otherTeam.id)).toBe(200);
    slack.people.slash('/video a fox', { user: slack.users.dave, channel: slack.channels.foreign });
    const { caller: origin } = await house.heard();
    expect(origin.team).toBe(slack.otherTeam.id);
    const message = await house.platform.open('task-1' as TaskId, origin, taskView());
    expect(plainOf(slack.message(message.message))).toContain('a red fox');
  });

  it('that cannot be looked up lead to a reply to try again', async () => {
    await start();
    await install(slack.team.id);
    await house.restart();
    slack.failHttp('auth.test', 503);
    slack.people.slash('/video a fox');
    const said = () => house.whispers(slack.users.alice, slack.channels.general).map(({ text }) => text);
    await slack.until(() => said().some((text) => text === NOT_BEGUN), 'a whisper of what happened');
    expect(house.bot.heard).toEqual([]);
    slack.people.slash('/video a hen');
    await house.heard(({ what }) => what === 'a hen');
  });

  it('are encrypted in the store', async () => {
    await start();
    await install(slack.team.id);
    const kept = await house.store.keyv('slack_installations').get(slack.team.id);
    expect(JSON.stringify(kept)).toMatch(/sealed/);
    expect(JSON.stringify(kept)).not.toContain('xoxb');
  });

  it('end on a page with the next step, also when cancelled or not allowed', async () => {
    await start();
    const begin = async (): Promise<{ readonly address: URL; readonly cookie: string }> => {
      const page = await fetch(`${house.url}/slack/install`, { redirect: 'manual' });
      expect(page.status).toBe(302);
      const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return { address: new URL(page.headers.get('location') ?? ''), cookie };
    };
    const land = async (query: string, cookie: string) => {
      const landed = await fetch(`${house.url}/slack/oauth_redirect?${query}`, { headers: { cookie } });
      expect(landed.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(landed.headers.get('x-frame-options')).toBe('DENY');
      return { status: landed.status, text: await landed.text() };
    };
    const good = await begin();
    const back = new URL(slack.authorize(good.address.href, slack.team.id), house.url);
    const installed = await land(back.search.slice(1), good.cookie);
    expect(installed).toEqual({ status: 200, text: expect.stringContaining('Now type /video in a channel.') });
    const cancelled = await begin();
    const state = cancelled.address.searchParams.get('state') ?? '';
    const denied = await land(new URLSearchParams({ error: 'access_denied', state }).toString(), cancelled.cookie);
    expect(denied).toEqual({ status: 403, text: expect.stringContaining('cancelled') });
  });

  it('are not stored for a workspace that is not in ALLOW_TEAMS', async () => {
    house = await SlackHouse.start({ mode: 'oauth', hasLinks: true, access: { teams: ['slack:T0OTHER'], admits: [] } });
    slack = house.slack;
    expect(await install(slack.team.id)).toBe(403);
    expect(await house.store.keyv('slack_installations').get(slack.team.id)).toBeUndefined();
  });

  it.each(['/slack/install', '/slack/oauth_redirect'])(
    'respond to HEAD %s instead of leaving it open',
    async (path) => {
      await start();
      const head = await fetch(`${house.url}${path}`, { method: 'HEAD', signal: AbortSignal.timeout(10_000) });
      expect(head.status).toBe(404);
    },
  );

  it('reject a forged state', async () => {
    await start();
    const landed = await fetch(`${house.url}/slack/oauth_redirect?code=abc&state=forged`);
    expect(landed.status).toBeGreaterThanOrEqual(400);
    expect(await house.store.keyv('slack_installations').get(slack.team.id)).toBeUndefined();
  });

  it('are deleted when the app is removed', async () => {
    await start();
    await install(slack.team.id);
    slack.people.slash('/video a fox');
    const { caller: origin } = await house.heard();
    slack.uninstall();
    await vi.waitFor(
      async () => expect(await house.store.keyv('slack_installations').get(slack.team.id)).toBeUndefined(),
      300_000,
    );
    await expect(house.platform.open('task-1' as TaskId, origin, taskView())).rejects.toMatchObject({
      code: 'unauthorised',
    });
  });
});

describe('HTTP mode', () => {
  it.each(['wrong', 'stale', 'future', 'missing'] as const)('refuses a request with a %s signature', async (kind) => {
    house = await SlackHouse.start({ mode: 'http' });
    slack = house.slack;
    expect(await slack.forge({ kind })).toBe(401);
    expect(house.bot.heard).toEqual([]);
  });

  it('has no route in Socket Mode', async () => {
    house = await SlackHouse.start();
    slack = house.slack;
    const answer = await fetch(`${house.url}/slack/events`, { method: 'POST', body: '{"type":"url_verification"}' });
    expect(answer.status).toBe(404);
  });
});

describe('the home tab', () => {
  it('shows clips in progress, latest clips and the month’s spending', async () => {
    house = await SlackHouse.start();
    slack = house.slack;
    slack.people.openHome();
    await slack.until(() => slack.forms.home(slack.users.alice) !== null, 'a home tab');
    const text = JSON.stringify(slack.forms.home(slack.users.alice)?.blocks);
    // One section per command, with its card’s own heading and no second one.
    expect(text.match(/"type":"divider"/g)).toHaveLength(3);
    expect(text).not.toContain('"header"');
    expect(house.bot.heard.map(({ what }) => what)).toEqual([
      { name: 'approvals', given: {} },
      { name: 'status', given: {} },
      { name: 'list', given: { who: ['me'] } },
      { name: 'usage', given: { who: ['me'] } },
    ]);
  });

  it('shows first what waits for the user’s approval, and no longer after the decision', async () => {
    house = await SlackHouse.start();
    slack = house.slack;
    const task = { id: 'task-1' as TaskId, price: { amount: '0.40', currency: 'USD' } };
    const heading: Block = { kind: 'heading', line: ['Waiting for you'] };
    const card = layOut([heading], { buttons: approvalButtons(task.id, task.price) });
    house.bot.reply = { kind: 'private', card };
    slack.people.openHome();
    const home = () => slack.forms.home(slack.users.alice);
    const text = () => JSON.stringify(home()?.blocks ?? []);
    await slack.until(() => home() !== null, 'a home tab');
    expect(text().indexOf('Waiting for you')).toBeGreaterThan(text().indexOf('New clip'));
    // Only this section has buttons; the others are those of commands.
    expect(text().match(/Approve · \$0\.40/gu)).toHaveLength(1);

    const view = home();
    if (view === null) throw new TypeError('no home tab');
    house.bot.heard.length = 0;
    house.bot.reply = privately('Approved for $0.40.');
    const button = `approve:${task.id}:0.40USD`;
    slack.forms.press(view, button);
    const direct = slack.dm(slack.users.alice);
    await slack.until(
      () => slack.messages(direct).some((message) => plainOf(message).includes('Approved for $0.40.')),
      'an answer',
    );
    expect(house.bot.heard[0]).toMatchObject({ kind: 'press', what: button, caller: { channel: direct } });
    await slack.until(() => !text().includes('Waiting for you'), 'a home tab without the request');
  });

  it('is published again for everyone whom it was shown, after each request and decision', async () => {
    house = await SlackHouse.start();
    slack = house.slack;
    const { alice, bob, carol } = slack.users;
    const text = (user: string) => JSON.stringify(slack.forms.home(user)?.blocks ?? []);
    const waiting = layOut([{ kind: 'heading', line: ['Waiting for you'] }], {
      buttons: approvalButtons('task-1' as TaskId, { amount: '4.00', currency: 'USD' }),
    });
    const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
    const origin = { ...place, platform: 'slack', interaction: 'i', user: { id: carol, name: 'Carol' } };
    house.bot.reply = privately('Nothing is waiting.');
    for (const user of [alice, bob]) slack.people.openHome({ user });
    for (const user of [alice, bob]) await slack.until(() => slack.forms.home(user) !== null, 'a home tab');

    house.bot.reply = { kind: 'private', card: waiting };
    const view = approvalNotice();
    const notice = await house.platform.notify({ key: 'ask:1', place, replyTo: null, mention: null, view });
    for (const user of [alice, bob]) await slack.until(() => text(user).includes('Waiting for you'), 'the request');

    house.bot.reply = privately('Nothing is waiting.');
    const declined = { how: 'denied', by: { id: carol, name: 'Carol' }, atMs: 1 } as const;
    await house.platform.edit(notice, origin, { ...view, decided: { approval: null, declined } }, 'final');
    for (const user of [alice, bob]) await slack.until(() => !text(user).includes('Waiting for you'), 'the decision');
    expect(slack.forms.home(carol)).toBeNull();
  });

  describe('a button of the home tab', () => {
    const pressed = async (button: string) => {
      house = await SlackHouse.start();
      slack = house.slack;
      slack.people.openHome();
      await slack.until(() => slack.forms.home(slack.users.alice) !== null, 'a home tab');
      const view = slack.forms.home(slack.users.alice);
      if (view === null) throw new TypeError('no home tab');
      house.bot.heard.length = 0;
      return () => slack.forms.press(view, button);
    };

    it.each(['models', 'usage'])('responds to %s with a permanent direct message', async (name) => {
      const press = await pressed(`home:${name}`);
      house.bot.reply = privately('Swift 1');
      press();
      const direct = slack.dm(slack.users.alice);
      await slack.until(
        () => slack.messages(direct).some((message) => plainOf(message).includes('Swift 1')),
        'an answer',
      );
      expect(house.bot.heard).toMatchObject([{ what: name, caller: { channel: direct } }]);
      expect(slack.messages(direct).map(({ visibleTo }) => visibleTo)).toEqual([null]);
    });

    it('opens the modal of a new clip, with a field for the channel', async () => {
      const press = await pressed('home:create');
      house.bot.reply = createForm(parseCatalog(sandboxCatalog));
      press();
      await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
      const form = JSON.stringify(slack.forms.shown(slack.users.alice)?.blocks);
      expect(form).toContain('conversations_select');
      expect(form).toContain('"prompt"');
    });
  });
});
