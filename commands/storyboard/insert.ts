import { taskIdOf } from '#src/pipeline/index.ts';
import { isContentRemoved, MAX_SET_SIZE, type SetPlace, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import type { OrderIdentity } from '../orders/offers.ts';
import { pressOf, replyToHere } from '../orders/takes.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { PROMPT_REMOVED } from '../sentences/removal.ts';

/** A shot that is about to be ordered. */
interface InsertedShot {
  readonly identity: OrderIdentity;
  /** The shot that it goes before, of which it has the settings that its form has no field for. */
  readonly next: Task;
}

/**
 * Gives a shot that is about to be ordered its number and its place on the board: an order that is confirmed or approved later
 * finds it there. Each submission is an order of its own, and each delivery of it the same one.
 */
export async function placeInserted(
  ports: BotPorts,
  caller: Caller,
  { task: set, before }: { readonly task: TaskId; readonly before: number },
): Promise<InsertedShot | { readonly reply: Reply }> {
  const found = await placeBefore(ports, caller, set, before);
  if ('reply' in found) return found;
  const { place, next } = found;
  const press = pressOf(caller);
  const keyOf = (of: string): string => `insert:${set}:${of}`;
  const isOpen = async (other: string): Promise<boolean> => {
    const id = taskIdOf(keyOf(other));
    const [task, draft] = await Promise.all([ports.tasks.get(id), ports.drafts.get(id)]);
    return task === undefined ? draft !== undefined && draft.isDiscarded !== true : task.state !== 'declined';
  };
  const at = await ports.boards.insert(place, { press, before, nowMs: ports.clock.now(), isOpen });
  if (at === null) return { reply: refused(FULL) };
  const { id, kind, of } = place;
  const reply = await replyToHere(ports, caller, set);
  return { identity: { key: keyOf(press), press, takeOf: { id, kind, at, of }, ...reply }, next };
}

/** Returns the shot that another one may be inserted before, for those who may; a full board has no room. */
export async function roomBefore(ports: BotPorts, caller: Caller, set: TaskId, before: number) {
  const found = await placeBefore(ports, caller, set, before);
  return 'reply' in found || found.shots < MAX_SET_SIZE ? found : { reply: refused(FULL) };
}

async function placeBefore(
  ports: BotPorts,
  caller: Caller,
  set: TaskId,
  before: number,
): Promise<{ readonly place: SetPlace; readonly next: Task; readonly shots: number } | { readonly reply: Reply }> {
  const first = await taskHere(ports, caller, set);
  if (first?.set?.kind !== 'storyboard') return { reply: refused(UNKNOWN_BUTTON) };
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return { reply: refused(refusal) };
  if (caller.channel !== first.origin.channel) return { reply: refused(ELSEWHERE) };
  const { shots } = await ports.boards.get(first.set);
  if (shots.every(({ takes }) => takes.every(isContentRemoved))) return { reply: refused(PROMPT_REMOVED) };
  const takes = shots.find(({ at }) => at === before)?.takes ?? [];
  const next = takes.find((take) => !isContentRemoved(take)) ?? takes[0];
  if (next === undefined) return { reply: refused(UNKNOWN_BUTTON) };
  return { place: first.set, next, shots: shots.length };
}

const ELSEWHERE = 'A shot is inserted in the channel of its storyboard.';

const FULL = `A storyboard has at most ${MAX_SET_SIZE} shots, with those that wait for a confirmation or an approval. Nothing was bought.`;
