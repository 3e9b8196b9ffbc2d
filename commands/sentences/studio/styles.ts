import { type Catalog, type Style, titleOf } from '#src/videos/index.ts';
import { type Block, type Card, type Line, layOut } from '../../ui/card.ts';
import { savedBlocks } from '../administration/settings.ts';
import { either, formatCount, shorten } from '../format.ts';

/** Content of {@link stylesCard}. */
interface StylesShown {
  readonly styles: readonly Style[];
  /** The command that changes a style, as it is typed on the platform. */
  readonly command: string;
  readonly hasFlags: boolean;
  readonly mayChange: boolean;
}

export function stylesCard({ styles, command, hasFlags, mayChange }: StylesShown): Card {
  const none: Block = { kind: 'text', line: ['There are no styles yet.'] };
  const items = styles.map((style): Block => {
    const words = [style.before, '…', style.after].filter((part) => part !== undefined).join(' ');
    return { kind: 'item', title: [style.name], small: [{ untrusted: shorten(words, 150) }] };
  });
  const example = hasFlags ? `${command} house --after "shot on 35 mm film"` : `${command} name:house after:…`;
  const use: Line = hasFlags
    ? ['To use one: ', { code: '/video a red fox --style house' }, '.']
    : ['To use one, pick it as ', { code: 'style' }, ' in ', { code: '/video create' }, '.'];
  const change: Line = mayChange
    ? ['To add or change one: ', { code: example }, '.']
    : ['Administrators add and change them with ', { code: command }, '.'];
  return layOut([
    { kind: 'heading', line: ['Styles of this team'] },
    ...(items.length === 0 ? [none] : items),
    { kind: 'small', line: ['A style puts its words around each prompt. ', ...(items.length === 0 ? [] : use)] },
    { kind: 'small', line: change },
  ]);
}

/** Shows one style in full. @param isChanged whether it was just changed; `null` if it was not to be */
export function styleCard(style: Style, catalog: Catalog, isChanged: boolean | null): Card {
  const { name, before, after, avoid, model, seconds, aspect, resolution, images = [] } = style;
  const parts: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Before the prompt', before],
    ['After the prompt', after],
    ['Avoid', avoid],
    ['Model', model === undefined ? undefined : titleOf(catalog, model)],
    ['Length', seconds === undefined ? undefined : `${seconds} s`],
    ['Aspect', aspect],
    ['Resolution', resolution],
    ['Reference images', images.length === 0 ? undefined : images.join(' ')],
  ];
  const lines = parts.flatMap(([label, value]): readonly Block[] =>
    value === undefined ? [] : [{ kind: 'text', line: [{ strong: label }, ': ', { untrusted: value }] }],
  );
  return layOut([
    { kind: 'heading', line: [`Style ${name}`] },
    ...savedBlocks(isChanged, 'Saved. Clips ordered from now on have it.'),
    ...lines,
    ...(avoid === undefined ? [] : [{ kind: 'small', line: [AVOID_NOTE] } as const]),
    { kind: 'small', line: [DEFAULTS_NOTE] },
  ]);
}

const AVOID_NOTE =
  '“Avoid” is added to the prompt as words: the video service has no negative prompt, so a model may not keep to it.';
const DEFAULTS_NOTE =
  'Model, length, aspect, resolution and images apply to orders that name none, where the model offers them.';

/** Confirms the removal of a style. */
export function styleRemoved(name: string): string {
  return `The style ${name} is removed. Clips that have it keep it, and Retry makes them the same way.`;
}

/** Refuses a style that the team does not have. */
export function noSuchStyle(given: string, styles: readonly Style[]): string {
  const names = styles.map(({ name }) => name);
  const which = names.length === 0 ? 'This team has none yet.' : `Choose ${either(names)}.`;
  return `name: there is no style “${shorten(given, 40)}”. ${which}`;
}

/** Refuses a name that no style can have. */
export function notAStyleName(given: string, max: number): string {
  return `name: “${shorten(given, 40)}” can’t be the name of a style. Use up to ${max} letters, digits and hyphens.`;
}

/** Refuses a change without a name. */
export const STYLE_NAME_MISSING = 'name: which style? Write a name, such as house.';

export function styleTextTooLong(option: string, given: number, max: number): string {
  return `${option}: it has ${formatCount(given)} characters; a style may have up to ${formatCount(max)} here`;
}

export function tooManyStyles(max: number): string {
  return `name: this team has ${max} styles, which is the most. Remove one first.`;
}

/** Refuses a style without words or defaults. */
export const STYLE_EMPTY = 'A style needs words or a default, such as before or after. Nothing was changed.';

export function styleInPolicy(name: string): string {
  return `The policy asks for the style ${name}, so it can’t be removed. Change the policy first.`;
}
