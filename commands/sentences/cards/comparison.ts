import { type ComparisonView, type SetMember, type SetView, type TaskView, winnerOf } from '#src/chat/index.ts';
import { formatPrice, labelAt, type Phase } from '#src/tasks/index.ts';
import { button } from '../../ui/buttons.ts';
import { type CardButton, facts, type Line, lineOf, type Optional, present } from '../../ui/card.ts';
import { CANNOT_CANCEL, failureLine, lostLines, unconfirmedLine } from '../errors.ts';
import { all, count, formatElapsed, shorten } from '../format.ts';
import { handoverLines } from '../handover.ts';
import { keptLines } from '../removal.ts';
import { ENDS } from '../state-words.ts';
import { reviewLines } from './review.ts';

/** Refuses to tell, change or repeat a clip of a comparison before the reveal. */
export const BLIND_UNTIL_REVEAL =
  'This clip is part of a comparison, so its model and price are shown after the reveal. Try that again then.';

/** Refuses a vote, or a reveal, before the clips have appeared. */
export const NOT_SHOWN_YET = 'The clips aren’t there yet. They appear together.';

/** Refuses to set a channel's default to anyone who does not manage it. */
export const MANAGERS_SET_DEFAULT = 'Only those who manage this channel can change its default.';

type Comparison = SetView & { readonly comparison: ComparisonView };

/** Longest title of a model on a button. */
const TITLE_LENGTH = 40;

/** Lists the clips of a comparison by their labels: what they have in common while they are made, then one line each. */
export function comparisonLines(view: Comparison): readonly Line[] {
  const { comparison, members } = view;
  if (comparison.stage === 'making') return makingLines(view);
  const lines = members.map((member, index) => memberLine(member, index + 1, comparison));
  return [
    ...lines,
    ...(comparison.stage === 'revealed' ? [outcomeLine(view)] : votingLines(comparison, members.length)),
  ];
}

/** Buttons of a comparison: votes and the reveal, then the default of the channel. */
export function comparisonButtons(view: Comparison): readonly CardButton[] {
  const { comparison, set, members } = view;
  if (comparison.stage === 'making') return [];
  if (comparison.stage === 'revealed') return preferButtons(view);
  const votes = comparison.clips.length < 2 ? [] : comparison.clips.map((at) => voteButton({ set: set.id, at }));
  return [
    ...votes,
    ...members.flatMap(({ view: one }) => blindRetryButtons(one)),
    button({ action: 'reveal', set: set.id }, 'Reveal the models'),
  ];
}

/** Buttons on the message of a blind clip besides those that every clip has. */
export function blindButtons(view: TaskView): readonly CardButton[] {
  const { blind, phase, task } = view;
  if (blind === undefined) return [];
  return phase === 'done' && task.removal === undefined ? [voteButton(blind)] : blindRetryButtons(view);
}

/** Says what became of a blind clip, in words that are the same for every model. */
export function blindLines(view: TaskView): readonly Line[] {
  const { phase, task } = view;
  const { failure, price } = task;
  const most = `up to ${formatPrice(price)}`;
  switch (phase) {
    case 'queued':
    case 'running':
    case 'fetching':
      return [['In progress']];
    case 'done':
      return [...handoverLines(view.handover), ...keptLines(view)];
    case 'lost':
      return lostLines(failure ?? null, most);
    case 'failed':
      return [failureLine(failure ?? { code: 'generation_failed', words: null })];
    case 'refused':
      return [failureLine(failure ?? { code: 'bad_request', words: null })];
    case 'uncertain':
      return uncertainLines(task, most);
    case 'cancelled':
      return [
        [
          task.sends === 0
            ? 'Cancelled. You were not charged.'
            : `Cancelled in Dailies. ${CANNOT_CANCEL}: it may still finish and charge ${most}.`,
        ],
      ];
    case 'requested':
    case 'declined':
      return [[phase === 'requested' ? 'Waiting for approval.' : 'It was not approved. Nothing was charged.']];
  }
}

function uncertainLines({ leftBy }: TaskView['task'], most: string): readonly Line[] {
  if (leftBy !== undefined)
    return [[{ person: leftBy }, ` left this unresolved. The video service may charge ${most}.`]];
  return [
    unconfirmedLine(most),
    [
      'Does the service’s console show it? ',
      { strong: 'Enter its ID' },
      '. Not sure? ',
      { strong: 'Dismiss' },
      '. It can be sent again after the reveal.',
    ],
  ];
}

