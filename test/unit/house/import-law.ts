import type { Import } from './imports.ts';

/** Which top-level rooms each top-level room may import. `src/main.ts` wires everything and is excepted. */
const RINGS: Readonly<Record<string, readonly string[]>> = {
  src: ['src'],
  commands: ['commands', 'src'],
  adapters: ['adapters', 'commands', 'src'],
  test: ['test', 'adapters', 'commands', 'src'],
};

/** Which rooms of `src` a room of `src` must not know. */
const STRANGERS: readonly { readonly room: string; readonly strangers: readonly string[]; readonly types: boolean }[] =
  [
    { room: 'tasks', strangers: ['chat'], types: false },
    { room: 'chat', strangers: ['videos'], types: true },
    { room: 'videos', strangers: ['tasks', 'chat', 'store'], types: false },
    { room: 'sandbox', strangers: ['tasks', 'chat'], types: false },
  ];

/** All that `src/store` may import of the house besides itself. */
const STORE_MAY_KNOW: readonly string[] = ['src/errors.ts', 'src/clock.ts', 'src/logger.ts'];

/** All that `src/money` may run besides itself; types it may take from anywhere. */
const MONEY_MAY_RUN: readonly string[] = ['big.js', 'src/errors.ts'];

/**
 * The import law (`CONTRIBUTING.md`: `adapters/ → commands/ → src/`): every breach among `imports`, as a
 * sentence naming the file, what it imports and the rule. Empty where the law is kept.
 */
export function breaches(imports: readonly Import[]): readonly string[] {
  const found = imports.flatMap((one) =>
    [ring, adapter, crossing, stranger, store, money].flatMap((rule) => {
      const broken = rule(one);
      return broken === null ? [] : [`${one.from} imports ${one.specifier}: ${broken}`];
    }),
  );
  return [...found, ...cycles(imports).map((cycle) => `${cycle.join(' → ')}: import cycle`)];
}

type Rule = (one: Import) => string | null;

const topOf = (file: string): string => file.split('/')[0] ?? '';

/** The room below the top: `src/tasks/task.ts` is in `tasks`, `src/errors.ts` in none. */
const roomOf = (file: string): string | null => {
  const parts = file.split('/');
  return parts.length > 2 ? (parts[1] ?? null) : null;
};

const isIn = (file: string, room: string): boolean => file.startsWith(`${room}/`);

const ring: Rule = ({ from, to }) => {
  if (to === null || (from === 'src/main.ts' && topOf(to) !== 'test')) return null;
  const allowed = RINGS[topOf(from)] ?? [];
  return allowed.includes(topOf(to)) ? null : `${topOf(from)} may import ${allowed.join(', ')} alone`;
};

const adapter: Rule = ({ from, to }) => {
  if (to === null || topOf(from) !== 'adapters' || topOf(to) !== 'adapters') return null;
  return roomOf(from) === roomOf(to) ? null : 'an adapter knows no other adapter';
};

const crossing: Rule = ({ from, to, specifier }) => {
  if (to === null) return null;
  const crosses = topOf(from) !== topOf(to);
  if (crosses && !specifier.startsWith('#')) return `crossing a wall is written #${to}`;
  // Tests lie deep: among themselves they may write `#test/…` as well.
  if (!crosses && specifier.startsWith('#') && topOf(from) !== 'test') return 'inside a room, paths are relative';
  return null;
};

const stranger: Rule = ({ from, to, typesOnly }) => {
  if (to === null) return null;
  const broken = STRANGERS.find(
    ({ room, strangers, types }) =>
      isIn(from, `src/${room}`) && strangers.some((other) => isIn(to, `src/${other}`)) && !(types && typesOnly),
  );
  if (broken === undefined) return null;
  return `${broken.room} must not know ${roomOf(to)}${broken.types ? ', except by import type' : ''}`;
};

const store: Rule = ({ from, to }) => {
  if (to === null || !isIn(from, 'src/store') || isIn(to, 'src/store') || STORE_MAY_KNOW.includes(to)) return null;
  return `store may know ${STORE_MAY_KNOW.join(', ')} alone`;
};

const money: Rule = ({ from, to, specifier, typesOnly }) => {
  if (!isIn(from, 'src/money') || typesOnly) return null;
  if (MONEY_MAY_RUN.includes(to ?? specifier) || (to !== null && isIn(to, 'src/money'))) return null;
  return `money is pure: it may run ${MONEY_MAY_RUN.join(', ')} alone`;
};

/** Each cycle of imports that are there when the program runs, once, from its alphabetically first file and back to it. */
function cycles(imports: readonly Import[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to, typesOnly } of imports) {
    if (to !== null && !typesOnly) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const found = new Map<string, readonly string[]>();
  const finished = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) {
      const cycle = fromFirst(path.slice(start));
      found.set(cycle.join(), cycle);
    }
    if (start !== -1 || finished.has(file)) return;
    for (const other of next.get(file) ?? []) walk(other, [...path, file]);
    finished.add(file);
  };
  for (const file of next.keys()) walk(file, []);
  return [...found.values()];
}

function fromFirst(cycle: readonly string[]): readonly string[] {
  const first = cycle.indexOf([...cycle].sort()[0] ?? '');
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, ...turned.slice(0, 1)];
}
