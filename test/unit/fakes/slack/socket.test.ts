import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { RawApp, RawSocket } from './raw-app.ts';

const MINUTE_MS = 60_000;
const BLOCKS = [
  { type: 'section', text: { type: 'mrkdwn', text: 'a fox' } },
  {
    type: 'actions',
    block_id: 'doings',
    elements: [
      { type: 'button', text: { type: 'plain_text', text: 'Retry' }, action_id: 'retry', value: 'task-1' },
      {
        type: 'static_select',
        action_id: 'model',
        options: [{ text: { type: 'plain_text', text: 'Swift' }, value: 'swift-1' }],
      },
    ],
  },
];

let clock: ManualClock;
let slack: FakeSlack;
let app: RawApp;
let socket: RawSocket;

beforeEach(async () => {
  clock = new ManualClock();
  slack = await startSlack({ clock, libraryClock: clock });
  app = new RawApp(slack);
  socket = await app.connect();
});
afterEach(() => slack.close());

const violation = (): string => {
  expect(slack.violations).toHaveLength(1);
  return slack.violations[0] ?? '';
};

describe('the connection', () => {
  it('begins with hello and requires an app token', async () => {
    expect(socket.packets[0]).toMatchObject({ type: 'hello', num_connections: 1 });
    const answer = await app.call('apps.connections.open');
    expect(answer).toMatchObject({ error: 'not_allowed_token_type' });
  });

  it('accepts each URL only once', async () => {
    const { url } = await app.call('apps.connections.open', {}, { token: slack.appToken });
    const first = new RawSocket(String(url), slack);
    await first.received(1);
    const second = new RawSocket(String(url), slack);
    await second.ended();
    expect(violation()).toContain('not given out');
  });

  it('is limited to ten', async () => {
    for (let n = 1; n < 9; n += 1) await app.connect();
    await app.connect();
    expect(slack.socket.open).toBe(10);
    clock.advance(MINUTE_MS);
    await expect(app.connect()).rejects.toThrow('ended');
    expect(violation()).toContain('more than 10');
  });

  it('shares the payloads with other connections', async () => {
    const other = await app.connect();
    // Each payload goes to a random connection: that one of two receives none of thirty is practically impossible.
    for (let n = 0; n < 30; n += 1) slack.people.slash('/video a fox');
    await Promise.all([socket.received(2), other.received(2)]);
  });

  it('receives no more payloads after a disconnect request', async () => {
    slack.disconnect('refresh_requested');
    expect(await socket.received(2)).toMatchObject({ type: 'disconnect', reason: 'refresh_requested' });
    const other = await app.connect();
    slack.people.slash('/video a fox');
    await other.received(2);
    expect(socket.packets).toHaveLength(2);
  });

  it('can be rejected temporarily', async () => {
    slack.closeSocket({ refuse: 1 });
    await slack.until(() => !slack.socket.isConnected, 'the end of the socket');
    await expect(app.connect()).rejects.toThrow('ended');
    await app.connect();
    expect(slack.socket.opened).toBe(2);
  });
});

describe('acknowledgements', () => {
  it('are expected within three seconds', async () => {
    const command = slack.people.slash('/video a fox');
    const packet = await socket.received(2);
    clock.advance(3001);
    expect(violation()).toContain('not acknowledged within 3 s');
    await socket.acknowledge(packet);
    expect(command.answer).toBeNull();
    expect(slack.violations).toHaveLength(1);
  });

  it('may take longer on the system clock, which includes the machine’s load', async () => {
    const patient = await startSlack({ clock, libraryClock: clock, shortlyMs: MINUTE_MS });
    try {
      const slow = await new RawApp(patient).connect();
      const command = patient.people.slash('/video a fox');
      patient.people.slash('/video another fox');
      const packet = await slow.received(2);
      clock.advance(MINUTE_MS);
      expect(patient.violations).toEqual([]);
      await slow.acknowledge(packet);
      expect(command.answer).not.toBeNull();
      clock.advance(1);
      expect(patient.violations).toEqual(['slash_commands command not acknowledged within 60 s']);
    } finally {
      await patient.close();
    }
  });

  it('are sent only once', async () => {
    slack.people.slash('/video a fox');
    const packet = await socket.received(2);
    await socket.acknowledge(packet);
    await socket.acknowledge(packet);
    expect(violation()).toContain('acknowledged twice');
  });

  it('need the id of an envelope that was sent', async () => {
    socket.send({ envelope_id: 'made up' });
    await socket.heard();
    expect(violation()).toContain('unknown envelope');
  });

  it('are the only messages that an app may send', async () => {
    socket.send({ hello: 'Slack' });
    await socket.heard();
    expect(violation()).toContain('no acknowledgement');
  });

  it('may respond to a command', async () => {
    slack.people.slash('/video help');
    const packet = await socket.received(2);
    expect(packet.accepts_response_payload).toBe(true);
    await socket.acknowledge(packet, { text: 'Here you are' });
    const [answer] = slack.messages(slack.channels.general);
    expect(answer).toMatchObject({ text: 'Here you are', visibleTo: slack.users.alice });
    expect(slack.violations).toEqual([]);
  });

  it('may not carry a payload for an event', async () => {
    slack.people.mention('hello');
    const packet = await socket.received(2);
    expect(packet.accepts_response_payload).toBe(false);
    await socket.acknowledge(packet, { text: 'hello' });
    expect(violation()).toContain('app_mention says something');
  });
});

