import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { makeClipsDiffer } from '#test/fakes/clip.ts';
import { type FakeDiscord, fileOf } from '#test/fakes/discord/index.ts';
import { buttonsOf as discordButtons } from '#test/fakes/discord-house.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf as slackButtons } from '#test/fakes/slack-house.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { test } from './fixtures.ts';

// One order is one message of its channel, and one notification. What else belongs to it is in the thread of that message.

const PROMPT = 'a red fox';
const MODELS = ['swift-1', 'reel-2', 'epic-pro'];
const SHOTS = ['a fox wakes up', 'it runs', 'it jumps', 'it falls', 'it limps', 'it sleeps'];
const FAILING = 'it falls';

const ORDERS = ['one clip', 'four takes', 'a comparison of three', 'a storyboard of six, one of which fails'] as const;
type Kind = (typeof ORDERS)[number];
const CLIPS: Readonly<Record<Kind, number>> = {
  'one clip': 1,
  'four takes': 4,
  'a comparison of three': 3,
  'a storyboard of six, one of which fails': 5,
};

/** A message that everyone in the channel sees. */
interface Shown {
  readonly id: string;
  /** It is in the channel, not in a thread. */
  readonly isInChannel: boolean;
  readonly isNotice: boolean;
  readonly files: number;
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
}

interface Side {
  readonly order: (kind: Kind) => Promise<unknown>;
  readonly messages: () => Promise<readonly Shown[]>;
  /** Returns the messages to the requester alone. */
  readonly ownButtons: () => Promise<
    readonly { readonly message: string; readonly id: string; readonly label: string }[]
  >;
  readonly press: (message: string, button: string) => unknown;
  /** Number of notifications of the requester. */
  readonly pings: () => Promise<number>;
}

function onDiscord(discord: FakeDiscord): Side {
  const { general } = discord.channels;
  const { alice: user } = discord.users;
  const all = () => {
    const inChannel = discord.messages(general);
    // The thread of a message has its id.
    return [...inChannel, ...inChannel.flatMap(({ id }) => discord.messages(id))];
  };
  const pingsOf = (id: string) => discord.pings.filter((ping) => ping.id === user && ping.messageId === id);
  return {
    async order(kind) {
      if (kind === 'one clip') return discord.people.slash('video create', { prompt: PROMPT }, { user });
      if (kind === 'four takes') return discord.people.slash('video create', { prompt: PROMPT, takes: 4 }, { user });
      if (kind === 'a comparison of three')
        return discord.people.slash('video compare', { prompt: PROMPT, models: MODELS.join(',') }, { user });
      const file = fileOf('board.txt', 'text/plain', Buffer.from(SHOTS.join('\n')));
      return discord.people.slash('video storyboard', { file, seconds: 4 }, { user });
    },
    messages: async () =>
      all()
        .filter(({ visibleTo }) => visibleTo === null)
        .map((one) => ({
          id: one.id,
          isInChannel: one.channelId === general,
          isNotice: pingsOf(one.id).length > 0,
          files: one.attachments.length,
          buttons: discordButtons(one),
        })),
    ownButtons: async () =>
      all()
        .filter(({ visibleTo }) => visibleTo !== null)
        .flatMap((one) => discordButtons(one).map((button) => ({ message: one.id, ...button }))),
    press: (message, button) => discord.people.press(message, button, { user }),
    pings: async () => discord.pings.filter(({ id }) => id === user).length,
  };
}

function onSlack(slack: FakeSlack): Side {
  const { general } = slack.channels;
  const { alice: user } = slack.users;
  const command = {
    'one clip': `create ${PROMPT}`,
    'four takes': `create ${PROMPT} --takes 4`,
    'a comparison of three': `compare ${PROMPT} --models ${MODELS.join(',')}`,
    'a storyboard of six, one of which fails': `storyboard --seconds 4\n${SHOTS.join('\n')}`,
  };
  const isPing = (ts: string) => slack.pings.some((ping) => ping.id === user && ping.ts === ts);
  return {
    order: async (kind) => slack.people.slash(`/video ${command[kind]}`, { user }),
    messages: async () =>
      slack
        .messages(general)
        .filter(({ visibleTo }) => visibleTo === null)
        .map((one) => ({
          id: one.ts,
          isInChannel: one.threadTs === null || one.threadTs === one.ts,
          isNotice: isPing(one.ts),
          files: one.fileIds.length,
          buttons: slackButtons(one),
        })),
    ownButtons: async () =>
      slack
        .messages(general)
        .filter(({ visibleTo }) => visibleTo !== null)
        .flatMap((one) => slackButtons(one).map((button) => ({ message: one.ts, ...button }))),
    press: (message, button) => slack.people.press(message, button, { user }),
    pings: async () => slack.pings.filter(({ id }) => id === user).length,
  };
}

/** Has one shot fail. */
function failShot({ handlers, tasks }: FakeVideoService): void {
  const { create } = handlers;
  handlers.create = (call) => {
    create(call);
    const { prompt } = JSON.parse(call.request.body) as { readonly prompt: string };
    const failure = { code: 'generation_failed', message: 'too dark' };
    if (prompt === FAILING) Object.assign([...tasks.values()].at(-1) ?? {}, { status: 'failed', failure });
  };
}

describe.each(['discord', 'slack'] as const)('on %s', (name) => {
  test.for(ORDERS)(
    '%s: one message in the channel, and one notification',
    { timeout: 600_000 },
    async (kind, { dir, upstream, discord, slack, start }) => {
      failShot(upstream);
      makeClipsDiffer(upstream, 200_000);
      const [swift] = sandboxCatalog.models;
      const models = MODELS.map((model) => ({ ...swift, name: model, title: model, default: model === 'swift-1' }));
      const path = join(dir, 'catalog.json');
      await writeFile(path, JSON.stringify({ models }));
      const platform = name === 'discord' ? discord : slack;
      const side = name === 'discord' ? onDiscord(discord) : onSlack(slack);
      await start({ ...platform.env, MODEL_CATALOG: path });
      await platform.botReady();
      await side.order(kind);
      if (kind === 'a storyboard of six, one of which fails') {
        const create = async () => (await side.ownButtons()).find(({ label }) => label.startsWith('Create 6 shots'));
        await expect.poll(create).toBeDefined();
        const { message = '', id = '' } = (await create()) ?? {};
        side.press(message, id);
      }
      const files = async () => (await side.messages()).reduce((sum, one) => sum + one.files, 0);
      await expect.poll(files).toBe(CLIPS[kind]);
      await expect.poll(side.pings).toBe(1);
      const inChannel = (await side.messages()).filter((one) => one.isInChannel && !one.isNotice);
      expect(inChannel).toHaveLength(1);
    },
  );
});
