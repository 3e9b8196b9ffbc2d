import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import type { History, Kept, Shown, Violation } from '../history.ts';

/**
 * Checks that a clip is deleted only when a user asks for it and it is delivered, and as a whole. What has to stay is in
 * the other checks: ledger and sums are those of the task, and a redelivered order buys nothing.
 */
export function checkRemovals({
  asked,
  pressed,
  store,
  messages,
}: Pick<History, 'asked' | 'pressed' | 'messages'> & { readonly store: Pick<Kept, 'tasks'> }): readonly Violation[] {
  return [...store.tasks.values()].flatMap((task) => {
    if (task.removal === undefined) return [];
    const what = `task ${task.id} (${task.state})`;
    const isAsked = pressed.some((press) => press.action === 'delete' && press.task === task.id);
    const order = asked.find(({ platform, id }) => taskIdOf(`${platform}:${id}`) === task.id);
    return [
      ...(isAsked ? [] : [{ name: 'deletion nobody asked for', what }]),
      ...(isEnded(task) && task.presented ? [] : [{ name: 'deleted before its delivery', what }]),
      ...leftOf(task).map((left) => ({ name: 'left by a deletion', what: `${what}: ${left}` })),
      // The card of a set shows the prompts of its other tasks.
      ...(order === undefined || task.set !== undefined ? [] : shownStill(messages, order, task)).map((left) => ({
        name: 'left by a deletion',
        what: `${what}: ${left}`,
      })),
    ];
  });
}

/** Returns what the record still has. */
function leftOf(task: Task): readonly string[] {
  return [
    ...(isContentRemoved(task) && task.request.prompt === '' ? [] : ['its prompt']),
    ...(task.clip === undefined ? [] : ['its clip']),
  ];
}

/**
 * Returns what the message of an order and the replies to it still show. A redelivered order has another message, and a
 * retry, which replies as well, is another task.
 */
function shownStill(
  messages: readonly Shown[],
  { id, message: own }: Pick<History['asked'][number], 'id' | 'message'>,
  task: Task,
): readonly string[] {
  return messages
    .filter((message) => own !== null && (message.id === own || message.replyTo === own))
    .filter((message) => message.task === null || message.task === task.id)
    .flatMap((message) => [
      ...(message.files.length === 0 ? [] : [`the file of message ${message.id}`]),
      ...(message.task === null ? [] : [`the card of message ${message.id}`]),
      ...(message.words?.includes(`${id}:`) === true ? [`the prompt in message ${message.id}`] : []),
    ]);
}
