import type { types } from '@slack/bolt';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { HOME_WORDS } from '#commands/sentences/forms.ts';
import { buttonsOf, type Card, type CardButton } from '#commands/ui/card.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { layout, plain, renderCard } from '../messages/render.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';

/** Options of {@link Home}. */
export interface HomeOptions {
  readonly bot: Bot;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
}

/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const SECTION_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/views/home-tab-views */
const MOST_BLOCKS = 100;

/** Commands of the tab's buttons by button id, as typed after `/video`. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['home:create', ''],
  ['home:models', 'models'],
  ['home:usage', 'usage'],
]);
const BUTTONS: readonly CardButton[] = [
  { id: 'home:create', label: HOME_WORDS.create, style: 'primary' },
  { id: 'home:models', label: HOME_WORDS.models, style: 'plain' },
  { id: 'home:usage', label: HOME_WORDS.usage, style: 'plain' },
];
const HEAD: Card = { lines: [[HOME_WORDS.start], [HOME_WORDS.where]], progress: null, buttons: BUTTONS };

/** Returns the command of a button of the tab, as typed after `/video`; `undefined` for any other button. */
export function homeCommand(button: string): string | undefined {
  return COMMANDS.get(button);
}

/** A user's Home tab: requests for approval, clips in progress, latest clips, this month's spending. */
export class Home {
  readonly #options: HomeOptions;

  constructor(options: HomeOptions) {
    this.#options = options;
  }

  /** Publishes a user's Home tab with its current content. */
  async show(to: TeamRef, caller: Caller): Promise<void> {
    const { url } = await this.#options.workspaces.of(to.team, to.enterprise);
    const sections = await Promise.all([
      this.#requests(caller, url),
      this.#section(caller, 'status', {}, url),
      this.#section(caller, 'list', { who: ['me'] }, url),
      this.#section(caller, 'usage', { who: ['me'] }, url),
    ]);
    const blocks = [...renderCard(HEAD, { workspaceUrl: null }).blocks, ...sections.flat()].slice(0, MOST_BLOCKS);
    await this.#publish(to, caller.user.id, blocks);
  }

  /** Publishes a Home tab that only has a sentence, such as a refusal. */
  async refuse(to: TeamRef, user: string, sentence: string): Promise<void> {
    await this.#publish(to, user, [{ type: 'section', text: plain(sentence, SECTION_LENGTH) }]);
  }

  async #publish(to: TeamRef, user: string, blocks: types.KnownBlock[]): Promise<void> {
    await this.#options.clients.call({
      to,
      priority: 'answer',
      operation: 'showing the home tab',
      run: (client) => client.views.publish({ user_id: user, view: { type: 'home', blocks } }),
    });
  }

  /**
   * Renders the requests that wait for the user, with the buttons of the decision, and the user's own; nothing while
   * none of them waits.
   */
  async #requests(caller: Caller, workspaceUrl: string | null): Promise<readonly types.KnownBlock[]> {
    const reply = await this.#options.bot.command(caller, 'approvals', {});
    if (reply.kind !== 'private' || buttonsOf(reply.card).length === 0) return [];
    return [{ type: 'divider' }, ...renderCard(reply.card, { workspaceUrl }).blocks];
  }

  /** Renders a command's reply as a section; without its buttons, since there is no message to page through. */
  async #section(
    caller: Caller,
    command: string,
    given: Readonly<Record<string, readonly string[]>>,
    workspaceUrl: string | null,
  ): Promise<readonly types.KnownBlock[]> {
    const reply = await this.#options.bot.command(caller, command, given);
    if (reply.kind !== 'private') return [];
    return [{ type: 'divider' }, ...layout(reply.card, workspaceUrl)];
  }
}
