import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { SlackHouse } from '#test/fakes/slack-house.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;

let house: SlackHouse;
let slack: FakeSlack;
let directory: string;
let origin: Origin;
/** The task's own message. */
let card: MessageRef;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  directory = await mkdtemp(join(tmpdir(), 'dailies-slack-clip-'));
  slack.people.slash('/video a fox');
  origin = (await house.heard()).caller;
  card = await house.platform.open(TASK, origin, taskView({ task: TASK }));
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(slack.violations).toEqual([]);
});

/** Reactions that the bot received. */
const reactions = () => house.bot.heard.filter(({ kind }) => kind === 'react').map(({ what }) => what);

const attach = async (): Promise<string> => {
  await house.platform.attach(card, origin, doneView({ task: TASK }), await writeClip(directory));
  return slack.files[0]?.shares[0]?.ts ?? '';
};

it('maps a reaction to the clip to its task, also after a restart', async () => {
  const clip = await attach();
  await house.restart();
  slack.people.react(clip, 'repeat');
  await vi.waitFor(() => expect(reactions()).toEqual([{ message: card, emoji: 'repeat' }]), 300_000);
});

it('maps a reaction to the notification to its task, also in a subscribed channel', async () => {
  const view = endNotice(origin, { task: TASK, message: card });
  const { team, channel, address, user } = origin;
  const here = await house.platform.notify({
    key: 'end:1',
    place: { team, channel, address },
    replyTo: card,
    mention: user,
    view,
  });
  const there = await house.platform.notify({
    key: 'end:2',
    place: { team, channel: slack.channels.clips, address: {} },
    replyTo: null,
    mention: null,
    view: { ...view, subscribed: true },
  });
  slack.people.react(here.message, 'x');
  slack.people.react(there.message, 'repeat');
  const both = [
    { message: card, emoji: 'x' },
    { message: card, emoji: 'repeat' },
  ];
  await vi.waitFor(() => expect(reactions()).toEqual(expect.arrayContaining(both)), 300_000);
});

it('passes on a reaction to another message of the bot unchanged', async () => {
  house.bot.reply = { kind: 'public', card: { lines: [['Spoken.']], progress: null, buttons: [] } };
  slack.people.slash('/video models');
  const spoken = () =>
    slack.messages(origin.channel).find(({ visibleTo, ts }) => visibleTo === null && ts !== card.message);
  await slack.until(() => spoken() !== undefined, 'an answer');
  const message = { channel: origin.channel, message: spoken()?.ts ?? '' };
  slack.people.react(message.message, 'repeat');
  await vi.waitFor(() => expect(reactions()).toEqual([{ message, emoji: 'repeat' }]), 300_000);
});
