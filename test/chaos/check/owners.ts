import type { Task } from '#src/tasks/task.ts';
import type { History, Violation } from '../history.ts';

/**
 * Checks that each task of the store has an id that the service gave to a create of that very task, however it was learnt: from
 * the answer, from a list, or from a user. A stranger's task is only a warning where the service took no create of the order:
 * a list says nothing of the prompt, so that it cannot be told from one that was taken.
 * @see docs/services.md "Answers that are lost"
 */
export function checkOwners({ store, creates, made, misuses }: History): readonly Violation[] {
  const strangers = new Set(made.flatMap(({ upstreamId, isStrangers }) => (isStrangers === true ? [upstreamId] : [])));
  const ownerOf = new Map(creates.map(({ key, upstreamId }) => [upstreamId, key]));
  const wrong = (task: Task): readonly Violation[] => {
    const { id, upstreamId } = task;
    if (upstreamId === undefined) return [];
    const own = creates.filter((create) => create.key === id && create.upstreamId !== null);
    const what = `task ${id} (${task.state}) took ${upstreamId}; its own: ${own.map((one) => one.upstreamId).join(', ')}`;
    if (strangers.has(upstreamId) && own.length === 0)
      return [{ name: 'stranger’s task taken for one that never arrived', what, isWarning: true }];
    if (strangers.has(upstreamId)) return [{ name: 'stranger’s task taken', what }];
    const owner = ownerOf.get(upstreamId);
    return owner === undefined || owner === id
      ? []
      : [{ name: 'another order’s task taken', what: `${what}; that is ${owner}'s` }];
  };
  return [
    ...[...store.tasks.values()].flatMap(wrong),
    ...[...new Set(misuses)].map((what) => ({ name: 'request against the contract of the service', what })),
  ];
}
