import {
  type Declined,
  type Phase,
  phaseAtEnd,
  type SetPlace,
  sumOf,
  type Task,
  type TaskId,
  type TaskState,
  total,
} from '../../tasks/index.ts';
import { type BoardCut, type ButtonAction, isPending, type SetMember, type TaskView } from '../view.ts';

/** Returns the id of a set's card, in the place of a task's: no task has it, so older replicas do not take it for one. */
export function setCardId(set: TaskId): TaskId {
  return `set-${set}` as TaskId;
}

/** Returns the set of a {@link setCardId}; `null` for the id of a task. */
export function setOfCard(id: TaskId): TaskId | null {
  return id.startsWith('set-') ? (id.slice(4) as TaskId) : null;
}

export function isSettled(task: Task): boolean {
  const phase = phaseAtEnd(task);
  return phase !== 'requested' && !isPending(phase);
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

/** Builds the view of a set's card from those of its tasks, in their order; pure. */
export function setViewOf(place: SetPlace, shown: TaskView, members: TaskView['members'] = []): TaskView {
  const views = members.map(({ view }) => view);
  const phase = PHASE_ORDER.find((one) => views.some((view) => view.phase === one)) ?? shown.phase;
  const state: TaskState = views.find((view) => view.phase === phase)?.state ?? shown.state;
  const [price = shown.price] = total(views.map((view) => view.price));
  const retryPrices = views.flatMap(({ retryPrice }) => retryPrice ?? []);
  const [retryPrice = null] = retryPrices.length === views.length ? total(retryPrices) : [];
  const declined = declinedOf(views.flatMap((view) => view.declined ?? []));
  const ends = views.map(({ endedAtMs }) => endedAtMs);
  const {
    version: _version,
    review: _review,
    earlierNotes: _notes,
    startsFrom: _from,
    dropped: _dropped,
    awayFrom: _away,
    isLabelled: _isLabelled,
    ...common
  } = shown;
  return {
    ...common,
    task: setCardId(place.id),
    state,
    phase,
    price,
    retryPrice,
    progress: null,
    endedAtMs: ends.includes(null) ? null : Math.max(...ends.map((end) => end ?? 0)),
    usual: null,
    longerThanUsual: false,
    overdue: null,
    retrying: null,
    failure: null,
    sends: views.reduce((sum, { sends }) => sum + sends, 0),
    cancelledBy: null,
    declined,
    lateOutcome: null,
    leftBy: null,
    handover: null,
    ...(views.some(({ isLabelled }) => isLabelled === true) ? { isLabelled: true } : {}),
    retryOf: null,
    buttons: buttonsOf(views),
    set: place,
    members,
  };
}

/** Turns the view of a storyboard's card into that of its board: what is skipped does not count; pure. */
export function boardViewOf(view: TaskView, members: readonly SetMember[], boardCut?: BoardCut): TaskView {
  const { phase } = view;
  if (phase === 'requested' || phase === 'declined') return view;
  const isFree = ({ dropped, refundKnown, phase: ended, sends }: TaskView): boolean =>
    dropped !== undefined || (refundKnown && ended === 'failed' && sends < 2);
  const charged = members.filter((member) => !isFree(member.view));
  const [price = { ...view.price, amount: '0' }] = total(charged.map((member) => member.view.price));
  const ready = members.filter(({ shot }) => shot?.isReady === true && !shot.isSkipped).length;
  const join: readonly ButtonAction[] = ready >= 2 && boardCut?.isCurrent !== true ? ['join'] : [];
  const others = view.buttons.filter((action) => action !== 'retry' && action !== 'details');
  const prices = members.flatMap(({ shot }) => (shot?.isOutdated === true ? [shot.original.retryPrice] : []));
  const known = prices.filter((price) => price !== null);
  const [retryPrice = null] = known.length === prices.length ? total(known) : [];
  const again: readonly ButtonAction[] = retryPrice === null ? [] : ['retry'];
  const cut = boardCut === undefined ? {} : { boardCut };
  return { ...view, ...cut, price, retryPrice, buttons: [...join, ...again, ...others, 'board', 'details'] };
}

/** Returns the end of a set's request for approval, from those of its tasks; `null` while it has none. */
export function declinedOf(ends: readonly Declined[]): Declined | null {
  const [first] = ends;
  if (first?.price === undefined) return first ?? null;
  const price = sumOf(ends.flatMap((end) => end.price ?? [])) ?? first.price;
  return { ...first, price };
}

function buttonsOf(views: readonly TaskView[]): readonly ButtonAction[] {
  if (views.some(({ phase }) => phase === 'requested')) return ['withdraw', 'details'];
  if (views.some(({ buttons }) => buttons.includes('cancel'))) return ['cancel', 'details'];
  return views.some(({ phase }) => isPending(phase)) ? ['details'] : ['retry', 'details'];
}
