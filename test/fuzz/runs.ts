import fc from 'fast-check';

/** Text of any UTF-16 units, halves of characters among them. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const unit = fc.oneof(fc.nat(0x7f), fc.nat(0xffff));
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}

/** Text as people, programs and attackers write it: any characters, with the ones that mean something here among them. */
export function textWith(...telling: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...telling) },
    { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 1, arbitrary: anyText(8) },
    // Halves of characters, which no well-formed text holds.
    { weight: 1, arbitrary: fc.constantFrom('\uD83E', '\uDD8A', '\u0000', '\u2028', '\u202E') },
  );
  return fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));
}

/** Names that every object has, and that must mean nothing. */
export const EVERY_OBJECTS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'] as const;

/** An object with fields of these names and anything in them, and with others. */
export function objectWith(...names: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const name = fc.oneof(fc.constantFrom(...names, ...EVERY_OBJECTS), fc.string({ maxLength: 8 }));
  return fc.dictionary(name, fc.anything({ maxDepth: 3 }), { maxKeys: 12 });
}

/** JSON of any shape, in which fields of these names appear at every depth. */
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

/** The same inputs in every run, so that a failure can be looked at. @param numRuns so many of them. */
export function runs(numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: 20_261_121, numRuns };
}

/** JSON so deep that nothing may walk through it by calling itself. */
export function deepJson(depth: number, open: string, close: string): string {
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}
