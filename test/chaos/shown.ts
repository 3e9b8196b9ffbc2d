import { messageIdOf } from '#adapters/playground/interactions.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Shown } from './history.ts';
import type { Message } from './people.ts';

const PHASES = ['done', 'lost', 'failed', 'refused', 'uncertain', 'disowned'] as const;

/** Converts the playground's messages to the form that the checker reads. */
export function shownOf(messages: readonly Message[], tasks: Iterable<Task>): readonly Shown[] {
  const ends = new Map<string, string>();
  for (const { id, sends } of tasks) {
    for (const phase of PHASES) {
      // A submission that was reported as uncertain may have been taken back since.
      for (let send = 0; send <= sends + 1; send += 1) {
        ends.set(messageIdOf('notice', `end:${id}:${phase}:${send}`), `${phase}:${send}`);
      }
    }
  }
  return messages.map(({ id, channel, task, state, attachments, buttons, replyTo, mentions, asked }) => ({
    id,
    channel,
    task,
    state,
    files: attachments.map(({ bytes }) => bytes),
    buttons: buttons.map((button) => button.id.split(':')[0] ?? ''),
    replyTo,
    end: task === null && asked === null && mentions.length > 0 ? (ends.get(id) ?? '?') : null,
  }));
}
