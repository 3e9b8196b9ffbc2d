import { hasOwnMessage } from '#src/chat/sets/set-cards.ts';
import { isOnCard } from '#src/chat/sets/set-view.ts';
import { isSought } from '#src/tasks/attempt.ts';
import { comparisonOf, isBlind } from '#src/tasks/blind.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Deleted, History, Shown, Trouble, Violation } from '../history.ts';
import type { FaultKind } from '../plan.ts';
import { isShownOnCard } from '../sets.ts';

/** Checks that each task has one message with its outcome, and one clip and one mention where expected. */
export function checkMessages({ store, messages, made, deleted, troubles }: History): readonly Violation[] {
  const bytes = new Map(made.map(({ upstreamId, clipBytes }) => [upstreamId, clipBytes]));
  const strangers = messages.filter(({ task }) => task !== null && !store.tasks.has(task));
  return [
    ...strangers.map(({ id, task }) => ({ name: 'message of no task', what: `message ${id} shows task ${task}` })),
    ...[...store.tasks.values()].flatMap((task) => {
      const own = messages.filter((message) => message.task === task.id);
      const [message, ...others] = own;
      // Its messages are blanked, and those of a redelivered order say so; what the card of a set holds is in `checkSetClips`.
      if (isContentRemoved(task) || isShownOnCard(task, store.tasks.values())) return [];
      const gone = deleted.filter((one) => one.task === task.id);
      // It is on the card of its set, or was there until a retry took its place.
      if (message === undefined && !hasOwnMessage(task) && (!isOnCard(task) || task.clip === undefined)) return [];
      if (message === undefined) return withoutMessage(task, gone, messages);
      const violations: Violation[] = [
        ...wrongChannel(task, message, troubles),
        ...wrongState(task, message),
        ...wrongFiles(task, message, bytes.get(task.upstreamId ?? '')),
        ...wrongMentions(task, message.id, messages),
        ...wronglyAgain(task, message, { gone, troubles }),
      ];
      if (others.length > 0 && !isLeftBehind(task, own, troubles))
        violations.push({ name: 'doubled message', what: `task ${task.id} has ${own.length}` });
      return violations;
    }),
  ];
}

/** Checks a task with a deleted message: only a clip that was visible may be gone, and the end is still reported. */
function withoutMessage(task: Task, gone: readonly Deleted[], messages: readonly Shown[]): readonly Violation[] {
  const last = gone.at(-1);
  if (last === undefined) return [{ name: 'lost message', what: `task ${task.id} (${task.state}) has none` }];
  const hasClip = task.state === 'completed' && task.clip !== undefined;
  const isOwed = hasClip && gone.length === 1 && !last.hadClip;
  const what = `task ${task.id}: message ${last.id} was deleted before the clip was there, and no other has it`;
  return [...(isOwed ? [{ name: 'lost delivery', what }] : []), ...wrongMentions(task, last.id, messages)];
}

/** Faults after which a message may exist without the bot's knowledge: it missed the response or could not store it. */
const UNHEARD_OF: ReadonlySet<FaultKind> = new Set([
  ...(['kill', 'pause', 'roll', 'redis-kill', 'redis-full', 'redis-readonly', 'redis-clients', 'redis-cut'] as const),
  ...(['replica', 'discord', 'slack', 'token', 'scope'] as const),
]);
/** Time that such a message may have existed before its deletion. */
const UNHEARD_FOR_MS = 6_000;

/** Only a clip that was not delivered before its message was deleted is posted again, once. */
function wronglyAgain(
  task: Task,
  { id, files }: Shown,
  { gone, troubles }: Pick<History, 'troubles'> & { readonly gone: readonly Deleted[] },
): readonly Violation[] {
  const [first] = gone;
  if (first === undefined) return [];
  const what = `task ${task.id} (${task.state}) has message ${id} after ${gone.map((one) => one.id).join(', ')}`;
  if (files.length > 0 && gone.some(({ wasDelivered }) => wasDelivered)) return [{ name: 'doubled delivery', what }];
  // A warning: a process that was killed or could not write at the wrong moment posts one if it finds none.
  const isRight = (files.length > 0 && gone.length === 1) || gone.some((one) => isUnheardOf(one, troubles));
  return isRight ? [] : [{ name: 'message posted again', what, isWarning: true }];
}

function isUnheardOf({ atMs }: Deleted, troubles: readonly Trouble[]): boolean {
  return troubles.some(
    ({ kind, fromMs, untilMs }) => UNHEARD_OF.has(kind) && fromMs <= atMs && untilMs + UNHEARD_FOR_MS >= atMs,
  );
}

