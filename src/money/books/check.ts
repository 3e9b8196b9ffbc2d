import { type NamedSum, type Store, SUM_PARTS, type SumPart, type SumParts, ZERO_SUM } from '../../engine/index.ts';
import {
  countedOf,
  isTask,
  type Micros,
  recount,
  sumsOf,
  type Task,
  type TaskId,
  taskRecords,
} from '../../tasks/index.ts';
import { restoredAmounts } from '../carried-spend.ts';

export interface BooksReport {
  readonly tasks: number;
  readonly sums: number;
  /** Tasks that count something else than their ledger says. */
  readonly stale: readonly TaskId[];
  readonly disagreements: readonly Disagreement[];
  /** Sums that changed during every attempt to compare them: nothing is known about these. */
  readonly busy: readonly string[];
}

/** Attempts to compare sums that change meanwhile. */
const MAX_ATTEMPTS = 4;

/**
 * Compares the sums of a store with what its tasks count. Changes meanwhile are not reported: a difference is confirmed
 * by reading the tasks, the sums, and the tasks again; it counts if no task of that sum changed in between.
 * @param pause called after each page of records, to yield to other work.
 * @throws `store_unavailable`
 */
export async function checkBooks(
  store: Pick<Store, 'contents'>,
  pause: () => Promise<void> = async () => undefined,
): Promise<BooksReport> {
  const books = new Books();
  for await (const task of tasksOf(store, pause)) books.add(task);
  for await (const { sum, micros } of restoredAmounts(store)) books.count(sum, 'settled', micros);
  const sums = await sumsIn(store);
  const { tasks, stale } = books;
  let suspects = namesOf(books.compare(sums));
  const disagreements: Disagreement[] = [];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && suspects.size > 0; attempt += 1) {
    const { found, moved } = await compareOnce(store, pause);
    const still = found.filter(({ sum }) => suspects.has(sum));
    disagreements.push(...still.filter(({ sum }) => !moved.has(sum)));
    suspects = namesOf(still.filter(({ sum }) => moved.has(sum)));
  }
  return { tasks, sums: sums.length, stale, disagreements, busy: [...suspects] };
}

/** Returns the differences, and the sums of the tasks that changed between the two reads of all tasks. */
async function compareOnce(store: Pick<Store, 'contents'>, pause: () => Promise<void>) {
  const books = new Books();
  const read = new Map<TaskId, { readonly revision: number; readonly user: string }>();
  for await (const task of tasksOf(store, pause)) {
    books.add(task);
    read.set(task.id, { revision: task.revision, user: task.origin.user.id });
  }
  for await (const { sum, micros } of restoredAmounts(store)) books.count(sum, 'settled', micros);
  const found = books.compare(await sumsIn(store));
  const moved = new Set<string>();
  for await (const task of tasksOf(store, pause)) {
    const before = read.get(task.id);
    if (before?.revision === task.revision) continue;
    // A task whose requester was forgotten meanwhile has left their sum, too.
    const users = [task.origin.user, ...(before === undefined ? [] : [{ id: before.user, name: '' }])];
    for (const send of task.money?.sends ?? [])
      for (const user of users) for (const sum of Object.values(sumsOf({ ...task.origin, user }, send))) moved.add(sum);
  }
  return { found, moved };
}

/** Reads every task, without damaged records. */
async function* tasksOf(store: Pick<Store, 'contents'>, pause: () => Promise<void>): AsyncGenerator<Task> {
  for await (const page of taskRecords.all(store)) {
    for (const { key, value } of page) if (isTask(value, key)) yield value;
    await pause();
  }
}

async function sumsIn({ contents }: Pick<Store, 'contents'>): Promise<readonly NamedSum[]> {
  return (await Array.fromAsync(contents.sums())).flat();
}

function namesOf(disagreements: readonly Disagreement[]): ReadonlySet<string> {
  return new Set(disagreements.map(({ sum }) => sum));
}

/** A part of a sum that is not what the tasks count, or is negative. */
interface Disagreement {
  readonly sum: string;
  readonly part: SumPart;
  readonly stored: Micros;
  readonly counted: Micros;
}

/** What the tasks of a store count, for a comparison with its sums; pure. */
class Books {
  readonly #counted = new Map<string, Record<SumPart, Micros>>();
  readonly #stale: TaskId[] = [];
  #tasks = 0;

  get tasks(): number {
    return this.#tasks;
  }

  /** Tasks that count something else than their ledger says. */
  get stale(): readonly TaskId[] {
    return this.#stale;
  }

  add(task: Task): void {
    this.#tasks += 1;
    if (JSON.stringify(task.money) !== JSON.stringify(recount(task).money)) this.#stale.push(task.id);
    for (const { sum, part, micros } of countedOf(task)) this.count(sum, part, micros);
  }

  /** Adds an amount that a part of a sum is to hold. */
  count(sum: string, part: SumPart, micros: Micros): void {
    const parts = this.#counted.get(sum) ?? { ...ZERO_SUM };
    parts[part] += micros;
    this.#counted.set(sum, parts);
  }

  /** Compares all sums of the store with what the tasks count. */
  compare(sums: readonly NamedSum[]): readonly Disagreement[] {
    const stored = new Map<string, SumParts>(sums.map(({ sum, parts }) => [sum, parts]));
    for (const sum of this.#counted.keys()) if (!stored.has(sum)) stored.set(sum, ZERO_SUM);
    return [...stored].flatMap(([sum, parts]) => {
      const counted = this.#counted.get(sum) ?? ZERO_SUM;
      const different = SUM_PARTS.filter((part) => parts[part] !== counted[part] || parts[part] < 0n);
      return different.map((part) => ({ sum, part, stored: parts[part], counted: counted[part] }));
    });
  }
}
