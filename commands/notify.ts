import { type Subscription, subscriptionKey } from '#src/chat/index.ts';
import type { Person } from '#src/tasks/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, Reply } from './bot-port.ts';
import { rightsIn } from './input/member-rights.ts';
import { isAnyGiven, isSet, optionValue } from './input/options.ts';
import { type Panel, panelButtons } from './input/panels.ts';
import { channelNamed, personNamed } from './input/people.ts';
import { type BotPorts, privately, refused, type Subcommand } from './input/subcommand.ts';
import { missingRightSentence, UNKNOWN_BUTTON, unknownPerson } from './sentences/refusals.ts';
import { button, type Press } from './ui/buttons.ts';
import { type Card, type CardButton, joinLines, type Line, type Part, present, textCard } from './ui/card.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'who',
    description: 'Whose clips: a person’s; everyone’s if left out',
    kind: 'person',
    positional: true,
    defaultWords: 'everyone',
  },
  {
    name: 'channel',
    description: 'Where to announce them; with direct, the channel whose clips you want',
    kind: 'channel',
    defaultWords: 'this channel',
  },
  {
    name: 'direct',
    description: 'Sends you a direct message instead of posting in a channel',
    kind: 'flag',
  },
  {
    name: 'off',
    description: 'Stops the notifications',
    kind: 'flag',
  },
];

const declaration: Command = {
  name: 'notify',
  description: 'Sets where finished clips are announced',
  example: '/video notify everyone',
  options,
  visibility: 'private',
};

const panel: Panel = {
  announce: {
    label: 'Announce clips…',
    title: 'Announce clips',
    untouched: { who: ['everyone'] },
    fields: () => [
      { option: 'who', label: 'Whose clips', values: [], note: 'Everyone’s, if you choose nobody' },
      { option: 'channel', label: 'Channel', values: [], note: 'This one, if you choose none' },
      { option: 'direct', label: 'By direct message, to me', values: [] },
    ],
  },
};

/** `/video notify`: shows and changes the notifications of finished clips. */
export const notify: Subcommand = {
  declaration,
  panel,
  run: async (ports, caller, given) => {
    if (!isAnyGiven(given)) return overview(ports, caller, null);
    const named = optionValue(given, 'who');
    const word = named?.toLowerCase();
    const isOff = isSet(given, 'off') || word === 'off';
    const wanted = word === 'off' || word === 'on' ? undefined : named;
    const who = wanted === undefined ? undefined : await personNamed(ports, caller, wanted);
    if (wanted !== undefined && who === null) return refused(unknownPerson(wanted));
    const change: NotifyChange = {
      channel: channelOf(caller, given),
      who: who ?? null,
      isDirect: isSet(given, 'direct'),
    };
    if (isOff) return stop(ports, caller, change);
    return change.isDirect ? startDirect(ports, caller, change) : start(ports, caller, change);
  },
  presses: { notify: pressNotify },
};

interface NotifyChange {
  readonly channel: string;
  /** `null` if no person was named. */
  readonly who: Person | 'everyone' | null;
  readonly isDirect: boolean;
}

function channelOf(caller: Caller, given: GivenOptions): string {
  const named = optionValue(given, 'channel');
  return named === undefined ? caller.channel : channelNamed(named);
}

/** Handles the press of a button under the notifications. */
async function pressNotify(
  ports: BotPorts,
  caller: Caller,
  press: Extract<Press, { readonly action: 'notify' }>,
): Promise<Reply> {
  const change = { channel: caller.channel, who: null } as const;
  if (press.what !== 'off') {
    const isDirect = press.what === 'direct';
    return (isDirect ? startDirect : start)(ports, caller, { ...change, isDirect });
  }
  const { platform, team } = caller;
  const { subscription } = press;
  const wanted = (one: Subscription): boolean => subscriptionKey(one) === subscription;
  const found = (await ports.subscriptions.list(platform, team)).find(wanted);
  if (found === undefined || !(await mayStop(ports, caller, found))) return refused(UNKNOWN_BUTTON);
  const removed = await ports.subscriptions.remove(platform, team, wanted);
  return overview(ports, caller, { kind: 'removed', removed, channel: found.from ?? found.channel });
}