/** Returns whether the chat of a task may have refused to post and to edit: it took away a permission for a while. */
export function mayRefuse({ origin }: Pick<Task, 'origin'>, troubles: readonly Trouble[]): boolean {
  return troubles.some(({ kind, chat }) => kind === 'scope' && chat === origin.platform);
}

/**
 * Returns whether a task has a second message since the bot was not allowed to edit the first one, which says that it is
 * running: the outcome went to the requester directly.
 */
function isLeftBehind(task: Task, own: readonly Shown[], troubles: readonly Trouble[]): boolean {
  const { channel } = task.origin;
  const [direct, first, ...others] = own;
  const isDirect = direct?.channel !== channel && first?.channel === channel && others.length === 0;
  return isDirect && first.files.length === 0 && first.buttons.includes('cancel') && mayRefuse(task, troubles);
}

/** Only where the chat refuses to post, a message may be elsewhere: in the requester's direct messages. */
function wrongChannel(task: Task, message: Shown, troubles: readonly Trouble[]): readonly Violation[] {
  const { id, state, origin } = task;
  if (message.channel === origin.channel || mayRefuse(task, troubles)) return [];
  const what = `message ${message.id} of task ${id} (${state}) is in ${message.channel}, not in ${origin.channel}`;
  return [{ name: 'message in another channel', what }];
}

function wrongState(task: Task, { id, state, buttons }: Shown): readonly Violation[] {
  const name = 'message in a wrong state';
  const what = `message ${id} of task ${task.id} (${task.state})`;
  if (state !== null && state !== task.state) return [{ name, what: `${what} says ${state}` }];
  if (isBlind(task)) return betraying(buttons).map((button) => ({ name, what: `${what} offers ${button}` }));
  const wanted = buttonsOf(task).join();
  const offered = buttons.filter((button) => !BY_PLACE.has(button)).join();
  return offered === wanted ? [] : [{ name, what: `${what} offers ${offered}, not ${wanted}` }];
}

/** Buttons of a channel with reviews, and of a clip that was ordered in a thread on Slack. */
const BY_PLACE: ReadonlySet<string> = new Set(['signoff', 'changes', 'broadcast']);

/** Buttons that would buy at the price of a blind clip, or show its request. */
function betraying(buttons: readonly string[]): readonly string[] {
  return buttons.filter((button) => ['retry', 'again', 'edit', 'details'].includes(button));
}

/** Buttons expected under a task that has settled. */
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
    case 'declined':
      return ['retry', 'edit', 'details'];
    case 'requested':
      return ['withdraw', 'details'];
    case 'rejected':
      return [...(task.sends > 0 ? ['lookup'] : []), 'retry', 'edit', 'details'];
    case 'waiting':
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

function wrongMentions(task: Task, own: string, messages: readonly Shown[]): readonly Violation[] {
  const ends = messages.flatMap(({ end, replyTo }) => (end !== null && replyTo === own ? [end] : []));
  const what = `task ${task.id} (${task.state}, ${task.sends} sends) was told of as ${ends.join(', ') || 'nothing'}`;
  const doubled = ends.filter((end, place) => ends.indexOf(end) !== place || end === '?');
  const last = lastEndOf(task);
  return [
    ...(doubled.length > 0 ? [{ name: 'doubled delivery', what }] : []),
    // A set is told of as a whole (`checkSets`), a comparison with the clips that are made again.
    ...(last !== null && (comparisonOf(task) ?? task.set) === undefined && !ends.includes(last)
      ? [{ name: 'lost delivery', what: `${what}, not as ${last}` }]
      : []),
  ];
}

/** End that the requester must be notified of; `null` if none is required. */
function lastEndOf(task: Task): string | null {
  const { state, clip, sends, upstreamId, declined } = task;
  switch (state) {
    case 'completed':
      return `${clip === undefined ? 'lost' : 'done'}:${sends}`;
    case 'failed':
      return `failed:${sends}`;
    case 'rejected':
      return `refused:${sends}`;
    case 'declined':
      return declined?.how === 'withdrawn' ? null : `declined:${sends}`;
    case 'uncertain':
      if (isSought(task)) return null;
      return `${upstreamId === undefined ? 'uncertain' : 'disowned'}:${sends}`;
    case 'requested':
    case 'waiting':
    case 'claimed':
    case 'sending':
    case 'polling':
    case 'cancelled':
      return null;
  }
}
