import { type ChatApprovers, OPERATOR, USERS } from './money.ts';
import type { Random } from './random.ts';

/** User action on a task once its message is in the state `when`. */
export interface PlannedDeed {
  /** Pressed as soon as the card of the set, or the message of a clip, has the button, in whatever state it is. */
  readonly on?: 'card' | 'clip';
  readonly when: 'asked' | 'refused' | 'requested' | 'open' | 'uncertain' | 'ended';
  readonly action:
    | 'ask'
    | 'order'
    | 'join'
    | 'vote'
    | 'reveal'
    | 'remake'
    | 'shot'
    | 'signoff'
    | 'changes'
    | 'cancel'
    | 'retry'
    | 'again'
    | 'lookup'
    | 'leave'
    | 'approve'
    | 'deny'
    | 'withdraw'
    | 'delete'
    | '🔁'
    | '❌';
  /** Number of replicas that receive the same press. */
  readonly copies: number;
  /** Number of presses. */
  readonly times: number;
  /** User who decides on a request, votes or reveals, allowed to or not; absent: the requester of the clip acts. */
  readonly by?: string;
  /** Number of the clip to vote for, or of the shot on a board. */
  readonly choice?: number;
  /** Entries in the form that a press opens. */
  readonly values?: Readonly<Record<string, string>>;
  /** Time until the press. Default: at once. */
  readonly afterMs?: number;
  /** Time after a press at which all replicas are killed. */
  readonly killsAfterMs?: number;
}

/** Share of the orders whose clip is deleted. */
const DELETION_SHARE = 0.2;

/** Draws the deletion of a clip: also of one that runs or is uncertain, which is refused. */
export function drawDeletion(random: Random): readonly PlannedDeed[] {
  if (!random.chance(DELETION_SHARE)) return [];
  const when = random.pick(['ended', 'ended', 'ended', 'ended', 'open', 'uncertain'] as const);
  return [{ when, action: 'delete', copies: random.between(1, 3), times: 1 }];
}

/** Users of a chat who may approve, by its approvers. */
const DECIDING = { administrator: ['carol'], person: ['bob'], group: ['bob', 'carol'] } as const;

/** Draws what users of a chat do with a request: mostly, one of its approvers approves it. */
export function drawDecisions(random: Random, approvers: ChatApprovers): readonly PlannedDeed[] {
  const press = (action: 'approve' | 'deny', by: string): PlannedDeed => ({
    when: 'requested',
    action,
    copies: 1,
    times: random.between(1, 2),
    by,
  });
  const others = Array.from({ length: random.between(0, 2) }, () =>
    press(random.pick(['approve', 'approve', 'deny'] as const), random.pick(['bob', 'carol', 'alice'] as const)),
  );
  return [
    ...(random.chance(0.8) ? [press('approve', random.pick<string>(DECIDING[approvers]))] : []),
    ...others,
    ...(random.chance(0.1) ? [{ when: 'requested', action: 'withdraw', copies: 1, times: 1 } as const] : []),
  ];
}

/** Draws what the requester of a clip does. */
export function drawUserActions(random: Random): readonly PlannedDeed[] {
  const planned = (when: PlannedDeed['when'], action: PlannedDeed['action']): PlannedDeed => ({
    when,
    action,
    copies: random.between(1, 3),
    times: random.between(1, 2),
  });
  const decision = (action: 'approve' | 'deny'): PlannedDeed => ({
    ...planned('requested', action),
    by: random.pick([OPERATOR, OPERATOR, ...USERS]),
  });
  return [
    ...(random.chance(0.12) ? [planned('open', random.pick(['cancel', '❌']))] : []),
    ...(random.chance(0.15) ? [planned('ended', random.pick(['retry', '🔁']))] : []),
    ...(random.chance(0.6) ? [decision('approve')] : []),
    ...(random.chance(0.25) ? [decision(random.pick(['approve', 'deny']))] : []),
    ...(random.chance(0.15) ? [planned('requested', 'withdraw')] : []),
    ...(random.chance(0.4) ? [planned('refused', 'ask')] : []),
    ...(random.chance(0.6) ? [planned('uncertain', random.pick(['again', 'lookup', 'leave']))] : []),
  ];
}
