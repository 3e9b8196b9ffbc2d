import type { FieldProblem, GivenOptions } from '#commands/bot-port.ts';
import {
  FILES_STAY_PRIVATE,
  fileNotFetched,
  fileTooLarge,
  noReferenceFile,
  noTextFile,
  textNotRead,
  UNNAMED_FILE,
  wrongKindOfFile,
} from '#commands/sentences/attachments.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { isTextFile, type Relay, type RelayedFile, readTextFile } from '#src/media/index.ts';
import { isLoopbackHost, MEDIA_KINDS, type MediaKind, readableMedia } from '#src/videos/index.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';

/** A file on Slack, as described in payloads. */
export interface SlackFile {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly mimetype?: string | undefined;
  readonly url_private?: string | undefined;
  /** URL of its page, which requires Slack's login. */
  readonly permalink?: string | undefined;
}

const STAYS_PRIVATE: FieldProblem = { field: null, sentence: FILES_STAY_PRIVATE };

/** Result of taking reference files. */
interface TakenMedia {
  /** Relay URLs, by option. */
  readonly addresses: GivenOptions;
  /** An error for each file that was rejected, with the option of its media type. */
  readonly wrong: readonly FieldProblem[];
}

interface ReferenceMediaOptions {
  readonly clients: Clients;
  readonly relay: Relay;
  /** Returns the request headers to download files of a team. */
  readonly headersFor: (to: TeamRef) => Promise<Readonly<Record<string, string>>>;
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
}

/**
 * Takes reference files. Files on Slack are private: the relay fetches them with the bot's token, keeps them and serves
 * them at a URL of this server, or has them sent as they are; where neither reaches a service, they are refused.
 */
export class ReferenceMedia {
  readonly #options: ReferenceMediaOptions;

  constructor(options: ReferenceMediaOptions) {
    this.#options = options;
  }

  /** Whether any service can be given reference files. */
  get canKeep(): boolean {
    return this.#options.relay.reaches();
  }

