import { memberIdOf, memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import { TURNED_AWAY } from '../fates.ts';
import type { Asked, Create, History, Kept, Pressed, Trouble, Violation } from '../history.ts';
import { cardOf, tasksOf } from '../sets.ts';

/** Presses that order what was only asked about. */
const BUYING: ReadonlySet<Pressed['action']> = new Set(['order', 'ask'] as const);

/** Presses that make clips again. */
const RETRYING: ReadonlySet<Pressed['action']> = new Set(['retry', 'remake', '🔁'] as const);

/** Checks that a user requested every create at the service, and only once. */
export function checkCreates({ asked, pressed, creates, store, offered, troubles }: History): readonly Violation[] {
  const violations: Violation[] = [];
  const confirmed = new Set(pressed.flatMap(({ action, task }) => (BUYING.has(action) ? [task] : [])));
  const ordered = new Set(
    asked.flatMap(({ platform, id, takes = 1, isAskedAbout }) =>
      tasksOf(`${platform}:${id}`, takes).filter(
        (task) => isAskedAbout !== true || confirmed.has(task) || isApproved(task, store),
      ),
    ),
  );
  const retried = pressed
    .filter(({ action }) => RETRYING.has(action))
    .flatMap(({ action, task }) => [action === 'remake' ? labelOf(task, store) : task, ...shotsOf(task, store)])
    .map((task) => ({ task }));
  // Each press makes at most one take.
  const retries = new Set(
    [...Map.groupBy(retried, ({ task }) => task)].flatMap(([task, presses]) =>
      // A press on the card of a set makes as many clips again.
      presses.flatMap((_, index) =>
        tasksOf(
          index === 0 ? `retry:${task}` : `retry:${task}:${index + 1}`,
          store.tasks.get(setOf(task))?.set?.of ?? 1,
        ),
      ),
    ),
  );
  for (const [key, posts] of Map.groupBy(creates, (create) => create.key)) {
    const accepted = posts.filter(({ upstreamId }) => upstreamId !== null);
    const again = new Set(
      pressed.filter(({ action, task }) => action === 'again' && task === key).map(({ afterSends }) => afterSends),
    );
    const what = `task ${key}: ${posts.map(describePost).join(', ')}`;
    if (accepted.length > 1 + again.size) violations.push({ name: 'doubled create', what });
    else if (posts.filter(mayHaveBeenTaken).length > 1 + again.size) {
      violations.push({ name: 'sent again by itself', what });
    }
    if (!store.tasks.has(key)) violations.push({ name: 'create without a claim', what });
    // An order that is still offered was not confirmed.
    if (offered.includes(key) && !confirmed.has(key))
      violations.push({ name: 'bought although it is only offered', what });
    const order = asked.find(({ platform, id }) => taskIdOf(`${platform}:${id}`) === key);
    if (posts.some((post) => wasHopeless(post, order, troubles)))
      violations.push({ name: 'bought although it could not be delivered', what });
    const isAsked = [...ordered, ...retries].some((id) => id === key);
    if (!isAsked) violations.push({ name: 'create nobody asked for', what });
  }
  return violations;
}

/**
 * Returns whether Slack rejected the token, or lacked a scope, from before the order until after the create: each order
 * calls Slack first. Discord is not called each time, since its gateway reports changes.
 */
function wasHopeless(create: Create, order: Asked | undefined, troubles: readonly Trouble[]): boolean {
  if (order?.platform !== 'slack') return false;
  return troubles.some(
    ({ kind, chat, fromMs, untilMs }) =>
      (kind === 'token' || kind === 'scope') && chat === 'slack' && fromMs < order.atMs && create.atMs < untilMs,
  );
}

/** Returns whether another person bought a task, at the price that the request named. */
function isApproved(task: string, { tasks }: Pick<Kept, 'tasks'>): boolean {
  return tasks.get(task)?.approval?.approved !== undefined;
}

/** Returns the first clip of a comparison under the label of a clip: further takes are made of it. */
function labelOf(task: string, { tasks }: Pick<Kept, 'tasks'>): string {
  const label = tasks.get(task)?.takeOf;
  return label === undefined ? task : memberIdOf(label.id, label.at);
}

/** Returns the shots of a board: a press on its card makes those again whose first image is of an earlier take. */
function shotsOf(card: string, { tasks }: Pick<Kept, 'tasks'>): readonly string[] {
  const set = tasks.get(setOf(card))?.set;
  return set?.kind === 'storyboard' ? memberIds(set) : [];
}

/** Returns the set of a card; a task of a set was retried alone. */
function setOf(task: string): string {
  return task.startsWith(cardOf('')) ? task.slice(cardOf('').length) : '';
}

/** Returns false for responses that allow a retry. */
function mayHaveBeenTaken({ fate }: Create): boolean {
  return !TURNED_AWAY.has(fate);
}

function describePost({ order, fate, sender, atMs, upstreamId }: Create): string {
  return `${order} ${fate} by ${sender.replica}.${sender.life} at ${Math.round(atMs)} ms ${upstreamId ?? ''}`;
}
