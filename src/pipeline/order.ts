import {
  APPROVAL_TTL_MS,
  type ApprovalRequest,
  boughtState,
  type Origin,
  type Price,
  type Purchase,
  type Refunds,
  type SetKind,
  type SetPlace,
  type Task,
  type TaskId,
} from '../tasks/index.ts';
import type { VideoRequest } from '../videos/index.ts';
import { memberIdOf, taskIdOf } from './task-ids.ts';

/** A request with its origin and price. */
export interface Order {
  readonly request: VideoRequest;
  readonly origin: Origin;
  readonly price: Price;
  readonly retryOf?: TaskId;
  /** As in `Task.takeOf`. */
  readonly takeOf?: SetPlace;
  /** As in `Task.press`. */
  readonly press?: string;
  /**
   * Idempotency key: the platform and its interaction's id, or `retry:<task>`, then `retry:<task>:2` and so on, for a
   * button. The same key always leads to the same task.
   */
  readonly key: string;
  /** Set for an order that waits for an approval before it is sent; its time runs from now. */
  readonly approval?: ApprovalRequest;
  /** Set for an order of several clips, of which this is the first. */
  readonly set?: SetOrder;
  /**
   * Its requester would have been asked, had a hard limit not been exceeded: if there is room by now, it is refused for
   * that. Default: false.
   */
  readonly isUnasked?: boolean;
}

/** Further clips of an order, claimed with the first one: all of them or none. */
export interface SetOrder {
  readonly kind: SetKind;
  /** As in `SetPlace.upTo`. */
  readonly upTo?: Price;
  /** Address of the further clips, which do not respond to the interaction. Default: that of the order. */
  readonly address?: Origin['address'];
  /** The clips after the first one, 1 to 11; in the first one's currency, where they need an approval: it has one price. */
  readonly more: readonly Pick<Order, 'request' | 'price'>[];
}

/**
 * Returns the tasks that an order becomes, in their order: one, or those of its set.
 * @param purchase of the first one, from which the others have their month and time
 * @param refunds as in `TaskServiceOptions`
 */
export function tasksOf(order: Order, purchase: Purchase, refunds: Refunds | undefined): readonly Task[] {
  const { set, key } = order;
  const id = taskIdOf(key);
  if (set === undefined) return [taskOf(id, order, { purchase, refunds })];
  const clips = [order, ...set.more];
  return clips.map(({ request, price }, index) => {
    const at = index + 1;
    const { address = order.origin.address } = at === 1 ? order.origin : set;
    const own = { ...order, origin: { ...order.origin, address }, request, price };
    const { kind, upTo } = set;
    const place = { id, kind, at, of: clips.length, ...(upTo === undefined ? {} : { upTo }) };
    return { ...taskOf(memberIdOf(id, at), own, { purchase: { ...purchase, ...price }, refunds }), set: place };
  });
}

function taskOf(
  id: TaskId,
  { request, origin, price, retryOf, takeOf, press, approval }: Order,
  { purchase, refunds }: { readonly purchase: Purchase; readonly refunds: Refunds | undefined },
): Task {
  const { atMs: nowMs } = purchase;
  const awaitsRefund = refunds === 'by_statement' ? { awaitsRefund: true as const } : {};
  const retry = { ...(retryOf === undefined ? {} : { retryOf }), ...(press === undefined ? {} : { press }) };
  const of = { request, origin, price, ...retry, ...(takeOf === undefined ? {} : { takeOf }) };
  const money = { sends: [purchase], ...awaitsRefund };
  const task = { revision: 1, id, ...of, money, createdAtMs: nowMs, sends: 0, unsentTries: 0 };
  if (approval === undefined) return { ...task, state: boughtState(task), presented: true };
  // In the outbox until its approvers are notified. Nothing is bought yet.
  return {
    ...task,
    state: 'requested',
    presented: false,
    approval: { ...approval, expiresAtMs: nowMs + APPROVAL_TTL_MS },
  };
}