function makingLines({ members, comparison, first: { startedAtMs, nowMs } }: Comparison): readonly Line[] {
  const ended = comparison.ended > 0 && `${comparison.ended} of ${members.length} finished`;
  const undecided = members.flatMap(({ view }, index) =>
    view.phase === 'uncertain' && view.task.leftBy === undefined ? [`clip ${labelAt(index + 1)}`] : [],
  );
  return present([
    facts(`Making ${count(members.length, 'clip')}`, ended, formatElapsed(nowMs - startedAtMs)),
    undecided.length > 0 && [`A decision is needed on ${all(undecided)}.`],
    ['They appear together, without the names of their models.'],
  ]);
}

function memberLine({ view, message }: SetMember, at: number, { stage, tally, clips }: ComparisonView): Line {
  const state = stage === 'revealed' ? revealedFacts(view, tally[at - 1] ?? 0) : stateFacts(view, clips.includes(at));
  const handover = view.phase === 'done' ? handoverLines(view.handover) : [];
  return facts([{ strong: `Clip ${labelAt(at)}` }], ...state, ...handover, message && [{ message, label: 'See it' }]);
}

/** Words for a clip that is not there; the reasons are told after the reveal. */
const STATES: Partial<Readonly<Record<Phase, string>>> = {
  ...ENDS,
  lost: 'finished, but I couldn’t fetch it',
  failed: 'could not be made',
};

function stateFacts(view: TaskView, isThere: boolean): readonly string[] {
  if (isThere) return [];
  return [view.task.removal === undefined ? stateWord(view) : 'removed'];
}

function stateWord({ phase, task }: TaskView): string {
  return task.leftBy === undefined ? (STATES[phase] ?? 'still in progress') : 'was left unresolved';
}

function revealedFacts(view: TaskView, votes: number): readonly Optional<Line | string>[] {
  const { modelTitle, task, phase, startedAtMs } = view;
  const { price, endedAtMs, removal } = task;
  const isDone = phase === 'done';
  return [
    [{ untrusted: modelTitle }],
    formatPrice(price),
    isDone && endedAtMs !== undefined && `made in ${formatElapsed(endedAtMs - startedAtMs)}`,
    isDone ? removal && 'removed' : stateWord(view),
    (isDone || votes > 0) && count(votes, 'vote'),
    ...reviewLines(view),
  ];
}

function votingLines({ clips, voters, revealsAtMs }: ComparisonView, of: number): readonly Line[] {
  const until = revealsAtMs !== null && [' The models are revealed ', { timeMs: revealsAtMs }, ' at the latest.'];
  if (clips.length < 2) {
    const there = clips.length === 0 ? 'There is no clip' : 'There is only one clip';
    return [lineOf(`${there} of ${of}, so there is nothing to vote on yet.`, until)];
  }
  const counted =
    voters === 0 ? 'Nobody has voted yet.' : `${voters === 1 ? '1 person has' : `${voters} people have`} voted.`;
  const question = clips.length === 2 ? 'Which one is better?' : 'Which one is the best?';
  return [lineOf({ strong: question }, ` ${counted}`, until)];
}

function outcomeLine(view: Comparison): Line {
  const { tally, clips } = view.comparison;
  const votes = tally.reduce((sum, one) => sum + one, 0);
  if (votes === 0) return ['Nobody voted.'];
  const winner = winnerOf(tally, new Set(clips));
  if (winner === null) return ['It’s a tie.'];
  const title = view.members[winner - 1]?.view.modelTitle ?? '';
  return [
    { strong: `Clip ${labelAt(winner)}` },
    ', made by ',
    { untrusted: title },
    `, won with ${tally[winner - 1] ?? 0} of ${count(votes, 'vote')}.`,
  ];
}

/** Offers the winner as the default; without one, every model that has the most votes. */
function preferButtons({ comparison: { tally, clips }, set, members }: Comparison): readonly CardButton[] {
  const most = Math.max(0, ...clips.map((at) => tally[at - 1] ?? 0));
  const best = clips.filter((at) => (tally[at - 1] ?? 0) === most);
  return best.map((at) => {
    const title = shorten(members[at - 1]?.view.modelTitle ?? labelAt(at), TITLE_LENGTH);
    return button({ action: 'prefer', set: set.id, at }, `Make ${title} the default here`);
  });
}

function voteButton({ set, at }: Pick<NonNullable<TaskView['blind']>, 'set' | 'at'>): CardButton {
  return button({ action: 'vote', set, at }, `Vote for ${labelAt(at)}`, 'primary');
}

/** Makes a blind clip again; its price is the highest of the comparison. */
function blindRetryButtons({ task, blind, buttons, retryPrice }: TaskView): readonly CardButton[] {
  if (blind === undefined || retryPrice === null || !buttons.includes('retry')) return [];
  const remake = { action: 'remake', clip: task.id, upTo: retryPrice, isConfirmed: false } as const;
  return [button(remake, `Retry clip ${labelAt(blind.at)} · up to ${formatPrice(retryPrice)}`)];
}
