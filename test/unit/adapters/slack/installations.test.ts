import { afterEach, describe, expect, it, vi } from 'vitest';
import { createForm } from '#commands/input/forms.ts';
import { approvalButtons } from '#commands/sentences/cards/approval.ts';
import { NOT_BEGUN } from '#commands/sentences/errors.ts';
import { type Card, heading, item, layOut, textCard } from '#commands/ui/card.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack, View } from '#test/fakes/slack/index.ts';
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
  const home = () => slack.forms.home(slack.users.alice);
  const text = (user = slack.users.alice) => JSON.stringify(slack.forms.home(user)?.blocks ?? []);
  const opened = async (...cards: readonly Card[]) => {
    house = await SlackHouse.start();
    slack = house.slack;
    house.bot.homeCards = cards;
    slack.people.openHome();
    await slack.until(() => home() !== null, 'a home tab');
    return home() as View;
  };
  const task = { id: 'task-1' as TaskId, price: { amount: '0.40', currency: 'USD' } };
  const waiting = layOut([heading('Waiting for you')], { buttons: approvalButtons(task.id, task.price) });

  it('shows the cards of the home page, each with its buttons', async () => {
    const cancel = { id: 'cancel:task-1', label: 'Cancel', style: 'plain' } as const;
    const bar = { id: 'home:usage', label: '█░ 60 %', style: 'plain', spoken: 'You: 60 % used. Usage' } as const;
    const running = layOut([heading('In progress'), item(['a red fox'], ['in progress'], cancel)]);
    const { blocks } = await opened(waiting, running, layOut([item(['You'], ['$3.00 of $5.00 used'], bar)]));
    expect(blocks.map(({ type }) => type)).toEqual([
      'header',
      'actions',
      'divider',
      'header',
      'section',
      'context',
      'divider',
      'section',
      'context',
    ]);
    expect(blocks[4]?.accessory).toMatchObject({ action_id: cancel.id, text: { text: 'Cancel' } });
    // Read out once, in place of the blocks of the bar.
    expect(blocks[7]?.accessory).toMatchObject({
      text: { text: '█░ 60 %' },
      accessibility_label: 'You: 60 % used. Usage',
    });
    expect(slack.violations).toEqual([]);
  });

  it.each([`approve:${task.id}:0.40USD`, 'cancel:task-1'])(
    'answers a press of %s by direct message, and shows what is left then',
    async (button) => {
      const cancel = { id: 'cancel:task-1', label: 'Cancel', style: 'plain' } as const;
      const view = await opened({ ...waiting, buttons: [...waiting.buttons, cancel] });
      house.bot.heard.length = 0;
      house.bot.reply = privately('Approved for $0.40.');
      house.bot.homeCards = [textCard(['Nothing is waiting.'])];
      slack.forms.press(view, button);
      const direct = slack.dm(slack.users.alice);
      await slack.until(
        () => slack.messages(direct).some((message) => plainOf(message).includes('Approved for $0.40.')),
        'an answer',
      );
      expect(house.bot.heard[0]).toMatchObject({ kind: 'press', what: button, caller: { channel: direct } });
      await slack.until(() => !text().includes('Waiting for you'), 'a home tab without the request');
    },
  );

  it('is published again for everyone whom it was shown, after each request and decision', async () => {
    await opened(textCard(['Nothing is waiting.']));
    const { alice, bob, carol } = slack.users;
    const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
    const origin = { ...place, platform: 'slack', interaction: 'i', user: { id: carol, name: 'Carol' } };
    slack.people.openHome({ user: bob });
    await slack.until(() => slack.forms.home(bob) !== null, 'a home tab');

    house.bot.homeCards = [waiting];
    const view = approvalNotice();
    const notice = await house.platform.notify({ key: 'ask:1', place, replyTo: null, mention: null, view });
    for (const user of [alice, bob]) await slack.until(() => text(user).includes('Waiting for you'), 'the request');

    house.bot.homeCards = [textCard(['Nothing is waiting.'])];
    const declined = { how: 'denied', by: { id: carol, name: 'Carol' }, atMs: 1 } as const;
    await house.platform.edit(notice, origin, { ...view, decided: { approval: null, declined } }, 'final');
    for (const user of [alice, bob]) await slack.until(() => !text(user).includes('Waiting for you'), 'the decision');
    expect(slack.forms.home(carol)).toBeNull();
  });

  it('is published again for the requester once a clip is ordered, and once it has ended', async () => {
    await opened(textCard(['Nothing in progress.']));
    const { alice } = slack.users;
    const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
    const origin = { ...place, platform: 'slack', interaction: 'i', user: { id: alice, name: 'Alice' } };
    house.bot.homeCards = [textCard(['A red fox in progress.'])];
    const message = await house.platform.open('task-2' as TaskId, origin, taskView());
    await slack.until(() => text().includes('A red fox'), 'the clip in progress');
    house.bot.homeCards = [textCard(['Nothing in progress.'])];
    await house.platform.edit(message, origin, taskView(), 'final');
    await slack.until(() => !text().includes('A red fox'), 'the end of the clip');
  });

  describe('a button of the home tab', () => {
    const pressed = async (button: string) => {
      const { id, ...other } = { id: button, label: 'Press', style: 'plain' } as const;
      const view = await opened({ ...textCard(['Home']), buttons: [{ id, ...other }] });
      house.bot.heard.length = 0;
      return () => slack.forms.press(view, button);
    };

    it.each(['models', 'usage', 'gallery', 'settings', 'budget', 'approvers', 'policy'])(
      'responds to %s with a permanent direct message',
      async (name) => {
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
      },
    );

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
