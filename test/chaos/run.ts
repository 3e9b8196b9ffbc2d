import { setTimeout as delay } from 'node:timers/promises';
import { OPEN_CUTS } from '#src/orders/cut.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { isExpired } from '#src/tasks/approval.ts';
import { REMOVALS } from '#src/tasks/indexes.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import { isForgottenUnheard } from './check/withdrawals.ts';
import { check } from './check.ts';
import type { History, Kept, Violation } from './history.ts';
import { datedOf, type MoneyChange, stepTo, writeCatalog } from './money.ts';
import { insist } from './people.ts';
import type { Plan, PlannedOrder } from './plan.ts';
import { isBefore } from './sets.ts';
import type { Side } from './side.ts';
import { build, historyOf, keptOf, type Stage, tearDown, watchCommits } from './stage.ts';
import { watchStandstill } from './standstill.ts';
import { makeTrouble } from './troubles.ts';

/** Timeout for everything to settle once all faults are over. */
const REST_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 300;
/** Time for a list to be read often enough that a lost create is found in it, if it can be, in runs of its job. */
const LIST_RUNS = 3;
const LIST_RUN_MS = 1_500;
/** Time after which the bot knows that a task which the service does not know any more was cancelled. */
const FORGOTTEN_MS = 80_000;

/** Result of a run. */
export interface Ran {
  readonly plan: Plan;
  readonly history: History;
  readonly violations: readonly Violation[];
  readonly tookMs: number;
  /** Time from the end of the faults until everything had settled. */
  readonly restedMs: number;
}

/**
 * Executes a plan, waits until everything has settled, and checks the history.
 *
 * @throws Error if the machine stood still meanwhile: such a run is neither clean nor a violation
 */
export async function run(plan: Plan): Promise<Ran> {
  const endWatch = watchStandstill();
  return play(plan).finally(endWatch);
}

async function play(plan: Plan): Promise<Ran> {
  const startedMs = performance.now();
  const nowMs = (): number => performance.now() - startedMs;
  const stage = await build(plan, { nowMs });
  try {
    const { replicas, people } = stage;
    await Promise.all(replicas.map((replica) => replica.start()));
    const urls = () => replicas.flatMap(({ isUp, url }) => (isUp && url !== null ? [url] : []));
    await Promise.all([...stage.sides.values()].map((side) => side.ready(urls)));
    watchCommits(stage);
    if (plan.hasReviews) {
      await people.command('/video review on --post_to #clips');
      for (const side of stage.sides.values()) await side.switchReviewsOn();
    }
    const { chatApprovers } = plan.money;
    if (chatApprovers !== null) for (const side of stage.sides.values()) await side.govern(chatApprovers);
    const bootedMs = nowMs();
    const looking = new AbortController();
    const looked = Promise.all([people.look(looking.signal), stage.cutWatch.watch(looking.signal)]);
    /** What users of the chats do, whenever its button is there. */
    const deeds: Promise<void>[] = [];
    // The plan's clock starts once everything is up.
    const sinceReadyMs = (): number => nowMs() - bootedMs;
    const [troubles] = await Promise.all([
      makeTrouble(plan.schedule, { ...stage, nowMs: sinceReadyMs, runMs: nowMs }),
      people.order(sinceReadyMs),
      ...plan.money.changes.map((change) => changeMoney(stage, change, sinceReadyMs)),
      ...plan.orders.map(async (order) => {
        const acting = await orderAt(stage, order, { sinceReadyMs, signal: looking.signal });
        deeds.push(...acting);
      }),
    ]);
    const endedMs = nowMs();
    await heal(stage);
    await restIn(stage);
    const stepMs = await leap(stage);
    looking.abort();
    await Promise.all([looked, ...deeds]);
    // The last presses have to settle as well.
    await restIn(stage, stepMs);
    const restedMs = nowMs() - endedMs;
    const history = await historyOf(
      stage,
      troubles.map((one) => ({ ...one, fromMs: one.fromMs + bootedMs, untilMs: one.untilMs + bootedMs })),
      Date.now() + stepMs,
    );
    return { plan, history, violations: check(history), tookMs: nowMs(), restedMs };
  } finally {
    await tearDown(stage);
  }
}

/** Sends an order of a chat. @returns what its users do until `signal` aborts */
async function orderAt(
  stage: Stage,
  order: PlannedOrder,
  { sinceReadyMs, signal }: { readonly sinceReadyMs: () => number; readonly signal: AbortSignal },
): Promise<readonly Promise<void>[]> {
  await delay(Math.max(0, order.atMs - sinceReadyMs()));
  const side = sideOf(stage, order);
  if (side === undefined) return [];
  await side.order(order, stage.nowMs);
  return order.deeds.map((deed) => {
    const acting = side.decide(order, deed, signal);
    // It is awaited at the end.
    acting.catch(() => undefined);
    return acting;
  });
}

