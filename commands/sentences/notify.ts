import type { Subscription } from '#src/chat/subscriptions.ts';
import type { Card, Line, Part } from '../card.ts';

/** What `/video notify` did. */
export type NotifyOutcome =
  | { readonly kind: 'added' | 'there_already'; readonly subscription: Subscription }
  | { readonly kind: 'removed'; readonly removed: readonly Subscription[]; readonly channel: string };

/** What was changed, and who is told of what now. */
export function notifyCard(outcome: NotifyOutcome, now: readonly Subscription[]): Card {
  const current: readonly Line[] =
    now.length === 0
      ? [['Nobody is told of other people’s clips now. Whoever asks for a clip is always told.']]
      : [
          ['Told of now:'],
          ...now.map((one): Line => ['• ', ...subscriptionWords(one), ', asked for by ', { person: one.by }]),
        ];
  return { lines: [outcomeLine(outcome), ...current], progress: null, buttons: [] };
}

function outcomeLine(outcome: NotifyOutcome): Line {
  switch (outcome.kind) {
    case 'added':
      return ['From now on I tell of ', ...subscriptionWords(outcome.subscription), '.'];
    case 'there_already':
      return ['I tell of ', ...subscriptionWords(outcome.subscription), ' already.'];
    case 'removed':
      if (outcome.removed.length === 0)
        return ['There was nothing like that to stop in ', { channel: outcome.channel }, '.'];
      return ['I no longer tell of ', ...outcome.removed.flatMap(separated), '.'];
  }
}

function separated(subscription: Subscription, index: number): readonly Part[] {
  return [...(index === 0 ? [] : [', ']), ...subscriptionWords(subscription)];
}

function subscriptionWords({ who, channel }: Subscription): Line {
  const whose: Part = who === 'everyone' ? 'everyone’s finished clips' : 'finished clips of ';
  return [whose, ...(who === 'everyone' ? [] : [{ person: who }]), ' in ', { channel }];
}
