import { Worker } from 'node:worker_threads';
import type { RenderJob } from './render/job.ts';

interface RenderEvents {
  started(id: string): void;
  /** Reports that the MP4 is on disk. */
  done(id: string): void;
  failed(id: string, reason: unknown): void;
}

/**
 * Render queue (FIFO) with bounded concurrency. Each render has a thread of its own, which isolates crashes and
 * releases all memory at the end.
 */
export class RenderQueue {
  readonly #maxThreads: number;
  readonly #events: RenderEvents;
  readonly #waiting: { readonly id: string; readonly job: RenderJob }[] = [];
  readonly #running = new Map<string, { readonly worker: Worker; progress: number }>();
  #isClosed = false;

  /** @param maxThreads limit of concurrent renders, at least 1. */
  constructor(maxThreads: number, events: RenderEvents) {
    this.#maxThreads = maxThreads;
    this.#events = events;
  }

  add(id: string, job: RenderJob): void {
    this.#waiting.push({ id, job });
    this.#next();
  }

  /** Returns the encoded share of a clip in whole percent, 0 to 99; 0 if it is not running. */
  progress(id: string): number {
    return this.#running.get(id)?.progress ?? 0;
  }

  /** Aborts every render without reporting a failure; no file appears at its path afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.values()].map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    if (this.#isClosed || this.#running.size >= this.#maxThreads) return;
    const first = this.#waiting.shift();
    if (first === undefined) return;
    const { id, job } = first;
    this.#events.started(id);
    const worker = new Worker(new URL('./render/worker.ts', import.meta.url), { workerData: job });
    const running = { worker, progress: 0 };
    this.#running.set(id, running);
    let reason: unknown;
    worker.on('message', (share: number) => {
      running.progress = Math.min(99, Math.floor(share * 100));
    });
    worker.once('error', (thrown: unknown) => {
      reason = thrown;
    });
    worker.once('exit', (code) => {
      if (this.#isClosed) return;
      this.#running.delete(id);
      if (code === 0) this.#events.done(id);
      else this.#events.failed(id, reason ?? new Error(`the render thread ended with ${code}`));
      this.#next();
    });
  }
}