describe('events', () => {
  it('are retried at once, after one minute and after five', async () => {
    slack.people.mention('a fox');
    const first = await socket.received(2);
    clock.advance(3001);
    expect(await socket.received(3)).toMatchObject({
      retry_attempt: 1,
      retry_reason: 'timeout',
      payload: first.payload,
    });
    clock.advance(3001 + MINUTE_MS);
    expect(await socket.received(4)).toMatchObject({ retry_attempt: 2 });
    clock.advance(3001 + 5 * MINUTE_MS);
    const last = await socket.received(5);
    await socket.acknowledge(last);
    clock.advance(60 * MINUTE_MS);
    await socket.heard();
    expect(socket.packets).toHaveLength(5);
    expect(slack.violations).toHaveLength(3);
  });

  it('survive a gap of the socket', async () => {
    slack.breakSocket();
    await slack.until(() => !slack.socket.isConnected, 'the gap');
    slack.people.mention('a fox');
    clock.advance(3001);
    const again = await app.connect();
    clock.advance(3001 + MINUTE_MS);
    const packet = await again.received(2);
    expect(packet).toMatchObject({ type: 'events_api', retry_attempt: 2 });
    await again.acknowledge(packet);
    expect(slack.violations).toEqual([]);
  });

  it('arrive again on redelivery', async () => {
    slack.people.mention('a fox');
    const first = await socket.received(2);
    await socket.acknowledge(first);
    slack.redeliver(slack.envelopes[0] ?? expect.fail(), { number: 1, reason: 'timeout' });
    const second = await socket.received(3);
    expect(second).toMatchObject({ retry_attempt: 1, payload: { event_id: first.payload['event_id'] } });
    expect(second.envelope_id).not.toBe(first.envelope_id);
    await socket.acknowledge(second);
    expect(slack.violations).toEqual([]);
  });

  it('are sent only for subscriptions of the app and in its channels', async () => {
    slack.people.mention('a fox', { channel: slack.channels.lobby });
    slack.people.say('nothing for the app');
    const { ts } = slack.people.say('hello', { channel: slack.dm(slack.users.alice) });
    expect(await socket.received(2)).toMatchObject({ payload: { event: { type: 'message', channel_type: 'im', ts } } });
    slack.people.react(ts, 'repeat', { user: slack.users.alice });
    expect(await socket.received(3)).toMatchObject({
      payload: { event: { type: 'reaction_added', reaction: 'repeat', item: { ts } } },
    });
    slack.people.openHome();
    expect(await socket.received(4)).toMatchObject({ payload: { event: { type: 'app_home_opened', tab: 'home' } } });
    slack.people.invite(slack.channels.lobby);
    expect(await socket.received(5)).toMatchObject({ payload: { event: { type: 'member_joined_channel' } } });
    expect(slack.envelopes).toHaveLength(4);
  });

  it('need their scope', () => {
    slack.removeScopes(['reactions:read']);
    slack.people.react(slack.people.say('hello').ts, 'x');
    expect(slack.envelopes).toEqual([]);
  });
});

