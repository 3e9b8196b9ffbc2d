import {
  type EndNotice,
  isPending,
  type SetMember,
  type SetOutcome,
  type SetView,
  type TaskView,
} from '#src/chat/index.ts';
import { formatPrice, isSought, type Phase, type SetKind, typedPrompt } from '#src/tasks/index.ts';
import { button, buttonId } from '../../ui/buttons.ts';
import {
  type Card,
  type CardButton,
  type CardSelect,
  facts,
  type Line,
  lineOf,
  type Optional,
  type Part,
  textCard,
} from '../../ui/card.ts';
import { CHAIN_PACE, startOf, unsentWords, waitsWords } from '../chain.ts';
import { capitalised, count, all as listed, quoted, shorten } from '../format.ts';
import { handoverLines } from '../handover.ts';
import { memberName, memberWords, setSize } from '../ordered.ts';
import { NO_PROMPT, promptPart } from '../removal.ts';
import { ENDS } from '../state-words.ts';
import { declinedOutcome } from './approval.ts';
import { reviewLines } from './review.ts';

/**
 * Lists the tasks of a set, one line each, with a link to the message of one that has its own.
 * @param linesOf returns the lines of a task's own message
 */
export function memberLines({ members, set }: SetView, linesOf: (view: TaskView) => readonly Line[]): readonly Line[] {
  const { one } = memberWords(set.kind);
  return members.map((member, index) => {
    const { view, message, shot } = member;
    const at = shot?.at ?? view.task.set?.at ?? index + 1;
    return facts(
      [{ strong: `${capitalised(one)} ${at}` }],
      ...shotWords(member),
      shot === undefined ? stateOf(view, linesOf(view)) : shotState(view, linesOf(view)),
      shot?.isRetrying && 'another take is in progress',
      ...(shot === undefined ? reviewLines(view) : []),
      message && [{ message, label: 'See it' }],
    );
  });
}

/** Describes a shot as its line on the board does, without its words: `6 s`, `$0.30`, its state and its message. */
export function shotLine(
  { view, message, shot }: SetMember,
  lines: readonly Line[],
): readonly Optional<Line | string>[] {
  const { task } = view;
  return [
    shot?.isSkipped === true && 'skipped',
    `${task.request.seconds} s`,
    shot?.isReplaced === true ? 'another clip' : formatPrice(task.price),
    shotState(view, lines),
    shot?.isRetrying === true && 'another take is in progress',
    message && [{ message, label: 'See it' }],
  ];
}

/** Returns the select of the shots on a board, which opens the menu of each; none for other sets. */
export function shotSelects({ set, members }: SetView): readonly CardSelect[] {
  const options = members.flatMap(({ view: { task, phase }, shot }) => {
    if (shot === undefined) return [];
    const { at, isSkipped, isReady } = shot;
    const words = shorten(typedPrompt(task.request) || NO_PROMPT, SHOT_PROMPT_LENGTH);
    const state = isSkipped
      ? 'skipped'
      : isReady
        ? 'ready'
        : (ENDS[phase] ?? (isPending(phase) ? 'in progress' : phase));
    return [{ id: buttonId({ action: 'shot', set: set.id, shot: at }), label: `${at} · ${words} · ${state}` }];
  });
  return options.length === 0 ? [] : [{ placeholder: 'A shot…', options }];
}

/** Names a set by its first prompt: `Storyboard: a fox wakes up · 9 shots`. */
export function setTitle({ first, set, members }: SetView): Line {
  const name: Line = set.kind === 'storyboard' ? ['Storyboard: '] : [];
  const size = set.kind === 'storyboard' ? setSize({ ...set, of: members.length }) : setSize(set);
  return facts([...name, promptPart(typedPrompt(first.task.request), SHOT_PROMPT_LENGTH)], size);
}

/** Links the latest cut of a storyboard, and says whether it still is what the board shows. */
export function cutLinks({ boardCut }: SetView): readonly Line[] {
  if (boardCut === undefined) return [];
  const { message, isCurrent, isJoining } = boardCut;
  const state = isJoining ? 'being joined' : isCurrent ? 'up to date' : 'the board has changed since';
  return [facts(['Cut: ', { message, label: 'See it' }], state)];
}

/** Longest prompt of a shot on its board, in UTF-16 units. */
const SHOT_PROMPT_LENGTH = 50;

/** Describes a shot on its board: `a fox wakes up`, `6 s`, `$0.30`; nothing for other sets, whose tasks are the same. */
function shotWords({ view: { task }, shot }: SetMember): readonly Optional<Line | string>[] {
  if (shot === undefined) return [];
  const prompt = [promptPart(typedPrompt(task.request), SHOT_PROMPT_LENGTH)];
  const cost = shot.isReplaced === true ? 'another clip' : formatPrice(task.price);
  return [shot.isSkipped && 'skipped', prompt, `${task.request.seconds} s`, cost];
}

