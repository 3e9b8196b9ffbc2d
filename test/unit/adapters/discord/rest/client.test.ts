import { DefaultRestOptions, Routes } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Call, DiscordRest, DiscordTime } from '#adapters/discord/rest/client.ts';
import { systemClock } from '#src/clock.ts';
import { type FakeDiscord, type Limits, startDiscord } from '#test/fakes/discord/index.ts';

const ROUTE = 'GET /channels/:channel';
const HOUR_MS = 3_600_000;
/** Wide enough never to be met. */
const WIDE = { limit: 1_000, windowMs: 1_000 };

let discord: FakeDiscord;
let rest: DiscordRest;

async function start(limits: Partial<Limits> = {}): Promise<void> {
  discord = await startDiscord({ limits });
  const { token, apiUrl } = discord;
  rest = new DiscordRest({ token, apiUrl, time: new DiscordTime(systemClock) });
}

beforeEach(() => start());

afterEach(async () => {
  await discord.close();
  expect(discord.violations).toEqual([]);
});

const look = (urgency: Call['urgency'] = 'final') =>
  rest.call({ method: 'GET', route: Routes.channel(discord.channels.general), urgency, doing: 'looking at a channel' });
const limited = { code: 'rate_limited', retryable: true, retryAfterMs: expect.closeTo(120_000, -4) };

it('fails at once, without a request, on a limit that exceeds the timeout of a call', async () => {
  discord.rateLimit(ROUTE, { retryAfterMs: 120_000 });
  const message = 'looking at a channel: the rate limit of the route is reached';
  await expect(look()).rejects.toMatchObject({ ...limited, message });
  await expect(look()).rejects.toMatchObject(limited);
  expect(discord.requests).toHaveLength(1);
});

describe('once a clock that was an hour ahead is set back', () => {
  /** Runs `act` at a time of day that is an hour ahead, and does not pass. */
  async function ahead(act: () => Promise<unknown>): Promise<void> {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + HOUR_MS);
    await act().finally(() => clock.mockRestore());
  }

  it('the limit of all calls is over at its time', async () => {
    await discord.close();
    await start({ other: WIDE, global: WIDE });
    await ahead(() => Promise.all(Array.from({ length: DefaultRestOptions.globalRequestsPerSecond }, () => look())));
    await expect(look()).resolves.toMatchObject({ id: discord.channels.general });
  });

  it('the limit of a route is over at its time', async () => {
    await discord.close();
    await start({ other: { limit: 2, windowMs: 50 } });
    // discord.js applies the limits of a route from the second call on.
    await look();
    await ahead(() => look());
    await expect(look()).resolves.toMatchObject({ id: discord.channels.general });
  });

  it('a limit that failed a progress call is over at its time', async () => {
    discord.rateLimit(ROUTE, { retryAfterMs: 50 });
    await ahead(() => expect(look('progress')).rejects.toMatchObject({ code: 'rate_limited' }));
    await expect(look()).resolves.toMatchObject({ id: discord.channels.general });
  });
});