async function start(ports: BotPorts, caller: Caller, { channel, who }: NotifyChange): Promise<Reply> {
  const { platform, team, user, address } = caller;
  const whose = who ?? 'everyone';
  const rights = await rightsIn(ports, caller, channel);
  if (!rights.view) return refused(CHANNEL_UNKNOWN);
  if (!rights.post) return refused('You can’t post in that channel, so I can’t post there for you.');
  const isOwn = whose !== 'everyone' && whose.id === user.id;
  if (!isOwn && !rights.manage)
    return refused(
      'Only someone who manages a channel can have other people’s clips announced in it. To get a direct message instead, use the option “direct”.',
    );
  const place = { team, channel, address: channel === caller.channel ? address : {} };
  const lacking = await ports.chat.platform(platform).channels.missingRight(place, 'words');
  if (lacking !== null)
    return refused(missingRightSentence(lacking, { hasButton: false, isHere: channel === caller.channel }));
  return add(ports, caller, { platform, team, channel, who: whose, by: user });
}

async function startDirect(ports: BotPorts, caller: Caller, { channel, who }: NotifyChange): Promise<Reply> {
  const { platform, team, user, address } = caller;
  if (!ports.chat.platform(platform).limits.hasDirectMessages)
    return refused('There are no direct messages here. Leave out “direct”.');
  if (!(await rightsIn(ports, caller, channel)).view) return refused(CHANNEL_UNKNOWN);
  const place = { team, channel, address: channel === caller.channel ? address : {} };
  if ((await ports.chat.audienceAt(platform, place)) === 'channel')
    return refused('Clips from a private channel are announced only in that channel.');
  const direct = await ports.chat.platform(platform).channels.directChannel({ ...place, address }, user.id);
  return add(ports, caller, { platform, team, channel: direct, from: channel, who: who ?? 'everyone', by: user });
}

async function add(ports: BotPorts, caller: Caller, subscription: Subscription): Promise<Reply> {
  const isNew = await ports.subscriptions.add(subscription);
  return overview(ports, caller, { kind: isNew ? 'added' : 'there_already', subscription });
}

async function stop(ports: BotPorts, caller: Caller, { channel, who, isDirect }: NotifyChange): Promise<Reply> {
  const { platform, team, user } = caller;
  const rights = await rightsIn(ports, caller, channel);
  if (!rights.view) return refused(CHANNEL_UNKNOWN);
  const idOf = (of: Person | 'everyone') => (of === 'everyone' ? null : of.id);
  const isSelected = (one: Subscription): boolean => {
    const isThere = one.from === undefined ? !isDirect && one.channel === channel : one.from === channel;
    return isThere && (who === null || idOf(one.who) === idOf(who));
  };
  const isRemovable = ({ by, from }: Subscription): boolean =>
    by.id === user.id || (from === undefined && rights.manage);
  const removed = await ports.subscriptions.remove(platform, team, (one) => isSelected(one) && isRemovable(one));
  const kept = (await ports.subscriptions.list(platform, team)).some(
    (one) => one.from === undefined && isSelected(one),
  );
  if (removed.length === 0 && kept)
    return refused('Only the person who turned this on, or someone who manages the channel, can turn it off.');
  return overview(ports, caller, { kind: 'removed', removed, channel });
}

/** Returns true for the owner of a subscription and for managers of the channel that it announces in. */
async function mayStop(ports: BotPorts, caller: Caller, { channel, from, by }: Subscription): Promise<boolean> {
  if (by.id === caller.user.id) return true;
  if (from !== undefined) return false;
  const { view, manage } = await rightsIn(ports, caller, channel);
  return view && manage;
}