/** Sums a storyboard up: `8 of 9 shots are ready; shot 4 failed.`; empty for other sets. */
export function boardSummary(view: SetView): readonly Line[] {
  const { members, set } = view;
  if (set.kind !== 'storyboard') return [];
  const inCut = members.filter(({ shot }) => shot?.isSkipped !== true);
  const skipped = members.flatMap(({ shot }) => (shot?.isSkipped === true ? [shot.at] : []));
  const without = skipped.length === 0 ? '' : ` ${capitalised(shotNumbers(skipped))} left out.`;
  const isPendingShot = inCut.some((member) => isPending(member.view.phase));
  const isChained = inCut.some(({ view: { task } }) => startOf(task) !== undefined);
  const pace = !isPendingShot ? '' : isChained ? ` ${CHAIN_PACE}` : ' Two are made at a time.';
  const order = inCut.flatMap(({ shot }) => shot?.at ?? []);
  const isReordered = order.some((at, index) => at < (order[index - 1] ?? 0));
  const cut = isReordered ? ` In the cut: shots ${order.join(', ')}.` : '';
  return [[`${shotsReady(view)}.${cut}${without}${pace}`], ...outdatedLines(members)];
}

/** Names the shots that start with an earlier take of another one: `Shots 3 and 4 start with the earlier take of shot 2.` */
function outdatedLines(members: readonly SetMember[]): readonly Line[] {
  const outdated = outdatedOf(members);
  const first = outdated.filter((at) => !outdated.includes(at - 1));
  return first.map((from, index) => {
    const run = outdated.filter((at) => at >= from && at < (first[index + 1] ?? Number.POSITIVE_INFINITY));
    const start = run.length === 1 ? 'starts' : 'start';
    return [`${capitalised(shotNumbers(run))} ${start} with the earlier take of shot ${from - 1}.`];
  });
}

export function outdatedOf(members: readonly SetMember[]): readonly number[] {
  const numbers = members.flatMap(({ shot }) => (shot?.isOutdated === true ? [shot.at] : []));
  return numbers.toSorted((one, other) => one - other);
}

/** Says how many shots of a storyboard are ready, and what became of the others: `8 of 9 shots are ready; shot 4 failed`. */
export function shotsReady({ members }: SetView): string {
  const inCut = members.filter(({ shot }) => shot?.isSkipped !== true);
  const ready = inCut.filter(({ shot }) => shot?.isReady === true);
  const ends = inCut.flatMap(({ view, shot }) => {
    const end = view.task.removal === undefined ? endWords(view) : 'was removed';
    return end === undefined || shot === undefined ? [] : [{ at: shot.at, end }];
  });
  const others = [...Map.groupBy(ends, ({ end }) => end)].map(([end, some]) => {
    const shots = shotNumbers(some.map(({ at }) => at));
    return `${shots} ${some.length === 1 ? end : end.replace(/^was /u, 'were ').replace(/^needs /u, 'need ')}`;
  });
  const failures = others.length === 0 ? '' : `; ${others.join(', ')}`;
  return `${readyWords(ready.length, inCut.length)}${failures}`;
}

function readyWords(ready: number, of: number): string {
  if (of === 1) return `Its one shot ${ready === 1 ? 'is' : 'isn’t'} ready`;
  const many = count(of, 'shot');
  if (ready === of) return `All ${many} are ready`;
  return `${ready === 0 ? 'None' : ready} of ${many} ${ready === 1 ? 'is' : 'are'} ready`;
}

/** Names shots by their numbers: `shot 4`, `shots 4 and 5`. */
export function shotNumbers(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((one, other) => one - other);
  return `${numbers.length === 1 ? 'shot' : 'shots'} ${listed(sorted.map(String))}`;
}

/** Shortens the lines of a task to what its set's card has to say; what is to be decided is said where it can be. */
function stateOf({ phase, task, handover }: TaskView, lines: readonly Line[]): Line {
  if (task.removal !== undefined && phase === 'done') return ['Done, and removed since'];
  if (phase === 'uncertain') return [`Not confirmed: ${isSought(task) ? 'I’m looking for it' : 'it needs a decision'}`];
  if (phase === 'lost') return ['Finished, but I couldn’t fetch it'];
  const [first = [], ...rest] = lines;
  const further = phase === 'done' ? handoverLines(handover) : phase === 'failed' || phase === 'refused' ? rest : [];
  return [...first, ...further.flatMap((line): Line => [' ', ...line])];
}

/** Longest words of the service about a failed shot, in UTF-16 units: a board has up to 12 of them. */
const FAILURE_LENGTH = 60;

function shotState(view: TaskView, lines: readonly Line[]): Line {
  const { phase, task, retrying, refundKnown } = view;
  const { state, set, sends } = task;
  if (task.dropped !== undefined) return [...unsentWords(task, []), ' Not charged.'];
  if (state === 'waiting') return [waitsWords(task)];
  // Two shots are made at a time.
  if (set !== undefined && state === 'claimed' && retrying === null) return ['Waits for its turn'];
  if (phase !== 'failed' && phase !== 'refused') return stateOf(view, lines);
  const [reason = []] = lines;
  const short = reason.map(
    (part): Part =>
      typeof part === 'object' && 'untrusted' in part ? { untrusted: shorten(part.untrusted, FAILURE_LENGTH) } : part,
  );
  return lineOf(short, ((refundKnown && sends < 2) || sends === 0) && ' Not charged.');
}