async function changeMoney(stage: Stage, change: MoneyChange, sinceReadyMs: () => number): Promise<void> {
  const { people, plan, replicas, folder } = stage;
  await delay(Math.max(0, change.atMs - sinceReadyMs()));
  if ('command' in change) return people.command(datedOf(change.command));
  await writeCatalog(folder, plan.service.dialect, change.price);
  for (const replica of replicas) replica.rereadCatalog();
}

/** Ends all pauses and brings every replica up. */
async function heal({ plan, replicas, people, nowMs }: Stage): Promise<void> {
  for (const replica of replicas) replica.resume();
  if (plan.restartsAll) await Promise.all(replicas.map((replica) => replica.stop()));
  await Promise.all(replicas.map((replica) => replica.start()));
  await insist(() => people.askAgain(), { withinMs: REST_WITHIN_MS, nowMs, pause: () => delay(LOOK_EVERY_MS) });
}

/** Makes all clocks leap, one after the other, while users press what is left. @returns the last step. */
async function leap(stage: Stage): Promise<number> {
  const { plan, replicas, people } = stage;
  let stepMs = 0;
  for (const { to, presses } of plan.money.leaps) {
    const { tasks } = await keptOf(stage);
    if (![...tasks.values()].some(({ state }) => state === 'requested')) break;
    stepMs = stepTo(to);
    for (const [place, replica] of replicas.entries()) {
      replica.tell({ offsetMs: stepMs });
      if (place === 0) await people.pressAll(presses);
    }
    await restIn(stage, stepMs);
  }
  return stepMs;
}

/** Waits until everything has settled, or until the timeout. @param stepMs step of all clocks */
async function restIn(stage: Stage, stepMs = 0): Promise<void> {
  const fromMs = stage.nowMs();
  const untilMs = fromMs + REST_WITHIN_MS;
  let quiet = 0;
  while (quiet < 3 && stage.nowMs() < untilMs) {
    await delay(LOOK_EVERY_MS);
    const kept = await keptOf(stage);
    const isQuiet = isAtRest(stage, kept, Date.now() + stepMs) && !isSought(stage, kept, stage.nowMs() - fromMs);
    quiet = isQuiet ? quiet + 1 : 0;
  }
}

/** Returns whether a task that the service took may still be found in its list. @param restingMs time since the faults */
function isSought({ plan, service }: Stage, { tasks }: Kept, restingMs: number): boolean {
  const { listing, jobsEveryMs } = plan.service;
  if (listing === null || restingMs > LIST_RUNS * (jobsEveryMs + LIST_RUN_MS) + listing.lateMs) return false;
  const taken = new Set(service.creates.flatMap(({ key, upstreamId }) => (upstreamId === null ? [] : [key])));
  return [...tasks.values()].some(
    ({ id, state, leftBy }) => state === 'uncertain' && leftBy === undefined && taken.has(id),
  );
}

/** Returns whether the bot does not know, and perhaps never will, that the service cancelled and forgot a task. */
function isForgotten({ service, replicas, nowMs }: Stage, { state, upstreamId }: Task): boolean {
  const one = state === 'cancelled' ? service.made().find((made) => made.upstreamId === upstreamId) : undefined;
  if (one?.cancelledAtMs === undefined || one.isForgotten !== true) return false;
  const lives = replicas.flatMap((replica) => replica.lives);
  return (
    isForgottenUnheard(one, { withdrawals: service.withdrawals, lives }) || nowMs() - one.cancelledAtMs > FORGOTTEN_MS
  );
}

function sideOf({ sides }: Stage, { platform }: PlannedOrder): Side | undefined {
  return platform === 'playground' ? undefined : sides.get(platform);
}

/** Returns whether a task waits for a user. */
function isUndecided(task: Task, clockMs: number): boolean {
  return task.state === 'uncertain' || (task.state === 'requested' && !isExpired(task, clockMs));
}

/** Returns whether a chained shot waits for one before it that is undecided. */
function isBehind(task: Task, { tasks }: Kept, clockMs: number): boolean {
  return (
    task.state === 'waiting' && [...tasks.values()].some((one) => isBefore(one, task) && isUndecided(one, clockMs))
  );
}

/** Returns whether nothing is in flight any more. */
function isAtRest(stage: Stage, kept: Kept, clockMs: number): boolean {
  const { tasks, indexes } = kept;
  const { sides } = stage;
  const promised = [...sides.values()].flatMap((side) => side.asked.filter(({ status }) => status === 202));
  return (
    [...sides.values()].every(({ hasBot }) => hasBot) &&
    [REMOVALS, OPEN_CUTS].every((name) => (indexes.get(name)?.size ?? 0) === 0) &&
    promised.every(({ platform, id }) => tasks.has(taskIdOf(`${platform}:${id}`))) &&
    [...tasks.values()].every(
      (task) =>
        task.presented &&
        (isEnded(task) || isUndecided(task, clockMs) || isBehind(task, kept, clockMs) || isForgotten(stage, task)),
    )
  );
}
