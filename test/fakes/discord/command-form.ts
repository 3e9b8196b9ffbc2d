import { z } from 'zod';
import { checked, invalid, rule } from './form.ts';
import type { Json } from './refusal.ts';

/** @see discord docs: interactions/application-commands, "Application Command Naming" */
const name = z
  .string()
  .regex(/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u, 'is no command name')
  .refine((value) => value === value.toLowerCase(), 'must be lower case');
const description = z.string().min(1).max(100);
/** @see discord docs: reference, "Locales" */
const locales = z.enum([
  'id',
  'da',
  'de',
  'en-GB',
  'en-US',
  'es-ES',
  'es-419',
  'fr',
  'hr',
  'it',
  'lt',
  'hu',
  'nl',
  'no',
  'pl',
  'pt-BR',
  'ro',
  'fi',
  'sv-SE',
  'vi',
  'tr',
  'cs',
  'el',
  'bg',
  'ru',
  'uk',
  'hi',
  'th',
  'zh-CN',
  'ja',
  'zh-TW',
  'ko',
]);
const localized = <Value extends z.ZodType>(value: Value) => z.partialRecord(locales, value).nullish();

/** @see discord docs: interactions/application-commands, "Option Choice Structure" */
const choice = z.looseObject({
  name: z.string().min(1).max(100),
  name_localizations: localized(z.string().min(1).max(100)),
  value: z.union([z.string().max(100), z.number()]),
});

/** An option, subcommand or group of a command, as registered. */
export interface Option {
  readonly type: number;
  readonly name: string;
  readonly description: string;
  readonly name_localizations?: Readonly<Record<string, string>> | null | undefined;
  readonly description_localizations?: Readonly<Record<string, string>> | null | undefined;
  readonly required?: boolean | undefined;
  readonly autocomplete?: boolean | undefined;
  readonly choices?: readonly z.output<typeof choice>[] | undefined;
  readonly options?: readonly Option[] | undefined;
  readonly min_value?: number | undefined;
  readonly max_value?: number | undefined;
  readonly min_length?: number | undefined;
  readonly max_length?: number | undefined;
}

/** @see discord docs: interactions/application-commands, "Application Command Option Structure" */
const option: z.ZodType<Option> = z
  .looseObject({
    type: z.int().min(1).max(11),
    name,
    name_localizations: localized(name),
    description,
    description_localizations: localized(description),
    required: z.boolean().optional(),
    autocomplete: z.boolean().optional(),
    choices: z.array(choice).max(25).optional(),
    options: z.lazy(() => options).optional(),
    min_value: z.number().optional(),
    max_value: z.number().optional(),
    min_length: z.int().min(0).max(6000).optional(),
    max_length: z.int().min(1).max(6000).optional(),
    channel_types: z.array(z.int()).optional(),
  })
  .superRefine(rule(checkOption));

const options: z.ZodType<readonly Option[]> = z
  .array(option)
  .max(25)
  .superRefine(
    rule((all: readonly Option[], complain) => {
      if (new Set(all.map((one) => one.name)).size < all.length) complain('two options share a name');
      const firstOptional = all.findIndex(({ required }) => required !== true);
      const lastRequired = all.findLastIndex(({ required }) => required === true);
      if (firstOptional !== -1 && firstOptional < lastRequired)
        complain('required options must be placed before others');
      const nested = all.filter(({ type }) => type <= 2).length;
      if (nested > 0 && nested < all.length) complain('subcommands do not stand beside other options');
    }),
  );

