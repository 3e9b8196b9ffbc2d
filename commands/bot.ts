import { type MessageRef, setOfCard } from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import { isCutId } from '#src/orders/index.ts';
import { taskIdOf } from '#src/pipeline/index.ts';
import { isContentRemoved } from '#src/tasks/index.ts';
import type { Bot, Caller, Reply } from './bot-port.ts';
import { runCommand, runText } from './dispatch.ts';
import { homeCards } from './home.ts';
import { createForm, storyboardForm, submitForm } from './input/forms.ts';
import { permittedCommands } from './input/permitted-commands.ts';
import { type BotPorts, isOperator, mayRun, refused } from './input/subcommand.ts';
import { suggestionsFor } from './input/suggestions.ts';
import { taskHere } from './input/task-lookup.ts';
import { pressButton } from './orders/button-press.ts';
import { withDefaults } from './orders/defaults.ts';
import { orderKey } from './orders/offers.ts';
import { reactToSet } from './orders/sets.ts';
import { cancelTask, retryOnce } from './orders/task-actions.ts';
import { submitPanel } from './panels.ts';
import { judgingOnce, mayNotCreateHere } from './policy/rules-here.ts';
import { declarations } from './registry.ts';
import { removedSentence } from './sentences/removal.ts';
import { reactionAction } from './ui/buttons.ts';
import { parseForm } from './ui/form-ids.ts';

/**
 * Creates the bot, which handles the commands, presses, reactions and forms of every platform.
 * @param urgently as in {@link Bot}.
 */
export function createBot(ports: BotPorts, urgently: Bot['urgently']): Bot {
  // People named in ADMINS administer every team.
  const known = (caller: Caller): Caller => (isOperator(ports, caller) ? { ...caller, mayAdminister: true } : caller);
  /** Handles what may buy. Counts a purchase that is refused because the data folder is at its limit. */
  const handle = <Result>(
    caller: Caller,
    handler: (ports: BotPorts, caller: Caller) => Promise<Result>,
  ): Promise<Result> =>
    handler(judgingOnce(ports), known(caller)).catch((thrown: unknown) => {
      if (thrown instanceof DailiesError && thrown.code === 'data_full') ports.dataFull();
      throw thrown;
    });
  return {
    commands: declarations,
    commandsFor: async (caller) => (await permittedCommands(ports, known(caller), declarations)).commands,
    command: (by, name, given) => handle(by, (own, caller) => runCommand(own, caller, { name, given })),
    text: (by, text, addressing = 'command', files = {}) =>
      handle(by, (own, caller) => runText(own, caller, text, { addressing, files })),
    form: async (caller, script) => {
      const refusal = await mayNotCreateHere(ports, known(caller));
      if (refusal !== null) return refused(refusal);
      const own = await withDefaults(ports, caller);
      return script === undefined ? createForm(own.catalog()) : storyboardForm(own, null, { script });
    },
    home: (caller) => homeCards(ports, known(caller)),
    press: (by, button) => handle(by, (own, caller) => pressButton(own, caller, button)),
    react: (by, message, emoji) => handle(by, (own, caller) => react(own, caller, message, emoji)),
    submit: (by, form, values) =>
      handle(by, async (own, caller) => {
        const purpose = parseForm(form);
        // Each of its changes is judged by the settings after the one before.
        if (purpose?.form === 'panel') return submitPanel(ports, caller, purpose, values);
        return submitForm(await withDefaults(own, caller), caller, form, values);
      }),
    suggest: async (caller, name, optionName, typed, given) => {
      const command = declarations.find((one) => one.name === name);
      const option = command?.options.find((one) => one.name === optionName);
      const asker = known(caller);
      if (command === undefined || option === undefined || !mayRun(asker, command)) return [];
      if (command.buys === true && (await mayNotCreateHere(ports, asker).catch(() => null)) !== null) return [];
      const isSetting = SETTINGS_OFFERED.has(option.autocomplete ?? '');
      const own = isSetting ? await withDefaults(ports, asker).catch(() => ports) : ports;
      return suggestionsFor(own, asker, { command: name, option, typed, given, commands: declarations });
    },
    catalogFor: async (caller) => (await withDefaults(ports, caller)).catalog(),
    removed: async (caller) => {
      const task = await ports.tasks.get(taskIdOf(orderKey(caller)));
      return task !== undefined && isContentRemoved(task) ? refused(removedSentence(task)) : null;
    },
    urgently,
    show: (task, claimed) => (isCutId(task) ? ports.cuts.show(task) : ports.chat.show(task, claimed)),
  };
}

/** Autocompletions whose suggestions depend on the defaults. */
const SETTINGS_OFFERED: ReadonlySet<string> = new Set(['model', 'models', 'setting', 'style', 'reference']);

/** Handles a reaction as a press of the button with the same action. */
async function react(ports: BotPorts, caller: Caller, message: MessageRef, emoji: string): Promise<Reply | null> {
  const action = reactionAction(emoji);
  if (action === null) return null;
  const id = await ports.chat.taskOf(caller.platform, message);
  if (id !== undefined && setOfCard(id) !== null) return reactToSet(ports, caller, id, action);
  const task = id === undefined ? undefined : await taskHere(ports, caller, id);
  if (task === undefined) return null;
  return action === 'retry' ? retryOnce(ports, caller, task, { reaction: message }) : cancelTask(ports, caller, task);
}
