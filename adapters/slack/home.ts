import type { types } from '@slack/bolt';
import type { Bot, Caller } from '#commands/command.ts';
import { HOME_WORDS } from '#commands/sentences/home.ts';
import type { Clients, TeamRef } from './clients.ts';
import { plain, renderCard, renderSection } from './render.ts';
import type { Workspaces } from './workspaces.ts';

/** Collaborators of {@link Home}. */
export interface HomeOptions {
  readonly bot: () => Bot;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
}

const HEADER_LENGTH = 150;
/** @see https://docs.slack.dev/reference/views/home-tab-views */
const MOST_BLOCKS = 100;

/** A person's page of the app: what is open, what was made last, what the month came to. */
export class Home {
  readonly #options: HomeOptions;

  constructor(options: HomeOptions) {
    this.#options = options;
  }

  /** Shows a person's page as of now. */
  async show(to: TeamRef, caller: Caller): Promise<void> {
    const { clients, workspaces } = this.#options;
    const { url } = await workspaces.of(to.team, to.enterprise);
    const sections = await Promise.all([
      this.#section(HOME_WORDS.open, caller, 'status', {}, url),
      this.#section(HOME_WORDS.latest, caller, 'list', { who: ['me'] }, url),
      this.#section(HOME_WORDS.usage, caller, 'usage', { who: ['me'] }, url),
    ]);
    const blocks = [renderSection(HOME_WORDS.start), ...sections.flat()].slice(0, MOST_BLOCKS);
    await clients.call({
      to,
      lane: 'answer',
      doing: 'showing the home tab',
      run: (client) => client.views.publish({ user_id: caller.user.id, view: { type: 'home', blocks } }),
    });
  }

  /** What a command answers, without its buttons: there is no message here to turn a page of. */
  async #section(
    heading: string,
    caller: Caller,
    command: string,
    given: Readonly<Record<string, readonly string[]>>,
    workspaceUrl: string | null,
  ): Promise<readonly types.KnownBlock[]> {
    const reply = await this.#options.bot().command(caller, command, given);
    if (reply.kind !== 'private') return [];
    const { blocks } = renderCard({ ...reply.card, buttons: [] }, { workspaceUrl });
    return [{ type: 'header', text: plain(heading, HEADER_LENGTH) }, ...blocks];
  }
}
