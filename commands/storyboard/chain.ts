import { taskIdOf } from '#src/pipeline/index.ts';
import { isInProgress, shotBefore } from '#src/studio/index.ts';
import { awaitsFrame, hasClip, type SetPlace, type TaskId } from '#src/tasks/index.ts';
import { unchained, unframed, type VideoRequest } from '#src/videos/index.ts';
import type { Caller } from '../bot-port.ts';
import type { BotPorts } from '../input/subcommand.ts';
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

/** Order whose chained clips are resolved, or why they cannot be ordered. */
type Chained = { readonly checked: Accepted } | { readonly refusal: string };

/**
 * Resolves the chained clips of an order: another take of a shot gets a frame of its own, from the clip before; any other retry
 * is a clip of its own, with the frame that the original had as an ordinary image. An order that was claimed before is
 * never refused.
 */
export async function resolveChain(
  ports: BotPorts,
  caller: Caller,
  checked: Accepted,
  { key, retryOf }: { readonly key: string; readonly retryOf: TaskId | undefined },
): Promise<Chained> {
  const { request, storyboard } = checked;
  if (orderedIn(checked).every(({ chain }) => chain === undefined)) return { checked };
  const chained = storyboard === undefined ? await resolveRetry(ports, caller, checked, retryOf) : { checked };
  const isShot = 'checked' in chained && orderedIn(chained.checked).some(({ chain }) => chain !== undefined);
  const needs = isShot ? (notChainedHere(ports) ?? chained) : chained;
  if ('checked' in needs || (await ports.tasks.get(taskIdOf(key))) === undefined) return needs;
  return { checked: { ...checked, request: unframed(request) } };
}

function notChainedHere({ frames }: BotPorts): { readonly refusal: string } | null {
  return frames.missing.length > 0 ? { refusal: chainNeeds(frames.missing) } : null;
}

function orderedIn({ request, storyboard }: Accepted): readonly VideoRequest[] {
  return storyboard === undefined ? [request] : storyboard.shots.map((shot) => shot.request);
}

/** Refuses the last frame of the shot before where there is none: in a clip of its own. */
const NO_SHOT_BEFORE =
  'image: @last-frame is the last frame of the shot before, so it works in /video storyboard only.';

/** Resolves a clip that is ordered alone. Of another take, the shot before has to have a clip, or one in progress. */
async function resolveRetry(
  ports: BotPorts,
  caller: Caller,
  checked: Accepted,
  retryOf: TaskId | undefined,
): Promise<Chained> {
  const { request } = checked;
  if (retryOf === undefined) return { refusal: NO_SHOT_BEFORE };
  const { takeOf } = await shotOf(ports, caller, retryOf);
  if (takeOf === undefined) {
    if (awaitsFrame(request)) return { refusal: CHAINED_ELSEWHERE };
    return { checked: { ...checked, request: unchained(request) } };
  }
  const before = await shotBefore(ports.boards, takeOf);
  if (before === undefined || !(hasClip(before.chosen) || isInProgress(before)))
    return { refusal: chainBroken(takeOf.at - 1) };
  return { checked: { ...checked, request: unframed(request) } };
}

function chainBroken(shot: number): string {
  return `Shot ${shot + 1} starts with the last frame of shot ${shot}, which has no clip. Retry shot ${shot} first.`;
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
