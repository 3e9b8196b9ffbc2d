import type { Person } from '../task.ts';

const PREFIX = 'forgotten-';

/** Returns the pseudonym of a person who is forgotten. @param randomId nothing leads from it back to the person */
export function newPseudonym(randomId: string): Person {
  return { id: `${PREFIX}${randomId}`, name: 'Removed person' };
}

/** Returns whether a user id is that of a pseudonym. */
export function isPseudonym(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** Returns the ids of the forgotten people whom a JSON value names by their pseudonyms. */
export function pseudonymsIn(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const own = 'id' in value && typeof value.id === 'string' && isPseudonym(value.id) ? [value.id] : [];
  return new Set([...own, ...Object.values(value).flatMap((one) => [...pseudonymsIn(one)])]);
}

/**
 * Replaces a person wherever a JSON value names them by id and name.
 * @returns the same value if it does not.
 */
export function withoutPerson<Value>(value: Value, id: string, pseudonym: Person): Value {
  return replaced(value, id, pseudonym) as Value;
}

function replaced(value: unknown, id: string, pseudonym: Person): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => replaced(item, id, pseudonym));
    return next.some((item, at) => item !== items[at]) ? next : value;
  }
  const entries = Object.entries(value).map(([key, field]) => [key, field, replaced(field, id, pseudonym)] as const);
  const isThem = 'id' in value && value.id === id && 'name' in value && typeof value.name === 'string';
  if (!isThem && entries.every(([, before, after]) => before === after)) return value;
  return { ...Object.fromEntries(entries.map(([key, , after]) => [key, after])), ...(isThem ? pseudonym : {}) };
}
