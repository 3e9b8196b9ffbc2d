import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Bot, Caller, Reply } from './bot-port.ts';
import { runCommand, runText } from './dispatch.ts';
import { createForm, submitForm } from './input/forms.ts';
import type { BotPorts } from './input/subcommand.ts';
import { suggestionsFor } from './input/suggestions.ts';
import { taskHere } from './input/task-lookup.ts';
import { pressButton } from './orders/button-press.ts';
import { cancelTask } from './orders/decisions.ts';
import { retryByPress } from './orders/retry-task.ts';
import { declarations } from './registry.ts';
import { reactionAction } from './ui/buttons.ts';

/** Creates the bot, which handles the commands, presses, reactions and forms of every platform. */
export function createBot(ports: BotPorts): Bot {
  const { logger } = ports;

  /** Runs a handler; logs it without user input and maps failures to `DailiesError`. */
  const handle = async <T>(caller: Caller, what: string, run: () => T | Promise<T>): Promise<T> => {
    const { platform, channel, interaction } = caller;
    try {
      const answer = await run();
      logger.debug({ event: 'interaction_handled', platform, channel, interaction, what }, 'interaction handled');
      return answer;
    } catch (thrown) {
      const error = asDailiesError(thrown, what);
      logger.warn({ event: 'interaction_failed', err: error, platform, channel, interaction }, 'interaction failed');
      throw error;
    }
  };

  return {
    commands: declarations,
    command: (caller, name, given) => handle(caller, 'a command', () => runCommand(ports, caller, { name, given })),
    text: (caller, text, addressing = 'command', files = {}) =>
      handle(caller, 'a typed command', () => runText(ports, caller, text, { addressing, files })),
    form: (caller) => handle(caller, 'a form', () => createForm(ports.catalog())),
    press: (caller, button) => handle(caller, 'a press', () => pressButton(ports, caller, button)),
    react: (caller, message, emoji) => handle(caller, 'a reaction', () => react(ports, caller, message, emoji)),
    submit: (caller, form, values) => handle(caller, 'a form', () => submitForm(ports, caller, form, values)),
    suggest: (caller, command, name, typed, given) =>
      handle(caller, 'a suggestion', () => {
        const option = declarations.find((one) => one.name === command)?.options.find((one) => one.name === name);
        return option === undefined ? [] : suggestionsFor(ports, caller, { option, typed, given });
      }),
    show: (task) => ports.chat.show(task),
  };
}

/** Handles a reaction as a press of the button with the same action. */
async function react(ports: BotPorts, caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null> {
  const action = reactionAction(emoji);
  if (action === null) return null;
  const id = await ports.chat.taskOf(caller.platform, message);
  const task = id === undefined ? undefined : await taskHere(ports, caller, id);
  if (task === undefined) return null;
  return action === 'retry' ? retryByPress(ports, caller, task) : cancelTask(ports, caller, task);
}
