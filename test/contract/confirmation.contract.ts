import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply, ShownPrices } from '#commands/bot-port.ts';
import { createForm } from '#commands/input/forms.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import type { ScriptedBot } from '#test/fakes/scripted-bot.ts';
import type { SeenMessage } from './platform.contract.ts';

/** Message with the id of the only user who sees it; `null` for everyone. */
export type ShownMessage = Pick<SeenMessage, 'id' | 'text' | 'buttons' | 'selects'> & {
  readonly visibleTo: string | null;
};

/** Platform under test, with a scripted bot, and one requester in one channel. */
export interface ConfirmationHarness {
  readonly bot: ScriptedBot;
  /** The requester's id. */
  readonly requester: string;
  /** Orders a clip by a command. */
  order(): unknown;
  /** Prices that a form shows: a default clip's for $0.20, or the fingerprint of all. */
  readonly shown: ShownPrices;
  /** Opens the form of the bot's present reply and returns a function that submits it; without values, with a prompt. */
  openForm(): Promise<(values?: Readonly<Record<string, string>>) => unknown>;
  /** Posts the message of a task of the requester. @returns its id. */
  openTask(task: TaskId): Promise<string>;
  /** Reacts to a message with 🔁. */
  react(message: string): unknown;
  /** Presses a button, or chooses the option of a select that is this press. */
  press(message: string, press: string): unknown;
  /** As {@link press}, of one that opens a form. @returns the title of the form that is shown */
  formOf(message: string, press: string): Promise<string>;
  /** Returns the messages of the channel. */
  messages(): Promise<readonly ShownMessage[]>;
  /** Restarts the adapter on the same store. */
  restart(): Promise<void>;
  /** Removes everything, and asserts that the platform saw nothing invalid. */
  remove(): Promise<void>;
}

/** The catalog of the forms. */
export const FORM_CATALOG = parseCatalog(sandboxCatalog);

const PRICED = 'order:7f3a9c21:4USD';
const WORDS = 'This clip costs $4.00.';
const LEFT = 'The team has $36.20 of $100.00 left for November.';

const card = (line: string) => ({
  lines: [[line]],
  progress: null,
  buttons: [
    { id: PRICED, label: 'Create for $4.00', style: 'primary' as const },
    { id: 'discard:7f3a9c21', label: 'Cancel', style: 'plain' as const },
  ],
});
const ASKED: Reply = { kind: 'offer', id: '7f3a9c21', card: card(WORDS), private: card(`${WORDS} ${LEFT}`) };

/** Contract of the confirmation before an expensive order, on every platform. */
export function describeConfirmation(name: string, start: () => Promise<ConfirmationHarness>): void {
  describe(`the confirmation on ${name}`, () => {
    let harness: ConfirmationHarness;

    beforeEach(async () => {
      harness = await start();
    });

    afterEach(() => harness.remove());

    const asked = (): Promise<ShownMessage> =>
      vi.waitFor(async () => {
        const found = (await harness.messages()).filter(({ buttons }) => buttons.some(({ id }) => id === PRICED));
        expect(found).toHaveLength(1);
        return found[0] as ShownMessage;
      }, 300_000);
    const pressed = () => harness.bot.heard.filter(({ kind }) => kind === 'press');

    it('is shown to the requester alone, with the price, what is left and both buttons', async () => {
      harness.bot.reply = ASKED;
      await harness.order();
      const { text, visibleTo, buttons } = await asked();
      expect(visibleTo).toBe(harness.requester);
      expect(text).toContain(`${WORDS} ${LEFT}`);
      expect(buttons.map(({ label }) => label)).toEqual(['Create for $4.00', 'Cancel']);
      const others = (await harness.messages()).filter((one) => one.visibleTo === null);
      expect(others.map((one) => one.text).join()).not.toMatch(/\$4\.00|thinking/);
    });

    it('answers a form, which sends the prices that it showed', async () => {
      harness.bot.reply = createForm(FORM_CATALOG);
      const submit = await harness.openForm();
      harness.bot.reply = ASKED;
      await submit();
      const { text, visibleTo } = await asked();
      expect(visibleTo).toBe(harness.requester);
      expect(text).toContain(`${WORDS} ${LEFT}`);
      expect(harness.bot.heard.at(-1)?.caller.shown).toMatchObject(harness.shown);
    });

    it('reaches the requester after a reaction, without the budget where others see it', async () => {
      harness.bot.reply = ASKED;
      await harness.react(await harness.openTask('task0123456789ab' as TaskId));
      const { text, visibleTo } = await asked();
      expect(text).toContain(WORDS);
      expect(text.includes(LEFT)).toBe(visibleTo === harness.requester);
    });

    it('passes the press on with its price, also after a restart', async () => {
      harness.bot.reply = ASKED;
      await harness.order();
      const { id } = await asked();
      await harness.restart();
      harness.bot.reply = { kind: 'private', card: { lines: [['Taken.']], progress: null, buttons: [] } };
      await harness.press(id, PRICED);
      await vi.waitFor(() => expect(pressed()).toMatchObject([{ what: PRICED }]), 300_000);
      expect(pressed()[0]?.caller.user.id).toBe(harness.requester);
    });

    it('becomes one line without buttons once its order is placed', async () => {
      harness.bot.reply = ASKED;
      await harness.order();
      const { id, visibleTo } = await asked();
      harness.bot.onShow = async (task) => ({
        channel: pressed()[0]?.caller.channel ?? '',
        message: await harness.openTask(task),
      });
      const task = 'task0123456789ab' as TaskId;
      harness.bot.reply = { kind: 'task', task, settled: 'Ordered: 1 clip · $4.00.' };
      await harness.press(id, PRICED);
      await vi.waitFor(async () => {
        const found = (await harness.messages()).find((one) => one.id === id);
        expect(found).toMatchObject({ visibleTo, buttons: [] });
        expect(found?.text.trim()).toMatch(/^Ordered: 1 clip · \$4\.00\. .*See it/);
      }, 300_000);
      const shown = await harness.messages();
      expect(shown.filter(({ text }) => text.includes(WORDS))).toEqual([]);
      expect(shown.map(({ text }) => text).join()).not.toContain('thinking');
    });

    it('is replaced by the answer where its order was placed before', async () => {
      harness.bot.reply = ASKED;
      await harness.order();
      const { id, visibleTo } = await asked();
      harness.bot.reply = { kind: 'private', card: { lines: [['Taken.']], progress: null, buttons: [] } };
      await harness.press(id, PRICED);
      await vi.waitFor(async () => {
        const found = (await harness.messages()).find((one) => one.id === id);
        expect(found).toMatchObject({ visibleTo, buttons: [] });
        expect(found?.text.trim()).toBe('Taken.');
      }, 300_000);
    });
  });
}

/** Returns the origin of a task, by the caller of an interaction. */
export function originOf(caller: Omit<Origin, 'audience'>): Origin {
  const { platform, team, channel, user, interaction, address } = caller;
  return { platform, team, channel, user, interaction, address };
}
