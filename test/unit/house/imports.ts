import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** One import, export-from or `import()` of a file of this repository. */
export interface Import {
  /** The importing file, from the repository's top with forward slashes: `src/pipeline/task-service.ts`. */
  readonly from: string;
  /** As written: `./task.ts`, `#src/errors.ts`, `zod`, `node:path`. */
  readonly specifier: string;
  /** The imported file in the form of `from`; `null` for what comes from a package, Node or a web address. */
  readonly to: string | null;
  /**
   * Whether it is gone when the types are stripped. `import { type A }` is not: Node still loads the file.
   * @see https://nodejs.org/api/typescript.html#importing-types-without-type-keyword
   */
  readonly typesOnly: boolean;
}

/**
 * Every import of a TypeScript or JavaScript file, in the order of the text.
 * @throws Error naming the file, when it cannot be parsed or an `import()` does not say what it imports.
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
