import { taskIdOf } from '#src/tasks/service.ts';
import type { Create, History, Violation } from '../history.ts';

/** Whether every create at the service is one that somebody asked for, once. */
export function checkCreates({ asked, pressed, creates, store }: History): readonly Violation[] {
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
    const isAsked = [...ordered, ...retries].some((id) => id === key);
    if (!isAsked) violations.push({ name: 'create nobody asked for', what });
  }
  return violations;
}

/** Told of these, the bot may come again. */
function mayHaveBeenTaken({ fate }: Create): boolean {
  return fate !== 'busy' && fate !== 'refused';
}

function tell({ order, fate, sender, atMs, upstreamId }: Create): string {
  return `${order} ${fate} by ${sender.replica}.${sender.life} at ${Math.round(atMs)} ms ${upstreamId ?? ''}`;
}
