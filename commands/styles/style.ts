import { NO_POLICY, type Policy } from '#src/teams/index.ts';
import { type Style, styleNamed } from '#src/videos/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, privately, refused, refusedWith, type Subcommand, teamOf } from '../input/subcommand.ts';
import { formatCount, uncapitalised } from '../sentences/format.ts';
import { SETTING_WORDS } from '../sentences/settings.ts';
import {
  noSuchStyle,
  STYLE_EMPTY,
  styleCard,
  styleInPolicy,
  styleRemoved,
  stylesCard,
  tooManyStyles,
} from '../sentences/studio/styles.ts';
import { textCard } from '../ui/card.ts';
import { MAX_TEXT_LENGTH, PARTS, readStyle } from './read-style.ts';

/** Most styles of a team: as many as a Discord select holds. */
const MAX_STYLES = 25;

const administrative = (option: OptionDeclaration): OptionDeclaration => ({ ...option, isAdministrative: true });

const text = (name: string, description: string): OptionDeclaration => ({
  name,
  description,
  kind: 'text',
  isList: true,
  maxLength: MAX_TEXT_LENGTH,
  range: `${uncapitalised(description)}, up to ${formatCount(MAX_TEXT_LENGTH)} characters`,
});

const options: readonly OptionDeclaration[] = [
  { name: 'name', description: 'Name of the style', kind: 'text', positional: true, autocomplete: 'style' },
  ...[
    text('before', 'Words before each prompt'),
    text('after', 'Words after each prompt'),
    text('avoid', 'What clips should not show; added to the prompt as words'),
    { name: 'model', description: 'Model of orders that name none', kind: 'text', autocomplete: 'model' } as const,
    {
      name: 'seconds',
      description: SETTING_WORDS.seconds.description,
      kind: 'integer',
      min: 1,
      autocomplete: 'setting',
    } as const,
    {
      name: 'aspect',
      description: SETTING_WORDS.aspect.description,
      kind: 'text',
      autocomplete: 'setting',
    } as const,
    {
      name: 'resolution',
      description: SETTING_WORDS.resolution.description,
      kind: 'text',
      autocomplete: 'setting',
    } as const,
    { ...text('images', 'Links to reference images, for models that take them'), alias: 'image' },
    {
      name: 'off',
      description: 'Removes this part of the style; all removes the style',
      kind: 'text',
      choices: [...PARTS, 'all'].map((value) => ({ value, label: value })),
    } as const,
  ].map(administrative),
];

/** `/video style`: shows the styles of the team, and adds, changes and removes them. */
export const style: Subcommand = {
  declaration: {
    name: 'style',
    description: 'Shows the team’s styles',
    example: '/video style house',
    options,
    visibility: 'private',
    isAdministrative: 'options',
  },
  run: async (ports, caller, given) => {
    const isChange = Object.entries(given).some(([name, values]) => name !== 'name' && values.length > 0);
    return isChange ? change(ports, caller, given) : show(ports, caller, optionValue(given, 'name'));
  },
};

async function show(ports: BotPorts, caller: Caller, name: string | undefined): Promise<Reply> {
  const { styles = [] } = await ports.settings.get(teamOf(caller));
  if (name === undefined) {
    const command = `${caller.fields?.administration ?? '/video'} style`;
    const hasFlags = caller.fields === undefined;
    return privately(stylesCard({ styles, command, hasFlags, mayChange: caller.mayAdminister }));
  }
  const found = styleNamed({ styles }, name);
  if (found !== undefined) return privately(styleCard(found, ports.catalog(), null));
  return refused(
    noSuchStyle(
      name,
      styles.map((one) => one.name),
    ),
  );
}

async function change(ports: BotPorts, caller: Caller, given: GivenOptions): Promise<Reply> {
  const read = readStyle(ports.catalog(), given);
  if (!read.ok) return refusedWith(read.problems);
  const { policy = NO_POLICY, styles: stored = [], revision } = await ports.settings.get(teamOf(caller));
  const before = styleNamed({ styles: stored }, read.name);
  const after = read.change(before ?? { name: read.name });
  if (after === null && before === undefined)
    return refused(
      noSuchStyle(
        read.name,
        stored.map((one) => one.name),
      ),
    );
  if (after === null && isAskedFor(policy, read.name)) return refused(styleInPolicy(read.name));
  if (after !== null && Object.keys(after).length === 1) return refused(STYLE_EMPTY);
  if (before === undefined && stored.length >= MAX_STYLES) return refused(tooManyStyles(MAX_STYLES));
  const actor = { person: caller.user, surface: 'command' } as const;
  const { styles = [], ...now } = await ports.settings.change(teamOf(caller), actor, ({ styles: some = [] }) => ({
    styles: changed(some, read.name, read.change),
  }));
  const saved = styleNamed({ styles }, read.name);
  if (saved !== undefined) return privately(styleCard(saved, ports.catalog(), now.revision !== revision));
  return privately(textCard([styleRemoved(read.name)]));
}

/** Returns the styles with one added, changed or removed, by name; `null` where none is left. */
function changed(
  styles: readonly Style[],
  name: string,
  change: (before: Style) => Style | null,
): readonly Style[] | null {
  const after = change(styleNamed({ styles }, name) ?? { name });
  const others = styles.filter((one) => one.name !== name);
  const all = after === null ? others : [...others, after];
  return all.length === 0 ? null : all.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

function isAskedFor({ team, channels }: Policy, name: string): boolean {
  return [team, ...Object.values(channels)].some((rules) => rules.style === name);
}
