import { messageIdOf } from '#adapters/playground/interactions.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Shown } from './history.ts';
import type { Message } from './people.ts';

const PHASES = ['done', 'lost', 'failed', 'refused', 'uncertain', 'disowned', 'declined'] as const;

/** Converts the playground's messages to the form that the checker reads. */
export function shownOf(messages: readonly Message[], tasks: Iterable<Task>): readonly Shown[] {
  const ends = new Map<string, string>();
  /** Messages that ask the approvers, or remind them, and mention them; they report no end. */
  const asks = new Set<string>();
  for (const { id, sends } of tasks) {
    for (const reason of ['ask', 'remind']) asks.add(messageIdOf('notice', `${reason}:${id}:`));
    for (const phase of PHASES) {
      // A submission that was reported as uncertain may have been taken back since.
      for (let send = 0; send <= sends + 1; send += 1) {
        ends.set(messageIdOf('notice', `end:${id}:${phase}:${send}`), `${phase}:${send}`);
      }
    }
  }
  const reports = ({ id, task, asked, mentions }: Message): boolean =>
    task === null && asked === null && mentions.length > 0 && !asks.has(id);
  return messages.map((message) => ({
    id: message.id,
    channel: message.channel,
    task: message.task,
    state: message.state,
    files: message.attachments.map(({ bytes }) => bytes),
    buttons: message.buttons.map((button) => button.id.split(':')[0] ?? ''),
    replyTo: message.replyTo,
    words: message.text,
    end: reports(message) ? (ends.get(message.id) ?? '?') : null,
  }));
}
