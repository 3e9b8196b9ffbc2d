import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { RawApp } from './raw-app.ts';

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const button = (more = {}) => ({
  type: 'button',
  text: { type: 'plain_text', text: 'Retry' },
  action_id: 'retry',
  value: 'task',
  ...more,
});
const actions = (...elements: object[]) => ({ type: 'actions', elements });

let clock: ManualClock;
let slack: FakeSlack;
let app: RawApp;

beforeEach(async () => {
  clock = new ManualClock();
  slack = await startSlack({ clock, libraryClock: clock });
  app = new RawApp(slack);
});
afterEach(() => slack.close());

const update = (ts: string | undefined, message: object) =>
  app.call('chat.update', { channel: slack.channels.general, ts, ...message });
const violation = (): string => {
  expect(slack.violations).toHaveLength(1);
  return slack.violations[0] ?? '';
};

describe('an app that follows the rules', () => {
  it('posts, edits, reacts, links and deletes without a violation', async () => {
    const { ts } = await app.post({ text: 'queued', blocks: [section('a fox'), actions(button())] });
    await update(ts, { text: 'running', blocks: [section('half'), actions(button())] });
    await app.post({ text: 'done', thread_ts: ts });
    const { general } = slack.channels;
    await app.call('reactions.add', { channel: general, timestamp: ts, name: 'repeat' });
    const again = await app.call('reactions.add', { channel: general, timestamp: ts, name: 'repeat' });
    expect(again).toMatchObject({ error: 'already_reacted' });
    const link = await app.call('chat.getPermalink', { channel: general, message_ts: ts });
    expect(String(link['permalink'])).toContain(`/archives/${general}/p${ts?.replace('.', '')}`);
    expect(await app.call('chat.delete', { channel: general, ts })).toMatchObject({ ok: true });
    expect(slack.messages(general)).toMatchObject([{ text: 'done', threadTs: ts }]);
    expect(slack.violations).toEqual([]);
  });

  it('may send JSON as well', async () => {
    const args = { channel: slack.channels.general, text: 'hello', blocks: [section('hello')] };
    expect(await app.call('chat.postMessage', args, { as: 'json' })).toMatchObject({ ok: true });
    expect(slack.violations).toEqual([]);
  });

  it('opens a DM by a user id', async () => {
    await app.post({ channel: slack.users.bob });
    expect(slack.messages(slack.dm(slack.users.bob))).toHaveLength(1);
  });
});

describe('tokens', () => {
  it.each([
    [null, 'not_authed'],
    ['xoxb-strange', 'invalid_auth'],
    ['xapp-1-fake-app-token', 'not_allowed_token_type'],
  ])('%s: %s', async (token, error) => {
    expect(await app.call('auth.test', {}, { token })).toMatchObject({ ok: false, error });
  });

  it('identify the app and its workspace', async () => {
    const { id, botUserId } = slack.team;
    expect(await app.call('auth.test')).toMatchObject({ ok: true, team_id: id, user_id: botUserId });
  });

  it('can be revoked and restored', async () => {
    const token = slack.botToken;
    slack.revokeToken();
    expect(await app.call('auth.test', {}, { token })).toMatchObject({ error: 'token_revoked' });
    slack.restoreToken();
    expect(await app.call('auth.test', {}, { token })).toMatchObject({ ok: true });
  });

  it('return the members of a user group, with the scope for that alone', async () => {
    const usergroup = 'S0DIRECTORS';
    slack.setGroup(usergroup, [slack.users.bob]);
    slack.removeScopes(['usergroups:read']);
    expect(await app.call('usergroups.users.list', { usergroup })).toMatchObject({ error: 'missing_scope' });
    slack.grantScopes(['usergroups:read']);
    expect(await app.call('usergroups.users.list', { usergroup })).toMatchObject({ users: [slack.users.bob] });
    const unknown = await app.call('usergroups.users.list', { usergroup: 'S1' });
    expect(unknown).toMatchObject({ error: 'no_such_subteam' });
  });

  it('have scopes', async () => {
    slack.removeScopes(['chat:write']);
    expect(await app.post({})).toMatchObject({ error: 'missing_scope', needed: 'chat:write' });
    slack.grantScopes(['chat:write']);
    expect(await app.post({})).toMatchObject({ ok: true });
  });

  it('must not be sent in a URL', async () => {
    await app.call(`auth.test?token=${slack.botToken}`);
    expect(violation()).toContain('in an address');
  });
});

