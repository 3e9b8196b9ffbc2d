import { declinedOf } from '../../orders/index.ts';
import {
  isSought,
  type Phase,
  phaseAtEnd,
  type SetPlace,
  type Task,
  type TaskId,
  total,
  typedPrompt,
} from '../../tasks/index.ts';
import { type BoardCut, type ButtonAction, isPending, type SetMember, type SetView, type TaskView } from '../view.ts';

/** Returns the id of a set's card, in the place of a task's: no task has it. */
export function setCardId(set: TaskId): TaskId {
  return `set-${set}` as TaskId;
}

/** Returns the set of a {@link setCardId}; `null` for the id of a task. */
export function setOfCard(id: TaskId): TaskId | null {
  return id.startsWith('set-') ? (id.slice(4) as TaskId) : null;
}

/** Returns whether the card of a set holds the clip of a task; those of shots are below it. */
export function isOnCard({ set }: Pick<Task, 'set'>): boolean {
  return set !== undefined && set.kind !== 'storyboard';
}

export function isSettled(task: Task): boolean {
  const phase = phaseAtEnd(task);
  return phase !== 'requested' && !isPending(phase) && !isSought(task);
}

/** Phases in the order in which they determine that of a set: the first one that a task is in. */
const PHASE_ORDER: readonly Phase[] = [
  'requested',
  'running',
  'queued',
  'fetching',
  'uncertain',
  'done',
  'lost',
  'failed',
  'refused',
  'declined',
  'cancelled',
];

/**
 * Builds the view of a set's card; pure.
 * @param first the view of its first task whose content is there
 * @param members its tasks, in the order of the card
 */
export function setViewOf({ id, kind, of }: SetPlace, first: TaskView, members: readonly SetMember[]): SetView {
  const views = members.map(({ view }) => view);
  const [price = first.task.price] = total(views.map((view) => view.task.price));
  const retryPrices = views.flatMap(({ retryPrice }) => retryPrice ?? []);
  const [retryPrice = null] = retryPrices.length === views.length ? total(retryPrices) : [];
  return {
    kind: 'set',
    id: setCardId(id),
    set: { id, kind, of },
    phase: PHASE_ORDER.find((one) => views.some((view) => view.phase === one)) ?? first.phase,
    first,
    price,
    progress: null,
    declined: declinedOf(views.map(({ task }) => task)),
    ...(views.some(({ isLabelled }) => isLabelled === true) ? { isLabelled: true } : {}),
    retryPrice,
    buttons: buttonsOf(views),
    members,
  };
}

/**
 * Gives the view of a clip in the place of a shot the words of the shot, since those of the clip may be removed later, and no
 * price, since it was paid before; pure.
 */
export function replacingViewOf(view: TaskView, shot: Pick<Task, 'request' | 'price'>): TaskView {
  const { typed: _, ...made } = view.task.request;
  const request = { ...made, prompt: typedPrompt(shot.request) };
  return { ...view, task: { ...view.task, request, price: { ...shot.price, amount: '0' } } };
}

/** Turns the view of a storyboard's card into that of its board: what is skipped does not count; pure. */
export function boardViewOf(view: SetView, boardRevision: number, boardCut?: BoardCut): SetView {
  const { phase, members } = view;
  if (phase === 'requested' || phase === 'declined') return view;
  const isFree = ({ task, refundKnown, phase: ended }: TaskView): boolean =>
    task.dropped !== undefined || (refundKnown && ended === 'failed' && task.sends < 2);
  const charged = members.filter((member) => !isFree(member.view));
  const [price = { ...view.price, amount: '0' }] = total(charged.map((member) => member.view.task.price));
  const ready = members.filter(({ shot }) => shot?.isReady === true && !shot.isSkipped).length;
  const join: readonly ButtonAction[] = ready >= 2 && boardCut?.isCurrent !== true ? ['join'] : [];
  const others = view.buttons.filter((action) => action !== 'retry' && action !== 'details');
  const prices = members.flatMap(({ shot }) => (shot?.isOutdated === true ? [shot.original.retryPrice] : []));
  const known = prices.filter((price) => price !== null);
  const [retryPrice = null] = known.length === prices.length ? total(known) : [];
  const again: readonly ButtonAction[] = retryPrice === null ? [] : ['retry'];
  const cut = boardCut === undefined ? {} : { boardCut };
  return {
    ...view,
    ...cut,
    boardRevision,
    price,
    retryPrice,
    buttons: [...join, ...again, ...others, 'details'],
  };
}

function buttonsOf(views: readonly TaskView[]): readonly ButtonAction[] {
  if (views.some(({ phase }) => phase === 'requested')) return ['withdraw', 'details'];
  if (views.some(({ buttons }) => buttons.includes('cancel'))) return ['cancel', 'details'];
  return views.some(({ phase }) => isPending(phase)) ? ['details'] : ['retry', 'details'];
}
