import type { types } from '@slack/bolt';
import { linkPreview } from '#commands/sentences/link-preview.ts';
import type { Logger } from '#src/logger.ts';
import type { ReadLink } from '#src/own-links.ts';
import type { Catalog } from '#src/videos/index.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import type { Permissions } from '../web-api/permissions.ts';
import { renderCard } from './render.ts';

interface LinkPreviewsOptions {
  readonly clients: Clients;
  readonly permissions: Pick<Permissions, 'isInternal'>;
  readonly readLink: ReadLink;
  readonly catalog: () => Catalog;
  readonly platform: string;
  readonly logger: Logger;
}

/** The fields used of the event. @see https://docs.slack.dev/reference/events/link_shared */
interface LinkShared {
  readonly channel: string;
  readonly message_ts: string;
  readonly links: readonly { readonly url: string }[];
  readonly unfurl_id?: string | undefined;
  readonly source?: string | undefined;
}

/** Most links of a message that get a preview. */
const MAX_LINKS = 5;

/**
 * Previews of the bot's own links to clips and to the gallery. A link in the composer has none: its channel is not known.
 * @see https://docs.slack.dev/messaging/unfurling-links-in-messages
 */
export class LinkPreviews {
  readonly #options: LinkPreviewsOptions;

  constructor(options: LinkPreviewsOptions) {
    this.#options = options;
  }

  /** Shows the previews in a message. Best effort: a failure is logged. */
  async show(to: TeamRef, { channel, message_ts: ts, links, unfurl_id, source }: LinkShared): Promise<void> {
    if (source === 'composer') return;
    const { clients, logger } = this.#options;
    try {
      const found = await Promise.all(links.slice(0, MAX_LINKS).map(({ url }) => this.#previewOf(to, channel, url)));
      const unfurls = Object.fromEntries(found.flat());
      if (Object.keys(unfurls).length === 0) return;
      // The id also works where the app is no member.
      const target =
        unfurl_id === undefined ? { channel, ts } : { unfurl_id, source: 'conversations_history' as const };
      await clients.answer(to, 'showing a preview', (client) => client.chat.unfurl({ ...target, unfurls }));
    } catch (err) {
      logger.info({ event: 'slack_preview_failed', channel, err }, 'failed to show the preview of a link');
    }
  }

  async #previewOf(to: TeamRef, channel: string, url: string): Promise<[string, { blocks: types.KnownBlock[] }][]> {
    const { permissions, readLink, catalog, platform } = this.#options;
    const link = await readLink(url.replaceAll('&amp;', '&'));
    if (link === null) return [];
    const isExternal = !(await permissions.isInternal(to, channel));
    const card = linkPreview(link, catalog(), { platform, team: to.team, channel, isExternal });
    return card === null ? [] : [[url, { blocks: renderCard(card, { workspaceUrl: null }).blocks }]];
  }
}
