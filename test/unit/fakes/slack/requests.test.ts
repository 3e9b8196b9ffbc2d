import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { RawApp } from './raw-app.ts';

/** A request as received by the app. */
interface Got {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly answer: (status: number, body?: string) => void;
}

let clock: ManualClock;
let slack: FakeSlack;
let server: Server;
let url: string;
let got: Got[];
/** Handles a request. */
let behave: (request: Got) => void;

beforeEach(async () => {
  clock = new ManualClock();
  got = [];
  behave = ({ answer }) => answer(200);
  server = createServer((request, response) => void take(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
  slack = await startSlack({ clock, libraryClock: clock });
});
afterEach(async () => {
  await slack.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString('utf8');
  const answer = (status: number, text = ''): void => void response.writeHead(status).end(text);
  const one = { headers: request.headers, body, answer };
  if (body.includes('url_verification')) return answer(200, JSON.parse(body).challenge);
  got.push(one);
  behave(one);
}

const isSigned = ({ headers, body }: Got): boolean => {
  const at = String(headers['x-slack-request-timestamp']);
  const hash = createHmac('sha256', slack.signingSecret).update(`v0:${at}:${body}`).digest('hex');
  return headers['x-slack-signature'] === `v0=${hash}` && Math.abs(Date.now() / 1000 - Number(at)) < 300;
};

describe('requests', () => {
  it('are sent to an address that answers the challenge', async () => {
    await slack.useHttp(url);
    await expect(slack.useHttp(`${slack.apiUrl}auth.test`)).rejects.toThrow('challenge');
  });

  it('are signed, and a command may be answered in the response', async () => {
    await slack.useHttp(url);
    behave = ({ answer }) => answer(200, 'Here you are');
    await slack.acknowledged(slack.people.slash('/video help'));
    expect(got).toHaveLength(1);
    expect(got.every(isSigned)).toBe(true);
    expect(new URLSearchParams(got[0]?.body).get('command')).toBe('/video');
    expect(slack.messages(slack.channels.general)).toMatchObject([{ text: 'Here you are' }]);
  });

  it('carry events as JSON and interactions as a form', async () => {
    await slack.useHttp(url);
    slack.people.mention('a fox');
    await slack.acknowledged(slack.envelopes[0] ?? expect.fail());
    await slack.acknowledged(slack.people.globalShortcut('new_clip'));
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject({ type: 'event_callback', event: { type: 'app_mention' } });
    expect(JSON.parse(new URLSearchParams(got[1]?.body).get('payload') ?? '')).toMatchObject({ type: 'shortcut' });
    expect(slack.violations).toEqual([]);
  });

  it('retry events with number and reason', async () => {
    await slack.useHttp(url);
    behave = ({ answer }) => answer(500);
    slack.people.mention('a fox');
    await slack.until(() => slack.violations.length === 1, 'the 500');
    behave = ({ answer }) => answer(200);
    clock.advance(3001);
    await slack.acknowledged(slack.envelopes[0] ?? expect.fail());
    expect(got[1]?.headers).toMatchObject({ 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_timeout' });
    expect(got[1]?.body).toBe(got[0]?.body);
    expect(slack.violations).toEqual(['events_api app_mention answered with 500']);
  });

  it('have a deadline of three seconds', async () => {
    await slack.useHttp(url);
    const arrived = new Promise<Got>((resolve) => {
      behave = resolve;
    });
    slack.people.slash('/video a fox');
    const request = await arrived;
    clock.advance(3001);
    request.answer(200);
    expect(slack.violations).toEqual(['slash_commands command not acknowledged within 3 s']);
  });

  it.each(['wrong', 'stale', 'missing'] as const)('with a %s signature have to be rejected', async (kind) => {
    await slack.useHttp(url);
    behave = (request) => request.answer(isSigned(request) ? 200 : 401);
    expect(await slack.forge({ kind })).toBe(401);
    expect(slack.violations).toEqual([]);
    behave = ({ answer }) => answer(200);
    await slack.forge({ kind });
    expect(slack.violations).toEqual([`a request with a ${kind} signature was taken`]);
  });
});

describe('OAuth', () => {
  const asked = (more: Record<string, string> = {}) => {
    const { id } = slack.client;
    const all = {
      client_id: id,
      scope: 'commands,chat:write',
      state: 'abc',
      redirect_uri: 'http://127.0.0.1:1/back',
      ...more,
    };
    return `https://slack.com/oauth/v2/authorize?${new URLSearchParams(all)}`;
  };
  const exchange = (code: string | null, more = {}) => {
    const { id, secret } = slack.client;
    const all = {
      code: code ?? '',
      client_id: id,
      client_secret: secret,
      redirect_uri: 'http://127.0.0.1:1/back',
      ...more,
    };
    return new RawApp(slack).call('oauth.v2.access', all, { token: null });
  };

  it('installs the app in another workspace', async () => {
    const back = new URL(slack.authorize(asked(), slack.otherTeam.id));
    expect(back.searchParams.get('state')).toBe('abc');
    const answer = await exchange(back.searchParams.get('code'));
    expect(answer).toMatchObject({ ok: true, team: { id: slack.otherTeam.id }, scope: 'commands,chat:write' });
    const app = new RawApp(slack);
    const token = String(answer['access_token']);
    const post = (channel: string) => app.call('chat.postMessage', { channel, text: 'hello' }, { token });
    expect(await post(slack.channels.foreign)).toMatchObject({ ok: true });
    expect(await post(slack.channels.general)).toMatchObject({ error: 'channel_not_found' });
    expect(slack.violations).toEqual([]);
    expect(await exchange(back.searchParams.get('code'))).toMatchObject({ error: 'invalid_code' });
  });

  it('redirects a browser back', async () => {
    const page = `${new URL(slack.apiUrl).origin}${asked().slice('https://slack.com'.length)}`;
    const { status, headers } = await fetch(page, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, expect.stringContaining('state=abc')]);
  });

  it('requires the right secret, redirect_uri and state', async () => {
    const code = () => new URL(slack.authorize(asked(), slack.otherTeam.id)).searchParams.get('code');
    expect(await exchange(code(), { client_secret: 'guess' })).toMatchObject({ error: 'bad_client_secret' });
    expect(await exchange(code(), { redirect_uri: 'http://127.0.0.1:2/' })).toMatchObject({
      error: 'bad_redirect_uri',
    });
    slack.authorize(asked({ state: '' }), slack.otherTeam.id);
    slack.authorize(asked({ scope: 'admin' }), slack.otherTeam.id);
    expect(slack.violations.slice(1)).toEqual([
      'oauth/v2/authorize: no state',
      'oauth/v2/authorize: scopes that the manifest lacks: admin',
    ]);
  });

  it('ends when the app is removed', async () => {
    const token = slack.botToken;
    slack.uninstall();
    expect(slack.envelopes.map(({ type }) => type)).toEqual(['tokens_revoked', 'app_uninstalled']);
    const answer = await new RawApp(slack).call('auth.test', {}, { token });
    expect(answer).toMatchObject({ error: 'account_inactive' });
  });
});
