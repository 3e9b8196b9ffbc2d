import type { Board } from '#src/orders/index.ts';
import { taskIdOf } from '#src/pipeline/index.ts';
import { MAX_SET_SIZE, type SetPlace, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import type { OrderIdentity } from '../orders/offers.ts';
import { pressOf, replyToHere } from '../orders/takes.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';

/** Largest number of a shot: that of the buttons. */
const MAX_NUMBER = 99;

/** A shot that is about to be ordered. */
interface InsertedShot {
  readonly identity: OrderIdentity & { readonly press: string };
  /** The shot that it goes before, of which it has the settings that its form has no field for. */
  readonly next: Task;
}

/**
 * Gives a shot that is about to be ordered its number, which no other one has, and its place on the board: an order that is
 * confirmed or approved later finds it there. Each delivery of an interaction gets the same number.
 */
export async function placeInserted(
  ports: BotPorts,
  caller: Caller,
  { task: set, before }: { readonly task: TaskId; readonly before: number },
): Promise<InsertedShot | { readonly reply: Reply }> {
  const press = pressOf(caller);
  const found = await roomBefore(ports, caller, set, before, press);
  if ('reply' in found) return found;
  const { place, next } = found;
  for (let at = place.of + 1; at <= MAX_NUMBER; at += 1) {
    const key = `insert:${set}:${at}`;
    const [task, draft] = await Promise.all([ports.tasks.get(taskIdOf(key)), ports.drafts.get(taskIdOf(key))]);
    if ((task ?? draft ?? { press }).press !== press) continue;
    await reserve(ports, place, at, before);
    const { id, kind, of } = place;
    const reply = await replyToHere(ports, caller, set);
    return { identity: { key, press, takeOf: { id, kind, at, of }, ...reply }, next };
  }
  return { reply: refused(FULL) };
}

const FULL = `A storyboard has at most ${MAX_SET_SIZE} shots. Nothing was bought.`;

/** Refuses an order whose number another one took at the same moment. */
export const INSERTED_MEANWHILE =
  'Someone else inserted a shot at the same moment. Nothing was bought; press Insert a shot before again.';

/** Times that a place is written again after someone else has changed the board. */
const TRIES = 3;

/** Puts the number of a shot before another one. Where that fails, the shot stands at the end once it is ordered. */
async function reserve({ boards, logger }: BotPorts, place: SetPlace, at: number, before: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const board = await boards.get(place);
    const order = board.shots.map((shot) => shot.at);
    if (order.includes(at)) return;
    if (await boards.change(board, { order: order.toSpliced(Math.max(0, order.indexOf(before)), 0, at) })) return;
  }
  logger.warn({ event: 'shot_not_placed', set: place.id }, 'an inserted shot stands at the end of its board');
}

/**
 * Returns the board and the shot that another one is to be inserted before, for those who may.
 * @param press by which a shot may have been inserted already: then a full board has room for it. Default: none.
 */
export async function roomBefore(
  ports: BotPorts,
  caller: Caller,
  set: TaskId,
  before: number,
  press: string | null = null,
): Promise<{ readonly place: SetPlace; readonly next: Task } | { readonly reply: Reply }> {
  const first = await taskHere(ports, caller, set);
  if (first?.set?.kind !== 'storyboard') return { reply: refused(UNKNOWN_BUTTON) };
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return { reply: refused(refusal) };
  if (caller.channel !== first.origin.channel) return { reply: refused(ELSEWHERE) };
  const board = await ports.boards.get(first.set);
  const [next] = board.shots.find(({ at }) => at === before)?.takes ?? [];
  if (next === undefined) return { reply: refused(UNKNOWN_BUTTON) };
  const isFull = board.shots.length >= MAX_SET_SIZE && !hasShotOf(board, press);
  return isFull ? { reply: refused(FULL) } : { place: first.set, next };
}

const ELSEWHERE = 'A shot is inserted in the channel of its storyboard.';

function hasShotOf({ shots }: Board, press: string | null): boolean {
  return press !== null && shots.some(({ takes }) => takes.some((take) => take.press === press));
}
