import type { UpstreamStatus } from '../../service.ts';
import type { ClipDestination, Dialect } from '../dialect.ts';

/** One of the two APIs by which Google makes clips: its requests, and its answers about a task. */
export interface Reading {
  readonly createCall: Dialect['createCall'];
  /** Path of a task below the base URL, encoded. */
  readonly taskPath: (id: string) => string;
  /** Reads an answer of this API. @returns null for any other one. */
  read(answer: unknown): Answer | null;
}

/** Answer about a task. */
export interface Answer {
  readonly id: string | null;
  readonly status: UpstreamStatus;
  /** The finished clip. */
  readonly clip?: ClipDestination;
  /** Reason in words, where the task ended without a clip. */
  readonly words?: string;
  /** Whether the filters of the service removed the clip, where the answer says how many there are. */
  readonly isFiltered?: boolean;
}
