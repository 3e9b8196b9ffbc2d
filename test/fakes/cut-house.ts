import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { taskOfKey } from '#src/chat/platform.ts';
import type { CutView } from '#src/chat/view.ts';
import { DailiesError } from '#src/errors.ts';
import { cutIdOf as fileOf, type JoinedClip, type JoinInput } from '#src/media/join/joiner.ts';
import { isCutId } from '#src/orders/cut.ts';
import type { ClipStorage } from '#src/storage/clip-storage.ts';
import { FolderStorage } from '#src/storage/folder-storage.ts';
import { Cuts } from '#src/studio/cuts/cuts.ts';
import type { Origin, Person, TaskId } from '#src/tasks/task.ts';
import { ChatHouse, type ChatHouseOptions } from './chat-house.ts';
import { ADA, newTask, originOf } from './tasks.ts';

/** Bytes of a {@link FakeJoiner}'s cut, per clip. */
export const SHOT_BYTES = 1_000;
const SECONDS = 6;

/** Joins at once, and counts. */
export class FakeJoiner {
  /** Ids of the clips of every join, in their order. */
  readonly joins: (readonly string[])[] = [];
  /** Failures of the next joins. */
  readonly failures: Error[] = [];
  /** Runs during each join. */
  during: (signal: AbortSignal) => Promise<void> = async () => undefined;
  sweeps = 0;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async join(inputs: readonly JoinInput[], signal: AbortSignal): Promise<JoinedClip> {
    const ids = inputs.map(({ id }) => id);
    this.joins.push(ids);
    await this.during(signal);
    signal.throwIfAborted();
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    for (const { path: clip } of inputs) statSync(clip);
    const path = join(this.#folder, `${fileOf(ids)}.mp4`);
    const bytes = SHOT_BYTES * ids.length;
    writeFileSync(path, Buffer.alloc(bytes));
    return { path, bytes, contentType: 'video/mp4', seconds: SECONDS * ids.length };
  }

  async remove(ids: readonly string[]): Promise<void> {
    rmSync(join(this.#folder, `${fileOf(ids)}.mp4`), { force: true });
  }

  async sweep(): Promise<void> {
    this.sweeps += 1;
  }
}

/** Options of a {@link CutHouse}. */
export interface CutHouseOptions extends ChatHouseOptions {
  /** Default: a new one. */
  readonly folder?: string;
  /** Default: that folder. */
  readonly storage?: ClipStorage;
}

/** Cuts of one process, whose clips are small files; the joiner is fake. Jobs run when a test says so. */
export class CutHouse {
  readonly folder: string;
  readonly house: ChatHouse;
  readonly joiner: FakeJoiner;
  readonly cuts: Cuts;
  readonly joined: string[] = [];
  /** The data folder is at its limit. */
  isFull = false;
  /** Jobs that are scheduled. */
  readonly jobs = new Set<TaskId>();
  readonly #options: CutHouseOptions;
  #requests = 0;

  constructor(options: CutHouseOptions = {}) {
    this.#options = options;
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'dailies-cuts-'));
    mkdirSync(this.folder, { recursive: true });
    this.house = new ChatHouse({ ...options });
    this.joiner = new FakeJoiner(this.folder);
    const { chat } = this.house;
    this.cuts = new Cuts({
      ...chat.parts,
      shown: (cut) => chat.cutShown(cut),
      joiner: this.joiner,
      storage: options.storage ?? new FolderStorage(this.folder),
      assertRoom: async () => {
        if (this.isFull) throw new DailiesError('no room', { code: 'data_full', retryable: true });
      },
      queue: {
        schedule: (_name, id) => void this.jobs.add(id as TaskId),
        ensure: async ({ ids }) => {
          for (const id of ids) this.jobs.add(id as TaskId);
          return 0;
        },
      },
      observer: { joined: (outcome) => this.joined.push(outcome) },
    });
  }

  /** Makes another process on the same store, platform and folder; the jobs of this one are lost. */
  again(options: CutHouseOptions = {}): CutHouse {
    const { store, platform, clock } = this.house;
    return new CutHouse({ ...this.#options, store, platform, clock, folder: this.folder, ...options });
  }

  /** Makes clips that are in the chat. @returns their tasks */
  async shots(count: number, origin: Partial<Origin> = {}): Promise<readonly TaskId[]> {
    const ids: TaskId[] = [];
    for (let at = 1; at <= count; at += 1) {
      const id = `shot${at}-${origin.channel ?? ''}${origin.user?.id ?? ''}` as TaskId;
      const path = join(this.folder, `${id}.mp4`);
      writeFileSync(path, Buffer.alloc(SHOT_BYTES));
      const request = { ...newTask().request, prompt: `a fox, part ${at}`, seconds: SECONDS };
      const task = { id, request, origin: originOf(origin) };
      ids.push(await this.house.done(task, { path, bytes: SHOT_BYTES, contentType: 'video/mp4' }));
    }
    return ids;
  }

  /** Requests a cut, as a new interaction. */
  request(tasks: readonly TaskId[], changes: Partial<Origin> = {}) {
    this.#requests += 1;
    return this.cuts.request({ tasks, origin: originOf({ interaction: `join${this.#requests}`, ...changes }) });
  }

  /** Requests a cut, shows it and runs its jobs. @returns its id */
  async cut(tasks: readonly TaskId[], by: Person = ADA): Promise<TaskId> {
    const requested = await this.request(tasks, { user: by });
    if (requested.kind !== 'accepted') throw new TypeError(`a request that is ${requested.kind}`);
    await this.cuts.show(requested.cut);
    await this.work();
    return requested.cut;
  }

  /** Runs all jobs to their end. */
  async work(signal = new AbortController().signal): Promise<void> {
    for (let round = 0; this.jobs.size > 0; round += 1) {
      if (round > 50) throw new TypeError('jobs that never end');
      for (const id of this.jobs.values().toArray()) {
        this.jobs.delete(id);
        if ((await this.cuts.run(id, signal)) !== null) this.jobs.add(id);
      }
    }
  }

  /** Returns the messages of the cuts. */
  get messages() {
    return this.house.platform.messages.filter(({ task }) => isCutId(taskOfKey(task)));
  }

  /** Returns what the newest message of a cut shows, and its files. */
  get shown() {
    const message = this.messages.findLast(({ isDeleted }) => !isDeleted);
    const view = message?.shown.at(-1)?.view as CutView | undefined;
    return {
      phase: view?.phase,
      cut: view && { shots: view.shots, file: view.file, failure: view.failure },
      handover: view?.handover,
      files: message?.files.map(({ name, bytes }) => ({ name, bytes })),
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
