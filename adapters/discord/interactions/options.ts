import {
  type APIApplicationCommandInteractionDataBasicOption,
  type APIApplicationCommandInteractionDataOption,
  type APIAttachment,
  type APIInteractionDataResolved,
  ApplicationCommandOptionType,
} from 'discord.js';
import type { GivenOptions } from '#commands/bot-port.ts';
import { noTextFile, textNotRead, wrongKindOfFile } from '#commands/sentences/attachments.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { isTextFile, type Relay, readTextFile } from '#src/media/index.ts';
import { readableMedia, splitAddresses } from '#src/videos/index.ts';
import { ATTACHMENT_OPTIONS, addressOption, TEXT_OPTION } from '../registration/commands.ts';
import { nameOf } from './caller.ts';

const { Subcommand } = ApplicationCommandOptionType;

export interface GivenAttachment {
  /** Declared name of the option: `image`, also for `image2`. */
  readonly option: string;
  readonly attachment: APIAttachment;
}

/** Parsed subcommand with its options. */
interface ParsedCommand {
  readonly command: string;
  readonly options: GivenOptions;
  /** Attachments in the order of the options; not included in `options`. */
  readonly attachments: readonly GivenAttachment[];
  /** The option being typed, by its declared name, during autocomplete; else `null`. */
  readonly focused: { readonly name: string; readonly typed: string } | null;
}

/**
 * Parses a subcommand of `/video`; `null` if there is none. Discord may send `null` instead of leaving a field out.
 * @param aliased the command that a top-level one is an alias of
 */
export function parseCommand(
  options: readonly APIApplicationCommandInteractionDataOption[] | null | undefined,
  resolvedOrNull?: APIInteractionDataResolved | null,
  aliased?: string,
): ParsedCommand | null {
  const [first] = options ?? [];
  const resolved = resolvedOrNull ?? {};
  const own = options as readonly APIApplicationCommandInteractionDataBasicOption[] | null | undefined;
  const subcommand = aliased === undefined ? first : { name: aliased, type: Subcommand, options: own };
  if (subcommand?.type !== Subcommand) return null;
  // Keyed by untrusted names: a null prototype keeps inherited properties out.
  const given: Record<string, string[]> = Object.create(null);
  const attachments: GivenAttachment[] = [];
  let focused: ParsedCommand['focused'] = null;
  for (const option of subcommand.options ?? []) {
    const name = ADDRESSES_OF.get(option.name) ?? option.name;
    if ('focused' in option && option.focused === true) focused = { name, typed: String(option.value) };
    if (option.type === ApplicationCommandOptionType.Attachment) {
      const { attachments: files = {} } = resolved;
      const attachment = Object.hasOwn(files, option.value) ? files[option.value] : undefined;
      if (attachment !== undefined) attachments.push({ option: MEDIA_OF.get(option.name) ?? option.name, attachment });
      continue;
    }
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
    case ApplicationCommandOptionType.Mentionable:
    case ApplicationCommandOptionType.User:
      return [mentionValue(option.value, resolved)];
    case ApplicationCommandOptionType.Channel:
      return [channelValue(option.value, resolved)];
    default:
      return ADDRESSES_OF.has(option.name) ? splitAddresses(String(option.value)) : [String(option.value)];
  }
}

/** Returns a chosen role or user as the value of an option, with the name that Discord sent. */
export function mentionValue(
  id: string,
  { roles, users, members }: Pick<APIInteractionDataResolved, 'roles' | 'users' | 'members'>,
): string {
  const role = roles?.[id];
  if (role !== undefined) return `<@&${id}|@${withoutBrackets(role.name)}>`;
  const user = users?.[id];
  return user === undefined ? `<@${id}>` : `<@${id}|${withoutBrackets(nameOf(user, members?.[id]))}>`;
}

/** Returns a chosen channel as the value of an option. */
export function channelValue(id: string, { channels }: APIInteractionDataResolved): string {
  const name = channels?.[id]?.name ?? '';
  return name === '' ? `<#${id}>` : `<#${id}|${withoutBrackets(name)}>`;
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

/** Reference files of a request, resolved to URLs. */
export interface ResolvedMedia {
  readonly addresses: GivenOptions;
  /** Error messages, one for each file of the wrong kind. */
  readonly wrong: readonly string[];
  /** Earliest expiry of the URLs; `null` if none expires. */
  readonly expiresAtMs: number | null;
}

/** Minimum interval between expiry warnings to one user. */
const WARN_EVERY_MS = 24 * 3_600_000;
/** Number of users whose last warning is remembered. */
const MAX_WARNED = 10_000;

/** Resolves attached files to URLs: our own relay URL if the relay takes the file, else Discord's. */
export class ReferenceMedia {
  readonly #relay: Relay;
  readonly #clock: Clock;
  readonly #warnedAtMs = new BoundedMap<string, number>(MAX_WARNED);

  constructor(relay: Relay, clock: Clock) {
    this.#relay = relay;
    this.#clock = clock;
  }

  resolve(given: readonly GivenAttachment[]): ResolvedMedia {
    const addresses: Record<string, string[]> = {};
    const wrong: string[] = [];
    const expiries: number[] = [];
    for (const { option, attachment } of given) {
      const { url, filename: name, size: bytes } = attachment;
      const media = readableMedia({ name, contentType: attachment.content_type });
      if (media?.kind !== option) {
        wrong.push(wrongKindOfFile(option, name));
        continue;
      }
      const relayed = this.#relay.offer({ url, name, contentType: media.contentType, bytes });
      const expiresAtMs = expiryOf(url);
      if (relayed === null && expiresAtMs !== null) expiries.push(expiresAtMs);
      addresses[option] = [...(addresses[option] ?? []), relayed ?? url];
    }
    return { addresses, wrong, expiresAtMs: expiries.length === 0 ? null : Math.min(...expiries) };
  }

  /** Returns whether to warn the user of an expiry, at most once a day, and records the warning. */
  shouldWarn(user: string): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - (this.#warnedAtMs.get(user) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return false;
    this.#warnedAtMs.set(user, nowMs);
    return true;
  }
}

/**
 * Returns the expiry of a signed URL; `null` if it has none.
 * @see https://discord.com/developers/docs/reference#signed-attachment-cdn-urls
 */
function expiryOf(url: string): number | null {
  const seconds = Number.parseInt(new URL(url).searchParams.get('ex') ?? '', 16);
  return Number.isNaN(seconds) ? null : seconds * 1000;
}

/** Separates the text files of a command from its reference files. */
export function separated(
  given: readonly GivenAttachment[],
): readonly [texts: readonly GivenAttachment[], media: readonly GivenAttachment[]] {
  const isText = ({ option }: GivenAttachment): boolean => option === TEXT_OPTION;
  return [given.filter(isText), given.filter((one) => !isText(one))];
}

/** Reads a text file as the option that takes several lines; none without a file. Never rejects. */
export async function textOf(
  given: GivenAttachment | undefined,
  logger: Logger,
): Promise<{ readonly options: GivenOptions } | { readonly wrong: string }> {
  if (given === undefined) return { options: {} };
  const { url, filename: name, content_type: contentType } = given.attachment;
  if (!isTextFile({ name, contentType })) return { wrong: noTextFile(TEXT_OPTION, name) };
  try {
    return { options: { shots: [await readTextFile({ url })] } };
  } catch (thrown) {
    const error = asDailiesError(thrown, 'fetching a text file from Discord');
    logger.warn({ event: 'discord_text_file_failed', err: error }, 'failed to fetch a text file from Discord');
    return { wrong: textNotRead(TEXT_OPTION, name, error) };
  }
}
