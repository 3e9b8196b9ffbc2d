import type { RetractionCount, TaskRetraction } from '../chat/index.ts';
import type { Clock } from '../clock.ts';
import { collection, type Job, type JobRun, pagesOf, type Store, type Versioned, withLease } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { type Clips, deleteDraftsOf, type FurtherWrites, type TaskRepository } from '../pipeline/index.ts';
import type { FilesOfClips } from '../storage/index.ts';
import type { Cuts } from '../studio/index.ts';
import { type Origin, type Person, REMOVALS, type RemovalReason, type Task, type TaskId } from '../tasks/index.ts';
import type { AuditTrail } from '../teams/index.ts';

/** What to remove of a task, and why. */
export interface RemovalOrder {
  readonly reason: RemovalReason;
  /** `true`: only the clip; prompt, references and messages stay. Default: false. */
  readonly keepsContent?: boolean;
  /** Person who deletes it; another one than its requester is in the audit log of the team. */
  readonly by?: Person;
  /** Pseudonym that replaces the requester. */
  readonly person?: Person;
  /** Removes nothing of a clip that is signed off by now. Default: false. */
  readonly sparesSignedOff?: boolean;
  /** Returns further writes for the commit of the removal; called again after a concurrent change. Default: none. */
  readonly also?: (next: Task) => Promise<FurtherWrites>;
  /** `true`: its files and messages are left to {@link Remover.complete}. Default: false. */
  readonly isPartOfMany?: boolean;
  /** Called once the messages are retracted; not called where that is left to a later sweep. */
  readonly retracted?: (count: RetractionCount) => void;
}

/** Options of {@link Remover}. */
interface RemoverOptions {
  readonly store: Store;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly clips: Pick<Clips, 'list' | 'remove'>;
  readonly messages: Pick<TaskRetraction, 'retract' | 'expire' | 'deletions'>;
  /** Cuts, which are removed with any of their clips. */
  readonly cuts: Pick<Cuts, 'removeWith'>;
  readonly audit: Pick<AuditTrail, 'append'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is left to do of a removal: its files, messages and records. Deleted at its end. */
interface RemovalJob extends Versioned {
  readonly reason: RemovalReason;
  readonly keepsContent: boolean;
  /** Location of the task's messages, which its record no longer has. */
  readonly address: Origin['address'];
}

const removalJobs = collection<TaskId, RemovalJob>({
  name: 'removals',
  holds: 'removals that are not complete yet, with the address of the task’s messages',
  kept: 'until the removal is complete',
  personal: 'with its task',
});

/** TTL of the leases on the sweep and on each removal: the time until another process goes on with one of a dead process. */
const LEASE_MS = 15_000;
/** Removals completed at once: few enough not to delay the orders of others. */
const COMPLETED_AT_ONCE = 4;

/** Removes clips with their prompts, files and messages. The books and the claims of the tasks stay. */
export class Remover {
  /** Completes the removals of processes that died. */
  readonly job: Job = {
    name: 'removal',
    everyMs: 60_000,
    firstInMs: 0,
    leaseMs: LEASE_MS,
    run: (run) => this.#sweep(run),
  };
  readonly #options: RemoverOptions;

  constructor(options: RemoverOptions) {
    this.#options = options;
  }

