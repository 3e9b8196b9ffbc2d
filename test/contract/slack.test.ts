import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TaskId } from '#src/tasks/task.ts';
import type { Message } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf, SlackHouse, type SlackHouseOptions, selectsOf } from '#test/fakes/slack-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { describePlatform, type PlatformHarness } from './platform.contract.ts';

for (const mode of ['socket', 'http'] as const) describePlatform(`Slack (${mode})`, () => harnessOf({ mode }));

async function harnessOf(options: SlackHouseOptions): Promise<PlatformHarness> {
  const app = await SlackHouse.start(options);
  const { slack, bot } = app;
  const { general, clips } = slack.channels;
  // Each task is the response to a command; the suite itself shows it.
  bot.reply = { kind: 'task', task: 'task' as TaskId };
  bot.onShow = () => Promise.resolve({ channel: general, message: '' });
  /** On Slack a file is a message of its own, in the thread of the message it belongs to. */
  const filesOf = ({ ts, threadTs, channelId }: Message) =>
    slack.files.filter(
      (file) =>
        !file.isDeleted &&
        file.shares.some((share) => share.channelId === channelId && share.threadTs === (threadTs ?? ts)),
    );
  return {
    get platform() {
      return app.platform;
    },
    memberWhoLeft() {
      slack.deactivate(slack.users.carol);
      return slack.users.carol;
    },
    newGroup(members) {
      const group = `S0${members.length}`;
      slack.setGroup(group, members);
      return group;
    },
    otherChannel: clips,
    async newOrigin() {
      const prompt = `a red fox ${randomUUID()}`;
      slack.people.slash(`/video ${prompt}`);
      const { caller } = await app.heard(({ what }) => what === prompt);
      return caller;
    },
    async callerOf(who) {
      const user = who === 'administrator' ? slack.users.bob : slack.users.alice;
      slack.setAdmin(slack.users.bob, 'is_admin');
      slack.people.slash('/video list', { user });
      return (await app.heard(({ caller, what }) => what === 'list' && caller.user.id === user)).caller;
    },
    read: (channel) =>
      Promise.resolve(
        slack
          .messages(channel)
          .filter(({ visibleTo, fileIds }) => visibleTo === null && fileIds.length === 0)
          .map((message) => ({
            id: message.ts,
            text: plainOf(message),
            replyTo: message.threadTs ?? repeatedBy(message),
            pings: slack.pings.filter(({ ts }) => ts === message.ts).map(({ id }) => id),
            attachments: filesOf(message).map(({ name, altText, length }) => ({
              name,
              description: altText ?? '',
              bytes: length,
            })),
            buttons: buttonsOf(message),
            selects: selectsOf(message),
          })),
      ),
    everything: () => {
      const messages = Object.values(slack.channels).flatMap((channel) => slack.messages(channel));
      const files = slack.files.filter(({ isDeleted }) => !isDeleted).map(({ content: _content, ...file }) => file);
      return Promise.resolve(JSON.stringify([messages, files]));
    },
    stored: () => storedIn(app.store),
    download: ({ message }, name) => {
      const file = filesOf(slack.message(message)).find((one) => one.name === name);
      return Promise.resolve(file?.content ?? Buffer.alloc(0));
    },
    deleteMessage: ({ message }) => Promise.resolve(slack.deleteMessage(message)),
    restart: () => app.restart(),
    async remove() {
      await app.remove();
      expect(slack.violations).toEqual([]);
    },
  };
}

/** Returns the message that a retry links to. */
function repeatedBy({ blocks }: Message): string | null {
  const link = /\/archives\/\w+\/p(\d{10})(\d{6})\|Another take/.exec(JSON.stringify(blocks));
  return link === null ? null : `${link[1]}.${link[2]}`;
}