/** Shows a change's outcome, if any, and the notifications visible to the caller, with a button for each change. */
async function overview(ports: BotPorts, caller: Caller, outcome: NotifyOutcome | null): Promise<Reply> {
  const { platform, team, channel, user, address } = caller;
  const all = await ports.subscriptions.list(platform, team);
  const seen = all.map(async (subscription) => {
    const { by, from } = subscription;
    if (from !== undefined) return by.id === user.id ? [{ subscription, isStoppable: true }] : [];
    const { view, manage } = await rightsIn(ports, caller, subscription.channel);
    return view ? [{ subscription, isStoppable: manage || by.id === user.id }] : [];
  });
  const [shown, here, audience] = await Promise.all([
    Promise.all(seen),
    rightsIn(ports, caller, channel),
    ports.chat.audienceAt(platform, { team, channel, address }),
  ]);
  const isOn = (isIt: (one: Subscription) => boolean) => all.some((one) => one.who === 'everyone' && isIt(one));
  const isDirectOn = isOn((one) => one.from === channel && one.by.id === user.id);
  const forms = panelButtons(caller, declaration, panel);
  return privately(
    notifyCard(outcome, shown.flat(), {
      forms,
      on: here.manage && here.post && !isOn((one) => one.from === undefined && one.channel === channel),
      direct: audience === 'team' && ports.chat.platform(platform).limits.hasDirectMessages && !isDirectOn,
    }),
  );
}

/** Outcome of `/video notify`. */
type NotifyOutcome =
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
function notifyCard(
  outcome: NotifyOutcome | null,
  shown: readonly ShownSubscription[],
  offers: { readonly on: boolean; readonly direct: boolean; readonly forms: readonly CardButton[] },
): Card {
  const heading =
    shown.length === 0 ? 'No notifications are on. You’re always told about your own clips.' : 'Notifications:';
  const stoppable = shown.filter(({ isStoppable }) => isStoppable).slice(0, MAX_STOP_BUTTONS);
  const isNumbered = stoppable.length > 1;
  const listed = shown.map((one): Line => {
    const bullet = isNumbered && stoppable.includes(one) ? `${stoppable.indexOf(one) + 1}. ` : '• ';
    return [bullet, ...subscriptionWords(one.subscription), ...setBy(one.subscription)];
  });
  const stops = stoppable.map(({ subscription }, index) => {
    const off = { action: 'notify', what: 'off', subscription: subscriptionKey(subscription) } as const;
    return button(off, isNumbered ? `Turn off ${index + 1}` : 'Turn off');
  });
  return {
    ...textCard(outcome && outcomeLine(outcome), [heading], ...listed),
    buttons: [...stops, ...offerButtons(offers), ...offers.forms],
  };
}

function offerButtons({ on, direct }: { readonly on: boolean; readonly direct: boolean }): readonly CardButton[] {
  return present<CardButton>([
    on && button({ action: 'notify', what: 'on' }, 'Announce everyone’s clips here'),
    direct && button({ action: 'notify', what: 'direct' }, 'Message me about this channel’s clips'),
  ]);
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
      return ['Turned off: ', ...joinLines(outcome.removed.map(subscriptionWords)), '.'];
  }
}

function addedLine({ who, channel, from }: Subscription): Line {
  const whose: Line = who === 'everyone' ? ['a clip'] : ['a clip by ', { person: who }];
  if (from !== undefined) return ['I’ll message you when ', ...whose, ' from ', { channel: from }, ' is ready.'];
  const whenever: Line = who === 'everyone' ? ['anyone’s clip'] : whose;
  return ['I’ll post in ', { channel }, ' when ', ...whenever, ' is ready.'];
}

function subscriptionWords({ who, channel, from }: Subscription): Line {
  const whose: Line = who === 'everyone' ? ['everyone’s clips'] : ['clips by ', { person: who }];
  if (from === undefined) return [...whose, ' → ', { channel }];
  return [...whose, ' from ', { channel: from }, ' → a direct message to you'];
}

// Refusals of `/video notify`, as plain text.

const CHANNEL_UNKNOWN = 'I can’t find that channel.';
