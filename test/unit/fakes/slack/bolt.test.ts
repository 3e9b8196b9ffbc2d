import { App, LogLevel } from '@slack/bolt';
import { expect, it } from 'vitest';
import { startSlack } from '#test/fakes/slack/index.ts';

it('works with the real Bolt', async () => {
  const slack = await startSlack();
  const app = new App({
    token: slack.botToken,
    appToken: slack.appToken,
    socketMode: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  app.command('/video', async ({ ack, client, command }) => {
    await ack();
    const blocks = [
      { type: 'section', text: { type: 'mrkdwn', text: command.text } },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: 'Cancel' }, action_id: 'cancel' }],
      },
    ];
    const { ts = '' } = await client.chat.postMessage({ channel: command.channel_id, text: 'queued', blocks });
    await client.chat.update({ channel: command.channel_id, ts, text: 'done', blocks });
    await client.filesUploadV2({
      channel_id: command.channel_id,
      thread_ts: ts,
      file: Buffer.from('bytes'),
      filename: 'fox.mp4',
    });
  });
  app.action('cancel', async ({ ack, respond }) => {
    await ack();
    await respond({ text: 'cancelled', response_type: 'ephemeral' });
  });
  app.event('app_mention', async ({ say }) => {
    await say('hello');
  });
  await app.start();
  const { general } = slack.channels;
  await slack.acknowledged(slack.people.slash('/video a fox'));
  await slack.until(() => slack.files.some(({ shares }) => shares.length > 0), 'the file');
  const [task] = slack.messages(general);
  expect(task).toMatchObject({ text: 'done', edits: 1 });
  await slack.acknowledged(slack.people.press(task?.ts ?? '', 'cancel'));
  slack.people.mention('a fox');
  await slack.until(() => slack.messages(general).length === 5, 'all messages');
  expect(slack.messages(general).map(({ text }) => text)).toContain('cancelled');
  expect(slack.violations).toEqual([]);
  await app.stop();
  // Bolt does not wait for the close.
  await slack.until(() => !slack.socket.isConnected, 'the end of the socket');
  await slack.close();
});