describe('malformed calls', () => {
  it('to an unknown method are rejected', async () => {
    expect(await app.call('chat.shout')).toMatchObject({ error: 'unknown_method' });
    expect(violation()).toContain('chat.shout');
  });

  it('of another content type are rejected', async () => {
    expect(await app.call('auth.test', {}, { as: 'text' })).toMatchObject({ error: 'invalid_post_type' });
  });

  it('without a required argument are rejected', async () => {
    const answer = await app.call('chat.postMessage', { text: 'where?' });
    expect(answer).toMatchObject({ error: 'invalid_arguments' });
    expect(JSON.stringify(answer['response_metadata'])).toContain('/channel');
  });
});

describe('access to channels', () => {
  it.each([
    ['hidden', 'channel_not_found'],
    ['foreign', 'channel_not_found'],
  ] as const)('is denied to the app in %s', async (channel, error) => {
    expect(await app.post({ channel: slack.channels[channel] })).toMatchObject({ error });
  });

  it('covers public channels by chat:write.public', async () => {
    expect(await app.post({ channel: slack.channels.lobby })).toMatchObject({ ok: true });
    slack.removeScopes(['chat:write.public']);
    expect(await app.post({ channel: slack.channels.lobby })).toMatchObject({ error: 'not_in_channel' });
  });

  it('is denied in archived channels', async () => {
    slack.archive(slack.channels.general);
    expect(await app.post({})).toMatchObject({ error: 'is_archived' });
  });

  it('allows joining only public channels', async () => {
    const join = (channel: string) => app.call('conversations.join', { channel });
    expect(await join(slack.channels.lobby)).toMatchObject({ ok: true, channel: { is_member: true } });
    expect(await join(slack.channels.secret)).toMatchObject({ error: 'method_not_supported_for_channel_type' });
    slack.kick(slack.channels.lobby);
    const info = await app.call('conversations.info', { channel: slack.channels.lobby });
    expect(info).toMatchObject({ channel: { is_member: false, name: 'lobby' } });
  });

  it('to private channels needs their own scope', async () => {
    const info = await app.call('conversations.info', { channel: slack.channels.secret });
    expect(info).toMatchObject({ error: 'missing_scope', needed: 'groups:read' });
    expect(await app.call('conversations.history', { channel: slack.channels.general })).toMatchObject({
      error: 'missing_scope',
      needed: 'channels:history',
    });
  });

  it('allows ephemeral messages only to members', async () => {
    const { general } = slack.channels;
    const whisper = (user: string) => app.call('chat.postEphemeral', { channel: general, user, text: 'psst' });
    expect(await whisper(slack.users.bob)).toMatchObject({ ok: true });
    expect(slack.messages(general)).toMatchObject([{ visibleTo: slack.users.bob }]);
    expect(await whisper(slack.users.dave)).toMatchObject({ error: 'user_not_in_channel' });
  });
});

describe('threads', () => {
  it('need a parent message', async () => {
    const { ts } = await app.post({});
    const { ts: reply } = await app.post({ thread_ts: ts });
    expect(await app.post({ thread_ts: reply })).toMatchObject({ ok: true });
    expect(violation()).toContain('is a reply');
  });

  it('need an existing parent', async () => {
    expect(await app.post({ thread_ts: '1.5' })).toMatchObject({ error: 'invalid_thread_ts' });
    const { ts = '' } = await app.post({});
    slack.deleteMessage(ts);
    expect(await app.post({ thread_ts: ts })).toMatchObject({ error: 'thread_not_found' });
  });
});

