import { randomBytes } from 'node:crypto';
import type { Platform } from '../../chat/index.ts';
import type { Remover } from '../../clips/index.ts';
import type { Clock } from '../../clock.ts';
import {
  collection,
  type DueJob,
  type Forgotten,
  type Member,
  pagesOf,
  type Store,
  type Versioned,
} from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import { type Relay, relayIdIn } from '../../media/index.ts';
import type { CarriedSpend } from '../../money/index.ts';
import { Drafts, type TaskRepository } from '../../pipeline/index.ts';
import type { Cuts } from '../../studio/index.ts';
import {
  FORGETTINGS,
  isEnded,
  isTask,
  newPseudonym,
  type Person,
  REMOVALS,
  type Task,
  type TaskId,
  taskRecords,
  transition,
} from '../../tasks/index.ts';
import { type Actor, type AuditTrail, keyOfMember } from '../../teams/index.ts';
import { MEDIA_KINDS } from '../../videos/index.ts';
import { forgetIn, withdrawFrom } from '../personal-records.ts';
import { tasksOfPerson } from '../tasks-of-person.ts';

export interface ForgetOrder extends Member {
  readonly actor: Actor & { readonly person: Person };
}

/** Options of {@link Forgetting}. */
interface ForgettingOptions {
  readonly store: Store;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly remover: Pick<Remover, 'remove' | 'complete'>;
  readonly relay: Pick<Relay, 'remove'>;
  /** Cuts, which are removed with the person who asked for them. */
  readonly cuts: Pick<Cuts, 'forget'>;
  readonly carried: Pick<CarriedSpend, 'writesOf' | 'carryRest'>;
  readonly audit: Pick<AuditTrail, 'commitAudited' | 'erase'>;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, Pick<Platform, 'forget'>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A request to forget a person, until it is fulfilled. The only record that leads from the pseudonym to the person. */
interface ForgetJob extends Versioned, Forgotten {
  /** Only what they ordered until then is theirs to be forgotten. */
  readonly requestedAtMs: number;
}

const erasures = collection<Member, ForgetJob>({
  name: 'erasures',
  key: ({ platform, team, person }) => keyOfMember({ platform, team, user: person.id }),
  holds: 'requests to be forgotten',
  kept: 'until the person is forgotten',
  personal: { byOwner: true },
});

/** Time until the work begins, in which the reply to the request reaches the chat. */
const BEGINS_AFTER_MS = 3_000;
/** Time until it goes on, where a task of theirs was still in progress. */
const WAITS_MS = 30_000;
/** Time until it goes on, once the messages of others are to be shown without them. */
const SHOWN_AFTER_MS = 1_000;
const PSEUDONYM_BYTES = 12;
/** Entry of the index for the last step of all whose work has ended; no key of a request. */
const OVERWRITING = 'overwrite';
/** Time until the last step is tried again after a failure. */
const OVERWRITE_AGAIN_MS = 60_000;

/**
 * Forgets people. A request is a record until all of it is done; each step may be repeated, and one replica works on it.
 * What is in progress ends first. The amounts of the tasks, their claims and the chain of the audit log stay.
 */
export class Forgetting {
  /** Works on the requests that are due. */
  readonly job: DueJob = {
    name: 'forgetting',
    index: FORGETTINGS,
    everyMs: 5_000,
    leaseMs: 30_000,
    run: (key) => (key === OVERWRITING ? this.#overwriteDeleted() : this.#run(key)),
  };
  readonly #options: ForgettingOptions;

  constructor(options: ForgettingOptions) {
    this.#options = options;
  }

  /** Stores a request, with an entry in the audit log of the team; once, until it is fulfilled. @throws `store_unavailable` */
  async request({ platform, team, person, actor }: ForgetOrder): Promise<void> {
    const { audit, clock } = this.#options;
    const of = { platform, team, person };
    await audit.commitAudited({ platform, team }, actor, async () => {
      if ((await erasures.get(this.#options.store, of)) !== undefined) return { result: undefined };
      const requestedAtMs = clock.now();
      const pseudonym = newPseudonym(randomBytes(PSEUDONYM_BYTES).toString('hex'));
      const change = {
        records: [erasures.replacing(of, undefined, { ...of, pseudonym, requestedAtMs })],
        index: [{ index: FORGETTINGS, member: erasures.key(of), score: requestedAtMs + BEGINS_AFTER_MS }],
      };
      const entry = { action: 'erasure', subject: [{ kind: 'person', person }] } as const;
      return { change, entries: [entry], result: undefined };
    });
  }

  /** Overwrites what was deleted, once for all whose work ended since. */
  async #overwriteDeleted(): Promise<void> {
    const { store, logger } = this.#options;
    // It may take seconds: a full disk does not have it repeated with every sweep.
    await this.#goOn(OVERWRITING, OVERWRITE_AGAIN_MS);
    await store.contents.overwriteDeleted();
    await this.#goOn(OVERWRITING, null);
    logger.info({ event: 'deleted_overwritten' }, 'overwrote what was deleted in the store');
  }

  /** Plans when the work on an entry goes on. @param afterMs `null`: it has ended. */
  async #goOn(member: string, afterMs: number | null): Promise<void> {
    const { store, clock } = this.#options;
    const score = afterMs === null ? null : clock.now() + afterMs;
    await store.commit({ records: [], index: [{ index: FORGETTINGS, member, score }] });
  }

  async #run(key: string): Promise<void> {
    const { store, clock, logger } = this.#options;
    const job = await store.keyv(erasures.name).get<ForgetJob>(key);
    if (job === undefined) return this.#goOn(key, null);
    const damaged = (namespace: string, err: unknown): void =>
      logger.error(
        { event: 'damaged_record_skipped', namespace, key: '[hidden]', err },
        'skipping a damaged record, which may name a person who is forgotten',
      );
    await this.#withdraw(job, damaged);
    if (!(await this.#removeTasks(job)) || !(await this.#completeRemovals(job))) return this.#goOn(key, WAITS_MS);
    if (!(await this.#replaceInTasks(job))) return this.#goOn(key, SHOWN_AFTER_MS);
    const { platform, team, person, pseudonym } = job;
    await this.#options.cuts.forget({ platform, team, user: person.id });
    await this.#options.carried.carryRest({ platform, team, user: person.id });
    await forgetIn(store, job, damaged);
    await this.#options.platforms.get(platform)?.forget(team, person, pseudonym);
    for (const log of [{ platform, team }, 'deployment'] as const) await this.#options.audit.erase(log, person);
    await this.#withdraw(job, damaged);
    await store.commit({
      records: [erasures.replacing(job, job, null)],
      index: [
        { index: FORGETTINGS, member: key, score: null },
        { index: FORGETTINGS, member: OVERWRITING, score: clock.now() },
      ],
    });
    logger.info({ event: 'person_forgotten', platform, team }, 'forgot a person');
  }

  /** Deletes what the person has not ordered, with its reference files, and what goes on by itself. */
  async #withdraw(job: ForgetJob, damaged: (namespace: string, err: unknown) => void): Promise<void> {
    const { store, clock } = this.#options;
    const media = await new Drafts(store, clock).mediaOf(job);
    if (media.length > 0) await this.#removeFiles(media, await this.#neededFiles(job));
    await withdrawFrom(store, job, damaged);
  }

  /** Deletes reference files, except those that are still needed. */
  async #removeFiles(urls: readonly string[], needed: ReadonlySet<string>): Promise<void> {
    for (const url of urls) if (!needed.has(fileOf(url))) await this.#options.relay.remove(url);
  }

  /** Returns the reference files that the service may still fetch for the person. The last task that has one deletes it. */
  async #neededFiles(job: ForgetJob): Promise<ReadonlySet<string>> {
    const needed = new Set<string>();
    for await (const task of this.#tasksOf(job))
      if (!isEnded(task) || task.createdAtMs > job.requestedAtMs)
        for (const url of mediaOf(task)) needed.add(fileOf(url));
    return needed;
  }

  async *#tasksOf({ platform, team, person }: ForgetJob): AsyncGenerator<Task> {
    const { store, repository } = this.#options;
    for (const id of await tasksOfPerson(store, { platform, team, user: person.id })) {
      const task = await repository.get(id);
      if (task?.origin.user.id === person.id) yield task;
    }
  }

  /** Ends and removes the tasks that the person ordered before the request. @returns whether none is left. */
  async #removeTasks(job: ForgetJob): Promise<boolean> {
    const needed = await this.#neededFiles(job);
    let areAllRemoved = true;
    for await (const task of this.#tasksOf(job)) {
      if (task.createdAtMs > job.requestedAtMs) continue;
      if (!(await this.#removeTask(job, task, needed))) areAllRemoved = false;
    }
    return areAllRemoved;
  }

  /**
   * Removes a task once it has ended and is in the chat; a request for approval is withdrawn, a doubt dismissed, and a shot
   * that waits for the clip before cancelled.
   */
  async #removeTask(
    { platform, team, person, pseudonym }: ForgetJob,
    task: Task,
    needed: ReadonlySet<string>,
  ): Promise<boolean> {
    const { repository, remover, carried, clock } = this.#options;
    const ending = { by: person, atMs: clock.now() };
    if (task.state === 'requested')
      await repository.record(task.id, { kind: 'decline', how: 'withdrawn', ...ending }, task);
    // Nothing was sent for it, and its clip would be removed at once.
    if (task.state === 'waiting') await repository.record(task.id, { kind: 'cancel', ...ending }, task);
    if (task.state === 'uncertain') await repository.record(task.id, { kind: 'leave', by: person }, task);
    if (!isEnded(task) || !task.presented) return false;
    // Before the record, which alone knows their addresses.
    await this.#removeFiles(mediaOf(task), needed);
    const also = async (next: Task) => ({ records: await carried.writesOf({ platform, team, user: person.id }, next) });
    return remover.remove(task, { reason: 'forgotten', person: pseudonym, also });
  }

  /**
   * Completes the removals of their tasks that were interrupted or failed.
   * @returns whether the files, messages and records of all of them are deleted.
   */
  async #completeRemovals(job: ForgetJob): Promise<boolean> {
    await this.#options.remover.complete(await this.#openRemovals(job));
    return (await this.#openRemovals(job)).length === 0;
  }

  async #openRemovals({ pseudonym }: ForgetJob): Promise<readonly TaskId[]> {
    const { store, repository } = this.#options;
    const open: TaskId[] = [];
    for await (const page of pagesOf(store, REMOVALS)) {
      for (const { member } of page) {
        const task = await repository.get(member as TaskId);
        if (task?.origin.user.id === pseudonym.id) open.push(task.id);
      }
    }
    return open;
  }

  /**
   * Replaces the person in the tasks of others, which they cancelled, approved, denied or dismissed.
   * @returns whether the chat shows all of them so: until then, the records of their messages are needed.
   */
  async #replaceInTasks({ platform, team, person, pseudonym }: ForgetJob): Promise<boolean> {
    const { store, repository } = this.#options;
    const event = { kind: 'forget', person: person.id, pseudonym } as const;
    let areAllShown = true;
    for await (const page of taskRecords.all(store)) {
      for (const { key, value } of page) {
        if (!isTask(value, key) || value.origin.platform !== platform || value.origin.team !== team) continue;
        const isTheirs = transition(value, event) !== null;
        if (isTheirs) await repository.record(value.id, event);
        const wasTheirs = !value.presented && transition(value, { ...event, person: pseudonym.id }) !== null;
        if (isTheirs || wasTheirs) areAllShown = false;
      }
    }
    return areAllShown;
  }
}

function mediaOf({ request }: Task): readonly string[] {
  return MEDIA_KINDS.flatMap((kind) => request.media[kind]);
}

/** Returns what identifies the file of an address: that of a relayed one is signed anew for each order. */
function fileOf(url: string): string {
  return relayIdIn(url) ?? url;
}
