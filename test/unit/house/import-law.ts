import type { Import } from './imports.ts';

/** Top-level folders that each top-level folder may import. Exempts {@link WIRING}. */
const RINGS: Readonly<Record<string, readonly string[]>> = {
  src: ['src'],
  commands: ['commands', 'src'],
  adapters: ['adapters', 'commands', 'src'],
  test: ['test', 'adapters', 'commands', 'src'],
};

/** Top-level folders that the files may import which wire everything. */
const WIRING: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': ['src', 'adapters'],
  'src/app.ts': ['src', 'commands'],
  'src/app/bot.ts': ['src', 'commands'],
  'src/app/pages.ts': ['src', 'commands'],
  'src/doctor.ts': ['src', 'commands', 'adapters'],
};

interface Forbidden {
  readonly folder: string;
  readonly others: readonly string[];
  /** Allows type imports. */
  readonly types: boolean;
}

/** Folders of `src` that a folder of `src` must not import. */
const FORBIDDEN: readonly Forbidden[] = [
  { folder: 'pipeline', others: ['chat', 'media', 'http'], types: true },
  { folder: 'chat', others: ['videos'], types: true },
  { folder: 'videos', others: ['tasks', 'pipeline', 'chat', 'engine'], types: false },
  // It calculates prices as tasks do.
  { folder: 'sandbox', others: ['pipeline', 'chat', 'engine/queue'], types: false },
];

/** Files outside of `src/engine` that it may import: it knows no feature. */
const ENGINE_MAY_IMPORT: readonly string[] = ['errors', 'clock', 'logger', 'retry', 'chunked'].map(
  (name) => `src/${name}.ts`,
);

/** Folders within a folder of `src` that have a public file of their own: what it loads is only needed with it. */
const INNER_DOORS: readonly string[] = ['src/engine/store/redis'];

/** Modules outside of `src/tasks` that it may import at run time, so that it stays pure: of the engine, the kinds of its records. */
const TASKS_MAY_RUN: readonly string[] = ['big.js', 'zod', 'src/errors.ts', 'src/period.ts', 'src/engine/index.ts'];

/**
 * Checks `imports` against the import rules (`CONTRIBUTING.md`: `adapters/ → commands/ → src/`). Returns each violation
 * as a sentence with the file, the import and the rule; empty if there is none.
 */
export function breaches(imports: readonly Import[]): readonly string[] {
  const found = imports.flatMap((one) =>
    [ring, adapter, crossing, forbidden, engine, door, tasks].flatMap((rule) => {
      const broken = rule(one);
      return broken === null ? [] : [`${one.from} imports ${one.specifier}: ${broken}`];
    }),
  );
  return [
    ...found,
    ...cycles(imports).map((cycle) => `${cycle.join(' → ')}: import cycle`),
    ...cycles(imports.flatMap(betweenFolders)).map((cycle) => `${cycle.join(' → ')}: folders that import each other`),
  ];
}

type Rule = (one: Import) => string | null;

const topOf = (file: string): string => file.split('/')[0] ?? '';

/** Returns the folder below the top level: `tasks` for `src/tasks/task.ts`, `null` for `src/errors.ts`. */
const folderOf = (file: string): string | null => {
  const parts = file.split('/');
  return parts.length > 2 ? (parts[1] ?? null) : null;
};

const isIn = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

const ring: Rule = ({ from, to }) => {
  if (to === null) return null;
  const allowed = WIRING[from] ?? RINGS[topOf(from)] ?? [];
  return allowed.includes(topOf(to)) ? null : `${topOf(from)} may import ${allowed.join(', ')} alone`;
};

const adapter: Rule = ({ from, to }) => {
  if (to === null || topOf(from) !== 'adapters' || topOf(to) !== 'adapters') return null;
  if ([from, to].includes('adapters/registry.ts')) return null;
  return folderOf(from) === folderOf(to) ? null : 'an adapter knows no other adapter';
};

const crossing: Rule = ({ from, to, specifier }) => {
  if (to === null) return null;
  const crosses = topOf(from) !== topOf(to);
  if (crosses && !specifier.startsWith('#')) return `an import of another top-level folder is written #${to}`;
  // Tests are deeply nested, so they may also import each other as `#test/…`; a page script knows what pages share by
  // the name in its import map alone.
  if (!crosses && specifier.startsWith('#') && topOf(from) !== 'test' && !from.endsWith('.js'))
    return 'within a top-level folder, paths are relative';
  return null;
};

const forbidden: Rule = ({ from, to, typesOnly }) => {
  if (to === null) return null;
  const broken = FORBIDDEN.find(
    ({ folder, others, types }) =>
      isIn(from, `src/${folder}`) && others.some((other) => isIn(to, `src/${other}`)) && !(types && typesOnly),
  );
  if (broken === undefined) return null;
  return `${broken.folder} must not import ${folderOf(to)}${broken.types ? ', except by import type' : ''}`;
};

const engine: Rule = ({ from, to }) => {
  if (to === null || !isIn(from, 'src/engine') || isIn(to, 'src/engine') || ENGINE_MAY_IMPORT.includes(to)) return null;
  return `engine may import ${ENGINE_MAY_IMPORT.join(', ')} alone`;
};

/** Folder whose public file others import; `null` for a file that is its own. */
function doorOf(file: string): string | null {
  const inner = INNER_DOORS.find((folder) => isIn(file, folder));
  if (inner !== undefined) return inner;
  return topOf(file) === 'src' && folderOf(file) !== null ? `src/${folderOf(file)}` : null;
}

const door: Rule = ({ from, to }) => {
  const folder = to === null ? null : doorOf(to);
  // Page scripts run in the browser, which loads each file by its own address.
  if (folder === null || to === `${folder}/index.ts` || topOf(from) === 'test' || from.endsWith('.js')) return null;
  const own = doorOf(from);
  const isInside = own !== null && (isIn(`${own}/`, folder) || isIn(`${folder}/`, own));
  return isInside ? null : `others import ${folder}/index.ts alone`;
};

const tasks: Rule = ({ from, to, specifier, typesOnly }) => {
  if (!isIn(from, 'src/tasks') || typesOnly) return null;
  if (TASKS_MAY_RUN.includes(to ?? specifier) || (to !== null && isIn(to, 'src/tasks'))) return null;
  return `tasks is pure: it may run ${TASKS_MAY_RUN.join(', ')} alone`;
};

/** Returns an import of another folder of `src`, as one of the folder. */
function betweenFolders(one: Import): readonly Import[] {
  const folder = (file: string): string | null => {
    const name = topOf(file) === 'src' ? folderOf(file) : null;
    return name === null ? null : `src/${name}`;
  };
  const [from, to] = [folder(one.from), one.to === null ? null : folder(one.to)];
  return from === null || to === null || from === to ? [] : [{ ...one, from, to }];
}

/** Returns each cycle of run-time imports once, from its alphabetically first file or folder back to it. */
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
