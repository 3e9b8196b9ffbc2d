import { join } from 'node:path';
import { Big } from 'big.js';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { priceOf } from '../tasks/price.ts';
import type { Catalog } from '../videos/model.ts';
import type { LedgerLine, SandboxRecords, SandboxTask } from './records.ts';
import { type ErrorResponse, insufficientBalance, moderated, tooManyRequests, unavailable } from './refusal.ts';
import type { ReferenceSource, RenderJob } from './render/job.ts';
import { Renders } from './renders.ts';
import { type AcceptedRequest, readRequest } from './request.ts';
import { steeringOf } from './steering.ts';

/** Options of {@link SandboxService}. */
export interface ServiceOptions {
  readonly records: SandboxRecords;
  /** Existing folder of the clips. */
  readonly clipsDir: string;
  /** The current catalog. */
  readonly catalog: () => Catalog;
  /** Spending limit per currency, a decimal string; `null`: none. */
  readonly balance: string | null;
  /** Limit of concurrent renders. */
  readonly maxThreads: number;
  /** Largest render queue; beyond it creations are refused with 429. */
  readonly maxWaiting: number;
  readonly references: ReferenceAccess;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Allowed sources of reference images. */
export interface ReferenceAccess {
  /** Resolves with the file behind a URL of the bot, once it exists; `null` for any other URL. */
  readonly ownFile: (url: string) => Promise<string | null>;
  /** True: other URLs may lead to this machine as well as to the public internet. */
  readonly isLoopbackAllowed: boolean;
}

/** Result of a creation. */
export type Creation =
  /** Recorded and charged. `isAnswered` is false for the directive `[lost]`, which drops the response. */
  | { readonly kind: 'accepted'; readonly task: SandboxTask; readonly isAnswered: boolean }
  /** Nothing was created. */
  | { readonly kind: 'refused'; readonly refusal: ErrorResponse };

/** Time that `[slow]` keeps a task queued. */
const SLOW_MS = 60_000;
/** Progress at which `[stuck]` stops, in percent. */
const STUCK_PERCENT = 42;
/** `Retry-After` of `[busy]` and of a full queue, in seconds. */
const BUSY_SECONDS = { steered: 2, full: 30 } as const;

/** The embedded service without its HTTP API: creates tasks, renders clips, keeps the ledger. */
export class SandboxService {
  readonly #options: ServiceOptions;
  readonly #renders: Renders;
  /** Prompts that `[busy]` refused once. */
  readonly #refusedOnce = new Set<string>();
  readonly #cancelTimers = new Set<() => void>();

  /** Resumes every unfinished task. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#renders = new Renders(options.maxThreads, {
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

  /** Creates a task: validated, charged and recorded before the response, or refused with nothing created. */
  create(body: unknown): Creation {
    const { records, catalog, logger } = this.#options;
    const read = readRequest(body, catalog());
    if (!read.ok) return { kind: 'refused', refusal: read.refusal };
    const refusal = this.#refuse(read.request);
    if (refusal !== null) return { kind: 'refused', refusal };
    const task = this.#newTask(read.request);
    const { amount, currency } = priceOf(read.request.model, task.seconds);
    try {
      records.create(task, amount, currency);
    } catch (thrown) {
      logger.error({ event: 'sandbox_task_not_recorded', err: thrown }, 'the sandbox failed to record a task');
      return { kind: 'refused', refusal: unavailable };
    }
    logger.info(
      { event: 'sandbox_task_created', task: task.id, model: task.model, seconds: task.seconds },
      'the sandbox created a task',
    );
    this.#schedule(task);
    return { kind: 'accepted', task, isAnswered: task.steering !== 'lost' };
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

  #refuse({ model, prompt, seconds }: AcceptedRequest): ErrorResponse | null {
    const { records, balance, maxWaiting } = this.#options;
    const steering = steeringOf(prompt);
    const { amount, currency } = priceOf(model, seconds);
    if (steering === 'moderated') return moderated;
    const isOverBalance = balance !== null && records.spent(currency).plus(amount).gt(new Big(balance));
    if (isOverBalance || steering === 'no_balance') return insufficientBalance(amount, currency);
    if (steering === 'busy' && !this.#refusedOnce.delete(prompt)) {
      this.#refusedOnce.add(prompt);
      return tooManyRequests(BUSY_SECONDS.steered);
    }
    return this.#renders.waiting >= maxWaiting ? tooManyRequests(BUSY_SECONDS.full) : null;
  }

  #newTask({ model, prompt, seconds, aspectRatio, resolution, media }: AcceptedRequest): SandboxTask {
    const { newId, clock } = this.#options;
    const settings = { seconds, aspectRatio, resolution, media };
    const names = { model: model.name, title: model.title, prompt, steering: steeringOf(prompt) };
    return { id: newId(), status: 'queued', ...names, ...settings, createdAtMs: clock.now() };
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
    void Promise.all(task.media.image.map((url) => this.#sourceOf(url))).then((images) =>
      this.#renders.add(task.id, this.#jobOf(task, images)),
    );
  }

  /** Resolves a file of the bot to its path: its public URL may not be reachable from here. */
  async #sourceOf(url: string): Promise<ReferenceSource> {
    const path = await this.#options.references.ownFile(url).catch(() => null);
    return path === null ? { url } : { path };
  }

  #jobOf(task: SandboxTask, images: readonly ReferenceSource[]): RenderJob {
    const { id, prompt, title, seconds, aspectRatio, resolution, media, steering } = task;
    return {
      prompt,
      title,
      seconds,
      aspectRatio,
      resolution,
      images,
      isLoopbackAllowed: this.#options.references.isLoopbackAllowed,
      otherReferences: media.audio.length + media.video.length,
      path: join(this.#options.clipsDir, `${id}.mp4`),
      failMidway: steering === 'fail' || steering === 'moderated_later',
    };
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
    return { ...task, status: 'failed', endedAtMs: this.#options.clock.now(), failure: failureOf(task) };
  }
}

function failureOf({ steering }: SandboxTask): NonNullable<SandboxTask['failure']> {
  switch (steering) {
    case 'moderated_later':
      return { code: 'content_policy_violation', message: 'The clip was stopped by moderation.' };
    case 'fail':
      return { code: 'generation_failed', message: 'The render broke off half way, as [fail] in the prompt asks.' };
    case null:
    case 'busy':
    case 'lost':
    case 'moderated':
    case 'no_balance':
    case 'slow':
    case 'stuck':
    case 'unknown':
      return { code: 'generation_failed', message: 'The render broke off.' };
  }
}
