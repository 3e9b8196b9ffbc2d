import { type Subscription, subscriptionKey } from '#src/chat/index.ts';
import { notifyButtonId, stopButtonId } from '../../ui/buttons.ts';
import type { Card, CardButton, Line, Part } from '../../ui/card.ts';

/** Outcome of `/video notify`. */
export type NotifyOutcome =
  | { readonly kind: 'added' | 'there_already'; readonly subscription: Subscription }
  | { readonly kind: 'removed'; readonly removed: readonly Subscription[]; readonly channel: string };

interface ShownSubscription {
  readonly subscription: Subscription;
  /** True if the caller may remove it. */
  readonly isStoppable: boolean;
}

/** Largest number of subscriptions with their own button. */
const MAX_STOP_BUTTONS = 5;

/**
 * Shows the outcome of a change, if any, and the notifications of a team.
 * @param offers notifications of this channel that a button offers to turn on.
 */
export function notifyCard(
  outcome: NotifyOutcome | null,
  shown: readonly ShownSubscription[],
  offers: { readonly on: boolean; readonly direct: boolean },
): Card {
  const heading =
    shown.length === 0 ? 'No notifications are on. You’re always told about your own clips.' : 'Notifications:';
  const stoppable = shown.filter(({ isStoppable }) => isStoppable).slice(0, MAX_STOP_BUTTONS);
  const isNumbered = stoppable.length > 1;
  const listed = shown.map((one): Line => {
    const bullet = isNumbered && stoppable.includes(one) ? `${stoppable.indexOf(one) + 1}. ` : '• ';
    return [bullet, ...subscriptionWords(one.subscription), ...setBy(one.subscription)];
  });
  const stops = stoppable.map(
    ({ subscription }, index): CardButton => ({
      id: stopButtonId(subscriptionKey(subscription)),
      label: isNumbered ? `Turn off ${index + 1}` : 'Turn off',
      style: 'plain',
    }),
  );
  return {
    lines: [...(outcome === null ? [] : [outcomeLine(outcome)]), [heading], ...listed],
    progress: null,
    buttons: [...stops, ...offerButtons(offers)],
  };
}

function offerButtons({ on, direct }: { readonly on: boolean; readonly direct: boolean }): readonly CardButton[] {
  return [
    ...(on ? [{ id: notifyButtonId('on'), label: 'Announce everyone’s clips here', style: 'plain' } as const] : []),
    ...(direct
      ? [{ id: notifyButtonId('direct'), label: 'Message me about this channel’s clips', style: 'plain' } as const]
      : []),
  ];
}

function setBy({ by, from }: Subscription): readonly Part[] {
  return from === undefined ? [' (set by ', { person: by }, ')'] : [];
}

function outcomeLine(outcome: NotifyOutcome): Line {
  switch (outcome.kind) {
    case 'added':
      return addedLine(outcome.subscription);
    case 'there_already':
      return ['Already on: ', ...subscriptionWords(outcome.subscription), '.'];
    case 'removed':
      if (outcome.removed.length === 0) return ['Nothing to turn off in ', { channel: outcome.channel }, '.'];
      return ['Turned off: ', ...outcome.removed.flatMap(separated), '.'];
  }
}

function addedLine({ who, channel, from }: Subscription): Line {
  const whose: Line = who === 'everyone' ? ['a clip'] : ['a clip by ', { person: who }];
  if (from !== undefined) return ['I’ll message you when ', ...whose, ' from ', { channel: from }, ' is ready.'];
  const whenever: Line = who === 'everyone' ? ['anyone’s clip'] : whose;
  return ['I’ll post in ', { channel }, ' when ', ...whenever, ' is ready.'];
}

function separated(subscription: Subscription, index: number): readonly Part[] {
  return [...(index === 0 ? [] : [', ']), ...subscriptionWords(subscription)];
}

function subscriptionWords({ who, channel, from }: Subscription): Line {
  const whose: Line = who === 'everyone' ? ['everyone’s clips'] : ['clips by ', { person: who }];
  if (from === undefined) return [...whose, ' → ', { channel }];
  return [...whose, ' from ', { channel: from }, ' → a direct message to you'];
}

// Refusals of `/video notify`, as plain text.

/** Refuses a channel that does not exist or that the caller may not see. */
export const CHANNEL_UNKNOWN = 'I can’t find that channel.';

/** Refuses a channel in which the caller may not post. */
export const MAY_NOT_POST = 'You can’t post in that channel, so I can’t post there for you.';

/** Refuses to announce other people's clips in a channel that the caller does not manage. */
export const MANAGERS_ONLY =
  'Only someone who manages a channel can have other people’s clips announced in it. To get a direct message instead, use the option “direct”.';

/** Refuses to remove another user's subscription. */
export const MANAGERS_STOP = 'Only the person who turned this on, or someone who manages the channel, can turn it off.';

/** Refuses direct messages about a private channel. */
export const PRIVATE_STAYS = 'Clips from a private channel are announced only in that channel.';

/** Refuses direct messages on a platform without them. */
export const DIRECT_UNAVAILABLE = 'There are no direct messages here. Leave out “direct”.';
