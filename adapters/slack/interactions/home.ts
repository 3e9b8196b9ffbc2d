import type { types } from '@slack/bolt';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { HOME_WORDS } from '#commands/sentences/forms.ts';
import { buttonsOf, type Card, type CardButton, textCard } from '#commands/ui/card.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Broadcast } from '#src/engine/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { layout, plain, renderCard } from '../messages/render.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import type { Admission } from './admission.ts';

interface HomeOptions {
  readonly bot: Bot;
  readonly clients: Clients;
  readonly workspaces: Workspaces;
  readonly broadcast: Broadcast;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly logger: Logger;
  /** Returns a user's access and rights as they are now. */
  readonly admission: (to: TeamRef, user: string) => Promise<Admission>;
}

interface ShownTab {
  readonly to: TeamRef;
  readonly caller: Caller;
  readonly atMs: number;
}

/** Topic on which replicas learn of changes in a workspace: of requests, of removed clips. */
const TOPIC = 'slack-home';
/** Delay of an update after its cause: one decision changes several notices. */
const UPDATE_AFTER_MS = 500;
/** Age from which on a tab is taken for closed; Slack reports each time that one is opened. */
const OPEN_MS = 8 * 3_600_000;
const MAX_SHOWN = 500;

/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const SECTION_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/views/home-tab-views */
const MOST_BLOCKS = 100;

/** Commands of the tab's buttons by button id, as typed after `/video`. */
export const HOME_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['home:create', ''],
  ['home:models', 'models'],
  ['home:usage', 'usage'],
]);
const BUTTONS: readonly CardButton[] = [
  { id: 'home:create', label: HOME_WORDS.create, style: 'primary' },
  { id: 'home:models', label: HOME_WORDS.models, style: 'plain' },
  { id: 'home:usage', label: HOME_WORDS.usage, style: 'plain' },
];
const HEAD: Card = { ...textCard([HOME_WORDS.start], [HOME_WORDS.where]), buttons: BUTTONS };

/** A user's Home tab: requests for approval, clips in progress, latest clips, this month's spending. */
export class Home {
  readonly #options: HomeOptions;
  /** By workspace and user. */
  readonly #shown = new BoundedMap<string, ShownTab>(MAX_SHOWN);
  /** Planned updates, by workspace. */
  readonly #planned = new Map<string, () => void>();
  readonly #unsubscribe: () => void;

  constructor(options: HomeOptions) {
    this.#options = options;
    this.#unsubscribe = options.broadcast.subscribe(TOPIC, (team) => this.#plan(team));
  }

  /** Publishes the tabs of a workspace again on every replica, soon: a request was made or decided on, or a clip removed. */
  changed({ team }: Pick<TeamRef, 'team'>): void {
    this.#options.broadcast.publish(TOPIC, team);
  }

  stop(): void {
    this.#unsubscribe();
    for (const cancel of this.#planned.values()) cancel();
    this.#planned.clear();
  }

  /** Publishes a user's Home tab with its current content, and again after each {@link changed}. */
  async show(to: TeamRef, caller: Caller): Promise<void> {
    const atMs = this.#options.clock.monotonic();
    // Later updates answer no interaction.
    const { acknowledged: _acknowledged, ...user } = caller;
    this.#shown.set(`${to.team}:${caller.user.id}`, { to, caller: user, atMs });
    await this.#showNow(to, caller);
  }

  #plan(team: string): void {
    if (this.#planned.has(team)) return;
    const update = async (): Promise<void> => {
      this.#planned.delete(team);
      for (const [key, tab] of this.#shown) if (tab.to.team === team) await this.#update(key, tab);
    };
    this.#planned.set(
      team,
      this.#options.clock.after(UPDATE_AFTER_MS, () => void update()),
    );
  }

  /** Publishes a tab again with the user's present rights, unless it is taken for closed. Never rejects. */
  async #update(key: string, { to, caller, atMs }: ShownTab): Promise<void> {
    const { clock, logger, admission } = this.#options;
    try {
      const { refusal, isExternal, mayAdminister } = await admission(to, caller.user.id);
      const isClosed = clock.monotonic() - atMs >= OPEN_MS;
      if (isClosed || refusal !== null) this.#shown.delete(key);
      else await this.#showNow(to, { ...caller, isExternal, mayAdminister });
    } catch (thrown) {
      logger.warn({ event: 'slack_home_failed', err: thrown }, 'failed to update a home tab');
    }
  }

  async #showNow(to: TeamRef, caller: Caller): Promise<void> {
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

  /** Takes what a user's tab shows from Slack, which keeps it until the next opening. @throws retryable errors alone */
  async forget(to: TeamRef, user: string): Promise<void> {
    this.#shown.delete(`${to.team}:${user}`);
    try {
      await this.#publish(to, user, renderCard(HEAD, { workspaceUrl: null }).blocks);
    } catch (thrown) {
      const err = asDailiesError(thrown, 'clearing a home tab');
      if (err.retryable) throw err;
      this.#options.logger.warn({ event: 'slack_home_failed', err }, 'failed to update a home tab');
    }
  }

  async #publish(to: TeamRef, user: string, blocks: types.KnownBlock[]): Promise<void> {
    await this.#options.clients.answer(to, 'showing the home tab', (client) =>
      client.views.publish({ user_id: user, view: { type: 'home', blocks } }),
    );
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
