import type { VideoRequest } from '../videos/index.ts';
import type { Task } from './task.ts';

/** Why a shot has no clip that the next one could start with; `unframed`: it has, but its last frame could not be taken. */
export type ShotEnd = 'failed' | 'refused' | 'lost' | 'unconfirmed' | 'cancelled' | 'declined' | 'removed' | 'unframed';

/** The shot for which a chained one was not ordered. */
export interface Dropped {
  readonly shot: number;
  readonly end: ShotEnd;
}

/** Returns whether a chained clip has no frame to start with yet: it must not be sent. */
export function awaitsFrame({ chain }: Pick<VideoRequest, 'chain'>): boolean {
  return chain !== undefined && chain.frame === undefined;
}

/** Returns the state of a task that is bought: it waits for its frame, or may be sent. */
export function boughtState({ request }: Pick<Task, 'request'>): 'waiting' | 'claimed' {
  return awaitsFrame(request) ? 'waiting' : 'claimed';
}
