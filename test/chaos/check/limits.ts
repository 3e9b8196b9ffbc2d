import type { BudgetAmounts, SumParts } from '#src/engine/store/store.ts';
import { SUM_PARTS } from '#src/engine/store/store.ts';
import { addParts, usedBeyondExtra, ZERO_SUM } from '#src/engine/store/sums.ts';
import { microsOf, type SendMoney, sumsOf } from '#src/tasks/money.ts';
import type { Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Violation } from '../history.ts';

/** Purchases of a person by the state before them: a claim, an approval, *Send again*. */
const PURCHASES: ReadonlySet<Task['state'] | undefined> = new Set([undefined, 'requested', 'uncertain'] as const);

/** State of the money after each commit. */
interface Books {
  readonly tasks: Map<string, Task>;
  readonly budgets: Map<string, BudgetAmounts>;
  readonly sums: Map<string, SumParts>;
}

/**
 * Replays every commit of the run: no purchase exceeds a limit, no sum is negative, and each sum is exactly what the
 * tasks count. What the service reports may exceed a limit.
 */
export function checkLimits({ commits }: Pick<History, 'commits'>): readonly Violation[] {
  const books: Books = { tasks: new Map(), budgets: new Map(), sums: new Map() };
  return commits.flatMap((commit, at) =>
    replay(books, commit).map(({ name, what }) => ({ name, what: `commit ${at}: ${what}` })),
  );
}

function replay(books: Books, commit: MoneyCommit): readonly Violation[] {
  const { tasks, budgets, sums } = books;
  const expected = new Map<string, SumParts>();
  const bought: Task[] = [];
  for (const write of commit) {
    if (write.of === 'budget') setOrDelete(budgets, write.key, write.value);
    if (write.of !== 'task') continue;
    const before = tasks.get(write.key);
    for (const [task, sign] of [[before, -1n] as const, [write.value, 1n] as const]) {
      for (const [sum, parts] of countedIn(task, sign)) {
        expected.set(sum, addParts(expected.get(sum) ?? sums.get(sum) ?? ZERO_SUM, parts));
      }
    }
    if (write.value?.state === 'claimed' && before?.state !== 'claimed' && PURCHASES.has(before?.state)) {
      bought.push(write.value);
    }
    setOrDelete(tasks, write.key, write.value);
  }
  for (const write of commit) if (write.of === 'sum') sums.set(write.key, write.parts);
  return [
    ...bought.flatMap(wrongGrants),
    ...[...expected].flatMap(([sum, parts]) => differing(sum, parts, sums.get(sum) ?? ZERO_SUM)),
    ...commit.flatMap((write) => (write.of === 'sum' ? strayOrNegative(write.key, write.parts, expected) : [])),
    ...bought.flatMap((task) => exceeded(task, books)),
  ];
}

function setOrDelete<Value>(map: Map<string, Value>, key: string, value: Value | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}

/** Returns what a task counts, in every scope, times `sign`. */
function countedIn(task: Task | null | undefined, sign: bigint): readonly (readonly [string, SumParts])[] {
  return (task?.money?.sends ?? []).flatMap((send) => {
    const { counted, amount, granted = {} } = send;
    if (task === null || task === undefined || counted === undefined) return [];
    return Object.entries(sumsOf(task.origin, send)).map(([scope, sum]) => {
      const extra = sign * microsOf(granted[scope as keyof typeof granted] ?? '0');
      return [sum, { ...ZERO_SUM, [counted]: sign * microsOf(amount), extra }] as const;
    });
  });
}

function differing(sum: string, expected: SumParts, found: SumParts): readonly Violation[] {
  if (SUM_PARTS.every((part) => expected[part] === found[part])) return [];
  const what = `${sum} is ${describe(found)}; its tasks count ${describe(expected)}`;
  return [{ name: 'sum that differs from its tasks', what }];
}

function strayOrNegative(sum: string, parts: SumParts, expected: ReadonlyMap<string, SumParts>): readonly Violation[] {
  return [
    ...(expected.has(sum) ? [] : [{ name: 'sum that differs from its tasks', what: `${sum}: no task has changed` }]),
    ...(SUM_PARTS.some((part) => parts[part] < 0n)
      ? [{ name: 'negative sum', what: `${sum}: ${describe(parts)}` }]
      : []),
  ];
}

/** Checks that only the purchase of an approval is granted an amount beyond a budget. */
function wrongGrants({ id, approval, money }: Task): readonly Violation[] {
  const granted = (money?.sends ?? []).map((send) => send.granted !== undefined);
  const isRight = approval?.approved === undefined ? !granted.includes(true) : granted.lastIndexOf(true) <= 0;
  return isRight ? [] : [{ name: 'grant without an approval', what: `task ${id}` }];
}

/** Compares the sums of a purchase with the limits at that moment. */
function exceeded(task: Task, { budgets, sums }: Books): readonly Violation[] {
  const purchase = task.money?.sends.at(-1);
  if (purchase === undefined) return [{ name: 'purchase without money', what: `task ${task.id}` }];
  if (microsOf(purchase.amount) === 0n) return [];
  return Object.values(sumsOf(task.origin, purchase)).flatMap((sum) => {
    const limit = limitOf(sum, task, purchase, budgets);
    const used = usedBeyondExtra(sums.get(sum) ?? ZERO_SUM);
    if (limit === null || used <= limit) return [];
    return [{ name: 'limit exceeded', what: `task ${task.id} brings ${sum} to ${used} of ${limit}` }];
  });
}

/**
 * Returns the hard limit of a sum in the currency of a purchase, in millionths: below 0 without that currency; `null` for
 * none.
 */
export function limitOf(
  sum: string,
  { origin }: Pick<Task, 'origin'>,
  send: SendMoney,
  budgets: ReadonlyMap<string, BudgetAmounts>,
): bigint | null {
  const own = sum.slice(0, -`:${send.period}:${send.currency}`.length);
  const keys = own.startsWith('person:') ? [own, `everyone:${origin.platform}:${origin.team}`] : [own];
  const hard = keys.map((key) => budgets.get(key)?.hard ?? {}).find((amounts) => Object.keys(amounts).length > 0);
  return hard === undefined ? null : BigInt(hard[send.currency] ?? -1);
}

function describe(parts: SumParts): string {
  return SUM_PARTS.map((part) => `${part} ${parts[part]}`).join(', ');
}