describe('edits', () => {
  it('with only text drop the blocks', async () => {
    const { ts = '' } = await app.post({ blocks: [section('a fox')] });
    await update(ts, { text: 'done' });
    expect(violation()).toContain('dropped blocks');
    expect(slack.message(ts).blocks).toEqual([]);
  });

  it('cannot change ephemeral messages', async () => {
    const { general } = slack.channels;
    const whisper = await app.call('chat.postEphemeral', { channel: general, user: slack.users.bob, text: 'psst' });
    expect(await update(String(whisper['message_ts']), { text: 'ha' })).toMatchObject({ error: 'message_not_found' });
    expect(violation()).toContain('ephemeral');
  });

  it('can change only the app’s own messages', async () => {
    const { ts } = slack.people.say('hello');
    expect(await update(ts, { text: 'ha' })).toMatchObject({ error: 'cant_update_message' });
    slack.deleteMessage(ts);
    expect(await update(ts, { text: 'ha' })).toMatchObject({ error: 'message_not_found' });
  });

  it('accept 4000 characters', async () => {
    const { ts } = await app.post({});
    expect(await update(ts, { text: 'x'.repeat(4001) })).toMatchObject({ error: 'msg_too_long' });
  });
});

describe('contents', () => {
  it('are required, with text for notifications', async () => {
    expect(await app.post({ text: '' })).toMatchObject({ error: 'no_text' });
    await app.post({ text: '', blocks: [section('a fox')] });
    expect(slack.violations[1]).toContain('no text for notifications');
  });

  const many = (count: number, one: (at: number) => object) => Array.from({ length: count }, (_, at) => one(at));
  const plain = (length: number) => ({ type: 'plain_text', text: 'x'.repeat(length) });
  it.each([
    ['51 blocks', many(51, () => ({ type: 'divider' }))],
    ['a section of 3001', [section('x'.repeat(3001))]],
    ['an empty section', [{ type: 'section' }]],
    ['11 fields', [{ type: 'section', fields: many(11, () => plain(1)) }]],
    ['a header of 151', [{ type: 'header', text: plain(151) }]],
    ['26 elements', [actions(...many(26, (at) => button({ action_id: `a${at}` })))]],
    ['the same action twice', [actions(button(), button())]],
    ['the same block twice', many(2, () => ({ type: 'divider', block_id: 'same' }))],
    ['an action_id of 256', [actions(button({ action_id: 'x'.repeat(256) }))]],
    ['a button of 76', [actions(button({ text: plain(76) }))]],
    ['a value of 2001', [actions(button({ value: 'x'.repeat(2001) }))]],
    ['an unknown style', [actions(button({ style: 'secondary' }))]],
    ['an image without alt text', [{ type: 'image', image_url: 'https://example.org/fox.png' }]],
    ['11 elements in a context', [{ type: 'context', elements: many(11, () => plain(1)) }]],
    ['an unknown block', [{ type: 'marquee' }]],
    ['an unknown property', [{ type: 'divider', colour: 'red' }]],
    ['a select without options', [actions({ type: 'static_select', options: [] })]],
    ['12,001 of markdown', many(2, () => ({ type: 'markdown', text: 'x'.repeat(6001) }))],
  ])('reject %s', async (_name, blocks) => {
    const answer = await app.post({ blocks });
    expect(answer).toMatchObject({ ok: false, error: 'invalid_blocks' });
    expect(JSON.stringify(answer['response_metadata'])).toContain('[json-pointer:/blocks');
    expect(violation()).toContain('invalid_blocks');
    expect(slack.messages(slack.channels.general)).toEqual([]);
  });

  it('are accepted up to the limits', async () => {
    const blocks = [
      section('x'.repeat(3000)),
      { type: 'header', text: plain(150) },
      actions(button({ text: plain(75) })),
    ];
    expect(await app.post({ blocks })).toMatchObject({ ok: true });
  });
});

