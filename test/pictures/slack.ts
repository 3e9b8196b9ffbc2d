import type { types } from '@slack/bolt';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { type FakeSlack, type Message, startSlack } from '../fakes/slack/index.ts';
import { appIcon, draw, escaped, PROMPT, playerOf, RENDERED_WITHIN_MS, timeOfDay } from './drawing.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Slack: the thread of a finished clip, with the notification, drawn from the adapter's requests to the fake. */
export const slack: Picture = {
  file: 'slack.png',
  async make(browser, path) {
    const platform = await startSlack({ manifest: slackManifest(null) });
    try {
      await withProgram(platform.env, () => order(platform));
      if (platform.violations.length > 0) throw new Error(platform.violations.join('\n'));
      await draw(browser, path, 'slack', await threadHtml(platform));
    } finally {
      await platform.close();
    }
  },
};

async function order(platform: FakeSlack): Promise<void> {
  await platform.until(() => platform.socket.isConnected, 'a connection', RENDERED_WITHIN_MS);
  platform.people.slash(`/video ${PROMPT}`);
  const isLinked = (): boolean => JSON.stringify(messagesOf(platform)[0]?.blocks ?? []).includes('"link"');
  await platform.until(() => platform.pings.length > 0 && isLinked(), 'the clip', RENDERED_WITHIN_MS);
}

const messagesOf = (platform: FakeSlack): readonly Message[] => platform.messages(platform.channels.general);

async function threadHtml(platform: FakeSlack): Promise<string> {
  const [card, ...replies] = messagesOf(platform);
  if (card === undefined) throw new Error('the message is missing');
  const icon = await appIcon();
  const [above, ...below] = await Promise.all(
    [card, ...replies].map((message) => messageHtml(message, icon, platform)),
  );
  const count = `<div class="count">${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}</div>`;
  return `<h1>Thread <span># general</span></h1>${above}${count}${below.join('')}`;
}

async function messageHtml({ createdMs, text, blocks, fileIds }: Message, icon: string, platform: FakeSlack) {
  // The fake has validated them against Slack's documentation.
  const parts = blocks as unknown as readonly types.KnownBlock[];
  const files = platform.files.filter(({ id }) => fileIds.includes(id));
  const shown = await Promise.all(
    files.map(async ({ title, content }) => {
      if (content === null) throw new Error('the fake did not keep the clip');
      return `<p class="file">${escaped(title)} ▾</p>${await playerOf(content)}`;
    }),
  );
  // In a message with blocks, the text is only for notifications.
  const words = parts.length > 0 ? parts.map(blockHtml).join('') : `<p>${textHtml(text, platform)}</p>`;
  return `<div class="message">
    ${icon}
    <div><b>Dailies</b> <span class="tag">APP</span><span class="time">${timeOfDay(createdMs)}</span></div>
    ${words}${shown.join('')}
  </div>`;
}

function blockHtml(block: types.KnownBlock): string {
  switch (block.type) {
    case 'rich_text':
      return block.elements.map(richTextHtml).join('');
    case 'context':
      return `<p class="small">${block.elements.map(smallHtml).join(' ')}</p>`;
    case 'actions':
      return `<div class="buttons">${block.elements.map(buttonHtml).join('')}</div>`;
    default:
      throw new Error(`The picture has no drawing of the block “${block.type}”.`);
  }
}

function richTextHtml(part: types.RichTextBlockElement): string {
  if (part.type !== 'rich_text_section') throw new Error(`The picture has no drawing of “${part.type}”.`);
  const words = part.elements.map((element) => {
    if (element.type === 'link') return `<a>${escaped(element.text ?? element.url)}</a>`;
    if (element.type !== 'text') throw new Error(`The picture has no drawing of “${element.type}”.`);
    const html = escaped(element.text).replaceAll('\n', '<br>');
    return element.style?.bold === true ? `<b>${html}</b>` : html;
  });
  return `<p>${words.join('')}</p>`;
}

function smallHtml(element: types.ContextBlock['elements'][number]): string {
  if (element.type !== 'plain_text') throw new Error(`The picture has no drawing of “${element.type}”.`);
  return escaped(element.text);
}

function buttonHtml(element: types.ActionsBlock['elements'][number]): string {
  if (element.type !== 'button') throw new Error(`The picture has no drawing of “${element.type}”.`);
  return `<span class="button ${element.style ?? ''}">${escaped(element.text.text)}</span>`;
}

/** Converts the markup that the notification uses to HTML: a mention. Slack's escapes are the same as HTML's. */
function textHtml(text: string, { users }: FakeSlack): string {
  const names = new Map(Object.entries(users).map(([name, id]) => [id, name]));
  return text.replace(/<@(\w+)>/g, (_, id: string) => `<span class="mention">@${names.get(id) ?? id}</span>`);
}