/** Returns the buttons of a set that make one of its tasks again, for those that failed. */
export function memberButtons({ members, set }: SetView): readonly CardButton[] {
  return members.flatMap(({ view, shot }, index) => {
    if (shot?.isSkipped === true || shot?.isRetrying === true) return [];
    const isOver =
      view.phase === 'failed' || view.phase === 'refused' || view.phase === 'lost' || mayStartNow(view, members);
    if (!isOver || view.retryPrice === null || !view.buttons.includes('retry')) return [];
    const { task, retryPrice } = shot?.original ?? { task: view.task.id, retryPrice: view.retryPrice };
    return [retryOne(set.kind, { task, at: shot?.at ?? view.task.set?.at ?? index + 1, retryPrice })];
  });
}

/** Returns the buttons of a set that lead to the decisions which it needs on tasks without a message of their own. */
export function decisionButtons({ members, set }: SetView): readonly CardButton[] {
  return members.flatMap(({ view: { phase, task }, message }, index) => {
    if (phase !== 'uncertain' || isSought(task) || task.leftBy !== undefined || message !== null) return [];
    const name = memberName(set.kind, task.set?.at ?? index + 1);
    return [button({ action: 'details', task: task.id }, `Decide on ${name}`, 'primary')];
  });
}

/** Returns whether a shot that was dropped could start now: the one before has a clip, or one in progress. */
function mayStartNow({ task }: TaskView, members: readonly SetMember[]): boolean {
  if (task.dropped === undefined) return false;
  const before = members.find(({ shot }) => shot?.at === startOf(task));
  if (before?.shot === undefined) return false;
  return before.shot.isReady || before.shot.isRetrying || isPending(before.view.phase);
}

/** Renders the notice about a set: `your 4 takes of “a red fox” are ready.`, `3 of 4 takes … are ready; take 4 failed.` */
export function setNoticeCard(notice: EndNotice, set: SetOutcome, ping: Line): Card {
  const { kind, of, ready, others, declined } = set;
  const { many } = memberWords(kind);
  const prompt: Part = { untrusted: quoted(notice.prompt) };
  const all = kind === 'comparison' ? `${of} clips to compare of ` : `${of} ${many} of `;
  if (declined !== undefined) return textCard([...ping, `your ${all}`, prompt, ...declinedOutcome(declined, set)]);
  const subject: Line =
    ready === of
      ? [`your ${all}`, prompt, ' are ready.']
      : [`${ready === 0 ? 'none' : ready} of your ${all}`, prompt, ready === 1 ? ' is ready' : ' are ready', '; '];
  const whose: Line = notice.subscribed ? [{ person: notice.by }, ': ', ...subject.map(withoutYour)] : subject;
  const rest = others.map(
    ({ at, phase, isDropped }) =>
      `${memberName(kind, at)} ${(isDropped === true ? NOT_ORDERED : ENDS[phase]) ?? (kind === 'comparison' ? 'isn’t ready yet' : phase === 'running' ? 'is being made again' : 'has no clip')}`,
  );
  const vote = set.isBlind === true && ready > 1 ? ' Vote for the best one.' : '';
  const end = rest.length === 0 ? vote : `${rest.join(', ')}.${vote}`;
  const { message, subscribed } = notice;
  const link = subscribed && facts([' In ', { channel: message.channel }], [{ message, label: 'See them' }]);
  // Without its price, a retry before the reveal is a matter of the card.
  const retries = notice.subscribed || set.isBlind === true ? [] : others.filter(({ phase }) => RETRIED.has(phase));
  return {
    ...textCard(lineOf(ping, whose, end, link)),
    buttons: retries.flatMap((other) => (other.retryPrice === null ? [] : [retryOne(kind, other)])),
  };
}

const RETRIED: ReadonlySet<Phase> = new Set(['failed', 'refused', 'lost']);

/** Continues the name of a shot without a clip; `undefined` while it may get one. */
function endWords({ phase, task }: TaskView): string | undefined {
  return task.dropped === undefined ? ENDS[phase] : NOT_ORDERED;
}

const NOT_ORDERED = 'was not ordered';

function withoutYour(part: Part): Part {
  return typeof part === 'string' ? part.replace('your ', '') : part;
}

function retryOne(
  kind: SetKind,
  { task, at, retryPrice }: Pick<SetOutcome['others'][number], 'task' | 'at' | 'retryPrice'>,
): CardButton {
  const price = retryPrice === null ? '' : ` · ${formatPrice(retryPrice)}`;
  return button({ action: 'retry', task, price: retryPrice }, `Retry ${memberName(kind, at)}${price}`);
}
