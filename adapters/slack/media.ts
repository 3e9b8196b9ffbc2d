import type { GivenOptions } from '#commands/command.ts';
import { fileTooLarge, wrongKindOfFile } from '#commands/sentences/attachments.ts';
import { FILES_STAY_PRIVATE, fileNotFetched } from '#commands/sentences/private-files.ts';
import { isLoopback } from '#src/config.ts';
import { DailiesError } from '#src/errors.ts';
import type { Relay } from '#src/http/relay.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from './clients.ts';

/** A file on Slack, as requests describe it. */
export interface SlackFile {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly mimetype?: string | undefined;
  readonly url_private?: string | undefined;
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

  /** Takes files for one option. */
  async take(to: TeamRef, option: 'image', files: readonly SlackFile[]): Promise<TakenMedia> {
    if (files.length === 0) return { addresses: {}, wrong: [] };
    if (!this.#options.canKeep) return { addresses: {}, wrong: [FILES_STAY_PRIVATE] };
    const taken = await Promise.all(files.map((file) => this.#takeOne(to, option, file)));
    const addresses = taken.flatMap((one) => ('address' in one ? [one.address] : []));
    const wrong = taken.flatMap((one) => ('wrong' in one ? [one.wrong] : []));
    return { addresses: { [option]: addresses }, wrong };
  }

  async #takeOne(
    to: TeamRef,
    option: 'image',
    given: SlackFile,
  ): Promise<{ readonly address: string } | { readonly wrong: string }> {
    const name = given.name ?? given.id ?? 'the file';
    try {
      const file = await this.#whole(to, given);
      if (!file.contentType.startsWith(`${option}/`)) return { wrong: wrongKindOfFile(option, file.name) };
      const { team, enterprise = '' } = to;
      const address = await this.#options.relay.keep({
        ...file,
        opener: { platform: 'slack', key: { team, enterprise } },
      });
      return address === null ? { wrong: FILES_STAY_PRIVATE } : { address };
    } catch (thrown) {
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
    const { url_private: url = '', name = 'file', mimetype: contentType = '' } = file;
    if (!this.#isSlacks(url)) throw new TypeError('fetching a reference file: it is at no address of Slack');
    return { url, name, contentType };
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

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
