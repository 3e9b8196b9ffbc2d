import { type MessageRef, type SetView, setCardId, setOfCard, type TaskView } from '#src/chat/index.ts';
import { isBlind, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { findTask, oncePerBlind, oncePerBoard, placeOf, TASK_ID, visibleAmong } from './input/task-lookup.ts';
import { type Listed, listedOf, listRow } from './list.ts';
import { type ShownSet, withSet } from './orders/details.ts';
import { cardOf, setButton, taskButton } from './sentences/cards/task-card.ts';
import { unknownTask } from './sentences/refusals.ts';
import { shortId } from './ui/buttons.ts';
import { type Card, facts, heading, type Line, layOut, withText } from './ui/card.ts';

/** Largest number of open tasks shown. */
const MAX_OPEN = 10;

/** `/video status`: one task, or the caller's open ones. */
export const status: Subcommand = {
  declaration: {
    name: 'status',
    description: 'Shows one clip, or all of yours in progress',
    example: '/video status 7f3a9c21',
    options: [{ ...TASK_ID, required: false, defaultWords: 'your clips in progress' }],
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const id = optionValue(given, 'id');
    if (id === undefined) return openOnes(ports, caller);
    const words = id.trim().toLowerCase() as TaskId;
    const set = setOfCard(words);
    const task = await findTask(ports, caller, set ?? words);
    if (task === undefined || (set !== null && task.set === undefined)) return refused(unknownTask(id));
    return statusOf(ports, task, set !== null);
  },
};

/** Shows a task with the card of its set; of a set, or a blind clip, the card itself. */
async function statusOf({ chat }: BotPorts, task: Task, isSet: boolean): Promise<Reply> {
  const place = placeOf(task);
  const message = await chat.messageOf(task.id);
  if (place === undefined) return privately(statusCard(await chat.view(task), message));
  const card = setCardId(place.id);
  const set = { view: await chat.setView(place), message: await chat.messageOf(card) };
  // One of its clips alone would tell how far its model is.
  if (isSet) return privately(statusCard(set.view, set.message));
  if (isBlind(task)) return privately(statusCard(set.view, message ?? set.message, { id: task.id }));
  return privately(statusCard(await chat.view(task), message, { set }));
}

async function openOnes(ports: BotPorts, caller: Caller): Promise<Reply> {
  const open = await ports.tasks.open({ ...teamOf(caller), user: caller.user.id }, 2 * MAX_OPEN);
  // Cancelled tasks are polled until they end as well, but they are not in progress for the user.
  const awaited = open.filter(({ state, cancelledBy }) => state !== 'cancelled' && cancelledBy === undefined);
  const seen = oncePerBoard(oncePerBlind(visibleAmong(caller, awaited)));
  return privately(openCard(await listedOf(ports, seen.slice(0, MAX_OPEN))));
}

/** Shows the caller's tasks in progress. */
function openCard(listed: readonly Listed[]): Card {
  if (listed.length > 0) return layOut([heading('Your clips in progress'), ...listed.map(listRow)]);
  const line: Line = ['You have nothing in progress. ', { code: '/video list' }, ' shows the latest clips.'];
  return layOut([line]);
}

/**
 * Shows a task, or a set, as its message does, with its id and a link to that message.
 * @param id default: that of the view
 * @param set the set that the task belongs to, with its message
 */
function statusCard(
  view: TaskView | SetView,
  message: MessageRef | undefined,
  { id = view.kind === 'set' ? view.id : view.task.id, set }: { readonly id?: TaskId; readonly set?: ShownSet } = {},
): Card {
  const line = facts([{ code: shortId(id) }], message && [{ message, label: 'its message' }]);
  return withSet(withText(withShow(cardOf(view), view), line), set);
}

/** Adds **Show the clip** to a finished task, or **Show the board**, whose message may have been deleted. */
function withShow(card: Card, view: TaskView | SetView): Card {
  if (view.kind === 'set') {
    const cut = view.boardCut?.isCurrent === true ? [setButton('join', view)] : [];
    return { ...card, buttons: [...card.buttons, ...cut, setButton('show', view)] };
  }
  if (view.phase !== 'done' || view.task.removal !== undefined || view.buttons.includes('show')) return card;
  return { ...card, buttons: [taskButton('show', view), ...card.buttons] };
}
