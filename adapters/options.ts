import type { GivenOptions } from '#commands/bot-port.ts';

/** Converts the values of a form to options, leaving out empty fields. */
export function optionsOf(values: Readonly<Record<string, string>>): GivenOptions {
  const filledIn = Object.entries(values).filter(([, value]) => value.trim() !== '');
  return Object.fromEntries(filledIn.map(([name, value]) => [name, [value]]));
}

/** Merges the values of sets of options, such as links and files. The names may be untrusted. */
export function mergeOptions(...parts: readonly GivenOptions[]): GivenOptions {
  const merged = new Map<string, readonly string[]>();
  for (const [name, values] of parts.flatMap((part) => Object.entries(part)))
    merged.set(name, [...(merged.get(name) ?? []), ...values]);
  return Object.fromEntries(merged);
}
