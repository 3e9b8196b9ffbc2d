import { setOfCard } from '#src/chat/index.ts';
import { isCutId } from '#src/orders/index.ts';
import { isBlind, isContentRemoved, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { orderBlindRetry } from '../comparisons/remake.ts';
import { confirmDelete } from '../delete.ts';
import { runCommand } from '../dispatch.ts';
import { editForm, fixForm, lookupForm } from '../input/forms.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { parseText } from '../input/text.ts';
import { openPanel } from '../panels.ts';
import { declarations, subcommands } from '../registry.ts';
import { pressReview } from '../review/decide.ts';
import { BLIND_UNTIL_REVEAL } from '../sentences/cards/comparison.ts';
import { DISCARDED, UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED, removedSentence } from '../sentences/removal.ts';
import { joinShots } from '../studio/join.ts';
import { type Press, parseButton } from '../ui/buttons.ts';
import { textCard } from '../ui/card.ts';
import { withDefaults } from './defaults.ts';
import { showDetails } from './details.ts';
import { confirmDraft, draftFor } from './drafts.ts';
import { improveDraft, improveTask } from './improve.ts';
import { sendAgain } from './resend.ts';
import { pressOnSet } from './sets.ts';
import { cancelTask, decide, retryOnce } from './task-actions.ts';

type TaskPress = Extract<Press, { readonly task: TaskId }>;
type DraftPress = Extract<Press, { readonly draft: TaskId }>;

type Handler = (ports: BotPorts, caller: Caller, press: Press) => Promise<Reply>;

/** Handlers of the commands' own buttons. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  subcommands.flatMap(({ presses = {} }) => Object.entries(presses as Readonly<Record<string, Handler>>)),
);

export async function pressButton(ports: BotPorts, caller: Caller, button: string): Promise<Reply> {
  const press = parseButton(button);
  if (press === null) return refused(UNKNOWN_BUTTON);
  const handler = HANDLERS.get(press.action === 'page' ? `page:${press.what}` : press.action);
  if (handler !== undefined) return handler(ports, caller, press);
  if (press.action === 'panel') return openPanel(ports, caller, press);
  if ('draft' in press) return pressOnDraft(ports, caller, press);
  if (!('task' in press)) return refused(UNKNOWN_BUTTON);
  if (isCutId(press.task))
    return press.action === 'join' ? joinAgain(ports, caller, press.task) : refused(UNKNOWN_BUTTON);
  if (setOfCard(press.task) !== null) return pressOnSet(ports, caller, press);
  const task = await taskHere(ports, caller, press.task);
  return task === undefined ? refused(UNKNOWN_BUTTON) : pressOn(ports, caller, task, press);
}

async function joinAgain(ports: BotPorts, caller: Caller, cut: TaskId): Promise<Reply> {
  const tasks = await ports.cuts.tasksOf(cut);
  return tasks.length === 0 ? refused(UNKNOWN_BUTTON) : joinShots(ports, caller, { tasks });
}

async function pressOnDraft(given: BotPorts, caller: Caller, press: DraftPress): Promise<Reply> {
  const ports = await withDefaults(given, caller);
  switch (press.action) {
    case 'order':
      return confirmDraft(ports, caller, press.draft, press.price);
    case 'ask':
      return confirmDraft(ports, caller, press.draft, press.price, { isPromptShown: press.isPromptShown });
    case 'discard':
      return discardDraft(ports, caller, press.draft);
    case 'improve':
      return pressImprove(ports, caller, press.draft);
    case 'fix': {
      const found = await draftFor(ports, caller, press.draft);
      return 'reply' in found ? found.reply : fixForm(ports, found.draft);
    }
    case 'run': {
      const found = await draftFor(ports, caller, press.draft);
      if ('reply' in found) return found.reply;
      const { command } = found.draft;
      if (command === undefined) return refused(UNKNOWN_BUTTON);
      // The button shows no price: the command asks about what it would buy. It may change the settings, and reads its own.
      const asker = { ...caller, shown: { price: null } };
      const { command: name, ...typed } = parseText(command, declarations);
      return runCommand(given, asker, { ...typed, name: name ?? 'help', isTyped: true });
    }
  }
}

/** Marks a draft as discarded. Refused to anyone but its requester. */
async function discardDraft(ports: BotPorts, caller: Caller, id: TaskId): Promise<Reply> {
  const found = await draftFor(ports, caller, id);
  if ('reply' in found) return found.reply;
  const { alternative } = found.draft;
  const other = alternative === undefined ? undefined : await ports.drafts.get(alternative);
  for (const draft of other === undefined ? [found.draft] : [found.draft, other]) await ports.drafts.discard(draft);
  return privately(textCard([DISCARDED]));
}

/** Improves the prompt of a task, or of an order that is not placed yet. */
async function pressImprove(ports: BotPorts, caller: Caller, id: TaskId): Promise<Reply> {
  const task = await taskHere(ports, caller, id);
  if (task !== undefined) return improveTask(ports, caller, task);
  const found = await draftFor(ports, caller, id);
  return 'reply' in found ? found.reply : improveDraft(ports, caller, found.draft);
}

/** Actions on a task that need its prompt, and those that need its clip. */
const PROMPT_ACTIONS: ReadonlySet<string> = new Set(['edit', 'again']);
const CLIP_ACTIONS: ReadonlySet<string> = new Set(['show', 'refetch']);

function pressOn(ports: BotPorts, caller: Caller, task: Task, press: TaskPress): Promise<Reply> | Reply {
  if (isContentRemoved(task) && PROMPT_ACTIONS.has(press.action)) return refused(PROMPT_REMOVED);
  if (task.removal !== undefined && CLIP_ACTIONS.has(press.action)) return refused(removedSentence(task));
  if (isBlind(task) && press.action === 'retry') return orderBlindRetry(ports, caller, task, null);
  if (isBlind(task) && PROMPT_ACTIONS.has(press.action)) return refused(BLIND_UNTIL_REVEAL);
  const { tasks } = ports;
  const { user } = caller;
  switch (press.action) {
    case 'retry':
      // Asks once if the button shows another price than the catalog has now, or none.
      return retryOnce(ports, { ...caller, shown: { price: press.price } }, task);
    case 'elsewhere':
      return retryOnce(ports, { ...caller, shown: { price: press.price } }, task, { at: press.model });
    case 'edit':
      return withDefaults(ports, caller).then(({ catalog }) => editForm(catalog(), task));
    case 'cancel':
      return cancelTask(ports, caller, task);
    case 'withdraw':
      return decide(ports, caller, task, 'withdraw', () => tasks.withdraw(task.id, user));
    case 'details':
      return showDetails(ports, task);
    case 'lookup':
      return lookupForm(ports, caller, task);
    case 'again':
      return sendAgain(ports, caller, task, press);
    case 'leave':
      return decide(ports, caller, task, 'leave', () => tasks.leave(task.id, user));
    case 'show':
      return decide(ports, caller, task, 'show', () => tasks.want(task.id, user));
    case 'sign_off':
    case 'changes':
      return pressReview(ports, caller, task, press);
    case 'delete':
      return confirmDelete(ports, caller, task);
    case 'join':
      return refused(UNKNOWN_BUTTON);
    case 'refetch':
      return decide(ports, caller, task, 'refetch', () => tasks.refetch(task.id, user));
  }
}
