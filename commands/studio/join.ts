import type { TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { originOf } from '../orders/place-order.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import {
  cutKnown,
  missingShots,
  NO_CUTS_HERE,
  PRIVATE_SHOTS,
  TOO_FEW_SHOTS,
  TOO_MANY_CUTS,
} from '../sentences/studio/cuts.ts';

interface JoinRequest {
  /** Tasks of the clips, in the order of the cut. Sentences number them from 1. */
  readonly tasks: readonly TaskId[];
  /** The message below which the cut is posted. Default: none. */
  readonly replyTo?: string | undefined;
}

/**
 * Has clips joined into one file, which is delivered like a clip. It buys nothing: those who may see all of them may join
 * them.
 */
export async function joinShots(ports: BotPorts, caller: Caller, { tasks, replyTo }: JoinRequest): Promise<Reply> {
  if (caller.isGuest === true) return refused(NO_CUTS_HERE);
  const found = await Promise.all(tasks.map((id) => ports.tasks.get(id)));
  const known = found.filter((task) => task !== undefined);
  const visible = visibleAmong(caller, known);
  if (visible.length < known.length) return refused(UNKNOWN_BUTTON);
  const missing = found.flatMap((task, at) => (task?.clip === undefined ? [at + 1] : []));
  if (missing.length > 0) return refused(missingShots(missing));
  if (tasks.length < 2) return refused(TOO_FEW_SHOTS);
  if (known.some(({ origin }) => origin.audience !== 'team' && origin.channel !== caller.channel))
    return refused(PRIVATE_SHOTS);
  const audience = known.every(({ origin }) => origin.audience === 'team') ? 'team' : 'channel';
  const requested = await ports.cuts.request({ tasks, origin: below(originOf(caller, audience, replyTo)) });
  if (requested.kind === 'accepted') return { kind: 'task', task: requested.cut };
  if (requested.kind === 'full') return refused(TOO_MANY_CUTS);
  return privately(cutKnown(requested.kind, requested.message));
}

export async function joinAgain(ports: BotPorts, caller: Caller, cut: TaskId): Promise<Reply> {
  const tasks = await ports.cuts.tasksOf(cut);
  return tasks.length === 0 ? refused(UNKNOWN_BUTTON) : joinShots(ports, caller, { tasks });
}

/** Keeps a reply in the thread of its message, where the platform has threads. */
function below(origin: ReturnType<typeof originOf>): ReturnType<typeof originOf> {
  const { replyTo } = origin;
  return replyTo === undefined ? origin : { ...origin, address: { ...origin.address, below: replyTo } };
}
