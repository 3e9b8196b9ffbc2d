import { periodOf } from '../../period.ts';
import type { Origin, Price, Purchase } from '../../tasks/index.ts';
import { type PolicyRefusal, policyRefusals, type VideoRequest } from '../../videos/index.ts';
import type { TeamSettings } from '../settings-schema.ts';
import { type PauseInEffect, pauseAt } from '../team-settings.ts';
import { NO_POLICY, type PolicyPlace, rulesAt, valueRules } from './policy.ts';

/** What is bought: an order, or a task that is sent again. */
interface Bought {
  readonly origin: Origin;
  readonly request: VideoRequest;
  readonly price: Price;
  /** Further clips of the same order. */
  readonly set?: { readonly more?: readonly { readonly request: VideoRequest }[] };
}

/** Purchase at a moment, and what refuses it. */
export interface PurchaseNow {
  readonly purchase: Purchase;
  /** The pause of the team's spending. */
  readonly paused: PauseInEffect | null;
  /** Why the team's policy does not allow it; empty if it does. */
  readonly forbidden: readonly PolicyRefusal[];
}

/** Returns why a team's policy does not allow requests in a place; empty if it does. */
export function refusedBy(
  { policy = NO_POLICY }: Pick<TeamSettings, 'policy'>,
  place: PolicyPlace,
  requests: readonly VideoRequest[],
): readonly PolicyRefusal[] {
  return policyRefusals(valueRules(rulesAt(policy, place)), requests);
}

/** Returns a purchase at a moment, in the team's month, and what refuses it by the team's settings. */
export function purchaseAt(atMs: number, { origin, request, price, set }: Bought, settings: TeamSettings): PurchaseNow {
  const { amount, currency } = price;
  const requests = [request, ...(set?.more ?? []).map((clip) => clip.request)];
  return {
    purchase: { period: periodOf(atMs, settings.timeZone), amount, currency, atMs },
    paused: pauseAt(settings, atMs),
    forbidden: refusedBy(settings, origin, requests),
  };
}
