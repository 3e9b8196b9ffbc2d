import { formatPrice, priceOf } from '#src/tasks/index.ts';
import {
  type Catalog,
  type Defaults,
  isOffered,
  MEDIA_KINDS,
  type Model,
  SETTINGS,
  type Setting,
} from '#src/videos/index.ts';
import { type Block, type Card, type Line, layOut } from '../ui/card.ts';
import { savedBlocks } from './administration/settings.ts';
import { MEDIA_WORDS, ORDER_LABELS, SETTING_WORDS, valueWords } from './settings.ts';

/** Content of {@link defaultsCard}. */
interface DefaultsShown {
  readonly defaults: Defaults;
  readonly catalog: Catalog;
  /** Whether the default model, unless it is the person's own, is that of the channel. */
  readonly isChannels: boolean;
  /** Whether they were just changed; `null` if they were not to be. */
  readonly isChanged: boolean | null;
  readonly command: string;
}

/** Shows what the orders of a person get where they name no model, length or aspect ratio. */
export function defaultsCard({ defaults, catalog, isChannels, isChanged, command }: DefaultsShown): Card {
  const { defaultModel: model } = catalog;
  const asText = (line: Line): Block => ({ kind: 'text', line });
  const [seconds] = SETTINGS.filter(({ name }) => name === 'seconds').map((setting) => setting.defaultOf(model));
  const price = formatPrice(priceOf(model, Number(seconds)));
  return layOut([
    { kind: 'heading', line: ['Your defaults'] },
    ...savedBlocks(isChanged),
    asText([{ strong: ORDER_LABELS.model }, ': ', ...modelLine(defaults, model, isChannels)]),
    ...SETTINGS.flatMap((setting) => {
      const line = settingLine(setting, defaults, model);
      return line === null ? [] : [asText([{ strong: SETTING_WORDS[setting.name].label }, ': ', line])];
    }),
    ...needs(model).map((sentence) => asText([sentence])),
    {
      kind: 'small',
      line: [
        `A clip with these settings costs ${price}. What you name in an order counts for that order; a retry keeps the settings of its `,
        'clip. To change one: ',
        { code: command },
        ' with an option. ',
        { code: 'off' },
        ' removes a value.',
      ],
    },
  ]);
}

/** Refuses to remove a channel's default and to change one's own at once. */
export const CHANNEL_ALONE = 'off: channel removes the channel’s default alone. Leave the other options out.';

const FOR_EVERYONE = ', as for everyone';

function modelLine({ model: own }: Defaults, { name, title }: Model, isChannels: boolean): Line {
  if (own === undefined) return [`${title}${isChannels ? ', this channel’s default' : FOR_EVERYONE}.`];
  return [own === name ? `${title}.` : `${title}, since there is no ${own} any more.`];
}

/** Returns the value of a setting; `null` for one that has no personal default. */
function settingLine(setting: Setting, defaults: Defaults, model: Model): string | null {
  if (setting.name === 'resolution') return null;
  const own = defaults[setting.name];
  const used = setting.defaultOf(model);
  if (own === undefined) return used === undefined ? null : `${valueWords(setting, used)}${FOR_EVERYONE}.`;
  if (isOffered(setting.offerOf(model), own)) return `${valueWords(setting, own)}.`;
  const instead = used === undefined ? 'takes none' : `gets ${valueWords(setting, used)}`;
  return `${valueWords(setting, own)}, where the model offers it. ${model.title} doesn’t, and ${instead}.`;
}

/** Tells which reference media the model cannot do without. */
function needs({ title, media }: Model): readonly string[] {
  const needed = MEDIA_KINDS.filter((kind) => media[kind].min > 0).map((kind) => MEDIA_WORDS[kind].many);
  return needed.length === 0 ? [] : [`${title} needs reference ${needed.join(' and ')}: a prompt alone isn’t enough.`];
}