function checkOption(one: Option, complain: (message: string) => void): void {
  const only = (types: readonly number[], ...fields: readonly (keyof Option)[]): void => {
    const wrong = fields.filter((field) => one[field] !== undefined && !types.includes(one.type));
    for (const field of wrong) complain(`type ${one.type} takes no ${field}`);
  };
  only([1, 2], 'options');
  only([3, 4, 5, 6, 7, 8, 9, 10, 11], 'required');
  only([3, 4, 10], 'choices', 'autocomplete');
  only([4, 10], 'min_value', 'max_value');
  only([3], 'min_length', 'max_length');
  if (one.autocomplete === true && (one.choices?.length ?? 0) > 0) complain('autocomplete does not go with choices');
  const wanted = one.type === 3 ? 'string' : 'number';
  if (one.choices?.some(({ value }) => typeof value !== wanted)) complain(`the choices must be ${wanted}s`);
  if (one.type === 4 && one.choices?.some(({ value }) => !Number.isInteger(value)))
    complain('the choices must be integers');
  if (one.type === 2 && one.options?.some(({ type }) => type !== 1)) complain('a group holds subcommands');
  if (one.type === 1 && one.options?.some(({ type }) => type <= 2)) complain('a subcommand holds no subcommand');
}

/** @see discord docs: interactions/application-commands, "Application Command Structure" */
const command = z
  .looseObject({
    type: z.int().min(1).max(3).default(1),
    name: z.string().min(1).max(32),
    name_localizations: localized(z.string().min(1).max(32)),
    description: z.string().max(100).default(''),
    description_localizations: localized(z.string().max(100)),
    options: options.optional(),
    default_member_permissions: z.string().regex(/^\d+$/).nullish(),
    dm_permission: z.undefined('is deprecated: use contexts').or(z.null()).optional(),
    nsfw: z.boolean().optional(),
    integration_types: z
      .array(z.union([z.literal(0), z.literal(1)]))
      .min(1)
      .optional(),
    contexts: z.array(z.union([z.literal(0), z.literal(1), z.literal(2)])).nullish(),
  })
  .superRefine(
    rule((one, complain) => {
      const isSlash = one.type === 1;
      if (isSlash && !name.safeParse(one.name).success) complain('is no command name', ['name']);
      if (isSlash === (one.description === ''))
        complain('a slash command, and no other, has a description', ['description']);
      if (!isSlash && (one.options?.length ?? 0) > 0) complain('only a slash command has options', ['options']);
      const size = weightOf(one);
      if (size > 8000) complain(`Command exceeds maximum size (8000): ${size}`);
    }),
  );

/** A command as registered. */
export type Command = z.output<typeof command>;

/**
 * @see discord docs: interactions/application-commands, "Localization": the longest localization of each text counts,
 * 8000 in total
 */
function weightOf(one: Option): number {
  const longest = (text: string, others: Option['name_localizations']): number =>
    Math.max(text.length, ...Object.values(others ?? {}).map(({ length }) => length));
  const choiceSizes = (one.choices ?? []).map(
    ({ name: label, name_localizations: others, value }) => longest(label, others) + String(value).length,
  );
  const own = longest(one.name, one.name_localizations) + longest(one.description, one.description_localizations);
  return [own, ...choiceSizes, ...(one.options ?? []).map(weightOf)].reduce((sum, size) => sum + size, 0);
}

/** Maximum number of commands by type. @see discord docs: interactions/application-commands, "Registering a Command" */
const MAX_COMMANDS: Readonly<Record<number, number>> = { 1: 100, 2: 15, 3: 15 };

/**
 * Validates the commands of one scope.
 * @throws Refusal 50035
 */
export function checkedCommands(body: unknown, isGlobal: boolean): readonly (Command & Json)[] {
  const all = checked(z.array(command), body, 'commands');
  for (const { name: given, integration_types, contexts } of all) {
    // "Only for globally-scoped commands": "Application Command Structure".
    if (!isGlobal && (integration_types !== undefined || contexts != null)) {
      throw invalid('commands', `${given} has integration_types or contexts in a server's own commands`);
    }
  }
  const keys = all.map(({ type, name: given }) => `${type} ${given}`);
  if (new Set(keys).size < keys.length) throw invalid('commands', 'two commands share a name');
  for (const [type, most] of Object.entries(MAX_COMMANDS)) {
    if (all.filter((one) => String(one.type) === type).length > most)
      throw invalid('commands', `more than ${most} of type ${type}`);
  }
  return all;
}
