import { afterEach, describe, expect, it } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { SignedLinks } from '#src/media/clip-links.ts';
import { createLinkReader, type OwnLink } from '#src/own-links.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { CLIP, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const BASE = 'https://dailies.example';
const CLIP_URL = `${BASE}/media/t1?expires=1&signature=s`;
const GALLERY_URL = `${BASE}/gallery/open?key=k`;

let house: SlackHouse;
let slack: FakeSlack;

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

/** Starts the bot with one clip, which is in #clips. */
async function start(changes: Partial<Task> = {}, audience: 'team' | 'channel' = 'team'): Promise<void> {
  const links = new Map<string, OwnLink>([[GALLERY_URL, { kind: 'gallery' }]]);
  house = await SlackHouse.start({ hasLinks: true, readLink: async (url) => links.get(url) ?? null });
  slack = house.slack;
  const user = { id: slack.users.bob, name: 'bob' };
  const place = { platform: 'slack', team: slack.team.id, channel: slack.channels.clips, address: {} };
  const request = { ...newTask().request, prompt: 'a secret fox' };
  const task = newTask({ request, origin: { ...place, interaction: 'i', user, audience }, ...changes });
  links.set(CLIP_URL, { kind: 'clip', task, expiresAtMs: NOON_MS });
}

/** Slack escapes the links of a message. */
const escaped = (url: string): string => url.replaceAll('&', '&amp;');

/** Posts a link, and returns its preview once the event was handled; `null` for none. */
async function previewOf(
  url: string,
  channel = slack.channels.clips,
  user = slack.users.alice,
): Promise<string | null> {
  const { ts } = slack.people.say(`look: ${url}`, { channel, user });
  const told = slack.envelopes.findLast(({ type }) => type === 'link_shared');
  if (told === undefined) throw new TypeError('no link was told of');
  await slack.acknowledged(told);
  const blocks = slack.message(ts).unfurls.get(escaped(url));
  return blocks === undefined ? null : plainOf({ blocks, text: '' });
}

describe('the preview of a link to a clip', () => {
  it('says what it is and how long it works, without prompt and names', async () => {
    await start();
    const preview = (await previewOf(CLIP_URL)) ?? '';
    expect(preview).toContain('Clip · Swift 1 · 6 s');
    expect(preview).toContain('this link works until');
    expect(preview).not.toMatch(/secret|fox|bob|Bob/u);
    expect(slack.calls.filter(({ method }) => method === 'chat.unfurl')).toHaveLength(1);
  });

  it('of a clip that the team sees is in any channel of the workspace, but not where others are', async () => {
    await start();
    expect(await previewOf(CLIP_URL, slack.channels.secret)).not.toBeNull();
    expect(await previewOf(CLIP_URL, slack.channels.general)).toBeNull();
  });

  it('of a private clip is in its channel alone', async () => {
    await start({}, 'channel');
    expect(await previewOf(CLIP_URL)).not.toBeNull();
    for (const channel of [slack.channels.secret, slack.channels.lobby, slack.dm(slack.users.bob)])
      expect(await previewOf(CLIP_URL, channel, slack.users.bob)).toBeNull();
  });

  it('is not where the bot does not know who sees it, nor in the composer', async () => {
    await start();
    slack.removeScopes(['groups:read']);
    expect(await previewOf(CLIP_URL, slack.channels.secret)).toBeNull();
  });

  it('is not of a clip of another workspace or platform', async () => {
    await start();
    const { origin } = newTask();
    for (const other of [{ team: 'T2' }, { platform: 'discord' }]) {
      await house.remove();
      await start({ origin: { ...origin, platform: 'slack', team: slack.team.id, audience: 'team', ...other } });
      expect(await previewOf(CLIP_URL)).toBeNull();
    }
  });

  it('is not of a comparison whose models are hidden', async () => {
    const set = { id: 't1' as TaskId, kind: 'comparison', at: 1, of: 2 } as const;
    await start({ set });
    expect(await previewOf(CLIP_URL)).toBeNull();
  });

  it('is not of a link that leads nowhere, beside one that does', async () => {
    await start();
    const forged = `${BASE}/media/t1?expires=1&signature=forged`;
    const { ts } = slack.people.say(`${forged} ${CLIP_URL}`, { channel: slack.channels.clips });
    await slack.until(() => slack.message(ts).unfurls.size > 0, 'a preview');
    expect([...slack.message(ts).unfurls.keys()]).toEqual([escaped(CLIP_URL)]);
    expect(await previewOf(forged)).toBeNull();
  });

  it('is not shown to someone without access, and a failure is only logged', async () => {
    await start();
    slack.channel(slack.channels.clips).members.add(slack.users.gwen);
    expect(await previewOf(CLIP_URL, slack.channels.clips, slack.users.gwen)).toBeNull();
    slack.fail('chat.unfurl', 'internal_error');
    expect(await previewOf(CLIP_URL)).toBeNull();
    expect(await previewOf(CLIP_URL)).not.toBeNull();
  });
});

it('the preview of a link to the gallery says that it is private', async () => {
  await start();
  expect(await previewOf(GALLERY_URL, slack.channels.general)).toContain('private to the person who asked for it');
});

it('without a public address, or one that is no domain, Slack is asked to tell of no links', async () => {
  await start();
  for (const address of [null, 'http://127.0.0.1:3000', 'http://localhost:3000']) {
    const text = JSON.stringify(slackManifest(address, 'socket'));
    expect(text).not.toMatch(/links:|link_shared|unfurl_domains/u);
  }
  expect(slackManifest(`${BASE}/bot/`, 'socket')).toMatchObject({
    features: { unfurl_domains: ['dailies.example'] },
    settings: {
      socket_mode_enabled: true,
      event_subscriptions: { bot_events: expect.arrayContaining(['link_shared']) },
    },
  });
});

describe('a link is read', () => {
  const clock = new ManualClock(NOON_MS);
  const links = new SignedLinks({ publicUrl: BASE, secret: 'a secret of this test', clock });
  const task = newTask({ clip: CLIP });
  const asked: string[] = [];
  const gallery = () => ({ isRedeemable: async (url: string) => asked.push(url) > 0 && url === GALLERY_URL });
  const read = (changes: Partial<Task> = {}) =>
    createLinkReader({ links, repository: { get: async () => ({ ...task, ...changes }) }, gallery });

  it('as that of a clip while it works, and not once it is forged, expired or its clip was removed', async () => {
    const { url, expiresAtMs } = links.sign(task.id, 60_000);
    expect(await read()(url)).toMatchObject({ kind: 'clip', task: { id: task.id }, expiresAtMs });
    expect(await read()(url.replace('signature=', 'signature=x'))).toBeNull();
    expect(await read()(url.replace(task.id, 'other'))).toBeNull();
    expect(
      await read({
        removal: { reason: 'deleted', atMs: 1, retracted: 0, kept: 0 } as unknown as Task['removal'] & object,
      })(url),
    ).toBeNull();
    clock.advance(60_000);
    expect(await read()(url)).toBeNull();
  });

  it('as that of the gallery, without being redeemed', async () => {
    expect(await read()(GALLERY_URL)).toEqual({ kind: 'gallery' });
    expect(await read()(`${BASE}/gallery`)).toBeNull();
    expect(asked).toContain(GALLERY_URL);
  });
});
