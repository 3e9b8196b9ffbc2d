import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { readImports } from './imports.ts';

/** A file of the product, as far as its shape is concerned. */
interface Source {
  readonly text: string;
  /** Names declared by an `export` statement; the functions among them. */
  readonly exported: readonly string[];
  readonly functions: readonly string[];
  /** Files that it imports at run time, and the names that it imports, as `file#name`. */
  readonly runs: readonly string[];
  readonly names: readonly string[];
  /** Number of uses of an identifier. */
  readonly uses: ReadonlyMap<string, number>;
  /** Number of fields of its interfaces. */
  readonly fields: ReadonlyMap<string, number>;
  /** Loops that commit to the store: compare-and-set by hand. */
  readonly commitLoops: number;
}

/** Shape of the product’s source. */
export interface Structure {
  /** Lines of TypeScript, JavaScript, CSS and HTML. */
  readonly lines: number;
  readonly exports: number;
  /** Exported functions that one call in one other file uses, and nothing else. */
  readonly oneCallSite: number;
  /** Folders below `src` that import each other in a circle at run time, and those below `commands`. */
  readonly knots: Readonly<Record<'src' | 'commands', number>>;
  /** Loops that commit to the store: compare-and-set by hand. */
  readonly commitLoops: number;
  /** Number of fields of an interface; 0 if there is none. */
  fieldsOf(name: string): number;
  /** Number of files whose text a pattern matches. */
  filesWith(pattern: RegExp): number;
  /** Number of matches in all files. */
  matchesOf(pattern: RegExp): number;
}

/** Folders of single dialects: what the next video service costs, beside the product. */
const DIALECTS = /^src\/videos\/dialects\/[^/]+\//u;

/** Reads the shape of the product's source below a folder, without the folders of dialects. */
export function readStructure(top: string): Structure {
  const files = globSync('{src,commands,adapters}/**/*.{ts,js,css,html}', { cwd: top })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !DIALECTS.test(file));
  const texts = files.map((file) => readFileSync(join(top, file), 'utf8'));
  const sources = new Map(
    files.flatMap((file, at) =>
      /\.(?:ts|js)$/u.test(file) ? [[file, readSource(file, texts[at] ?? '')] as const] : [],
    ),
  );
  return {
    lines: texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
    exports: [...sources.values()].reduce((sum, { exported }) => sum + exported.length, 0),
    oneCallSite: countOneCallSites(sources),
    knots: { src: knotted(sources, 'src'), commands: knotted(sources, 'commands') },
    commitLoops: [...sources.values()].reduce((sum, source) => sum + source.commitLoops, 0),
    fieldsOf: (name) => Math.max(0, ...[...sources.values()].map(({ fields }) => fields.get(name) ?? 0)),
    filesWith: (pattern) => texts.filter((text) => pattern.test(text)).length,
    matchesOf: (pattern) => texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0),
  };
}

function readSource(file: string, text: string): Source {
  const imports = readImports(file, text);
  const exported: string[] = [];
  const functions: string[] = [];
  const names: string[] = [];
  const uses = new Map<string, number>();
  const fields = new Map<string, number>();
  let commitLoops = 0;
  const loop = ({ start, end }: Node): void => {
    if (/\.commit\(/u.test(text.slice(start, end))) commitLoops += 1;
  };
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1);
  new Visitor({
    Identifier: ({ name }) => use(name),
    ImportDeclaration(node) {
      const to = imports.find(({ specifier }) => specifier === node.source.value)?.to;
      if (to === null || to === undefined) return;
      for (const one of node.specifiers)
        names.push(`${to}#${one.type === 'ImportSpecifier' ? nameIn(one.imported) : '*'}`);
    },
    ExportNamedDeclaration({ declaration, specifiers, source }) {
      if (declaration?.type === 'FunctionDeclaration') functions.push(declaration.id?.name ?? '');
      exported.push(...declaredIn(declaration));
      const to = source === null ? undefined : imports.find(({ specifier }) => specifier === source.value)?.to;
      if (to !== null && to !== undefined) names.push(...specifiers.map(({ local }) => `${to}#${nameIn(local)}`));
    },
    ForStatement: loop,
    WhileStatement: loop,
    DoWhileStatement: loop,
    TSInterfaceDeclaration: ({ id, body }) => void fields.set(id.name, body.body.length),
  }).visit(parseSync(file, text).program);
  const runs = imports.flatMap(({ to, typesOnly }) => (to === null || typesOnly ? [] : [to]));
  return { text, exported, functions, runs, names, uses, fields, commitLoops };
}

function nameIn(node: Node): string {
  return node.type === 'Identifier' ? node.name : '';
}

function declaredIn(declaration: Node | null): readonly string[] {
  if (declaration === null) return [];
  if (declaration.type === 'VariableDeclaration') return declaration.declarations.map(({ id }) => nameIn(id));
  return 'id' in declaration && declaration.id !== null && typeof declaration.id === 'object'
    ? [nameIn(declaration.id)]
    : [];
}

function countOneCallSites(sources: ReadonlyMap<string, Source>): number {
  const importers = new Map<string, Set<string>>();
  for (const [file, { names }] of sources)
    for (const name of names) importers.set(name, (importers.get(name) ?? new Set()).add(file));
  /** Files that import a name, through the `index.ts` of its folder, too. */
  const importersOf = (file: string, name: string): readonly string[] =>
    [...(importers.get(`${file}#${name}`) ?? [])].flatMap((other) =>
      other.endsWith('/index.ts') && sources.get(other)?.exported.includes(name) !== true && !calls(other, name)
        ? importersOf(other, name)
        : [other],
    );
  const calls = (file: string, name: string): boolean => (sources.get(file)?.uses.get(name) ?? 0) > 2;
  let count = 0;
  for (const [file, { functions, uses }] of sources) {
    for (const name of functions) {
      const [only, ...others] = new Set(importersOf(file, name));
      // The import names it twice (as what is imported, and as what it is called here), and its declaration once.
      const isOnce = only !== undefined && others.length === 0 && sources.get(only)?.uses.get(name) === 3;
      if (isOnce && uses.get(name) === 1) count += 1;
    }
  }
  return count;
}

/** Number of folders below a top-level folder that are part of a circle of run-time imports. */
function knotted(sources: ReadonlyMap<string, Source>, top: string): number {
  const folderOf = (file: string): string => {
    const [first = '', second = '', third] = file.split('/');
    return third === undefined ? file : `${first}/${second}`;
  };
  const next = new Map<string, Set<string>>();
  for (const [file, { runs }] of sources) {
    const from = folderOf(file);
    if (!file.startsWith(`${top}/`)) continue;
    const others = next.get(from) ?? new Set<string>();
    for (const to of runs) if (to.startsWith(`${top}/`) && folderOf(to) !== from) others.add(folderOf(to));
    next.set(from, others);
  }
  const reachable = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    const open = [...(next.get(from) ?? [])];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      open.push(...(next.get(at) ?? []));
    }
    return seen;
  };
  return [...next.keys()].filter((folder) => reachable(folder).has(folder)).length;
}
