import { isInProgress, shotBefore } from '#src/studio/index.ts';
import { awaitsFrame, hasClip, type SetPlace, type TaskId } from '#src/tasks/index.ts';
import { unframed, type VideoRequest } from '#src/videos/index.ts';
import type { Caller } from '../bot-port.ts';
import type { BotPorts } from '../input/subcommand.ts';
import type { OrderContext } from '../orders/order-context.ts';
import type { Refusal } from '../orders/refused-orders.ts';
import type { Accepted } from '../orders/what-fits.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { CHAINED_ELSEWHERE } from '../sentences/chain.ts';
import { all } from '../sentences/format.ts';

/**
 * Returns the shot of a storyboard that a retry is another take of: one by somebody who may decide on the storyboard, in its own
 * channel. Any other retry is a clip of its own.
 */
export async function shotOf(
  { tasks, ...ports }: BotPorts,
  caller: Caller,
  retryOf: TaskId,
): Promise<{ readonly takeOf?: SetPlace }> {
  const original = await tasks.get(retryOf);
  const takeOf = original?.takeOf ?? original?.set;
  const board = takeOf === undefined ? undefined : await tasks.get(takeOf.id);
  if (takeOf?.kind !== 'storyboard' || board === undefined) return {};
  const isTheirs =
    caller.channel === board.origin.channel &&
    (await mayNotDecideOn({ ...ports, tasks }, caller, board.origin)) === null;
  return isTheirs ? { takeOf } : {};
}

/**
 * Resolves the chained clips of an order: another take of a shot gets a frame of its own, from the clip before; any other retry
 * is a clip of its own, with the frame that the original had as an ordinary image. Refuses what cannot be chained.
 */
export async function resolveChain(order: OrderContext): Promise<(() => Promise<Refusal>) | null> {
  if (orderedIn(order.checked).every(({ chain }) => chain === undefined)) return null;
  const broken = order.checked.storyboard === undefined ? await resolveRetry(order) : null;
  const chained = orderedIn(order.checked).filter(({ chain }) => chain !== undefined);
  const missing = new Set(chained.flatMap((request) => order.ports.frames.missing(request)));
  const refusal = broken ?? (missing.size > 0 ? chainNeeds([...missing]) : null);
  return refusal === null ? null : async () => ({ sentences: [refusal] });
}

function orderedIn({ request, storyboard }: Accepted): readonly VideoRequest[] {
  return storyboard === undefined ? [request] : storyboard.shots.map((shot) => shot.request);
}

/**
 * Resolves a clip that is ordered alone. Of another take, the shot before has to have a clip, or one in progress.
 * @returns why it cannot be ordered; `null` if it can
 */
async function resolveRetry(order: OrderContext): Promise<string | null> {
  const { ports, caller, checked, ordering } = order;
  const { request } = checked;
  order.checked = { ...checked, request: unframed(request) };
  if (ordering.retryOf === undefined)
    return 'image: @last-frame is the last frame of the shot before, so it works in /video storyboard only.';
  const { takeOf } = await shotOf(ports, caller, ordering.retryOf);
  if (takeOf === undefined) {
    if (awaitsFrame(request)) return CHAINED_ELSEWHERE;
    const { chain: _, ...own } = request;
    order.checked = { ...checked, request: own };
    return null;
  }
  const before = await shotBefore(ports.boards, takeOf);
  if (before !== undefined && (hasClip(before.chosen) || isInProgress(before))) return null;
  const shot = takeOf.at - 1;
  return `Shot ${takeOf.at} starts with the last frame of shot ${shot}, which has no clip. Retry shot ${shot} first.`;
}

/** Names what this installation lacks to chain shots. */
export function chainNeeds(missing: readonly ('ffmpeg' | 'public_url')[]): string {
  const needed = missing.map((one) => NEEDED[one]);
  return `chain: I can’t start a shot with the last frame of the one before. That needs ${all(needed)}, which your administrator can add. Nothing was bought.`;
}

const NEEDED: Readonly<Record<'ffmpeg' | 'public_url', string>> = {
  ffmpeg: 'ffmpeg',
  public_url: 'a public address (PUBLIC_URL)',
};
