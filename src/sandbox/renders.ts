import type { RenderJob } from './render/job.ts';
import { type Render, startRender } from './render/thread.ts';

/** Events of the render queue. */
export interface RenderEvents {
  /** Reports that the thread of a render starts. */
  started(id: string): void;
  /** Reports that the MP4 is on disk. */
  done(id: string): void;
  /** Reports that the render failed. */
  failed(id: string, reason: unknown): void;
}

/** Render queue (FIFO) with bounded concurrency. */
export class Renders {
  readonly #maxThreads: number;
  readonly #events: RenderEvents;
  readonly #waiting: { readonly id: string; readonly job: RenderJob }[] = [];
  readonly #running = new Map<string, { readonly render: Render; progress: number }>();
  #isClosed = false;

  /** @param maxThreads limit of concurrent renders, at least 1. */
  constructor(maxThreads: number, events: RenderEvents) {
    this.#maxThreads = maxThreads;
    this.#events = events;
  }

  /** Number of queued renders. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(id: string, job: RenderJob): void {
    this.#waiting.push({ id, job });
    this.#next();
  }

  /** Returns the encoded share of a clip in whole percent, 0 to 99; 0 if it is not running. */
  progress(id: string): number {
    return this.#running.get(id)?.progress ?? 0;
  }

  /** Aborts every render without reporting a failure. */
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

  #end(id: string, notify: () => void): void {
    if (this.#isClosed) return;
    this.#running.delete(id);
    notify();
    this.#next();
  }
}
