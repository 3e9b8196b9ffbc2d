import type { webApi } from '@slack/bolt';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { ASSISTANT_WORDS, suggestedPrompts } from '#commands/sentences/assistant.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import { isCardView, isPending, type MessageRef, type View } from '#src/chat/index.ts';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import { Serial } from '#src/serial.ts';
import type { Origin } from '#src/tasks/index.ts';
import type { TokenHealth } from '../installation/token-health.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { readAddress, teamOf } from '../origin.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';

interface AssistantPaneOptions {
  readonly clients: Clients;
  readonly workspaces: Pick<Workspaces, 'of'>;
  readonly health: TokenHealth;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Thread of the pane: a thread of the direct message with the app. */
interface PaneThread {
  readonly channel: string;
  readonly thread: string;
}

/** Without it, there is no pane. @see https://docs.slack.dev/reference/scopes/assistant.write */
const SCOPE = 'assistant:write';
/** Slack removes a status after two minutes. @see https://docs.slack.dev/reference/methods/assistant.threads.setStatus */
const STATUS_TIMEOUT_MS = 120_000;
const REFRESH_AFTER_MS = 60_000;
const MAX_THREADS = 1_000;

/**
 * Slack's assistant pane: suggested prompts, the title of a thread, and the status while a clip is made. All of it is best
 * effort: a failure is logged, and touches neither the order nor its message.
 * @see https://docs.slack.dev/ai/developing-agents
 */
export class AssistantPane {
  readonly #options: AssistantPaneOptions;
  /** Price and titles of the prompts that a thread shows. */
  readonly #suggested = new BoundedMap<string, string>(MAX_THREADS);
  /** By thread, when the status was last set for each message whose clip is being made. */
  readonly #pending = new BoundedMap<string, ReadonlyMap<string, number>>(MAX_THREADS);
  readonly #turns = new Serial<string>();

  constructor(options: AssistantPaneOptions) {
    this.#options = options;
  }

  /** Shows the suggested prompts in a thread that was opened, or whose user went to another channel; for a new one, its title. */
  async suggest(to: TeamRef, { channel, thread }: PaneThread, caller: Caller, bot: Bot): Promise<void> {
    const prompts = suggestedPrompts(await bot.catalogFor(caller));
    const content = JSON.stringify(prompts);
    const key = `${channel}:${thread}`;
    const before = this.#suggested.get(key);
    const [first, ...others] = prompts;
    if (before === content || first === undefined) return;
    const { title, suggestions } = ASSISTANT_WORDS;
    const place = { channel_id: channel, thread_ts: thread };
    await this.#attempt(to, 'suggesting prompts', async ({ assistant: { threads } }) => {
      await threads.setSuggestedPrompts({ ...place, title: suggestions, prompts: [first, ...others] });
      this.#suggested.set(key, content);
    });
    if (before !== undefined) return;
    await this.#attempt(to, 'naming a thread', ({ assistant: { threads } }) => threads.setTitle({ ...place, title }));
  }

  /**
   * Sets the status of the thread in which a clip is made, or clears it with the last one. One that was not edited for as long
   * as a status lasts may have ended on another replica, and no longer counts. Never rejects, and is not waited for.
   */
  follow(origin: Origin, { channel, message }: MessageRef, view: View): void {
    const { thread } = readAddress(origin.address);
    if (!isCardView(view) || thread === null || !channel.startsWith('D')) return;
    const key = `${channel}:${thread}`;
    const nowMs = this.#options.clock.monotonic();
    const isMaking = isPending(view.phase);
    const pending = new Map([...(this.#pending.get(key) ?? [])].filter(([, atMs]) => nowMs - atMs < STATUS_TIMEOUT_MS));
    if (isMaking && nowMs - (pending.get(message) ?? Number.NEGATIVE_INFINITY) < REFRESH_AFTER_MS) return;
    pending.delete(message);
    if (isMaking) pending.set(message, nowMs);
    this.#pending.set(key, pending);
    const status = pending.size === 0 ? '' : ASSISTANT_WORDS.rendering;
    const set = { channel_id: channel, thread_ts: thread, status };
    void this.#turns.run(key, () =>
      this.#attempt(teamOf(origin), 'showing a status', (client) => client.assistant.threads.setStatus(set)),
    );
  }

  async #attempt(to: TeamRef, operation: string, run: (client: webApi.WebClient) => Promise<unknown>): Promise<void> {
    const { clients, workspaces, health, logger } = this.#options;
    try {
      const { id } = await workspaces.of(to.team, to.enterprise);
      if (!health.missingOptional(id).includes(SCOPE)) await clients.answer(to, operation, run);
    } catch (err) {
      logger.info({ event: 'slack_assistant_failed', err }, 'failed to change the assistant pane');
    }
  }
}
