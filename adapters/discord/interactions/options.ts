import {
  type APIApplicationCommandInteractionDataBasicOption,
  type APIApplicationCommandInteractionDataOption,
  type APIAttachment,
  type APIInteractionDataResolved,
  ApplicationCommandOptionType,
} from 'discord.js';
import type { GivenOptions } from '#commands/bot-port.ts';
import { splitAddresses } from '#src/videos/reference-addresses.ts';
import { ATTACHMENT_OPTIONS, addressOption } from '../registration/commands.ts';
import { nameOf } from './caller.ts';

/** Attachment given for an option. */
export interface GivenAttachment {
  /** Declared name of the option: `image`, also for `image2`. */
  readonly option: string;
  readonly attachment: APIAttachment;
}

/** Parsed subcommand with its options. */
export interface Given {
  readonly command: string;
  readonly options: GivenOptions;
  /** Attachments in the order of the options; not included in `options`. */
  readonly attachments: readonly GivenAttachment[];
  /** The option being typed, during autocomplete; else `null`. */
  readonly focused: { readonly name: string; readonly typed: string } | null;
}

/**
 * Parses a subcommand of `/video`; `null` if there is none. Discord may send `null` instead of leaving a field out.
 */
export function readGiven(
  options: readonly APIApplicationCommandInteractionDataOption[] | null | undefined,
  resolvedOrNull?: APIInteractionDataResolved | null,
): Given | null {
  const [subcommand] = options ?? [];
  const resolved = resolvedOrNull ?? {};
  if (subcommand?.type !== ApplicationCommandOptionType.Subcommand) return null;
  // Keyed by untrusted names: a null prototype keeps inherited properties out.
  const given: Record<string, string[]> = Object.create(null);
  const attachments: GivenAttachment[] = [];
  let focused: Given['focused'] = null;
  for (const option of subcommand.options ?? []) {
    if ('focused' in option && option.focused === true) focused = { name: option.name, typed: String(option.value) };
    if (option.type === ApplicationCommandOptionType.Attachment) {
      const { attachments: files = {} } = resolved;
      const attachment = Object.hasOwn(files, option.value) ? files[option.value] : undefined;
      if (attachment !== undefined) attachments.push({ option: MEDIA_OF.get(option.name) ?? option.name, attachment });
      continue;
    }
    const name = ADDRESSES_OF.get(option.name) ?? option.name;
    const values = valuesOf(option, resolved);
    if (values.length > 0) given[name] = [...(given[name] ?? []), ...values];
  }
  return { command: subcommand.name, options: given, attachments, focused };
}

function valuesOf(
  option: APIApplicationCommandInteractionDataBasicOption,
  resolved: APIInteractionDataResolved,
): readonly string[] {
  switch (option.type) {
    case ApplicationCommandOptionType.Boolean:
      return option.value ? [''] : [];
    case ApplicationCommandOptionType.User: {
      const user = resolved.users?.[option.value];
      const member = resolved.members?.[option.value];
      return [
        user === undefined ? `<@${option.value}>` : `<@${option.value}|${withoutBrackets(nameOf(user, member))}>`,
      ];
    }
    case ApplicationCommandOptionType.Channel: {
      const name = resolved.channels?.[option.value]?.name ?? '';
      return [name === '' ? `<#${option.value}>` : `<#${option.value}|${withoutBrackets(name)}>`];
    }
    default:
      return ADDRESSES_OF.has(option.name) ? splitAddresses(String(option.value)) : [String(option.value)];
  }
}

/** Removes the characters that would end a mention. */
function withoutBrackets(name: string): string {
  return name.replace(/[<>|]/g, '');
}

const MEDIA_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(ATTACHMENT_OPTIONS).flatMap(([media, names]) => names.map((name) => [name, media] as const)),
);

const ADDRESSES_OF: ReadonlyMap<string, string> = new Map(
  Object.keys(ATTACHMENT_OPTIONS).map((media) => [addressOption(media), media] as const),
);
