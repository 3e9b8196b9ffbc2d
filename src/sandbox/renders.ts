import type { RenderJob } from './render/job.ts';
import { type Render, startRender } from './render/thread.ts';

/** What the queue tells of its renders. */
export interface RenderEvents {
  /** Its thread starts now. */
  started(id: string): void;
  /** The MP4 is on disk. */
  done(id: string): void;
  /** There will be none. */
  failed(id: string, reason: unknown): void;
}

/** Renders a few clips at a time and keeps the others waiting, first come, first served. */
export class Renders {
  readonly #maxThreads: number;
  readonly #events: RenderEvents;
  readonly #waiting: { readonly id: string; readonly job: RenderJob }[] = [];
  readonly #running = new Map<string, { readonly render: Render; progress: number }>();
  #isClosed = false;

  /** @param maxThreads how many clips are rendered at once, at least 1. */
  constructor(maxThreads: number, events: RenderEvents) {
    this.#maxThreads = maxThreads;
    this.#events = events;
  }

  /** How many renders wait for a thread. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(id: string, job: RenderJob): void {
    this.#waiting.push({ id, job });
    this.#next();
  }

  /** How much of a clip is encoded, in whole percent, 0 to 99; 0 where it does not run. */
  progress(id: string): number {
    return this.#running.get(id)?.progress ?? 0;
  }

  /** Stops every render; none is reported as failed for it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await Promise.all([...this.#running.values()].map(({ render }) => render.stop()));
  }

  #next(): void {
    if (this.#isClosed || this.#running.size >= this.#maxThreads) return;
    const first = this.#waiting.shift();
    if (first === undefined) return;
    const { id, job } = first;
    this.#events.started(id);
    const render = startRender(job, (share) => {
      const running = this.#running.get(id);
      if (running !== undefined) running.progress = Math.min(99, Math.floor(share * 100));
    });
    this.#running.set(id, { render, progress: 0 });
    render.done.then(
      () => this.#end(id, () => this.#events.done(id)),
      (reason: unknown) => this.#end(id, () => this.#events.failed(id, reason)),
    );
  }

  #end(id: string, tell: () => void): void {
    if (this.#isClosed) return;
    this.#running.delete(id);
    tell();
    this.#next();
  }
}
