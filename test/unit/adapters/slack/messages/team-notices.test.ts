import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { approvalNotice, spendReport } from '#test/fakes/views.ts';

let house: SlackHouse;

beforeEach(async () => {
  house = await SlackHouse.start();
});

afterEach(async () => {
  await house.remove();
  expect(house.slack.violations).toEqual([]);
});

function notice(key = 'report:1') {
  const { team, channels } = house.slack;
  const place = { team: team.id, channel: channels.general, address: {} };
  return { key, place, replyTo: null, mention: null, view: spendReport() };
}

function typesIn(channel = house.slack.channels.general): readonly (readonly string[])[] {
  return house.slack.messages(channel).map(({ blocks }) => blocks.map(({ type }) => type));
}

it('shows a report with Slack’s own table and chart', async () => {
  await house.platform.notify(notice());
  expect(typesIn()).toEqual([['rich_text', 'table', 'context', 'data_visualization']]);
});

it('shows a report as text where the workspace refuses the table or the chart, and posts it once', async () => {
  house.slack.fail('chat.postMessage', 'invalid_blocks');
  const posted = await house.platform.notify(notice());
  expect(typesIn()).toEqual([['rich_text', 'context']]);
  expect(plainOf(house.slack.message(posted.message))).toContain('• Ada · swift-1 · 2 clips · $0.60');
  expect(await house.platform.notify(notice())).toEqual(posted);
  expect(typesIn()).toHaveLength(1);
});

it('posts a report without its file where the channel refuses files, and says which permission is missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-notice-'));
  const path = join(directory, 'spend.csv');
  await writeFile(path, 'x_Task\r\n');
  const file = { path, bytes: 8, contentType: 'text/csv', name: 'spend.csv', description: 'The rows' };
  house.slack.fail('files.completeUploadExternal', 'restricted_action_read_only_channel');
  await expect(house.platform.notify({ ...notice(), files: [file] })).rejects.toMatchObject({
    code: 'missing_permission',
    retryable: false,
  });
  await house.platform.notify(notice());
  expect(typesIn()).toHaveLength(1);
  await rm(directory, { recursive: true });
});

it('pings the user groups that may approve, in the text for notifications as well', async () => {
  const pings = [{ kind: 'group', id: 'S012345', name: '@leads' }] as const;
  const { message } = await house.platform.notify({ ...notice('ask:1'), view: approvalNotice({ pings }) });
  const { text, blocks } = house.slack.message(message);
  expect(text).toContain('<!subteam^S012345>: Cleo requests a clip for $4.00.');
  expect(JSON.stringify(blocks)).toContain('{"type":"usergroup","usergroup_id":"S012345"}');
});
