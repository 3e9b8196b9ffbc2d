import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { Connection, type ConnectionOptions, type Session } from '#adapters/discord/gateway/connection.ts';
import { systemClock } from '#src/clock.ts';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const REACTIONS = 1 << 10;

/** Recorded callbacks of a connection. */
interface Told {
  readonly events: string[];
  readonly states: string[];
  session: Session | null;
}

const open: Connection[] = [];

afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
});

function connect(
  url: string,
  token: string,
  options: Partial<ConnectionOptions> = {},
): Told & { connection: Connection } {
  const told: Told = { events: [], states: [], session: null };
  const connection = new Connection({
    token,
    intents: REACTIONS,
    shard: [0, 1],
    session: null,
    permit: () => Promise.resolve(url),
    isOurs: () => true,
    clock: systemClock,
    random: () => 0.5,
    ...options,
    events: {
      event: ({ t }) => told.events.push(t),
      session: (session) => {
        told.session = session;
      },
      connected: (how) => told.states.push(how),
      interrupted: (code) => told.states.push(`interrupted ${code}`),
      refused: (code) => told.states.push(`refused ${code}`),
    },
  });
  open.push(connection);
  connection.open();
  return Object.assign(told, { connection });
}

describe('a connection to Discord', () => {
  let discord: FakeDiscord;
  const address = () => discord.apiUrl.replace('http', 'ws').replace('/api', '');

  beforeEach(async () => {
    discord = await startDiscord({ identifyEveryMs: 0 });
  });
  afterEach(() => discord.close());

  const react = () => discord.people.react(discord.people.say('x').id, '🔁');

  it('starts a session that another connection resumes', async () => {
    const first = connect(address(), discord.token);
    await expect.poll(() => first.states).toEqual(['begun']);
    first.connection.close();
    await discord.until(() => !discord.gateway.isConnected, 'the connection to close');
    react();
    const second = connect(address(), discord.token, { session: first.session });
    await expect.poll(() => second.events).toEqual(['MESSAGE_REACTION_ADD', 'RESUMED']);
    expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
    expect(discord.violations).toEqual([]);
  });

  it('resumes at the default gateway URL if its resume URL is unreachable', async () => {
    const first = connect(address(), discord.token);
    await expect.poll(() => first.session).not.toBeNull();
    first.connection.close();
    await discord.until(() => !discord.gateway.isConnected, 'the connection to close');
    const gone = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(gone, 'listening');
    const resumeUrl = `ws://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await new Promise((closed) => gone.close(closed));
    const clock = new ManualClock();
    const left = first.session ?? { id: '', sequence: 0 };
    const told = connect(address(), discord.token, { clock, session: { ...left, resumeUrl } });
    for (let tries = 1; tries <= 3; tries += 1) {
      await expect.poll(() => told.states).toHaveLength(tries);
      clock.advance(5_000);
    }
    await expect.poll(() => told.states.at(-1)).toBe('resumed');
    expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
  });

  it('closes once its shard is lost, and ignores further packets', async () => {
    let isOurs = true;
    const told = connect(address(), discord.token, { isOurs: () => isOurs });
    await expect.poll(() => told.states).toEqual(['begun']);
    isOurs = false;
    react();
    await discord.until(() => !discord.gateway.isConnected, 'the connection to close');
    expect(told.events).toEqual(['READY']);
  });

  it('does not reconnect once its shard is lost', async () => {
    let isOurs = true;
    const told = connect(address(), discord.token, { isOurs: () => isOurs });
    await expect.poll(() => told.states).toEqual(['begun']);
    isOurs = false;
    discord.breakGateway();
    const another = connect(address(), discord.token, { session: told.session });
    await expect.poll(() => another.states).toEqual(['resumed']);
    expect(told.states).toEqual(['begun']);
  });

  it.each([4004, 4010, 4011, 4012, 4013, 4014])('is refused for good with %i', async (code) => {
    const told = connect(address(), discord.token);
    await expect.poll(() => told.states).toEqual(['begun']);
    discord.closeGateway(code);
    await expect.poll(() => told.states).toEqual(['begun', `refused ${code}`]);
    expect(discord.gateway.isConnected).toBe(false);
  });

  it('identifies anew after a session timeout, and resumes after any other close', async () => {
    const told = connect(address(), discord.token);
    await expect.poll(() => told.states).toEqual(['begun']);
    for (const code of [4000, 4003]) {
      told.states.length = 0;
      discord.closeGateway(code);
      await expect.poll(() => told.states).toEqual([`interrupted ${code}`, 'resumed']);
    }
    told.states.length = 0;
    discord.closeGateway(4009);
    await expect.poll(() => told.states).toEqual(['interrupted 4009', 'begun']);
  });

  it('reconnects after an unacknowledged heartbeat', async () => {
    const clock = new ManualClock();
    const told = connect(address(), discord.token, { clock });
    await expect.poll(() => told.states).toEqual(['begun']);
    clock.advance(2 * 41_250);
    expect(told.states).toEqual(['begun', 'interrupted 0']);
    clock.advance(0);
    await expect.poll(() => told.states).toEqual(['begun', 'interrupted 0', 'resumed']);
  });
});

describe('with a server that sends arbitrary data', () => {
  let server: WebSocketServer;
  const url = () => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const nextSocket = async (): Promise<WebSocket> => (await once(server, 'connection'))[0] as WebSocket;

  beforeEach(async () => {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  it.each([
    'no JSON',
    '[]',
    '{"op":"10"}',
    '{"op":10,"d":{}}',
    '{"op":10,"d":{"heartbeat_interval":-1}}',
    '{"op":0,"t":"READY","s":1,"d":{"session_id":5}}',
  ])('reconnects after %s', async (text) => {
    const first = nextSocket();
    const told = connect(url(), 'token');
    const second = nextSocket().catch(() => null);
    (await first).send(text);
    await expect.poll(() => told.states).toEqual(['interrupted 4002']);
    expect(await second).not.toBeNull();
  });

  it('accepts the documented heartbeat acknowledgement, which has no data', async () => {
    const first = nextSocket();
    const told = connect(url(), 'token');
    const socket = await first;
    socket.send('{"op":11}');
    socket.send('{"op":0,"t":"SOMETHING_NEW","s":1,"d":null}');
    await expect.poll(() => told.events).toEqual(['SOMETHING_NEW']);
    expect(told.states).toEqual([]);
  });

  it('ignores unknown packets', async () => {
    const first = nextSocket();
    const told = connect(url(), 'token');
    const socket = await first;
    socket.send('{"op":99,"d":null}');
    socket.send('{"op":0,"t":"SOMETHING_NEW","s":1,"d":null}');
    await expect.poll(() => told.events).toEqual(['SOMETHING_NEW']);
    expect(told.states).toEqual([]);
  });

  it('backs off while the server is unreachable', async () => {
    const clock = new ManualClock();
    const address = url();
    server.close();
    const told = connect(address, 'token', { clock, random: () => 1 });
    await expect.poll(() => told.states).toHaveLength(1);
    clock.advance(0);
    await expect.poll(() => told.states).toHaveLength(2);
    clock.advance(999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    await expect.poll(() => told.states).toHaveLength(3);
  });
});
