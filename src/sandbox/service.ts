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

/** What the embedded service works with. */
export interface ServiceOptions {
  readonly records: SandboxRecords;
  /** Where the clips go; it exists. */
  readonly clipsDir: string;
  /** The models of now. */
  readonly catalog: () => Catalog;
  /** What may be spent in each currency, a decimal string; `null`: without limit. */
  readonly balance: string | null;
  /** How many clips are rendered at once. */
  readonly maxThreads: number;
  /** How many may wait for a thread before creations are refused with 429. */
  readonly maxWaiting: number;
  readonly references: ReferenceAccess;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where reference images may come from. */
export interface ReferenceAccess {
  /** Returns the file behind an address of the bot's own, once it is there; `null` for any other address. */
  readonly ownFile: (url: string) => Promise<string | null>;
  /** Whether other addresses may lead to this machine; beyond it, only the public internet is asked. */
  readonly isLoopbackAllowed: boolean;
}

/** How a creation ended. */
export type Creation =
  /** Recorded and charged. `isAnswered` is false where the prompt asks for the answer to be lost. */
  | { readonly kind: 'accepted'; readonly task: SandboxTask; readonly isAnswered: boolean }
  /** Nothing was created. */
  | { readonly kind: 'refused'; readonly refusal: ErrorResponse };

/** How long `[slow]` keeps a task queued. */
const SLOW_MS = 60_000;
/** Where `[stuck]` stops. */
const STUCK_PERCENT = 42;
/** What `[busy]`, and a full queue, ask for. */
const BUSY_SECONDS = { steered: 2, full: 30 } as const;

/** The embedded service without its HTTP: takes requests, renders, keeps the ledger. */
export class SandboxService {
  readonly #options: ServiceOptions;
  readonly #renders: Renders;
  /** Prompts that `[busy]` sent away once. */
  readonly #sentAway = new Set<string>();
  readonly #cancelTimers = new Set<() => void>();

  /** Goes on with every task that had not ended when the service last stopped. */
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

  /** One creation: checked, charged and recorded before it is answered, or refused with nothing created. */
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
      logger.error({ err: thrown }, 'the sandbox could not record a task');
      return { kind: 'refused', refusal: unavailable };
    }
    logger.info({ task: task.id, model: task.model, seconds: task.seconds }, 'the sandbox took a task');
    this.#schedule(task);
    return { kind: 'accepted', task, isAnswered: task.steering !== 'lost' };
  }

  find(id: string): SandboxTask | undefined {
    return this.#options.records.find(id);
  }

  /** In whole percent, 0 to 100: the encoder's own. */
  progress(task: SandboxTask): number {
    if (task.status === 'completed') return 100;
    if (task.steering === 'stuck') return STUCK_PERCENT;
    return this.#renders.progress(task.id);
  }

  /** Every charge and refund, oldest first. */
  ledger(): readonly LedgerLine[] {
    return this.#options.records.ledger();
  }

  /** Stops rendering; unfinished tasks go on at the next start. */
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
    const isBroke = balance !== null && records.spent(currency).plus(amount).gt(new Big(balance));
    if (isBroke || steering === 'no_balance') return insufficientBalance(amount, currency);
    if (steering === 'busy' && !this.#sentAway.delete(prompt)) {
      this.#sentAway.add(prompt);
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

  /** What the bot keeps itself is read from its folder: the network need not lead back to it. */
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
      // The clip is there or will be made again: at the next start the task goes on from what was last written.
      logger.error({ err: thrown, task: id }, 'the sandbox could not write what became of a task');
    }
  }

  #completed(task: SandboxTask): SandboxTask {
    this.#options.logger.info({ task: task.id }, 'the sandbox finished a clip');
    return { ...task, status: 'completed', endedAtMs: this.#options.clock.now() };
  }

  #failed(task: SandboxTask, reason: unknown): SandboxTask {
    this.#options.logger.warn({ task: task.id, err: reason }, 'a render of the sandbox failed; it is refunded');
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
