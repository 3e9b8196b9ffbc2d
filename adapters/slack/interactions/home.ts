import { hash } from 'node:crypto';
import type { types } from '@slack/bolt';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { EMPTY_HOME } from '#commands/home.ts';
import type { Card } from '#commands/ui/card.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Broadcast } from '#src/engine/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { Serial } from '#src/serial.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { plain, renderCard } from '../messages/render.ts';
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
  /** Hash of what it shows; `null`: not known. */
  content: string | null;
}

/** Topic on which replicas learn of changes: `T1` of a workspace, `T1:U1` of the clips of a user. */
const TOPIC = 'slack-home';
/** Delay of an update after its cause: one decision changes several notices. */
const UPDATE_AFTER_MS = 500;
/** Delay of the update of all tabs after a clip of one user: the budget of the team, what others may cancel. */
const OTHERS_AFTER_MS = 60_000;
/** Age from which on a tab is taken for closed; Slack reports each time that one is opened. */
const OPEN_MS = 8 * 3_600_000;
const MAX_SHOWN = 500;

/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const SECTION_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/views/home-tab-views */
const MOST_BLOCKS = 100;

/** Users' Home tabs. */
export class Home {
  readonly #options: HomeOptions;
  /** By workspace and user. */
  readonly #shown = new BoundedMap<string, ShownTab>(MAX_SHOWN);
  /** Planned updates, by what they are of: a workspace, or one of its users. */
  readonly #planned = new Map<string, () => void>();
  /** Reads and publishes each tab in turn, so that the latest content stays. */
  readonly #turns = new Serial<string>();
  readonly #unsubscribe: () => void;

  constructor(options: HomeOptions) {
    this.#options = options;
    this.#unsubscribe = options.broadcast.subscribe(TOPIC, (changed) => this.#planFor(changed));
  }

  /**
   * Publishes the tabs of a workspace that show something else now, on every replica: soon, or with a user, whose clip was
   * ordered or has ended, that user's soon and the others' later.
   */
  changed({ team }: Pick<TeamRef, 'team'>, user: string | null = null): void {
    this.#options.broadcast.publish(TOPIC, user === null ? team : `${team}:${user}`);
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
    const tab: ShownTab = { to, caller: user, atMs, content: null };
    const key = `${to.team}:${caller.user.id}`;
    this.#shown.set(key, tab);
    await this.#turns.run(key, () => this.#showNow(tab, caller));
  }

  #planFor(changed: string): void {
    const [team = '', user] = changed.split(':');
    const isOfTeam = (key: string): boolean => key.startsWith(`${team}:`);
    this.#plan(changed, UPDATE_AFTER_MS, user === undefined ? isOfTeam : (key) => key === changed);
    if (user !== undefined) this.#plan(`${team}:`, OTHERS_AFTER_MS, isOfTeam);
  }

  /** Plans an update of the tabs of some keys, unless there are none, or it is planned. */
  #plan(name: string, afterMs: number, isOf: (key: string) => boolean): void {
    if (this.#planned.has(name) || !this.#shown.keys().some(isOf)) return;
    const update = async (): Promise<void> => {
      this.#planned.delete(name);
      for (const [key, tab] of this.#shown) if (isOf(key)) await this.#update(key, tab);
    };
    this.#planned.set(
      name,
      this.#options.clock.after(afterMs, () => void update()),
    );
  }

  /** Publishes a tab again with the user's present rights, unless it is taken for closed. Never rejects. */
  async #update(key: string, tab: ShownTab): Promise<void> {
    const { to, caller, atMs } = tab;
    const { clock, logger, admission } = this.#options;
    try {
      const { refusal, isExternal, mayAdminister } = await admission(to, caller.user.id);
      const isClosed = clock.monotonic() - atMs >= OPEN_MS;
      if (isClosed || refusal !== null) return void this.#shown.delete(key);
      const now = { ...caller, isExternal, mayAdminister };
      // It may have been forgotten, or opened again, meanwhile.
      if (this.#shown.get(key) === tab) await this.#turns.run(key, () => this.#showNow(tab, now));
    } catch (thrown) {
      logger.warn({ event: 'slack_home_failed', err: thrown }, 'failed to update a home tab');
    }
  }

  /** Publishes a tab, unless it shows the same already. */
  async #showNow(tab: ShownTab, caller: Caller): Promise<void> {
    const { to } = tab;
    const { url } = await this.#options.workspaces.of(to.team, to.enterprise);
    const cards = await this.#options.bot.home(caller);
    const bare = tabBlocks(cards, url, false);
    // The links to pictures change with each rendering.
    const content = hash('sha256', JSON.stringify(bare));
    if (content === tab.content) return;
    await this.#publish(to, caller.user.id, tabBlocks(cards, url, true)).catch((thrown: unknown) => {
      if (asDailiesError(thrown, 'showing the home tab').retryable) throw thrown;
      return this.#publish(to, caller.user.id, bare);
    });
    tab.content = content;
  }

  /** Publishes a Home tab that only has a sentence, such as a refusal. */
  async refuse(to: TeamRef, user: string, sentence: string): Promise<void> {
    await this.#publish(to, user, [{ type: 'section', text: plain(sentence, SECTION_LENGTH) }]);
  }

  /** Takes what a user's tab shows from Slack, which keeps it until the next opening. @throws retryable errors alone */
  async forget(to: TeamRef, user: string): Promise<void> {
    const key = `${to.team}:${user}`;
    this.#shown.delete(key);
    try {
      const { blocks } = renderCard(EMPTY_HOME, { workspaceUrl: null });
      await this.#turns.run(key, () => this.#publish(to, user, blocks));
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
}

/** Renders the cards of a tab, one below the other. */
function tabBlocks(cards: readonly Card[], workspaceUrl: string | null, hasPictures: boolean): types.KnownBlock[] {
  const parts = cards.map((card) => renderCard(card, { workspaceUrl, hasPictures }).blocks);
  const all = parts.flatMap((part, at): types.KnownBlock[] => (at === 0 ? part : [{ type: 'divider' }, ...part]));
  return all.slice(0, MOST_BLOCKS);
}
