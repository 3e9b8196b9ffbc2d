import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  PermissionFlagsBits,
  type RESTPostAPIApplicationCommandsJSONBody,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
} from 'discord.js';
import type { Command, OptionDeclaration, OptionFields } from '#commands/bot-port.ts';
import { ACTIONS } from '#commands/sentences/forms.ts';

/** Attachment options by kind of reference media. @see docs/commands.md */
export const ATTACHMENT_OPTIONS = {
  image: ['image', 'image2', 'image3'],
  audio: ['audio'],
  video: ['video'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Returns the name of the option that takes URLs instead of attachments. */
export function addressOption(name: string): string {
  return `${name}_url`;
}

/** Option for a text file, in place of one that takes several lines, which Discord's options cannot. */
export const TEXT_OPTION = 'file';

/** Names of the options that take files or links, for the help and error messages. */
export const OPTION_FIELDS: OptionFields = {
  files: { ...ATTACHMENT_OPTIONS, shots: [TEXT_OPTION] },
  links: Object.fromEntries(Object.keys(ATTACHMENT_OPTIONS).map((kind) => [kind, addressOption(kind)])),
  administration: '/video-admin',
  hasAliases: true,
};

const MESSAGE_ACTIONS = [ACTIONS.animate, ACTIONS.storyboard, ACTIONS.retake];

/** Returns the contexts of global commands: servers and direct messages, and with user installs everywhere else. */
function contextsOf(hasUserInstall: boolean) {
  const { GuildInstall, UserInstall } = ApplicationIntegrationType;
  const { Guild, BotDM, PrivateChannel } = InteractionContextType;
  return hasUserInstall
    ? { integration_types: [GuildInstall, UserInstall], contexts: [Guild, BotDM, PrivateChannel] }
    : { integration_types: [GuildInstall], contexts: [Guild, BotDM] };
}

/** Options of {@link commandDefinitions}. */
interface DefinitionsWanted {
  readonly commands: readonly Command[];
  /** True for global commands; commands of a single server have no contexts. */
  readonly isGlobal: boolean;
  /** True if users may install the app for themselves. Default: false. */
  readonly hasUserInstall?: boolean;
}

/**
 * Builds the definitions of `/video` with its subcommands, of `/video-admin` with the administrative ones, since
 * permissions apply to top-level commands, of the aliases, and of the actions on messages and people. Server owners restrict the other commands in
 * Discord's own settings. In a direct message with the bot, permissions do not apply: there `/video-admin` is for those
 * named in `ADMINS`.
 */
export function commandDefinitions({
  commands,
  isGlobal,
  hasUserInstall = false,
}: DefinitionsWanted): readonly RESTPostAPIApplicationCommandsJSONBody[] {
  const where = isGlobal ? contextsOf(hasUserInstall) : {};
  const administrative = commands.filter(({ isAdministrative }) => isAdministrative !== undefined);
  // Permissions apply to whole commands: one with administrative options is under both.
  const others = commands
    .filter(({ isAdministrative }) => isAdministrative !== true)
    .map((one) => ({ ...one, options: one.options.filter(({ isAdministrative }) => isAdministrative !== true) }));
  const optionsFor = (some: readonly Command[]) => some.map((command) => subcommand(command));
  const admin: RESTPostAPIApplicationCommandsJSONBody = {
    type: ApplicationCommandType.ChatInput,
    name: 'video-admin',
    description: 'Budgets, approvals and settings of your team',
    default_member_permissions: String(PermissionFlagsBits.ManageGuild),
    options: optionsFor(administrative),
    ...(isGlobal ? contextsOf(false) : {}),
  };
  return [
    {
      type: ApplicationCommandType.ChatInput,
      name: 'video',
      description: 'Make videos with your team',
      options: optionsFor(others),
      ...where,
    },
    ...(administrative.length === 0 ? [] : [admin]),
    ...others.flatMap((command) => aliasOf(command).map((alias) => ({ ...alias, ...where }))),
    ...MESSAGE_ACTIONS.map((name) => ({ type: ApplicationCommandType.Message as const, name, ...where })),
    { type: ApplicationCommandType.User, name: ACTIONS.clips, ...where },
  ];
}

/** Builds the definition of a command's alias, if it has one. */
function aliasOf(command: Command): readonly RESTPostAPIChatInputApplicationCommandsJSONBody[] {
  const { alias, description } = command;
  if (alias === undefined) return [];
  const options = (subcommand(command).options ?? []).filter(({ name }) => alias.fields.includes(name));
  return [{ type: ApplicationCommandType.ChatInput, name: alias.name, description, options }];
}

function subcommand(command: Command): APIApplicationCommandSubcommandOption {
  const options = command.options.flatMap((option) => optionsOf(option));
  return {
    type: ApplicationCommandOptionType.Subcommand,
    name: command.name,
    description: command.description,
    // Discord requires the required options first.
    options: options.toSorted((one, other) => Number(other.required ?? false) - Number(one.required ?? false)),
  };
}

function optionsOf(option: OptionDeclaration): readonly APIApplicationCommandBasicOption[] {
  const { name, description, required = false } = option;
  const head = { name, description, required };
  switch (option.kind) {
    case 'text':
      if (option.perLine === true) {
        const text = 'Text file with one shot per line; without it, a form opens';
        return [{ type: ApplicationCommandOptionType.Attachment, name: TEXT_OPTION, description: text, required }];
      }
      return [{ type: ApplicationCommandOptionType.String, ...head, ...textLimits(option) }];
    case 'integer':
      return [{ type: ApplicationCommandOptionType.Integer, ...head, ...numberLimits(option) }];
    case 'flag':
      return [{ type: ApplicationCommandOptionType.Boolean, ...head }];
    case 'person':
      return [{ type: ApplicationCommandOptionType.User, ...head }];
    case 'approver':
      return [{ type: ApplicationCommandOptionType.Mentionable, ...head }];
    case 'channel':
      return [{ type: ApplicationCommandOptionType.Channel, ...head, channel_types: [...CHANNELS_TO_POST_IN] }];
    case 'address':
      return mediaOptions(option);
  }
}

/** Kinds of channels that an option or a form offers. */
export const CHANNELS_TO_POST_IN = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.GuildVoice,
] as const;

function mediaOptions({ name, autocomplete }: OptionDeclaration): readonly APIApplicationCommandBasicOption[] {
  const names = autocomplete === 'reference' ? ', or their names such as @mug' : '';
  const attachments = ATTACHMENT_OPTIONS[name as keyof typeof ATTACHMENT_OPTIONS] ?? [name];
  return [
    ...attachments.map((attachment, index) => ({
      type: ApplicationCommandOptionType.Attachment as const,
      name: attachment,
      description: `${index === 0 ? 'Reference' : 'Another reference'} ${name}`,
      required: false,
    })),
    {
      type: ApplicationCommandOptionType.String,
      name: addressOption(name),
      description: `Links to reference ${name === 'audio' ? 'audio' : `${name}s`}${names}, separated by spaces`,
      required: false,
      ...(autocomplete === undefined ? {} : { autocomplete: true as const }),
    },
  ];
}

function textLimits({ minLength, maxLength, choices, autocomplete }: OptionDeclaration) {
  const lengths = {
    ...(minLength === undefined ? {} : { min_length: minLength }),
    ...(maxLength === undefined ? {} : { max_length: maxLength }),
  };
  if (choices !== undefined)
    return { ...lengths, choices: choices.map(({ value, label }) => ({ name: label, value })) };
  return autocomplete === undefined ? lengths : { ...lengths, autocomplete: true as const };
}

function numberLimits({ min, max, choices, autocomplete }: OptionDeclaration) {
  const range = { ...(min === undefined ? {} : { min_value: min }), ...(max === undefined ? {} : { max_value: max }) };
  if (choices !== undefined)
    return { ...range, choices: choices.map(({ value, label }) => ({ name: label, value: Number(value) })) };
  return autocomplete === undefined ? range : { ...range, autocomplete: true as const };
}
