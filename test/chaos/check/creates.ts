import { taskIdOf } from '#src/pipeline/task-service.ts';
import type { Asked, Create, History, Trouble, Violation } from '../history.ts';

/** Whether every create at the service is one that somebody asked for, once. */
export function checkCreates({ asked, pressed, creates, store, offered, troubles }: History): readonly Violation[] {
  const violations: Violation[] = [];
  const ordered = new Set(asked.map(({ platform, id }) => taskIdOf(`${platform}:${id}`)));
  const retried = pressed.filter(({ action }) => action === 'retry' || action === '🔁');
  const retries = new Set(retried.map(({ task }) => taskIdOf(`retry:${task}`)));
  for (const [key, posts] of Map.groupBy(creates, (create) => create.key)) {
    const accepted = posts.filter(({ upstreamId }) => upstreamId !== null);
    const again = new Set(
      pressed.filter(({ action, task }) => action === 'again' && task === key).map(({ afterSends }) => afterSends),
    );
    const what = `task ${key}: ${posts.map(tell).join(', ')}`;
    if (accepted.length > 1 + again.size) violations.push({ name: 'doubled create', what });
    else if (posts.filter(mayHaveBeenTaken).length > 1 + again.size) {
      violations.push({ name: 'sent again by itself', what });
    }
    if (!store.tasks.has(key)) violations.push({ name: 'create without a claim', what });
    // Whatever is still offered was not pressed.
    if (offered.includes(key)) violations.push({ name: 'bought although it is only offered', what });
    const order = asked.find(({ platform, id }) => taskIdOf(`${platform}:${id}`) === key);
    if (posts.some((post) => wasHopeless(post, order, troubles)))
      violations.push({ name: 'bought although it could not be delivered', what });
    const isAsked = [...ordered, ...retries].some((id) => id === key);
    if (!isAsked) violations.push({ name: 'create nobody asked for', what });
  }
  return violations;
}

/**
 * Whether Slack refused the token, or lacked a scope, from before the order until after it was sent: each order asks Slack
 * first. Discord is not asked each time, since a server says what changes.
 */
function wasHopeless(create: Create, order: Asked | undefined, troubles: readonly Trouble[]): boolean {
  if (order?.platform !== 'slack') return false;
  return troubles.some(
    ({ kind, chat, fromMs, untilMs }) =>
      (kind === 'token' || kind === 'scope') && chat === 'slack' && fromMs < order.atMs && create.atMs < untilMs,
  );
}

/** Told of these, the bot may come again. */
function mayHaveBeenTaken({ fate }: Create): boolean {
  return fate !== 'busy' && fate !== 'refused';
}

function tell({ order, fate, sender, atMs, upstreamId }: Create): string {
  return `${order} ${fate} by ${sender.replica}.${sender.life} at ${Math.round(atMs)} ms ${upstreamId ?? ''}`;
}
