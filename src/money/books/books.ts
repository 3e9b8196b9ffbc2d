import { type NamedSum, SUM_PARTS, type SumPart, type SumParts, ZERO_SUM } from '../../engine/index.ts';
import { countedOf, type Micros, recount, type Task, type TaskId } from '../../tasks/index.ts';

/** A part of a sum that is not what the tasks count, or is negative. */
export interface Disagreement {
  readonly sum: string;
  readonly part: SumPart;
  readonly stored: Micros;
  readonly counted: Micros;
}

/** What the tasks of a store count, for a comparison with its sums; pure. */
export class Books {
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
    for (const { sum, part, micros } of countedOf(task)) {
      const parts = this.#counted.get(sum) ?? { ...ZERO_SUM };
      parts[part] += micros;
      this.#counted.set(sum, parts);
    }
  }

  /** Adds an amount that a sum holds beyond its tasks. */
  addRestored(sum: string, micros: Micros): void {
    const parts = this.#counted.get(sum) ?? { ...ZERO_SUM };
    parts.settled += micros;
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