describe('user actions', () => {
  it('enter commands, escaped according to the manifest', async () => {
    slack.people.slash('/video a <fox> & https://example.org/a.png --seconds 4');
    const { payload } = await socket.received(2);
    expect(payload).toMatchObject({
      command: '/video',
      text: 'a &lt;fox&gt; &amp; <https://example.org/a.png> --seconds 4',
      user_id: slack.users.alice,
      channel_id: slack.channels.general,
    });
    expect(() => slack.people.slash('/weather')).toThrow('/weather');
  });

  it('press only buttons that exist', async () => {
    const { ts = '' } = await app.post({ blocks: BLOCKS });
    slack.people.press(ts, 'task-1', { user: slack.users.bob });
    expect(await socket.received(2)).toMatchObject({
      accepts_response_payload: false,
      payload: {
        type: 'block_actions',
        user: { id: slack.users.bob },
        container: { message_ts: ts, is_ephemeral: false },
        message: { ts },
        actions: [{ action_id: 'retry', value: 'task-1', block_id: 'doings', type: 'button' }],
      },
    });
    slack.people.choose(ts, 'model', 'swift-1');
    expect(await socket.received(3)).toMatchObject({
      payload: { actions: [{ action_id: 'model', selected_option: { value: 'swift-1' } }] },
    });
    expect(() => slack.people.press(ts, 'cancel')).toThrow('cancel');
  });

  it('are possible only on messages visible to the user', async () => {
    const { general } = slack.channels;
    const args = { channel: general, user: slack.users.bob, text: 'psst', blocks: BLOCKS };
    const ts = String((await app.call('chat.postEphemeral', args))['message_ts']);
    expect(() => slack.people.press(ts, 'retry')).toThrow('does not see');
    slack.people.press(ts, 'retry', { user: slack.users.bob });
    const { payload } = await socket.received(2);
    expect(payload).toMatchObject({ container: { is_ephemeral: true } });
    expect(payload['message']).toBeUndefined();
  });

  it('invoke shortcuts, in threads too', async () => {
    const { ts } = slack.people.say('look');
    const file = slack.people.upload({ name: 'fox.png', content: Buffer.from('png'), isStub: true });
    const reply = slack.people.say('this', { threadTs: ts, files: [file] });
    slack.people.messageShortcut('animate', reply.ts);
    expect(await socket.received(2)).toMatchObject({
      payload: {
        type: 'message_action',
        callback_id: 'animate',
        message: { thread_ts: ts, files: [{ id: file.id, file_access: 'check_file_info' }] },
      },
    });
    slack.people.globalShortcut('new_clip');
    expect(await socket.received(3)).toMatchObject({ payload: { type: 'shortcut', callback_id: 'new_clip' } });
    expect(() => slack.people.messageShortcut('new_clip', ts)).toThrow('new_clip');
  });
});

describe('response_urls', () => {
  it('can be used five times', async () => {
    const { responseUrl } = slack.people.slash('/video help');
    for (let n = 0; n < 5; n += 1) expect(await app.respond(responseUrl, { text: `${n}` })).toBe(200);
    expect(await app.respond(responseUrl, { text: '5' })).toBe(404);
    expect(violation()).toContain('more than five times');
    expect(slack.messages(slack.channels.general)).toHaveLength(5);
  });

  it('expire after half an hour', async () => {
    const { responseUrl } = slack.people.slash('/video help');
    clock.advance(30 * MINUTE_MS + 1);
    expect(await app.respond(responseUrl, { text: 'late' })).toBe(404);
    expect(slack.violations.at(-1)).toContain('after 30 minutes');
  });

  it('can be expired by a test', async () => {
    const { responseUrl } = slack.people.slash('/video help');
    slack.expireResponseUrls();
    expect(await app.respond(responseUrl, { text: 'late' })).toBe(404);
    expect(slack.violations).toEqual([]);
  });

  it('replace and delete the message of the interaction', async () => {
    const { ts = '' } = await app.post({ blocks: BLOCKS });
    const { responseUrl } = slack.people.press(ts, 'retry');
    await app.respond(responseUrl, { replace_original: true, text: 'pressed' });
    expect(slack.message(ts)).toMatchObject({ text: 'pressed', blocks: [] });
    await app.respond(responseUrl, { delete_original: true });
    expect(slack.messages(slack.channels.general)).toEqual([]);
  });
});
