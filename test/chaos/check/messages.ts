import type { Task } from '#src/tasks/task.ts';
import type { History, Shown, Violation } from '../history.ts';

/** Whether each task has one message that says what became of it, with one clip and one mention where there should be. */
export function checkMessages({ store, messages, made }: History): readonly Violation[] {
  const bytes = new Map(made.map(({ upstreamId, clipBytes }) => [upstreamId, clipBytes]));
  const strangers = messages.filter(({ task }) => task !== null && !store.tasks.has(task));
  return [
    ...strangers.map(({ id, task }) => ({ name: 'message of no task', what: `message ${id} shows task ${task}` })),
    ...[...store.tasks.values()].flatMap((task) => {
      const own = messages.filter((message) => message.task === task.id);
      const [message] = own;
      if (message === undefined) return [{ name: 'lost message', what: `task ${task.id} (${task.state}) has none` }];
      const violations: Violation[] = [
        ...wrongState(task, message),
        ...wrongFiles(task, message, bytes.get(task.upstreamId ?? '')),
        ...wrongMentions(task, message, messages),
      ];
      if (own.length > 1) violations.push({ name: 'doubled message', what: `task ${task.id} has ${own.length}` });
      return violations;
    }),
  ];
}

function wrongState(task: Task, { id, state, buttons }: Shown): readonly Violation[] {
  const name = 'message in a wrong state';
  const what = `message ${id} of task ${task.id} (${task.state})`;
  if (state !== null && state !== task.state) return [{ name, what: `${what} says ${state}` }];
  const wanted = buttonsOf(task).join();
  return buttons.join() === wanted ? [] : [{ name, what: `${what} offers ${buttons.join()}, not ${wanted}` }];
}

/** What people are to be offered under a task that is at rest. */
function buttonsOf(task: Task): readonly string[] {
  switch (task.state) {
    case 'completed':
      return task.clip === undefined ? ['refetch', 'retry', 'details'] : ['retry', 'edit', 'details'];
    case 'uncertain':
      return task.leftBy === undefined ? ['lookup', 'again', 'leave', 'details'] : ['lookup', 'again', 'details'];
    case 'cancelled':
      return [...(task.lateOutcome === 'completed' ? ['show'] : []), 'retry', 'edit', 'details'];
    case 'failed':
      return ['retry', 'edit', 'details'];
    case 'rejected':
      return [...(task.sends > 0 ? ['lookup'] : []), 'retry', 'edit', 'details'];
    case 'claimed':
    case 'sending':
    case 'polling':
      return ['cancel', 'details'];
  }
}

function wrongFiles(task: Task, { id, files }: Shown, clipBytes: number | undefined): readonly Violation[] {
  const what = `message ${id} of task ${task.id} (${task.state}) has ${files.length} clips`;
  const wanted = task.state === 'completed' && task.clip !== undefined ? 1 : 0;
  if (files.length > wanted) return [{ name: 'doubled delivery', what }];
  if (files.length < wanted) return [{ name: 'lost delivery', what }];
  if (wanted === 0 || files[0] === clipBytes) return [];
  return [{ name: 'wrong clip', what: `${what}: ${files[0]} bytes instead of ${clipBytes}` }];
}

function wrongMentions(task: Task, message: Shown, messages: readonly Shown[]): readonly Violation[] {
  const ends = messages.flatMap(({ end, replyTo }) => (end !== null && replyTo === message.id ? [end] : []));
  const what = `task ${task.id} (${task.state}, ${task.sends} sends) was told of as ${ends.join(', ') || 'nothing'}`;
  const doubled = ends.filter((end, place) => ends.indexOf(end) !== place || end === '?');
  const last = lastEndOf(task);
  return [
    ...(doubled.length > 0 ? [{ name: 'doubled delivery', what }] : []),
    ...(last !== null && !ends.includes(last) ? [{ name: 'lost delivery', what: `${what}, not as ${last}` }] : []),
  ];
}

/** The end that the requester has to be told of; `null` where nobody is. */
function lastEndOf({ state, clip, sends, upstreamId }: Task): string | null {
  switch (state) {
    case 'completed':
      return `${clip === undefined ? 'lost' : 'done'}:${sends}`;
    case 'failed':
      return `failed:${sends}`;
    case 'rejected':
      return `refused:${sends}`;
    case 'uncertain':
      return `${upstreamId === undefined ? 'uncertain' : 'disowned'}:${sends}`;
    case 'claimed':
    case 'sending':
    case 'polling':
    case 'cancelled':
      return null;
  }
}
