import type { TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { originOf } from '../orders/place-order.ts';
import { missingShots } from '../sentences/cards/cut.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { seeItHere, textCard } from '../ui/card.ts';

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
  // There, the bot can post one message only.
  if (caller.isGuest === true)
    return refused('I’m not a member here, so I can’t post a cut. Add me to the server first.');
  const found = await Promise.all(tasks.map((id) => ports.tasks.get(id)));
  const known = found.filter((task) => task !== undefined);
  const visible = visibleAmong(caller, known);
  if (visible.length < known.length) return refused(UNKNOWN_BUTTON);
  const missing = found.flatMap((task, at) => (task?.clip === undefined ? [at + 1] : []));
  if (missing.length > 0) return refused(missingShots(missing));
  if (tasks.length < 2) return refused('A cut needs at least two shots with a clip.');
  if (known.some(({ origin }) => origin.audience !== 'team' && origin.channel !== caller.channel))
    return refused('Some of these shots are from a private channel. Join them there.');
  const audience = known.every(({ origin }) => origin.audience === 'team') ? 'team' : 'channel';
  const requested = await ports.cuts.request({ tasks, origin: below(originOf(caller, audience, replyTo)) });
  if (requested.kind === 'accepted') return { kind: 'task', task: requested.cut };
  if (requested.kind === 'full') return refused('Too many cuts are waiting to be joined. Try again in a few minutes.');
  return privately(textCard([KNOWN[requested.kind], ...seeItHere(requested.message)]));
}

const KNOWN = {
  joining: 'These shots are being joined already.',
  there: 'These shots are joined already.',
  again: 'Joining them again.',
} as const;

/** Keeps a reply in the thread of its message, where the platform has threads. */
function below(origin: ReturnType<typeof originOf>): ReturnType<typeof originOf> {
  const { replyTo } = origin;
  return replyTo === undefined ? origin : { ...origin, address: { ...origin.address, below: replyTo } };
}
