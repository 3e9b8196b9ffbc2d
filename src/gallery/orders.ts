import type { Price, Task, TaskId } from '../tasks/index.ts';
import type { GallerySession } from './access.ts';

/** Press on the page of a clip. */
export interface GalleryPress {
  readonly session: GallerySession;
  /** The clip, which the person may see. */
  readonly task: Task;
  /** Idempotency key that the page chose. */
  readonly id: string;
  /** Another take for the price that the page shows, the deletion of the clip, or a button of an earlier reply. */
  readonly action:
    | { readonly kind: 'retry'; readonly price: Price }
    | { readonly kind: 'delete' }
    | { readonly kind: 'button'; readonly button: string };
}

/** Reply to a press. */
export type GalleryReply =
  /** A task was ordered, now or by an earlier press; its message is in the clip's channel. */
  | { readonly kind: 'ordered'; readonly task: TaskId }
  /** The clip was deleted; text, one line each. */
  | { readonly kind: 'deleted'; readonly lines: readonly string[] }
  /** Text, one line each, with the buttons that can be pressed here. */
  | {
      readonly kind: 'text';
      readonly lines: readonly string[];
      readonly buttons: readonly { readonly id: string; readonly label: string }[];
    };

/** Handles a press as the chat does: with the same prices, questions and limits. */
export type PressInGallery = (press: GalleryPress) => Promise<GalleryReply>;
