import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const CALLBACK = 'POST /interactions/:interaction/:token/callback';
const LOOK = 'GET /webhooks/:application/:token/messages/:message';

const OFFER: Reply = {
  kind: 'offer',
  id: 'draft-1',
  card: {
    lines: [['You asked for this while I was unavailable · $0.20']],
    progress: null,
    buttons: [
      { id: 'order:draft-1:0.2USD', label: 'Create · $0.20', style: 'plain' },
      { id: 'discard:draft-1', label: 'Discard', style: 'plain' },
    ],
  },
};
const TASK: Reply = { kind: 'task', task: 'task-1' as TaskId };

let house: DiscordHouse;
let clock: ManualClock;
/** Number of orders that the bot placed. */
let bought: number;

const buy = async (caller: Caller): Promise<Reply> => {
  const isAccepted = (await caller.acknowledged?.()) === true;
  if (isAccepted) bought += 1;
  return isAccepted ? TASK : OFFER;
};

beforeEach(async () => {
  bought = 0;
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
  house.bot.command = buy;
  house.bot.press = buy;
});

afterEach(async () => {
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

const callbacks = () => house.discord.requests.filter(({ route }) => route === CALLBACK);
const general = () => house.discord.messages(house.discord.channels.general);

/** Sends interactions while the bot is offline, and brings it back after `ms`. */
async function awayFor(ms: number, asks: () => void): Promise<void> {
  await house.platform.stop();
  await house.discord.until(() => !house.discord.gateway.isConnected, 'the bot being away');
  asks();
  clock.advance(ms);
  await house.restart();
}

describe('an order that Discord reported as failed', () => {
  it('is offered once in a message of the bot’s own, without a late response', async () => {
    await awayFor(3_001, () => {
      for (let tries = 0; tries < 3; tries += 1) house.discord.people.slash('video create', { prompt: 'a fox' });
    });
    await house.discord.until(() => general().length > 0, 'an offer');
    await house.platform.stop();
    expect(bought).toBe(0);
    expect(callbacks()).toEqual([]);
    expect(general()).toHaveLength(1);
    const [offer] = general();
    if (offer === undefined) throw new TypeError('no offer');
    expect(plainOf(offer)).toContain('You asked for this while I was unavailable · $0.20');
    expect(buttonsOf(offer).map(({ label }) => label)).toEqual(['Create · $0.20', 'Discard']);
    expect(house.discord.pings.map(({ id }) => id)).toEqual([house.discord.users.alice]);
  });

  it('is offered for a button press', async () => {
    house.bot.command = async () => ({ ...OFFER, kind: 'public' });
    const shown = await house.answerTo(house.discord.people.slash('video models'));
    await awayFor(3_001, () => house.discord.people.press(shown.id, 'order:draft-1:0.2USD'));
    await house.discord.until(() => general().length > 1, 'an offer');
    expect(bought).toBe(0);
  });

  it('is placed if it arrives in time, after Discord has accepted the response', async () => {
    const asked = house.discord.people.slash('video create', { prompt: 'a fox' });
    await house.discord.answered(asked);
    await house.platform.stop();
    expect(bought).toBe(1);
    expect(callbacks().map(({ status }) => status)).toEqual([204]);
  });

  it('is placed if it arrives in time, even where the clock is stepped by an hour meanwhile', async () => {
    house.bot.command = async (caller) => {
      clock.step(3_600_000);
      return buy(caller);
    };
    await house.discord.answered(house.discord.people.slash('video create', { prompt: 'a fox' }));
    await house.platform.stop();
    expect(bought).toBe(1);
  });

  it('is offered if Discord rejects the response', async () => {
    house.discord.fail(CALLBACK, 404, { code: 10_062 });
    house.discord.people.slash('video create', { prompt: 'a fox' });
    await house.discord.until(() => general().length > 0, 'an offer');
    expect(bought).toBe(0);
  });
});

describe('an order acknowledged before a crash', () => {
  it.each([500, 4_000])('is looked up %i ms later, not acknowledged twice, and placed', async (ms) => {
    const asked = house.discord.people.slash('video create', { prompt: 'a fox' });
    await house.discord.answered(asked);
    await awayFor(ms, () => {
      bought = 0;
    });
    house.discord.redeliver(asked);
    await house.discord.until(() => house.discord.requests.some(({ route }) => route === LOOK), 'a look');
    await house.platform.stop();
    expect(bought).toBe(1);
    expect(callbacks().map(({ status }) => status)).toEqual([204]);
  });

  it.each([500, 4_000])('gets an answer that is no order where it shows “thinking…”, %i ms later', async (ms) => {
    const asked = house.discord.people.slash('video create', { prompt: 'a fox' });
    await house.discord.answered(asked);
    await awayFor(ms, () => {
      house.bot.command = async (caller) => {
        // An interaction that is too late is deferred, in vain, as soon as timers run.
        clock.advance(0);
        await caller.acknowledged?.();
        return { kind: 'refused', sentence: 'The budget is used up.' };
      };
    });
    house.discord.redeliver(asked);
    const shows = () => general().some((one) => plainOf(one).includes('The budget is used up.'));
    await house.discord.until(shows, 'the answer');
    expect(callbacks().map(({ status }) => status)).toEqual([204]);
  });

  it('is offered if its response says something by then', async () => {
    house.bot.command = async (caller) => {
      await caller.acknowledged?.();
      return { kind: 'public', card: { lines: [['That failed.']], progress: null, buttons: [] } };
    };
    const asked = house.discord.people.slash('video create', { prompt: 'a fox' });
    await house.discord.until(() => plainOf(house.discord.original(asked) ?? EMPTY).includes('failed'), 'the answer');
    await awayFor(4_000, () => {
      house.bot.command = buy;
    });
    house.discord.redeliver(asked);
    await house.discord.until(() => general().length > 1, 'an offer');
    expect(bought).toBe(0);
  });

  it('is offered if its response does not exist', async () => {
    await awayFor(4_000, () => void house.discord.people.slash('video create', { prompt: 'a fox' }));
    await house.discord.until(() => general().length > 0, 'an offer');
    expect(bought).toBe(0);
    expect(callbacks()).toEqual([]);
  });
});

describe('an interaction replayed by a resumed session', () => {
  /** Responds to one that comes while the bot is away, as a process does that is killed right afterwards. */
  async function answeredAway(type: number, data: object) {
    await house.platform.stop();
    await house.discord.until(() => !house.discord.gateway.isConnected, 'the bot being away');
    const asked = house.discord.people.slash('video models');
    await fetch(`${house.discord.apiUrl}/v10/interactions/${asked.id}/${asked.token}/callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'DiscordBot (https://dailies.example, 1)' },
      body: JSON.stringify({ type, data }),
    });
    return asked;
  }

  /** Shortens what the store has of the session: the killed process had not recorded how it was established. */
  async function rewind(sequence: number): Promise<void> {
    const adapters = house.store.keyv('discord_sessions');
    const record = await adapters.get<{ revision: number; session: object }>('0/1');
    expect(await adapters.set('0/1', { ...record, session: { ...record?.session, sequence } })).toBe(true);
  }

  const HERE: Reply = { kind: 'private', card: { lines: [['Here.']], progress: null, buttons: [] } };

  it('is answered after a look at the response that it has', async () => {
    house.bot.command = async () => HERE;
    const asked = await answeredAway(5, { flags: 64 });
    await house.restart();
    await house.discord.until(() => plainOf(house.discord.original(asked) ?? EMPTY).includes('Here.'), 'the answer');
    expect(callbacks().map(({ status }) => status)).toEqual([204]);
  });

  it.each([
    ['RESUMED', 1],
    ['READY and RESUMED', 0],
  ])('is answered after a look also where an earlier %s is replayed before it', async (_events, sequence) => {
    house.bot.command = async () => HERE;
    await house.restart();
    const asked = await answeredAway(5, { flags: 64 });
    await rewind(sequence);
    // Younger than what is looked up in any case.
    clock.advance(900);
    await house.restart();
    await house.discord.until(() => plainOf(house.discord.original(asked) ?? EMPTY).includes('Here.'), 'the answer');
    expect(house.discord.gateway.resumptions.at(-1)?.seq).toBe(sequence);
    expect(callbacks().map(({ status }) => status)).toEqual([204]);
  });

  it('is dropped where a form has answered it', async () => {
    const prompt = { name: 'prompt', label: 'Prompt', value: 'a fox', required: true, long: true };
    const about = { title: 'Fix it', submit: 'Create', prices: '1a2b3c4d' };
    house.bot.command = async () => ({
      kind: 'form',
      form: { id: 'fix:0123456789abcdef', fields: [prompt], ...about },
    });
    const input = { type: 4, custom_id: 'prompt', style: 1 };
    const components = [{ type: 18, label: 'Prompt', component: input }];
    await answeredAway(9, { custom_id: 'form', title: 'A form', components });
    const open = house.discord.people.slash('video models');
    await house.restart();
    await house.discord.answered(open);
    await house.platform.stop();
    expect(callbacks().map(({ status }) => status)).toEqual([204, 204]);
  });
});

const EMPTY = { content: '', components: [] };
