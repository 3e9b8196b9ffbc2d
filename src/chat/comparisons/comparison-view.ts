import { hasClip, isBlind, type Price, type Task, total } from '../../tasks/index.ts';
import type { RequestSettings } from '../../videos/index.ts';
import type { ButtonAction, ComparisonView, SetView } from '../view.ts';
import { type ComparisonRecord, IN_ORDER_MS, REVEAL_AFTER_MS } from './comparison-records.ts';

/** What the card of a comparison is built of, besides the view that every set has. */
interface ComparisonFacts {
  /** The task under each label. */
  readonly entries: readonly Task[];
  readonly ordered: readonly Task[];
  /** Undefined until the clips appear. */
  readonly record: ComparisonRecord | undefined;
  /** Progress of all tasks, from 0 to 100. */
  readonly progress: number | null;
}

/**
 * Completes the view of a comparison's card. Until the clips appear it shows the progress of all together: that of one
 * would betray how fast its model is.
 */
export function comparisonViewOf(view: SetView, facts: ComparisonFacts): SetView {
  const { entries, ordered, record, progress } = facts;
  const { members } = view;
  // One that cannot be posted does not keep the others from being voted on.
  const isLate = record !== undefined && view.first.nowMs >= record.shownAtMs + entries.length * IN_ORDER_MS;
  const isWhole = isLate || members.every((member) => member.view.phase !== 'fetching');
  const isVoting = record !== undefined && (isWhole || record.revealed !== undefined);
  const stage = !isVoting ? 'making' : isRevealed(record, entries) ? 'revealed' : 'voting';
  const [price = view.price] = total(ordered.map((task): Price => task.price));
  const isMaking = stage === 'making';
  const comparison: ComparisonView = {
    stage,
    ended: entries.filter((task) => task.endedAtMs !== undefined).length,
    voters:
      record === undefined
        ? 0
        : (record.revealed?.tally ?? []).reduce((sum, votes) => sum + votes, 0) || Object.keys(record.votes).length,
    revealsAtMs: stage === 'voting' && record !== undefined ? record.shownAtMs + REVEAL_AFTER_MS : null,
    tally: record?.revealed?.tally ?? [],
    clips: isMaking ? [] : entries.flatMap((task, index) => (hasClip(task) ? [index + 1] : [])),
    settings: sharedSettings(ordered, view.first.task.request),
  };
  const isCancellable = members.some((member) => member.view.buttons.includes('cancel'));
  const buttons: readonly ButtonAction[] = isCancellable ? ['cancel', 'details'] : ['details'];
  return {
    ...view,
    price,
    retryPrice: null,
    progress: isMaking ? progress : null,
    buttons,
    comparison,
  };
}

/** Returns whether every model may be named: the tasks are revealed one after another, after the vote has ended. */
function isRevealed({ revealed }: ComparisonRecord, entries: readonly Task[]): boolean {
  return revealed !== undefined && !entries.some((task) => isBlind(task));
}

function sharedSettings(ordered: readonly Task[], { seconds }: RequestSettings): RequestSettings {
  const [first, ...others] = ordered.map(({ request }) => request);
  const aspectRatio = others.every((one) => one.aspectRatio === first?.aspectRatio) ? first?.aspectRatio : undefined;
  const resolution = others.every((one) => one.resolution === first?.resolution) ? first?.resolution : undefined;
  return {
    seconds: first?.seconds ?? seconds,
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(resolution === undefined ? {} : { resolution }),
  };
}
