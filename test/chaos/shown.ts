import { messageIdOf } from '#adapters/playground/interactions.ts';
import { copyKey } from '#src/chat/cards.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Kept, Shown } from './history.ts';
import type { Message } from './playground.ts';
import { cardOf, setsIn } from './sets.ts';

const PHASES = ['done', 'lost', 'failed', 'refused', 'uncertain', 'disowned', 'declined'] as const;

/** Converts the playground's messages to the form that the checker reads. */
export function shownOf(
  messages: readonly Message[],
  { tasks, cuts, cards }: Pick<Kept, 'tasks' | 'cuts' | 'cards'>,
): readonly Shown[] {
  const ends = new Map<string, Pick<Shown, 'end' | 'endOf'>>();
  /** Messages that ask the approvers, or remind them, and mention them; they report no end. */
  const asks = new Set<string>();
  const all = [...tasks.values()];
  for (const [first] of setsIn(all)) {
    const card = cardOf(first?.id ?? '');
    for (const reason of ['ask', 'remind']) asks.add(messageIdOf('notice', `${reason}:${card}:`));
    // The notice about a set counts no submissions: its key has those of its first task then.
    const sends = Array.from({ length: (first?.sends ?? 0) + 2 }, (_, send) => send);
    for (const phase of PHASES)
      for (const send of sends) ends.set(messageIdOf('notice', `end:${card}:${phase}:${send}`), { end: card });
  }
  for (const { id, sends } of all) {
    for (const reason of ['ask', 'remind']) asks.add(messageIdOf('notice', `${reason}:${id}:`));
    for (const phase of PHASES) {
      // A submission that was reported as uncertain may have been taken back since.
      for (let send = 0; send <= sends + 1; send += 1) {
        ends.set(messageIdOf('notice', `end:${id}:${phase}:${send}`), { end: `${phase}:${send}`, endOf: id });
      }
    }
  }
  const reports = ({ id, task, asked, mentions }: Message): boolean =>
    task === null && asked === null && mentions.length > 0 && !asks.has(id) && !reviews.has(id);
  const cutMessages = new Map(
    [...cuts.keys()].flatMap((id) =>
      Array.from(
        { length: cards.get(id)?.copy ?? 1 },
        (_, at) => [messageIdOf('task', copyKey(id as TaskId, at + 1)), id] as const,
      ),
    ),
  );
  const reviews = new Map(
    all.flatMap((task) => reviewKeysOf(task).map((key) => [messageIdOf('notice', key), key] as const)),
  );
  const reviewOf = ({ id }: Message): Pick<Shown, 'review'> => {
    const review = reviews.get(id);
    return review === undefined ? {} : { review };
  };
  const cutOf = ({ id }: Message): Pick<Shown, 'cut'> => {
    const cut = cutMessages.get(id);
    return cut === undefined ? {} : { cut };
  };
  return messages.map((message) => ({
    id: message.id,
    channel: message.channel,
    task: message.task,
    ...cardFields(message, tasks),
    ...cutOf(message),
    ...reviewOf(message),
    state: message.state,
    files: message.attachments.map(({ bytes }) => bytes),
    buttons: message.buttons.map((button) => button.id.split(':')[0] ?? ''),
    replyTo: message.replyTo,
    words: message.text,
    ...(reports(message) ? (ends.get(message.id) ?? { end: '?' }) : { end: null }),
  }));
}

/** Returns the keys of the notices about a task's reviews: one of each decision, and one of a clip that was signed off. */
function reviewKeysOf({ id, review = [] }: Pick<Task, 'id' | 'review'>): readonly string[] {
  return [...review.map((_, index) => `review:${id}:${index + 1}`), `signed-off:${id}`];
}

/**
 * Returns the set of a card, by the first task on it, with what the checker reads of it besides: of a storyboard, that may be
 * a later take of its shot.
 */
function cardFields(
  { task, tasks: shown = [], attachments, buttons }: Message,
  tasks: Kept['tasks'],
): Pick<Shown, 'set' | 'names' | 'tasks' | 'buttonIds'> {
  const [first] = shown;
  if (task !== null || first === undefined) return {};
  const { set, takeOf } = tasks.get(first.task) ?? {};
  const names = attachments.map(({ name }) => name);
  return { set: (set ?? takeOf)?.id ?? first.task, names, tasks: shown, buttonIds: buttons.map(({ id }) => id) };
}
