import { type APIComponentInContainer, type APIMessageTopLevelComponent, ButtonStyle, ComponentType } from 'discord.js';
import { type FakeDiscord, type Message, startDiscord } from '../fakes/discord/index.ts';
import { appIcon, draw, escaped, PROMPT, playerOf, RENDERED_WITHIN_MS, timeOfDay } from './drawing.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Discord: the message of a finished clip and the notification, drawn from the adapter's requests to the fake. */
export const discord: Picture = {
  file: 'discord.png',
  async make(browser, path) {
    const platform = await startDiscord();
    try {
      await withProgram(platform.env, () => order(platform));
      if (platform.violations.length > 0) throw new Error(platform.violations.join('\n'));
      await draw(browser, path, 'discord', await channelHtml(platform));
    } finally {
      await platform.close();
    }
  },
};

async function order(platform: FakeDiscord): Promise<void> {
  const { people, gateway, pings } = platform;
  await platform.until(() => platform.commands().length > 0 && gateway.isConnected, 'the commands', RENDERED_WITHIN_MS);
  people.slash('video create', { prompt: PROMPT });
  await platform.until(() => pings.length > 0, 'the notification', RENDERED_WITHIN_MS);
}

async function channelHtml(platform: FakeDiscord): Promise<string> {
  const [card, notification] = platform.messages(platform.channels.general);
  const [clip] = card?.attachments ?? [];
  if (card === undefined || notification === undefined || clip === undefined) throw new Error('a message is missing');
  const content = Buffer.from(await (await fetch(clip.url)).arrayBuffer());
  const scene: Scene = { platform, icon: await appIcon(), player: await playerOf(content) };
  const asked = `<div class="above"><b>alice</b> used <span class="mention">/video create</span></div>`;
  const answered = `<div class="above">${scene.icon}<b>@Dailies</b> Click to see attachment</div>`;
  return [
    messageHtml(card, asked, scene),
    `<div class="mentioned">${messageHtml(notification, answered, scene)}</div>`,
  ].join('');
}

/** Data that messages are drawn with. */
interface Scene {
  readonly platform: FakeDiscord;
  readonly icon: string;
  readonly player: string;
}

function messageHtml({ author, createdMs, content, components }: Message, above: string, scene: Scene): string {
  const name = `<b>${escaped(author.name)}</b> <span class="tag">APP</span>`;
  // The fake has validated them against Discord's documentation.
  const parts = components as unknown as readonly APIMessageTopLevelComponent[];
  return `<div class="message">
    ${above}${scene.icon}
    <div class="author">${name}<span class="time">${timeOfDay(createdMs)}</span></div>
    ${markupHtml(content, scene)}
    ${parts.map((part) => componentHtml(part, scene)).join('')}
  </div>`;
}

function componentHtml(component: APIMessageTopLevelComponent | APIComponentInContainer, scene: Scene): string {
  switch (component.type) {
    case ComponentType.Container: {
      const accent = `#${(component.accent_color ?? 0x3f4147).toString(16).padStart(6, '0')}`;
      const inside = component.components.map((one) => componentHtml(one, scene)).join('');
      return `<div class="container" style="border-left-color: ${accent}">${inside}</div>`;
    }
    case ComponentType.TextDisplay:
      return `<div>${markupHtml(component.content, scene)}</div>`;
    case ComponentType.MediaGallery:
      return component.items.map(() => scene.player).join('');
    case ComponentType.ActionRow:
      return `<div class="buttons">${component.components.map(buttonHtml).join('')}</div>`;
    default:
      throw new Error(`The picture has no drawing of component type ${component.type}.`);
  }
}

function buttonHtml(button: { readonly type: ComponentType }): string {
  if (button.type !== ComponentType.Button)
    throw new Error(`The picture has no drawing of component type ${button.type}.`);
  const { style, label } = button as { readonly style?: ButtonStyle; readonly label?: string };
  return `<span class="button ${ButtonStyle[style ?? ButtonStyle.Secondary]}">${escaped(label ?? '')}</span>`;
}

/** Converts the markup that the messages use to HTML: subtext, bold, mentions and escapes, line by line. */
function markupHtml(content: string, { platform }: Scene): string {
  const names = new Map(Object.entries(platform.users).map(([name, id]) => [id, name]));
  const lines = content.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => {
      const isSmall = line.startsWith('-# ');
      const words = escaped(isSmall ? line.slice(3) : line)
        .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>')
        .replace(/&lt;@(\d+)&gt;/g, (_, id: string) => `<span class="mention">@${names.get(id) ?? id}</span>`)
        .replace(/\\([^\w\s])/g, '$1');
      return `<p${isSmall ? ' class="small"' : ''}>${words}</p>`;
    })
    .join('');
}
