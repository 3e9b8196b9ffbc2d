import { type Micros, microsOf, type Price, priceOf, timesPrice, total } from '#src/tasks/index.ts';
import {
  type Catalog,
  type Checked,
  checkRequest,
  draftOfRequest,
  type Model,
  secondsOffered,
} from '#src/videos/index.ts';
import type { Ordered } from '../sentences/ordered.ts';

export type Accepted = Extract<Checked, { readonly ok: true }>;

/** Returns the price of an order: that of all its clips. */
export function orderPrice({ model, request, takes, storyboard, compared }: Accepted): Price {
  const clips = storyboard?.shots ?? compared;
  if (clips === undefined) return timesPrice(priceOf(model, request.seconds), takes);
  const prices = clips.map((shot) => priceOf(shot.model, shot.request.seconds));
  const [sum = priceOf(model, request.seconds)] = total(prices);
  return sum;
}

/** Returns what an order makes: a set, or one clip (`null`). */
export function orderedBy({
  takes,
  storyboard,
  compared,
}: Pick<Accepted, 'takes' | 'storyboard' | 'compared'>): Ordered {
  if (compared !== undefined) return { kind: 'comparison', of: compared.length };
  if (storyboard !== undefined) return { kind: 'storyboard', of: storyboard.shots.length };
  return takes === 1 ? null : { kind: 'takes', of: takes };
}

/**
 * Returns the request in a form that costs at most `room`: fewer takes of the same clip; else as many takes as fit of the
 * longest shorter clip of the same model, or of the longest clip, up to the length requested, of another model with the same
 * currency; `null` where nothing fits.
 */
export function whatFits(catalog: Catalog, order: Accepted, room: Micros): Accepted | null {
  const { model, request, takes, storyboard, compared } = order;
  // Which of its shots, or models, to leave out is for its author to say.
  if (storyboard !== undefined || compared !== undefined) return null;
  const fewer = mostTakes({ ...order, takes: takes - 1 }, room);
  if (fewer !== null) return fewer;
  const others = catalog.models.filter(({ name, currency }) => name !== model.name && currency === model.currency);
  const shorter = fitOf(catalog, order, { room, below: request.seconds });
  if (shorter !== null) return shorter;
  const fits = others.flatMap((other) => {
    const fit = fitOf(catalog, { model: other, request, takes }, { room, below: request.seconds + 1 });
    return fit === null ? [] : [fit];
  });
  return fits.toSorted((one, other) => other.request.seconds - one.request.seconds)[0] ?? null;
}

/** Returns an order with as many of its takes as cost at most `room`; `null` where not even one does. */
function mostTakes(order: Accepted, room: Micros): Accepted | null {
  for (let takes = order.takes; takes > 0; takes -= 1)
    if (microsOf(orderPrice({ ...order, takes }).amount) <= room) return { ...order, takes };
  return null;
}

/**
 * Returns the longest clip of a model that is shorter than `below` and costs at most `room`; in its usual shape and
 * resolution where it does not offer those of the request.
 */
function fitOf(
  catalog: Catalog,
  { model, request, takes }: Pick<Accepted, 'model' | 'request' | 'takes'>,
  { room, below }: { readonly room: Micros; readonly below: number },
): Accepted | null {
  const affordable = secondsOffered(model).filter((seconds) => seconds < below && costs(model, seconds) <= room);
  if (affordable.length === 0) return null;
  const seconds = Math.max(...affordable);
  const { aspect: _aspect, resolution: _resolution, ...rest } = draftOfRequest(request);
  for (const draft of [draftOfRequest(request), rest]) {
    const checked = checkRequest(catalog, { ...draft, model: model.name, seconds });
    if (checked.ok) return mostTakes({ ...checked, takes }, room);
  }
  return null;
}

function costs(model: Model, seconds: number): Micros {
  return microsOf(priceOf(model, seconds).amount);
}
