import { isOnCard } from '#src/chat/sets/set-view.ts';
import { isCutId } from '#src/orders/cut.ts';
import { versionOf } from '#src/tasks/review/versions.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Kept, Shown } from './history.ts';
import type { Chat } from './plan.ts';
import { cardOf, isFileOf, setsIn } from './sets.ts';
import { mentionOf, ORDER_IN, reportsEnd, showsCard, showsTask } from './side.ts';

/** Message of a chat as far as the checker needs it. */
export interface ChatMessage {
  readonly id: string;
  readonly channel: string;
  /** Ids of its buttons. */
  readonly buttons: readonly string[];
  /** Its text. */
  readonly words: string;
  /** Files in it, or in its thread. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly isVisible: boolean;
  readonly isPinging: boolean;
}

/** Words of the notices about reviews, and of the signed-off clip in the channel for them. @see commands/sentences/cards/review.ts */
const OF_REVIEW = /(?:requested changes to|signed off|^Signed off:) v\d+ of /u;

/** Words of the notice about a set. @see commands/sentences/cards/set-card.ts */
const OF_SET = /\byour \d+ (?:takes|shots|clips to compare) of /u;

/** Converts the messages of a chat to the form that the checker reads. */
export function shownIn(chat: Chat, messages: readonly ChatMessage[], kept: Kept): readonly Shown[] {
  const { tasks, cuts, cards } = kept;
  const refOf = (id: string): string | undefined => cards.get(id)?.message.message;
  const own = [...tasks.values()].filter(({ origin }) => origin.platform === chat);
  const ofCuts = [...cuts.values()].filter(({ origin }) => origin.platform === chat);
  const others = messages.filter(({ words }) => !OF_REVIEW.test(words));
  return [
    ...own.flatMap((task) => ofTask(task, others, refOf(task.id))),
    ...ofReviews(own, messages),
    ...setsIn(own).flatMap(([first]) => (first === undefined ? [] : ofSet(first, messages, refOf(cardOf(first.id))))),
    ...ofCuts.flatMap(({ id }) => {
      const refs = [...(cards.get(id)?.earlier?.map(({ message }) => message) ?? []), refOf(id)];
      return messages
        .filter((message) => refs.includes(message.id))
        .map((one) => ({ ...shownOf(one, { id }), cut: id }));
    }),
  ];
}

/** Converts the private replies to presses. */
export function repliesIn(
  replies: readonly Pick<ChatMessage, 'id' | 'channel' | 'words' | 'buttons'>[],
): readonly Shown[] {
  const none = { task: null, state: null, files: [], replyTo: null, end: null };
  return replies.map((reply) => ({ ...none, ...reply, buttons: actionsOf(reply.buttons) }));
}

function actionsOf(buttons: readonly string[]): readonly string[] {
  return buttons.map((button) => button.split(':')[0] ?? '');
}

/**
 * Converts the notices about reviews. Those of the same words, about takes of one prompt, are told apart by their number alone:
 * each decision gets one before another gets a second one.
 */
function ofReviews(tasks: readonly Task[], messages: readonly ChatMessage[]): readonly Shown[] {
  const wanted = tasks.flatMap((task) => noticesOf(task).map((notice) => ({ ...notice, found: [] as ChatMessage[] })));
  for (const message of messages.filter(({ isVisible, words }) => isVisible && OF_REVIEW.test(words))) {
    const [fewest] = wanted
      .filter(({ words }) => words.every((some) => message.words.includes(some)))
      .toSorted((one, other) => one.found.length - other.found.length);
    fewest?.found.push(message);
  }
  return wanted.flatMap(({ key, found }) => repliesIn(found).map((shown) => ({ ...shown, review: key })));
}

/** Returns the key and the words of each notice about a task's reviews that there may be. */
function noticesOf(task: Task): readonly { readonly key: string; readonly words: readonly string[] }[] {
  const { id, request, review = [] } = task;
  const clip = ` v${versionOf(task)} of “${request.prompt}”`;
  const decisions = review.map(({ kind, note }, index) => ({
    key: `review:${id}:${index + 1}`,
    words: kind === 'signed_off' ? [` signed off${clip}`] : [` requested changes to${clip}`, note?.text ?? ''],
  }));
  const isPosted = review.some(({ kind }) => kind === 'signed_off');
  return [...decisions, ...(isPosted ? [{ key: `signed-off:${id}`, words: [`Signed off:${clip}`] }] : [])];
}

/** Returns a message with the files of a task or cut in it. */
function shownOf({ id, channel, buttons, words, files }: ChatMessage, owner: Pick<Task, 'id' | 'set'>): Shown {
  const of = isCutId(owner.id) ? { id: owner.id.slice('cut-'.length) as TaskId } : owner;
  const own = files.filter(({ name }) => isFileOf(of, name));
  return {
    id,
    channel,
    task: null,
    state: null,
    files: own.map(({ bytes }) => bytes),
    buttons: actionsOf(buttons),
    replyTo: null,
    end: null,
    words,
  };
}

/** Any message with a button for the task counts as its message, even one that the bot did not record. */
function ofTask(task: Task, messages: readonly ChatMessage[], ref: string | undefined): readonly Shown[] {
  const known = messages.filter(({ id }) => id === ref);
  const others = messages.filter(
    ({ id, isVisible, buttons }) => id !== ref && isVisible && showsTask(buttons, task.id),
  );
  return [
    ...[...known, ...others].map((message) => ({ ...shownOf(message, task), task: task.id })),
    ...mentionsOf(task, messages, ref),
  ];
}

/** Messages that pinged a user because of a task, whichever message they reply to; of a set, each is told of in one. */
function mentionsOf(task: Task, messages: readonly ChatMessage[], own: string | undefined): readonly Shown[] {
  if (task.set !== undefined) return [];
  const [order = ''] = ORDER_IN.exec(task.request.prompt) ?? [];
  const about = task.takeOf === undefined ? order : `“${task.request.prompt}”`;
  return messages
    .filter(({ isPinging, words }) => isPinging && words.includes(about) && reportsEnd(words) && !OF_SET.test(words))
    .map((message) => mentionOf(shownOf(message, task), { task, own, words: message.words }));
}

/** Returns what the checker reads of a card besides: its files, unless they are those of the shots below it. */
function cardFields(first: Task, { files, buttons }: ChatMessage) {
  const own = isOnCard(first) ? files : [];
  const shown = { files: own.map(({ bytes }) => bytes), names: own.map(({ name }) => name) };
  return { ...shown, buttonIds: buttons, set: first.id };
}

function ofSet(first: Task, messages: readonly ChatMessage[], ref: string | undefined): readonly Shown[] {
  const [order = ''] = ORDER_IN.exec(first.request.prompt) ?? [];
  const known = messages.filter(({ id }) => id === ref);
  const others = messages.filter(
    ({ id, isVisible, buttons }) => id !== ref && isVisible && showsCard(buttons, first.id),
  );
  const cards = [...known, ...others];
  const notices = messages.filter(({ isPinging, words }) => isPinging && words.includes(order) && OF_SET.test(words));
  const end = { replyTo: cards[0]?.id ?? ref ?? null, end: cardOf(first.id) };
  return [
    ...cards.map((message) => ({ ...shownOf(message, first), ...cardFields(first, message) })),
    ...notices.filter(({ words }) => reportsEnd(words)).map((message) => ({ ...shownOf(message, first), ...end })),
  ];
}
