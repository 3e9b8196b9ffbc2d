import type { SetPlace, Task } from './task.ts';

/** Time for which the first outcome of a comparison waits for the others, in milliseconds. */
export const WAITS_FOR_OTHERS_MS = 30 * 60_000;

/** Labels of the clips of a comparison, by their number in the set. */
const LABELS = ['A', 'B', 'C', 'D'];

/** Returns the label of a clip by its number in its comparison, from 1. */
export function labelAt(at: number): string {
  return LABELS[at - 1] ?? String(at);
}

/** Returns the place of a task in a comparison; `null` where it is in none. */
export function comparisonOf({ set, takeOf }: Pick<Task, 'set' | 'takeOf'>): SetPlace | null {
  const place = takeOf ?? set;
  return place?.kind === 'comparison' ? place : null;
}

/**
 * Returns whether a task is in a comparison that was not revealed: the chat does not tell then which model made it, nor what would betray that, such as its own price and times.
 */
export function isBlind(task: Pick<Task, 'set' | 'takeOf' | 'revealedAtMs'>): boolean {
  return task.revealedAtMs === undefined && comparisonOf(task) !== null;
}
