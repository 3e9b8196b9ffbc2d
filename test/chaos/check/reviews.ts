import { isSignedOff, type ReviewDecision } from '#src/tasks/review/review.ts';
import type { Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Kept, Pressed, Violation } from '../history.ts';

type ReviewHistory = Pick<History, 'pressed' | 'messages' | 'commits' | 'lives'> & {
  readonly store: Pick<Kept, 'tasks'>;
};

const ACTIONS = { signed_off: 'signoff', changes_requested: 'changes' } as const;
/** Words about a decision that counts. */
const DECIDED = { signed_off: /^Signed off/u, changes_requested: /^Requested changes/u } as const;

/**
 * Checks that each decision on a clip was made by the person that it names, that none is lost or changed, and that each has one
 * notice, a signed-off clip also its one message in the channel for them.
 */
export function checkReviews(history: ReviewHistory): readonly Violation[] {
  return [
    ...[...history.store.tasks.values()].flatMap((task) => [
      ...wrongDecisions(task, history),
      ...wrongNotices(task, history),
    ]),
    ...rewritten(history.commits),
  ];
}

function wrongDecisions(
  { id, review = [], removal }: Task,
  { pressed, messages }: ReviewHistory,
): readonly Violation[] {
  if (removal !== undefined) return [];
  const presses = pressed.filter(({ task }) => task === id);
  const isOf = ({ by, kind }: ReviewDecision, { user, action }: Pressed) => user === by.id && action === ACTIONS[kind];
  const words = new Map(messages.map((message) => [message.id, message.words ?? '']));
  const promised = (['signed_off', 'changes_requested'] as const).flatMap((kind) => {
    const told = presses.filter(({ message }) => DECIDED[kind].test(words.get(message ?? '') ?? ''));
    return [...new Set(told.map(({ user }) => user))].map((user) => ({ kind, user }));
  });
  const has = ({ kind, user }: (typeof promised)[number]) =>
    review.some((one) => one.kind === kind && one.by.id === user);
  return [
    ...review
      .filter((decision) => !presses.some((press) => isOf(decision, press)))
      .map(({ kind, by }) => ({ name: 'review nobody made', what: `task ${id}: ${kind} by ${by.id}` })),
    ...promised
      .filter((one) => !has(one))
      .map(({ kind, user }) => ({ name: 'lost review', what: `task ${id}: ${user} was told of ${kind}` })),
  ];
}

function wrongNotices(task: Task, { messages, lives }: ReviewHistory): readonly Violation[] {
  const { id, review = [], origin, removal } = task;
  if (removal !== undefined) return [];
  // What one decides about one's own clip, its card shows.
  const wanted = review.flatMap(({ by, note }, index) =>
    by.id === origin.user.id && note === undefined ? [] : [`review:${id}:${index + 1}`],
  );
  const posts = isSignedOff(task) ? [`signed-off:${id}`] : [];
  return [...wanted, ...posts].flatMap((key) => {
    const found = messages.filter((message) => message.review === key).length;
    if (found === 1 || (found === 0 && isRefused(id, key, lives))) return [];
    return [{ name: found === 0 ? 'lost notice' : 'doubled notice', what: `${key}: ${found} messages` }];
  });
}

/** Returns whether the bot reports that the chat took a notice nowhere: its permission to post was taken away. */
function isRefused(id: string, key: string, lives: ReviewHistory['lives']): boolean {
  const report = key.startsWith('signed-off:')
    ? `"event":"signed_off_post_failed","task":"${id}"`
    : `"event":"notice_channel_gone","task":"${id}","key":"${key}"`;
  return lives.some(({ output }) => output.includes(report));
}

/** Replays the commits: a decision is added to those before, which stay as they are. */
function rewritten(commits: readonly MoneyCommit[]): readonly Violation[] {
  const reviews = new Map<string, readonly ReviewDecision[]>();
  return commits.flatMap((commit, at) =>
    commit.flatMap((write) => {
      if (write.of !== 'task' || write.value === null) return [];
      // A clip that is removed loses its reviews.
      const { id, review = [], removal } = write.value;
      if (removal !== undefined) return [];
      const before = reviews.get(id) ?? [];
      reviews.set(id, review);
      const isKept = JSON.stringify(review.slice(0, before.length)) === JSON.stringify(before);
      const isOne = review.length <= before.length + 1;
      return isKept && isOne ? [] : [{ name: 'rewritten review', what: `commit ${at}: task ${id}` }];
    }),
  );
}
