import { Worker } from 'node:worker_threads';
import type { RenderJob, RenderReport } from './job.ts';

/** A render on its own thread. */
export interface Render {
  /** Resolves once the MP4 is on disk; rejects when the thread failed, died or was stopped. */
  readonly done: Promise<void>;
  /** Ends the thread at once; nothing appears at the job's path afterwards. */
  stop(): Promise<void>;
}

/**
 * Starts a render. Each has a thread of its own: one that breaks takes nothing along and leaves no memory behind.
 * @param onProgress told after every frame how much is encoded, 0 to 1.
 */
export function startRender(job: RenderJob, onProgress: (share: number) => void): Render {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: job });
  const done = new Promise<void>((resolve, reject) => {
    worker.on('message', (report: RenderReport) => {
      if (report.kind === 'done') resolve();
      else onProgress(report.frames / report.of);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the render thread ended with ${code} before its clip was done`)));
  });
  return {
    done,
    stop: async () => {
      await worker.terminate();
    },
  };
}
