import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import { reactionAction } from './buttons.ts';
import type { Bot, Caller, GivenOptions, Reply } from './command.ts';
import { cancelTask } from './decisions.ts';
import { taskHere } from './finding.ts';
import { createForm, submitForm } from './forms.ts';
import { checkShape, checkValues } from './options.ts';
import { pressButton } from './press.ts';
import { declarations, subcommands } from './registry.ts';
import { retryByPress } from './retrying.ts';
import { unknownCommand } from './sentences/refusals.ts';
import { type BotPorts, refused } from './subcommand.ts';
import { suggestionsFor } from './suggestions.ts';
import { parseText } from './text.ts';

/** The bot: what people say, do and press in a chat, whichever it is, and what is answered. */
export function createBot(ports: BotPorts): Bot {
  const { logger, courtesy } = ports;

  /** Does one thing for somebody: logged without what was typed, failures as one family. */
  const doing = async <T>(caller: Caller, what: string, run: () => T | Promise<T>): Promise<T> => {
    const { platform, channel, interaction } = caller;
    try {
      const answer = await courtesy.during(async () => run());
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
    text: (caller, text) => doing(caller, 'a typed command', () => runText(ports, caller, text)),
    press: (caller, button) => doing(caller, 'a press', () => pressButton(ports, caller, button)),
    react: (caller, message, emoji) => doing(caller, 'a reaction', () => react(ports, caller, message, emoji)),
    submit: (caller, form, values) => doing(caller, 'a form', () => submitForm(ports, caller, form, values)),
    suggest: (caller, command, name, typed, given) =>
      doing(caller, 'a suggestion', () => {
        const option = declarations.find((one) => one.name === command)?.options.find((one) => one.name === name);
        return option === undefined ? [] : suggestionsFor(ports, caller, { option, typed, given });
      }),
    show: (task) => courtesy.during(() => ports.chat.show(task)),
  };
}

/** A command with its options, and what was unreadable of them. */
interface Said {
  readonly name: string;
  readonly given: GivenOptions;
  readonly problems?: readonly string[];
}

/** Everything that is wrong is said at once; nothing is done before all of it is right. */
async function runCommand(ports: BotPorts, caller: Caller, { name, given, problems = [] }: Said): Promise<Reply> {
  const subcommand = subcommands.find(({ declaration }) => declaration.name === name);
  if (subcommand === undefined)
    return refused(
      unknownCommand(
        name,
        declarations.map((one) => one.name),
      ),
    );
  const { declaration, check, run } = subcommand;
  const values = check === undefined ? checkValues(declaration, given) : check(ports, given);
  const wrong = [...problems, ...checkShape(declaration, given), ...values];
  return wrong.length > 0 ? refused(...wrong) : run(ports, caller, given);
}

async function runText(ports: BotPorts, caller: Caller, text: string): Promise<Reply> {
  const { command, given, problems } = parseText(text, declarations);
  if (command === null) return createForm(ports.catalog());
  return runCommand(ports, caller, { name: command, given, problems });
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
