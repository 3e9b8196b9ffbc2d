import type { Task, TaskId } from '../tasks/task.ts';
import type { MessageRef, MissingRight, Place } from './platform.ts';
import type { TaskView } from './view.ts';

/** The chat side of tasks: their messages, progress and delivery. */
export interface Chat {
  /** Shows a task's message, or finds it. */
  show(task: TaskId): Promise<MessageRef>;
  /** The message of a task, where it has one. */
  messageOf(task: TaskId): Promise<MessageRef | undefined>;
  /** Which task a message shows. */
  taskOf(platform: string, message: MessageRef): Promise<TaskId | undefined>;
  /** What a task's message says now. */
  view(task: Task): Promise<TaskView>;
  /** What the bot lacks to post there; `null` when nothing does. */
  missingRight(platform: string, place: Place): Promise<MissingRight | null>;
}
