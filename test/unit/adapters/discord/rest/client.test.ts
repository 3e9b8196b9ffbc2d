import { Routes } from 'discord.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DiscordRest, DiscordTime } from '#adapters/discord/rest/client.ts';
import { systemClock } from '#src/clock.ts';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';

const ROUTE = 'GET /channels/:channel';

let discord: FakeDiscord;
let rest: DiscordRest;

beforeEach(async () => {
  discord = await startDiscord();
  const { token, apiUrl } = discord;
  rest = new DiscordRest({ token, apiUrl, time: new DiscordTime(systemClock) });
});

afterEach(async () => {
  await discord.close();
  expect(discord.violations).toEqual([]);
});

const look = () =>
  rest.call({ method: 'GET', route: Routes.channel(discord.channels.general), doing: 'looking at a channel' });
const limited = { code: 'rate_limited', retryable: true, retryAfterMs: expect.closeTo(120_000, -4) };

it('fails at once, without a request, on a limit that exceeds the timeout of a call', async () => {
  discord.rateLimit(ROUTE, { retryAfterMs: 120_000 });
  await expect(look()).rejects.toMatchObject(limited);
  await expect(look()).rejects.toMatchObject(limited);
  expect(discord.requests).toHaveLength(1);
});
