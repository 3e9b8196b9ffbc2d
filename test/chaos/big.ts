import { setTimeout as delay } from 'node:timers/promises';
import { messageIdOf } from '#adapters/playground/interactions.ts';
import { isOnCard } from '#src/chat/sets/set-view.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import { check } from './check.ts';
import { NO_FATE } from './fates.ts';
import type { Trouble } from './history.ts';
import { drawPlan, type Plan, type PlannedOrder } from './plan.ts';
import { createRandom, type Random } from './random.ts';
import type { Ran } from './run.ts';
import { cardOf } from './sets.ts';
import { build, historyOf, keptOf, type Stage, tearDown } from './stage.ts';

/** Number of interactions in flight at once. */
const AT_ONCE = 48;
const KILL_EVERY_MS = { least: 3_000, most: 7_000 };
const LOOK_EVERY_MS = 3_000;
/** Timeout without any progress, after which missing tasks count as lost. */
const STALLED_MS = 120_000;
/** Simulates a fast service with small clips, so that the load falls on Dailies. */
const SETTINGS = {
  LOG_LEVEL: 'error',
  POLL_FIRST_MS: '100',
  PROGRESS_EDIT_MS: '600000',
  CREATE_TIMEOUT_MS: '10000',
  REQUEST_TIMEOUT_MS: '10000',
};
const CLIP_BYTES = 2_000;

/**
 * Runs many interactions, each delivered to every replica, while replicas are killed throughout. Where a kill left a
 * task uncertain, a simulated user looks it up in the service's console and decides. At the end each interaction must
 * have exactly one create, which was delivered.
 */
export async function runBig(options: {
  readonly seed: number;
  readonly replicas: number;
  readonly interactions: number;
  readonly say: (line: string) => void;
}): Promise<Ran> {
  const plan = planOf(options);
  const startedMs = performance.now();
  const nowMs = (): number => performance.now() - startedMs;
  const stage = await build(plan, { nowMs, env: SETTINGS, clipBytes: CLIP_BYTES });
  try {
    await Promise.all(stage.replicas.map((replica) => replica.start()));
    const isOver = new AbortController();
    const killed = killThroughout(stage, createRandom(`big ${options.seed}`), isOver.signal);
    await askAll(stage, options.say);
    const askedMs = nowMs();
    isOver.abort();
    const troubles = await killed;
    await decideUntilRest(stage, options.say);
    const restedMs = nowMs() - askedMs;
    const history = await historyOf(stage, troubles);
    return { plan, history, violations: check(history), tookMs: nowMs(), restedMs };
  } finally {
    await tearDown(stage);
  }
}

function planOf({ seed, replicas, interactions }: { seed: number; replicas: number; interactions: number }): Plan {
  const plan = drawPlan({ seed, store: 'redis', replicas, interactions, faults: [] });
  const orders = plan.orders.map((order) => ({
    ...order,
    fate: { ...NO_FATE, polls: 0 },
    deeds: [],
    againAfterMs: [],
  }));
  return { ...plan, orders, sharesFolder: true };
}

/** Sends every order and repeats each until it is answered. */
async function askAll({ plan, people }: Stage, say: (line: string) => void): Promise<void> {
  const orders = plan.orders.values();
  let asked = 0;
  const ask = async (): Promise<void> => {
    for (const order of orders) {
      await insist(people, order);
      asked += 1;
      if (asked % 1_000 === 0) say(`${asked} asked for\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
}

/** Repeats an order until a replica accepts it, as a platform or a user would. */
async function insist(people: Stage['people'], order: PlannedOrder): Promise<void> {
  for (;;) {
    if (await people.ask(order)) return;
    await delay(200);
  }
}

async function killThroughout(
  { replicas, nowMs }: Stage,
  random: Random,
  over: AbortSignal,
): Promise<readonly Trouble[]> {
  const troubles: Trouble[] = [];
  const { least, most } = KILL_EVERY_MS;
  while (!over.aborted) {
    await delay(random.between(least, most), undefined, { signal: over }).catch(() => undefined);
    const victim = replicas[random.between(0, replicas.length - 1)];
    if (over.aborted || victim === undefined) break;
    const fromMs = nowMs();
    await victim.kill();
    await victim.start();
    troubles.push({ kind: 'kill', replica: victim.index, fromMs, untilMs: nowMs(), remark: '' });
  }
  return troubles;
}

/** Waits until every task has ended and was delivered; decides uncertain ones. */
async function decideUntilRest(stage: Stage, say: (line: string) => void): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  let sinceMs = stage.nowMs();
  while (left > 0 && stage.nowMs() - sinceMs < STALLED_MS) {
    await delay(LOOK_EVERY_MS);
    const { tasks } = await keptOf(stage);
    const waiting = [...tasks.values()].filter((task) => !task.presented || !isEnded(task));
    const uncertain = waiting.filter(({ state }) => state === 'uncertain');
    await Promise.all(uncertain.map((task) => decide(stage, task)));
    if (waiting.length < left) sinceMs = stage.nowMs();
    left = waiting.length;
    say(`${left} on their way, ${uncertain.length} of them uncertain\n`);
  }
}

/** Submits the id found in the service's console; without one, nothing was bought and the task is sent again. */
function decide({ people }: Stage, task: Task) {
  const { id, set, sends, price, origin } = task;
  const message = messageIdOf('task', set !== undefined && isOnCard(task) ? cardOf(set.id) : id);
  return people.decide({ task: id, message, user: origin.user.id, sends, price });
}
