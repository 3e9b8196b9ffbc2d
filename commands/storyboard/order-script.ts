import { checkRequest, isChained, LAST_FRAME, type ShotDraft } from '#src/videos/index.ts';
import type { Caller, FieldProblem, Reply } from '../bot-port.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { type Kept, refuseRequest } from '../orders/offers.ts';
import { placedReply, placeOrder } from '../orders/place-order.ts';
import { refusalProblems } from '../sentences/refusals.ts';
import { parseShots, sharedOptions, splitScript } from './script.ts';

/**
 * Orders the storyboard of `kept.request.script`; its price and length are asked about first. Reports all problems at once, with
 * **Fix it**, which brings the text back in a form.
 * @param problems those of the options that all shots share
 */
export async function orderScript(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  problems: readonly FieldProblem[] = [],
): Promise<Reply> {
  const { shots: written, problems: ofLines } = parseShots(kept.request.script ?? '');
  const shots = kept.request.chain === true ? chainShots(written) : written;
  const request = { ...kept.request, shots };
  const checked = checkRequest(ports.catalog(), request);
  const ofShots = written.length === 0 && ofLines.length > 0 ? [] : refusalProblems(checked, caller.fields);
  const wrong = [...problems, ...ofLines, ...ofShots];
  if (!checked.ok || wrong.length > 0) return refuseRequest(ports, caller, { ...kept, request }, wrong);
  const { key, replyTo } = kept;
  const identity = { ...(key === undefined ? {} : { key }), ...(replyTo === undefined ? {} : { replyTo }) };
  return placedReply(await placeOrder(ports, caller, checked, identity));
}

/** Has each shot but the first start with the last frame of the one before. */
function chainShots([first, ...rest]: readonly ShotDraft[]): readonly ShotDraft[] {
  const chained = rest.map((shot) =>
    isChained(shot) ? shot : { ...shot, image: [LAST_FRAME, ...(shot.image ?? [])] },
  );
  return first === undefined ? [] : [first, ...chained];
}

/** Orders a storyboard as entered in a form, whose first line may also have options for all shots. */
export function orderEntered(ports: BotPorts, caller: Caller, kept: Kept, written: string): Promise<Reply> {
  const { shared, text, problems } = splitScript(written);
  return orderScript(
    ports,
    caller,
    { ...kept, request: { ...kept.request, ...sharedOptions(shared), script: text } },
    problems,
  );
}
