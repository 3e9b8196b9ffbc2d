import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** An import, export-from or `import()` in a file of this repository. */
export interface Import {
  /** Importing file, relative to the repository's root with forward slashes: `src/pipeline/task-service.ts`. */
  readonly from: string;
  /** Specifier as written: `./task.ts`, `#src/errors.ts`, `zod`, `node:path`. */
  readonly specifier: string;
  /** Imported file in the form of `from`; `null` for a package, a Node module or a URL. */
  readonly to: string | null;
  /**
   * True if type stripping removes the import. False for `import { type A }`: Node still loads the file.
   * @see https://nodejs.org/api/typescript.html#importing-types-without-type-keyword
   */
  readonly typesOnly: boolean;
}

/**
 * Returns all imports of a TypeScript or JavaScript file, in source order.
 * @throws Error naming the file, if it cannot be parsed or an `import()` has no literal specifier.
 */
export function readImports(from: string, source: string): readonly Import[] {
  const { program, errors } = parseSync(from, source);
  if (errors[0] !== undefined) throw new Error(`parsing ${from}: ${errors[0].message}`);
  const found: Import[] = [];
  const add = (specifier: string, typesOnly: boolean): void => {
    found.push({ from, specifier, to: fileOf(from, specifier), typesOnly });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node.importKind === 'type'),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type'),
    ExportNamedDeclaration(node) {
      if (node.source !== null) add(node.source.value, node.exportKind === 'type');
    },
    ImportExpression(node) {
      if (node.source.type !== 'Literal' || typeof node.source.value !== 'string') {
        throw new Error(`${from}: import() of something other than a plain string hides what is imported`);
      }
      add(node.source.value, false);
    },
    TSImportType: (node) => add(node.source.value, true),
  }).visit(program);
  return found;
}

function fileOf(from: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return posix.normalize(specifier.slice(1));
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(from), specifier));
  return null;
}