  /** Stores files in the relay, by their media type: image, audio or video. */
  async take(to: TeamRef, files: readonly SlackFile[]): Promise<TakenMedia> {
    if (files.length === 0) return { addresses: {}, wrong: [] };
    if (!this.canKeep) return { addresses: {}, wrong: [STAYS_PRIVATE] };
    const taken = await Promise.all(files.map((file) => this.#takeOne(to, file)));
    const addresses: Record<string, string[]> = {};
    for (const one of taken) {
      if ('address' in one) addresses[one.kind] = [...(addresses[one.kind] ?? []), one.address];
    }
    return { addresses, wrong: taken.flatMap((one) => ('wrong' in one ? [one.wrong] : [])) };
  }

  /** Reads a text file as lines to append to a command. Needs no public address: the text stays here. Never rejects. */
  async textOf(to: TeamRef, given: SlackFile): Promise<{ readonly text: string } | { readonly wrong: FieldProblem }> {
    const { name = 'the file' } = given;
    try {
      const [file, headers] = await Promise.all([this.#describe(to, given), this.#options.headersFor(to)]);
      const { url } = file;
      if (!isTextFile(file)) return { wrong: { field: null, sentence: noTextFile('file', file.name) } };
      return { text: await readTextFile({ url }, headers) };
    } catch (thrown) {
      const error = asDailiesError(thrown, 'fetching a text file from Slack');
      this.#options.logger.warn(
        { event: 'slack_text_file_failed', err: error },
        'failed to fetch a text file from Slack',
      );
      return { wrong: { field: null, sentence: textNotRead('file', name, error) } };
    }
  }

  /** Returns the display name of a request's reference file; a typed URL is its own name. */
  async nameOf(url: string): Promise<string> {
    const file = await this.#options.relay.describe(url);
    return file === null ? url : (file.name ?? UNNAMED_FILE);
  }

  async #takeOne(
    to: TeamRef,
    given: SlackFile,
  ): Promise<{ readonly kind: MediaKind; readonly address: string } | { readonly wrong: FieldProblem }> {
    try {
      const file = await this.#describe(to, given);
      const media = readableMedia(file);
      if (media === null) return { wrong: unreadable(file) };
      const { kind, contentType } = media;
      const { team, enterprise = '' } = to;
      const opener = { platform: 'slack', key: { team, enterprise } };
      const address = await this.#options.relay.keep({ ...file, contentType, opener });
      return address === null ? { wrong: STAYS_PRIVATE } : { kind, address };
    } catch (thrown) {
      const { name = given.id ?? 'the file', mimetype } = given;
      const option = readableMedia({ name, contentType: mimetype })?.kind ?? 'file';
      this.#options.logger.warn(
        { event: 'slack_reference_file_failed', err: thrown, option },
        'failed to fetch a reference file from Slack',
      );
      const isTooLarge = thrown instanceof DailiesError && thrown.code === 'too_large';
      const sentence = isTooLarge ? fileTooLarge(option, name, thrown.limitBytes) : fileNotFetched(option, name);
      return { wrong: { field: option, sentence } };
    }
  }

  /** Returns a file's details; for files shared from other workspaces, payloads only have the id. @see https://docs.slack.dev/apis/slack-connect#files */
  async #describe(to: TeamRef, given: SlackFile) {
    const { id } = given;
    const isComplete = given.url_private !== undefined && given.mimetype !== undefined;
    const file: SlackFile =
      isComplete || id === undefined
        ? given
        : ((
            await this.#options.clients.answer(to, 'looking at a reference file', (client) =>
              client.files.info({ file: id }),
            )
          ).file ?? given);
    const { url_private: url = '', name = 'file', mimetype: contentType = '', permalink = '' } = file;
    if (!this.#isSlacks(url)) throw new TypeError('fetching a reference file: it is at no address of Slack');
    return { url, name, contentType, ...(this.#isSlacks(permalink) ? { permalink } : {}) };
  }

  /** Returns whether a URL is Slack's: messages also contain files of other services, which must not get the token. */
  #isSlacks(url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { protocol, hostname } = new URL(url);
    const { apiUrl } = this.#options;
    if (apiUrl === undefined) return protocol === 'https:' && isWithin(hostname, 'slack.com');
    const home = new URL(apiUrl).hostname;
    if (isLoopbackHost(home)) return isLoopbackHost(hostname);
    return protocol === 'https:' && (isWithin(hostname, home) || isWithin(hostname, 'slack.com'));
  }
}

/** Returns the refusal of a file that video services cannot read. */
function unreadable({ name, contentType }: Pick<RelayedFile, 'name' | 'contentType'>): FieldProblem {
  const field = MEDIA_KINDS.find((one) => contentType.startsWith(`${one}/`)) ?? null;
  return { field, sentence: field === null ? noReferenceFile(name) : wrongKindOfFile(field, name) };
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

export interface FoundImage extends SlackFile {
  /** Its public URL; absent for files on Slack. */
  readonly address?: string | undefined;
}

/** The parts of a message that may contain an image. */
export interface MessageLike {
  readonly files?: readonly SlackFile[];
  readonly attachments?: readonly {
    readonly image_url?: unknown;
    readonly thumb_url?: unknown;
    readonly files?: readonly SlackFile[];
    readonly blocks?: readonly BlockLike[];
  }[];
  readonly blocks?: readonly BlockLike[];
}

interface BlockLike {
  readonly type?: unknown;
  readonly image_url?: unknown;
}

/** Returns the first image of a message: uploaded, in a block, or in the preview of a link or a shared message. */
export function imageIn(message: MessageLike): FoundImage | null {
  const attachments = message.attachments ?? [];
  for (const { files = [] } of [message, ...attachments]) {
    // Without a readable image, picks an unreadable one, so that the refusal can name it.
    const file = files.find(isReadableImage) ?? files.find(({ mimetype }) => mimetype?.startsWith('image/'));
    if (file !== undefined) return file;
  }
  const blocks = [message, ...attachments].flatMap((part) => part.blocks ?? []);
  const addresses = [
    ...blocks.filter(({ type }) => type === 'image').map((block) => block.image_url),
    ...attachments.flatMap(({ image_url, thumb_url }) => [image_url, thumb_url]),
  ];
  const address = addresses.find((one): one is string => typeof one === 'string' && /^https?:/u.test(one));
  return address === undefined ? null : { address };
}

/** Returns whether a file may be a readable image; one from another workspace, with only an id, is checked later. */
function isReadableImage({ id, name = '', mimetype }: SlackFile): boolean {
  if (mimetype === undefined) return id !== undefined;
  return readableMedia({ name, contentType: mimetype })?.kind === 'image';
}
