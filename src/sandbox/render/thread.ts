import { Worker } from 'node:worker_threads';
import type { RenderJob, RenderReport } from './job.ts';

/** Render in its own worker thread. */
export interface Render {
  /** Resolves once the MP4 is on disk; rejects when the thread failed, exited or was stopped. */
  readonly done: Promise<void>;
  /** Terminates the thread; no file appears at the job's path afterwards. */
  stop(): Promise<void>;
}

/**
 * Starts a render in a thread of its own, which isolates crashes and releases all memory at the end.
 * @param onProgress called after every frame with the encoded share, 0 to 1.
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