describe('mentions and links', () => {
  it('are parsed as Slack parses them', async () => {
    const { alice } = slack.users;
    const text = `<!channel> <@${alice}> <!subteam^S0123|team> <https://example.org|here> https://example.com/a`;
    const { ts = '' } = await app.post({ text });
    expect(slack.pings.map(({ kind, id }) => [kind, id])).toEqual([
      ['channel', 'channel'],
      ['user', alice],
      ['usergroup', 'S0123'],
    ]);
    expect(slack.parsed(slack.message(ts)).links).toEqual(['https://example.org', 'https://example.com/a']);
  });

  it('are ignored where they are escaped, verbatim or plain', async () => {
    const bare = 'see https://example.com';
    const blocks = [
      section('&lt;!channel&gt;'),
      { type: 'section', text: { type: 'plain_text', text: '<!here> https://example.org' } },
      { type: 'section', text: { type: 'mrkdwn', text: bare, verbatim: true } },
    ];
    const { ts = '' } = await app.post({ text: 'a clip', blocks });
    expect(slack.pings).toEqual([]);
    expect(slack.parsed(slack.message(ts)).links).toEqual([]);
  });

  it('count in blocks, and only in new messages', async () => {
    const rich = { type: 'rich_text_section', elements: [{ type: 'broadcast', range: 'here' }] };
    const { ts } = await app.post({ blocks: [section('<!everyone>'), { type: 'rich_text', elements: [rich] }] });
    expect(new Set(slack.pings.map(({ kind }) => kind))).toEqual(new Set(['everyone', 'here']));
    await update(ts, { text: '<!channel>', blocks: [section('<!channel>')] });
    expect(slack.pings).toHaveLength(2);
  });
});

describe('rate limits', () => {
  it('allow one message a second in a channel, and a short burst', async () => {
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await app.post({}));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, false]);
    expect(answers[3]).toMatchObject({ error: 'ratelimited', status: 429, retryAfter: '1' });
    expect(await app.post({ channel: slack.channels.clips })).toMatchObject({ ok: true });
    clock.advance(500);
    await app.post({});
    expect(violation()).toContain('before Retry-After');
    clock.advance(1000);
    expect(await app.post({})).toMatchObject({ ok: true });
    expect(slack.rateLimited).toBe(2);
  });

  it('allow fifty edits a minute in a workspace', async () => {
    const { ts } = await app.post({});
    for (let n = 0; n < 50; n += 1) expect(await update(ts, { text: String(n) })).toMatchObject({ ok: true });
    expect(await update(ts, { text: 'late' })).toMatchObject({ status: 429 });
    expect(slack.violations).toEqual([]);
  });
});

describe('faults', () => {
  it('drop a response after the call was executed', async () => {
    slack.dropNextAnswer('chat.postMessage');
    await expect(app.post({})).rejects.toThrow();
    expect(slack.messages(slack.channels.general)).toHaveLength(1);
    expect(await app.post({})).toMatchObject({ ok: true });
  });

  it('fail, before and after the call is executed', async () => {
    slack.fail('chat.postMessage', 'internal_error');
    expect(await app.post({})).toMatchObject({ error: 'internal_error' });
    slack.failHttp('chat.postMessage', 503, { acts: true });
    expect(await app.post({})).toMatchObject({ status: 503 });
    expect(slack.messages(slack.channels.general)).toHaveLength(1);
  });

  it('limit a method', async () => {
    slack.rateLimit('chat.postMessage', 2);
    expect(await app.post({})).toMatchObject({ status: 429, retryAfter: '2' });
    clock.advance(1000);
    expect(await app.post({})).toMatchObject({ status: 429 });
    expect(violation()).toContain('before Retry-After');
    clock.advance(1000);
    expect(await app.post({})).toMatchObject({ ok: true });
  });

  it('count no call that was already in flight', async () => {
    slack.rateLimit('chat.update', 1);
    const { ts } = await app.post({});
    await Promise.all(Array.from({ length: 5 }, () => update(ts, { text: 'all at once' })));
    await Promise.all(Array.from({ length: 5 }, () => app.post({})));
    expect(slack.rateLimited).toBe(3);
    expect(slack.violations).toEqual([]);
  });

  it('hold a call', async () => {
    const release = slack.hold('chat.postMessage');
    const posted = app.post({});
    await app.call('auth.test');
    expect(slack.messages(slack.channels.general)).toEqual([]);
    release();
    expect(await posted).toMatchObject({ ok: true });
  });
});
