import type { TaskEvent } from '#src/tasks/task.ts';
import { NOON_MS } from './bot-house.ts';
import { EVENTS } from './tasks.ts';

/** Events of a task of a `BotHouse` that the service accepted at once. */
export const SENT: readonly TaskEvent[] = [EVENTS.send, { ...EVENTS.accepted, atMs: NOON_MS }];

/** Returns the events of one whose clip was finished `ms` later, and fetched. */
export function doneIn(ms: number): readonly TaskEvent[] {
  return [...SENT, { ...EVENTS.completed, atMs: NOON_MS + ms }, EVENTS.fetched];
}

/** Returns the events of one that failed `ms` later, with the service's words. */
export function failedIn(ms: number, words: string | null = null): readonly TaskEvent[] {
  return [...SENT, { kind: 'failed', failure: { code: 'generation_failed', words }, atMs: NOON_MS + ms }];
}
