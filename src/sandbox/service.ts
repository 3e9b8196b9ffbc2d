import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { priceOf } from '../tasks/index.ts';
import type { Catalog } from '../videos/index.ts';
import type { LedgerLine, SandboxRecords, SandboxTask } from './records.ts';
import { insufficientBalance, moderated, Refused, tooManyRequests, unavailable } from './refusal.ts';
import type { ReferenceSource } from './render/job.ts';
import { RenderQueue } from './render-queue.ts';
import { type AcceptedRequest, readRequest } from './request.ts';
import { type Steering, steeringOf } from './steering.ts';

/** Options of {@link SandboxService}. */
export interface ServiceOptions {
  readonly records: SandboxRecords;
  /** Existing folder of the clips. */
  readonly clipsDir: string;
  /** The current catalog, read on each request. */
  readonly catalog: () => Catalog;
  /** Limit of concurrent renders, one thread each. */
  readonly maxThreads: number;
  readonly references: ReferenceAccess;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ReferenceAccess {
  /** Resolves with the file behind a URL of the bot, once it exists; `null` for any other URL. */
  readonly ownFile: (url: string) => Promise<string | null>;
  /** True: other URLs may lead to this machine as well as to the public internet. */
  readonly isLoopbackAllowed: boolean;
}

/** Time that `[slow]` keeps a task queued. */
const SLOW_MS = 60_000;
/** Progress at which `[stuck]` stops, in percent. */
const STUCK_PERCENT = 42;
/** `Retry-After` of `[busy]`, in seconds. */
const BUSY_SECONDS = 2;

/** The embedded service without its HTTP API: creates tasks, renders clips, keeps the ledger. */
export class SandboxService {
  readonly #options: ServiceOptions;
  readonly #renders: RenderQueue;
  /** Prompts that `[busy]` refused once. */
  readonly #refusedOnce = new Set<string>();
  readonly #cancelTimers = new Set<() => void>();

  /** Resumes every unfinished task. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#renders = new RenderQueue(options.maxThreads, {
      started: (id) => this.#change(id, (task) => ({ ...task, status: 'in_progress' })),
      done: (id) => this.#change(id, (task) => this.#completed(task)),
      failed: (id, reason) => this.#change(id, (task) => this.#failed(task, reason)),
    });
    for (const task of options.records.open()) {
      if (task.status === 'in_progress' && task.steering !== 'stuck') {
        this.#change(task.id, () => ({ ...task, status: 'queued' }));
      }
      this.#schedule(task);
    }
  }

  /**
   * Creates a task: validated, charged and recorded before the response.
   * @throws Refused with nothing created.
   */
  create(body: unknown): SandboxTask {
    const { records, catalog, logger, clock } = this.#options;
    const request = readRequest(body, catalog());
    this.#applyDirective(request);
    const { model, prompt, seconds, aspectRatio, resolution, media } = request;
    const task: SandboxTask = {
      id: `video_${randomUUID()}`,
      status: 'queued',
      model: model.name,
      prompt,
      seconds,
      aspectRatio,
      resolution,
      media,
      steering: steeringOf(prompt),
      createdAtMs: clock.now(),
    };
    const { amount, currency } = priceOf(model, seconds);
    try {
      records.create(task, amount, currency);
    } catch (thrown) {
      logger.error({ event: 'sandbox_task_not_recorded', err: thrown }, 'the sandbox failed to record a task');
      throw new Refused(unavailable);
    }
    logger.info(
      { event: 'sandbox_task_created', task: task.id, model: task.model, seconds: task.seconds },
      'the sandbox created a task',
    );
    this.#schedule(task);
    return task;
  }

  find(id: string): SandboxTask | undefined {
    return this.#options.records.find(id);
  }

  /** Returns the progress of the encoder in whole percent, 0 to 100. */
  progress(task: SandboxTask): number {
    if (task.status === 'completed') return 100;
    if (task.steering === 'stuck') return STUCK_PERCENT;
    return this.#renders.progress(task.id);
  }