  /**
   * Removes the clip of a task that has ended and is in the chat, and its content. Files and messages that cannot be
   * deleted now are deleted by a later sweep.
   * @returns `false`, without a change, where the task is running, uncertain or not delivered yet.
   * @throws `store_unavailable`
   */
  async remove(
    { id }: Pick<Task, 'id'>,
    { reason, keepsContent = false, sparesSignedOff = false, by, person, also: alsoOf, ...order }: RemovalOrder,
  ): Promise<boolean> {
    const { repository, clock, logger } = this.#options;
    const task = await repository.get(id);
    if (task === undefined) return false;
    const event = { kind: 'remove', reason, keepsContent, sparesSignedOff, atMs: clock.now() } as const;
    const also = async (next: Task): Promise<FurtherWrites> => {
      const [own, further] = await Promise.all([this.#writesOf({ task, next, by }), alsoOf?.(next)]);
      return { records: [...(own.records ?? []), ...(further?.records ?? [])] };
    };
    const recorded = await repository.record(id, { ...event, ...(person === undefined ? {} : { person }) }, task, also);
    if (recorded === undefined) return false;
    if (recorded.done) logger.info({ event: 'task_removed', task: id, reason, keepsContent }, 'removed a clip');
    // Nothing that is still there, or another process removed it meanwhile.
    else if (recorded.task.removal === undefined) return false;
    if (order.isPartOfMany !== true) await this.#tryToComplete(id, order);
    return true;
  }

  /** Deletes files and messages of removed tasks; what fails is left to a later sweep. Never rejects. */
  async complete(ids: readonly TaskId[]): Promise<void> {
    const files = ids.length === 0 ? undefined : await this.#options.clips.list().catch(() => undefined);
    for (let at = 0; at < ids.length; at += COMPLETED_AT_ONCE) {
      const batch = ids.slice(at, at + COMPLETED_AT_ONCE);
      await Promise.all(batch.map((id) => this.#tryToComplete(id, { files })));
    }
  }

  async #sweep(run: JobRun): Promise<void> {
    const { store, clips } = this.#options;
    for await (const page of pagesOf(store, REMOVALS)) {
      const files = await clips.list();
      for (const { member } of page) {
        if (!run.isActive()) return;
        await run.attempt(() => this.#complete(member as TaskId, { files }));
      }
    }
  }

  /** Returns the job of a removal and its entry in the audit log, to commit with the event. */
  async #writesOf({
    task,
    next,
    by,
  }: {
    readonly task: Task;
    readonly next: Task;
    readonly by: Person | undefined;
  }): Promise<FurtherWrites> {
    const { store, audit } = this.#options;
    const { removal } = next;
    if (removal === undefined) return {};
    const earlier = await removalJobs.get(store, task.id);
    const { reason, hasContent } = removal;
    const address = { ...earlier?.address, ...task.origin.address };
    const job: RemovalJob = { revision: next.revision, reason, keepsContent: hasContent, address };
    const record = removalJobs.overwriting(task.id, job);
    if (by === undefined || by.id === task.origin.user.id) return { records: [record] };
    const subject = [{ kind: 'task', task: task.id } as const, { kind: 'person', person: task.origin.user } as const];
    const entry = { action: 'removal', subject } as const;
    return { records: [record, ...(await audit.append(task.origin, { person: by, surface: 'button' }, [entry]))] };
  }

  async #tryToComplete(id: TaskId, given: Completion): Promise<void> {
    await this.#complete(id, given).catch((thrown: unknown) => {
      const about = { event: 'removal_failed', task: id, err: thrown };
      this.#options.logger.warn(about, 'failed to complete a removal, retrying');
    });
  }

  /** Deletes the files, messages and records of a removed task, unless another process is at it. May be repeated. */
  async #complete(id: TaskId, { files, retracted = () => undefined }: Completion): Promise<void> {
    const { store, repository, clips, messages, cuts, clock } = this.#options;
    const lease = { leases: store.leases, clock, name: `removal:${id}`, ttlMs: LEASE_MS };
    const entry = { index: REMOVALS, member: id, score: null };
    await withLease(lease, () =>
      // Edited again where more of it was removed meanwhile: then there is more to delete.
      removalJobs.change<undefined>(store, id, async (job) => {
        const ended = { value: null, index: [entry], result: undefined };
        const task = await repository.get(id);
        if (task === undefined || job === undefined) return ended;
        await clips.remove(id, files);
        await cuts.removeWith(id, job.reason);
        const { reason, keepsContent, address } = job;
        // The other reasons come after the drafts have expired, or take all of the person.
        if (reason === 'deleted') await deleteDraftsOf(store, task);
        if (reason === 'expired') await messages.expire({ ...task, origin: { ...task.origin, address } });
        else if (!keepsContent) retracted(await messages.retract(task, { ...task.origin, address }, reason));
        const others = keepsContent ? [] : await messages.deletions(task);
        return { ...ended, records: others };
      }),
    );
  }
}

/** What the end of a removal needs besides its job. */
interface Completion extends Pick<RemovalOrder, 'retracted'> {
  readonly files?: FilesOfClips | undefined;
}
