import fc from 'fast-check';
import { expect } from 'vitest';

/** Generates text of any UTF-16 code units, including lone surrogates. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const unit = fc.oneof(fc.nat(0x7f), fc.nat(0xffff));
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}

/** Generates text as users, programs and attackers write it: any characters, mixed with tokens that matter here. */
export function textWith(...telling: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...telling) },
    { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 1, arbitrary: anyText(8) },
    // Lone surrogates, which no well-formed text contains, and control characters.
    { weight: 1, arbitrary: fc.constantFrom('\uD83E', '\uDD8A', '\u0000', '\u2028', '\u202E') },
  );
  return fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));
}

/** Property names of every object, which must not have a meaning. */
export const EVERY_OBJECTS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'] as const;

/** Generates objects with fields of these names and others, with any values. */
export function objectWith(...names: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const name = fc.oneof(fc.constantFrom(...names, ...EVERY_OBJECTS), fc.string({ maxLength: 8 }));
  return fc.dictionary(name, fc.anything({ maxDepth: 3 }), { maxKeys: 12 });
}

/** Generates JSON of any shape, with fields of these names at every depth. */
export function jsonWith(names: readonly string[], values: readonly unknown[] = []): fc.Arbitrary<unknown> {
  const { any } = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, '', ...values),
      fc.string({ maxLength: 12 }),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names, ...EVERY_OBJECTS), tie('any'), { maxKeys: 6 }),
    ),
  }));
  return any;
}

/** Returns parameters with a fixed seed, so that failures are reproducible. @param numRuns number of inputs. */
export function runs(numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: 20_261_121, numRuns };
}

/**
 * Runs work within a limit of CPU time, in milliseconds: it is exceeded by a parser that takes quadratic time, and not by
 * a busy machine.
 */
export async function withinCpuTime<Result>(maxMs: number, work: () => Result | Promise<Result>): Promise<Result> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(maxMs);
  return result;
}

/** Returns JSON that is too deep for a recursive traversal. */
export function deepJson(depth: number, open: string, close: string): string {
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}
