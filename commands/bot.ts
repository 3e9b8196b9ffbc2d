import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Bot, Caller, Reply } from './bot-port.ts';
import { runCommand, runText } from './dispatch.ts';
import { submitForm } from './input/forms.ts';
import type { BotPorts } from './input/subcommand.ts';
import { suggestionsFor } from './input/suggestions.ts';
import { taskHere } from './input/task-lookup.ts';
import { pressButton } from './orders/button-press.ts';
import { cancelTask } from './orders/decisions.ts';
import { retryByPress } from './orders/retry-task.ts';
import { declarations } from './registry.ts';
import { reactionAction } from './ui/buttons.ts';

/** The bot: what people say, do and press in a chat, whichever it is, and what is answered. */
export function createBot(ports: BotPorts): Bot {
  const { logger, interactivePriority } = ports;

  /** Does one thing for somebody: logged without what was typed, failures as one family. */
  const doing = async <T>(caller: Caller, what: string, run: () => T | Promise<T>): Promise<T> => {
    const { platform, channel, interaction } = caller;
    try {
      const answer = await interactivePriority.during(async () => run());
      logger.debug({ platform, channel, interaction, what }, 'answered');
      return answer;
    } catch (thrown) {
      const error = asDailiesError(thrown, what);
      logger.warn({ err: error, platform, channel, interaction }, 'could not answer');
      throw error;
    }
  };

  return {
    commands: declarations,
    command: (caller, name, given) => doing(caller, 'a command', () => runCommand(ports, caller, { name, given })),
    text: (caller, text, addressing = 'command', files = {}) =>
      doing(caller, 'a typed command', () => runText(ports, caller, text, { addressing, files })),
    press: (caller, button) => doing(caller, 'a press', () => pressButton(ports, caller, button)),
    react: (caller, message, emoji) => doing(caller, 'a reaction', () => react(ports, caller, message, emoji)),
    submit: (caller, form, values) => doing(caller, 'a form', () => submitForm(ports, caller, form, values)),
    suggest: (caller, command, name, typed, given) =>
      doing(caller, 'a suggestion', () => {
        const option = declarations.find((one) => one.name === command)?.options.find((one) => one.name === name);
        return option === undefined ? [] : suggestionsFor(ports, caller, { option, typed, given });
      }),
    show: (task) => interactivePriority.during(() => ports.chat.show(task)),
  };
}

/** A reaction is a button without a button. */
async function react(ports: BotPorts, caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null> {
  const action = reactionAction(emoji);
  if (action === null) return null;
  const id = await ports.chat.taskOf(caller.platform, message);
  const task = id === undefined ? undefined : await taskHere(ports, caller, id);
  if (task === undefined) return null;
  return action === 'retry' ? retryByPress(ports, caller, task) : cancelTask(ports, caller, task);
}
