import type { GivenOptions } from '#commands/bot-port.ts';
import { fileTooLarge, noReferenceFile, UNNAMED_FILE, wrongKindOfFile } from '#commands/sentences/attachments.ts';
import { FILES_STAY_PRIVATE, fileNotFetched } from '#commands/sentences/private-files.ts';
import { isLoopback } from '#src/config.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Relay, RelayedFile } from '#src/media/relay.ts';
import { readableMedia } from '#src/videos/media-kind.ts';
import { MEDIA_KINDS, type MediaKind } from '#src/videos/request.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';

/** A file on Slack, as requests describe it. */
export interface SlackFile {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly mimetype?: string | undefined;
  readonly url_private?: string | undefined;
  /** Its page, which asks for Slack's login. */
  readonly permalink?: string | undefined;
}

/** Reference files as the bot takes them. */
export interface TakenMedia {
  /** Their addresses, by option. */
  readonly addresses: GivenOptions;
  /** A sentence for each that could not be taken. */
  readonly wrong: readonly string[];
}

/** Collaborators of {@link ReferenceMedia}. */
export interface ReferenceMediaOptions {
  readonly clients: Clients;
  readonly relay: Relay;
  /** Whether files can be handed on at an address of our own. */
  readonly canKeep: boolean;
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
}

/**
 * Takes the files that people give. They are private on Slack: fetched with the bot's token, kept, and handed on at an
 * address of our own; where there is none, that is said.
 */
export class ReferenceMedia {
  readonly #options: ReferenceMediaOptions;

  constructor(options: ReferenceMediaOptions) {
    this.#options = options;
  }

  /** Whether files can be taken at all. */
  get canKeep(): boolean {
    return this.#options.canKeep;
  }

  /** Takes files as what they are: images, audio or video. */
  async take(to: TeamRef, files: readonly SlackFile[]): Promise<TakenMedia> {
    if (files.length === 0) return { addresses: {}, wrong: [] };
    if (!this.#options.canKeep) return { addresses: {}, wrong: [FILES_STAY_PRIVATE] };
    const taken = await Promise.all(files.map((file) => this.#takeOne(to, file)));
    const addresses: Record<string, string[]> = {};
    for (const one of taken) {
      if ('address' in one) addresses[one.kind] = [...(addresses[one.kind] ?? []), one.address];
    }
    return { addresses, wrong: taken.flatMap((one) => ('wrong' in one ? [one.wrong] : [])) };
  }

  /** What a reference file of a request is called, for people: an address that somebody typed is its own name. */
  async nameOf(url: string): Promise<string> {
    const file = await this.#options.relay.describe(url);
    return file === null ? url : (file.name ?? UNNAMED_FILE);
  }

  async #takeOne(
    to: TeamRef,
    given: SlackFile,
  ): Promise<{ readonly kind: MediaKind; readonly address: string } | { readonly wrong: string }> {
    try {
      const file = await this.#whole(to, given);
      const media = readableMedia(file);
      if (media === null) return { wrong: unreadable(file) };
      const { kind, contentType } = media;
      const { team, enterprise = '' } = to;
      const opener = { platform: 'slack', key: { team, enterprise } };
      const address = await this.#options.relay.keep({ ...file, contentType, opener });
      return address === null ? { wrong: FILES_STAY_PRIVATE } : { kind, address };
    } catch (thrown) {
      const { name = given.id ?? 'the file', mimetype } = given;
      const option = readableMedia({ name, contentType: mimetype })?.kind ?? 'file';
      this.#options.logger.warn({ err: thrown, option }, 'a reference file could not be fetched');
      const isTooLarge = thrown instanceof DailiesError && thrown.code === 'too_large';
      return { wrong: isTooLarge ? fileTooLarge(option, name, thrown.limitBytes) : fileNotFetched(option, name) };
    }
  }

  /** Files shared from other workspaces come as an id alone. @see https://docs.slack.dev/apis/slack-connect#files */
  async #whole(to: TeamRef, given: SlackFile) {
    const { id } = given;
    const isWhole = given.url_private !== undefined && given.mimetype !== undefined;
    const file: SlackFile =
      isWhole || id === undefined
        ? given
        : ((
            await this.#options.clients.call({
              to,
              lane: 'answer',
              doing: 'looking at a reference file',
              run: (client) => client.files.info({ file: id }),
            })
          ).file ?? given);
    const { url_private: url = '', name = 'file', mimetype: contentType = '', permalink = '' } = file;
    if (!this.#isSlacks(url)) throw new TypeError('fetching a reference file: it is at no address of Slack');
    return { url, name, contentType, ...(this.#isSlacks(permalink) ? { permalink } : {}) };
  }

  /** Files of other services stand in messages too, and the token must not go there. */
  #isSlacks(url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { protocol, hostname } = new URL(url);
    const { apiUrl } = this.#options;
    if (apiUrl === undefined) return protocol === 'https:' && isWithin(hostname, 'slack.com');
    const home = new URL(apiUrl).hostname;
    if (isLoopback(home)) return isLoopback(hostname);
    return protocol === 'https:' && (isWithin(hostname, home) || isWithin(hostname, 'slack.com'));
  }
}

/** Why a file that no video service reads is not taken. */
function unreadable({ name, contentType }: Pick<RelayedFile, 'name' | 'contentType'>): string {
  const kind = MEDIA_KINDS.find((one) => contentType.startsWith(`${one}/`));
  return kind === undefined ? noReferenceFile(name) : wrongKindOfFile(kind, name);
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
