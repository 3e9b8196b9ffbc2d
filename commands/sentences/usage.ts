import type { LedgerEntry, LedgerState } from '#src/money/ledger.ts';
import { formatPrice, total } from '#src/money/price.ts';
import type { Person } from '#src/tasks/task.ts';
import type { Card, Line, Part } from '../card.ts';
import { LEDGER_WORDS } from './details.ts';
import { all, count, formatMonth } from './format.ts';

/** More people than this are not listed one by one. */
const MOST_GROUPS = 10;

/** The spend of a month (UTC), of a team or of one person. */
export function usageCard(usage: {
  readonly month: string;
  readonly who: Person | null;
  readonly entries: readonly LedgerEntry[];
}): Card {
  const { month, who, entries } = usage;
  const whose: Part = who === null ? 'everyone' : { person: who };
  const heading: Line = [{ strong: formatMonth(month) }, ' · ', whose];
  const lines = entries.length === 0 ? [['Nothing was ordered.']] : stateLines(entries);
  return { lines: [heading, ...lines, ...groupLines(usage)], progress: null, buttons: [] };
}

const STATES: readonly LedgerState[] = ['settled', 'reserved', 'in_doubt', 'refunded', 'released'];

function stateLines(entries: readonly LedgerEntry[]): readonly Line[] {
  return STATES.flatMap((state) => {
    const some = entries.filter((entry) => entry.state === state);
    return some.length === 0
      ? []
      : [[{ strong: sumOf(some) }, ` ${LEDGER_WORDS[state]} (${count(some.length, 'clip')})`]];
  });
}

function groupLines({
  who,
  entries,
}: {
  readonly who: Person | null;
  readonly entries: readonly LedgerEntry[];
}): Line[] {
  const billed = entries.filter(({ state }) => state === 'settled');
  if (billed.length === 0) return [];
  const byModel = grouped(
    billed,
    ({ model }) => model,
    ({ model }) => ({ untrusted: model }),
  );
  const byPerson = grouped(
    billed,
    ({ user }) => user,
    ({ user, userName }) => ({ person: { id: user, name: userName } }),
  );
  return [...(who === null ? [['Billed by person:'], ...byPerson] : []), ['Billed by model:'], ...byModel];
}

function grouped(
  entries: readonly LedgerEntry[],
  keyOf: (entry: LedgerEntry) => string,
  nameOf: (entry: LedgerEntry) => Part,
): readonly Line[] {
  const groups = [...Map.groupBy(entries, keyOf).values()].sort((one, other) => other.length - one.length);
  const lines = groups.slice(0, MOST_GROUPS).flatMap((group): Line[] => {
    const [first] = group;
    return first === undefined ? [] : [['• ', nameOf(first), `: ${sumOf(group)} (${count(group.length, 'clip')})`]];
  });
  const rest = groups.slice(MOST_GROUPS).flat();
  return rest.length === 0 ? lines : [...lines, [`• others: ${sumOf(rest)} (${count(rest.length, 'clip')})`]];
}

/** The currencies are never mixed: `$1.20 and €0.40`. */
function sumOf(entries: readonly LedgerEntry[]): string {
  return all(total(entries).map(formatPrice));
}
