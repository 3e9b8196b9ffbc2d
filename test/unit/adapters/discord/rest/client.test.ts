import { Routes } from 'discord.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DiscordRest } from '#adapters/discord/rest/client.ts';
import { DiscordTime } from '#adapters/discord/rest/clock-skew.ts';
import { systemClock } from '#src/clock.ts';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';

const ROUTE = 'GET /channels/:channel';

let discord: FakeDiscord;
/** What this process told the others of limits. */
let told: { readonly bucket: string; readonly ms: number }[];
/** Another process tells of one. */
let hear: (fact: { readonly bucket: string; readonly ms: number }) => void;
let rest: DiscordRest;

beforeEach(async () => {
  discord = await startDiscord();
  told = [];
  const { token, apiUrl } = discord;
  const news = {
    tell: (fact: (typeof told)[number]) => told.push(fact),
    hear: (listener: typeof hear) => {
      hear = listener;
      return () => undefined;
    },
  };
  rest = new DiscordRest({ token, apiUrl, time: new DiscordTime(systemClock), news });
});

afterEach(async () => {
  await discord.close();
  expect(discord.violations).toEqual([]);
});

const look = () =>
  rest.call({ method: 'GET', route: Routes.channel(discord.channels.general), doing: 'looking at a channel' });
const limited = { code: 'rate_limited', retryable: true, retryAfterMs: expect.closeTo(120_000, -4) };

it('a limit that lasts longer than a call may is said at once, and Discord is left alone', async () => {
  discord.rateLimit(ROUTE, { retryAfterMs: 120_000 });
  await expect(look()).rejects.toMatchObject(limited);
  await expect(look()).rejects.toMatchObject(limited);
  expect(discord.requests).toHaveLength(1);
});

it('a shorter limit that another process tells of does not end a longer one', async () => {
  discord.rateLimit(ROUTE, { retryAfterMs: 1 });
  await look();
  const bucket = told[0]?.bucket ?? '';
  hear({ bucket, ms: 120_000 });
  hear({ bucket, ms: 1 });
  await expect(look()).rejects.toMatchObject(limited);
});