  /** Returns every charge and refund, oldest first. */
  ledger(): readonly LedgerLine[] {
    return this.#options.records.ledger();
  }

  /** Aborts renders and closes the database; unfinished tasks resume at the next start. */
  async close(): Promise<void> {
    for (const cancel of this.#cancelTimers) cancel();
    await this.#renders.close();
    this.#options.records.close();
  }

  /** Refuses a creation whose prompt asks for it. */
  #applyDirective({ model, prompt, seconds }: AcceptedRequest): void {
    const steering = steeringOf(prompt);
    const { amount, currency } = priceOf(model, seconds);
    if (steering === 'moderated') throw new Refused(moderated);
    if (steering === 'no_balance') throw new Refused(insufficientBalance(amount, currency));
    if (steering === 'busy' && !this.#refusedOnce.delete(prompt)) {
      this.#refusedOnce.add(prompt);
      throw new Refused(tooManyRequests(BUSY_SECONDS));
    }
  }

  #schedule(task: SandboxTask): void {
    const { clock } = this.#options;
    if (task.steering === 'stuck') {
      if (task.status === 'queued') this.#change(task.id, () => ({ ...task, status: 'in_progress' }));
      return;
    }
    const waitMs = task.steering === 'slow' ? task.createdAtMs + SLOW_MS - clock.now() : 0;
    if (waitMs <= 0) {
      this.#render(task);
      return;
    }
    const cancel = clock.after(waitMs, () => {
      this.#cancelTimers.delete(cancel);
      this.#render(task);
    });
    this.#cancelTimers.add(cancel);
  }

  #render(task: SandboxTask): void {
    const { clipsDir, references } = this.#options;
    const { isLoopbackAllowed } = references;
    const path = join(clipsDir, `${task.id}.mp4`);
    void Promise.all(task.media.image.map((url) => this.#sourceOf(url))).then((images) =>
      this.#renders.add(task.id, { ...task, images, isLoopbackAllowed, path }),
    );
  }

  /** Resolves a file of the bot to its path: its public URL may not be reachable from here. */
  async #sourceOf(url: string): Promise<ReferenceSource> {
    const path = await this.#options.references.ownFile(url).catch(() => null);
    return path === null ? { url } : { path };
  }

  #change(id: string, next: (task: SandboxTask) => SandboxTask): void {
    const { records, logger } = this.#options;
    const task = records.find(id);
    if (task === undefined) return;
    try {
      records.update(next(task));
    } catch (thrown) {
      // The next start resumes the task from its last recorded state, with its clip on disk or rendered again.
      logger.error({ event: 'sandbox_task_not_updated', err: thrown, task: id }, 'the sandbox failed to update a task');
    }
  }

  #completed(task: SandboxTask): SandboxTask {
    this.#options.logger.info({ event: 'sandbox_task_completed', task: task.id }, 'the sandbox completed a task');
    return { ...task, status: 'completed', endedAtMs: this.#options.clock.now() };
  }

  #failed(task: SandboxTask, reason: unknown): SandboxTask {
    this.#options.logger.warn(
      { event: 'sandbox_render_failed', task: task.id, err: reason },
      'a sandbox render failed and was refunded',
    );
    const failure = (task.steering === null ? undefined : FAILURES[task.steering]) ?? BROKEN_OFF;
    return { ...task, status: 'failed', endedAtMs: this.#options.clock.now(), failure };
  }
}

const BROKEN_OFF = { code: 'generation_failed', message: 'The render broke off.' };
/** Failures that test directives ask for. */
const FAILURES: Readonly<Partial<Record<Steering, NonNullable<SandboxTask['failure']>>>> = {
  moderated_later: { code: 'content_policy_violation', message: 'The clip was stopped by moderation.' },
  fail: { code: 'generation_failed', message: 'The render broke off half way, as [fail] in the prompt asks.' },
};
