import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Asked, History, Made, Pressed, Shown, Violation } from '../history.ts';
import { isBefore } from '../sets.ts';
import { isForgottenUnheard } from './withdrawals.ts';

/** Checks that every promised task exists, has settled, and matches the service's state. */
export function checkTasks(history: History): readonly Violation[] {
  const made = new Map(history.made.map((one) => [one.upstreamId, one]));
  return [
    ...promises(history),
    ...[...history.store.tasks.values()].flatMap((task) => [
      ...rest(task, made, history),
      ...truth(task, made),
      ...unknownIds(task, history),
    ]),
    ...sharedIds(history),
  ];
}

/**
 * An HTTP response of the playground, or Slack's acknowledgement, is a promise. On Discord nothing is confirmed before
 * the task's own message; on Discord and Slack, users retype commands that got no response.
 */
function promises({ asked, pressed, store, messages }: History): readonly Violation[] {
  const interactions = Map.groupBy(asked, ({ platform, id }) => `${platform}:${id}`);
  return [...interactions].flatMap(([id, deliveries]): readonly Violation[] => {
    const taken = deliveries.filter(({ status }) => status === 202);
    const task = taskIdOf(id);
    const wasRefused = deliveries.some(({ isRefused }) => isRefused);
    if (taken.length === 0 && wasRefused)
      return deliveries.every(({ isRefused }) => isRefused) &&
        store.tasks.has(task) &&
        !pressed.some((press) => press.task === task && mayBuyRefused(press, deliveries))
        ? [{ name: 'refused and bought', what: `interaction ${id}` }]
        : [];
    // Its first delivery was taken, with no answer; those after its deletion are refused.
    if (taken.length === 0 && store.tasks.get(task)?.removal !== undefined) return [];
    if (taken.length === 0)
      return id.startsWith('playground:') ? [{ name: 'never answered', what: `interaction ${id}` }] : [];
    if (!store.tasks.has(task) && (isOffer(taken, messages) || taken.every((one) => one.isAskedAbout))) return [];
    if (!store.tasks.has(task)) return [{ name: 'lost task', what: `interaction ${id} was taken; no task ${task}` }];
    const answers = new Set(taken.map(({ message }) => message));
    if (answers.size > 1) return [{ name: 'two answers', what: `interaction ${id}: ${[...answers].join(', ')}` }];
    return [];
  });
}

/**
 * Returns whether a press may have bought a refused order: *Ask for approval*, or *Try again* in the refusal, which the
 * requester pressed and a replica accepted.
 */
function mayBuyRefused({ action, user, status, atMs }: Pressed, refused: readonly Asked[]): boolean {
  if (action === 'ask') return true;
  if (action !== 'order' || status !== 202 || atMs === undefined) return false;
  return refused.some((delivery) => delivery.user === user && delivery.atMs < atMs);
}

/**
 * Returns whether an interaction was answered with an offer: an order that a budget refused leaves a draft, and is only
 * offered where the refusal itself could not be delivered.
 */
function isOffer(taken: readonly Asked[], messages: readonly Shown[]): boolean {
  const own = messages.find(({ id }) => taken.some(({ message }) => message === id));
  return own?.task === null && own.buttons.includes('order');
}

/** An uncertain task may wait for a user, and a request for its approval until it expires. */
function rest(task: Task, made: ReadonlyMap<string, Made>, history: History): readonly Violation[] {
  const { clockMs } = history;
  const what = `task ${task.id} is ${task.state}, revision ${task.revision}`;
  const mayWait =
    task.state === 'uncertain' || (task.state === 'requested' && clockMs < (task.approval?.expiresAtMs ?? 0));
  const isBehind =
    task.state === 'waiting' && [...history.store.tasks.values()].some((one) => isBefore(one, task) && isDoubtful(one));
  // It is followed for a day.
  const one = made.get(task.upstreamId ?? '');
  const isUnheard = task.state === 'cancelled' && one !== undefined && isForgottenUnheard(one, history);
  if (!isEnded(task) && !mayWait && !isBehind && !isUnheard) return [{ name: 'stuck task', what }];
  return task.presented ? [] : [{ name: 'lost delivery', what: `${what}, and in the outbox` }];
}

/** Returns whether a user has to decide on a task. */
function isDoubtful({ state }: Task): boolean {
  return state === 'uncertain' || state === 'requested';
}

function truth(task: Task, made: ReadonlyMap<string, Made>): readonly Violation[] {
  if (task.upstreamId === undefined) return [];
  const one = made.get(task.upstreamId);
  const what = `task ${task.id} is ${task.state}, ${task.upstreamId} is ${one?.status ?? 'unknown to the service'}`;
  if (one === undefined) return [{ name: 'id out of nowhere', what }];
  const said = task.state === 'cancelled' ? task.lateOutcome : task.state;
  const isWrong = said === 'failed' ? one.status !== 'failed' && one.status !== 'cancelled' : said !== one.status;
  if ((said === 'completed' || said === 'failed') && isWrong) return [{ name: 'untrue state', what }];
  if (task.failure !== undefined && one.status === 'completed' && !one.isGone) {
    return [{ name: 'clip given up', what: `${what}: ${task.failure.code}` }];
  }
  return [];
}

/** A create that the service accepted must be stored with its id, or be in doubt. */
function unknownIds(task: Task, { creates, store }: History): readonly Violation[] {
  const unknown = creates.filter(
    ({ key, upstreamId }) => key === task.id && upstreamId !== null && upstreamId !== task.upstreamId,
  );
  const inDoubt = [...store.ledger.values()].filter(({ task: of, state }) => of === task.id && state === 'in_doubt');
  if (unknown.length <= inDoubt.length) return [];
  const ids = unknown.map(({ upstreamId }) => upstreamId).join(', ');
  return [{ name: 'lost task', what: `task ${task.id} (${task.state}) does not know of ${ids}` }];
}

function sharedIds({ store }: History): readonly Violation[] {
  const known = [...store.tasks.values()].filter(({ upstreamId }) => upstreamId !== undefined);
  return [...Map.groupBy(known, ({ upstreamId }) => upstreamId)]
    .filter(([, tasks]) => tasks.length > 1)
    .map(([id, tasks]) => ({ name: 'one id in two tasks', what: `${id}: ${tasks.map((task) => task.id).join(', ')}` }));
}
