import { declarations } from '#commands/registry.ts';
import { commandTable, optionTable } from './commands.ts';
import { variableTable } from './configuration.ts';
import { gateTable } from './gates.ts';
import { withSection } from './generated.ts';
import { parityTable } from './parity.ts';
import { recordTable } from './privacy.ts';

/** Documents with generated sections, by path, with the text of each section. */
const SECTIONS: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'docs/architecture.md': () => ({ gates: gateTable() }),
  'docs/commands.md': () => ({
    commands: commandTable({ isAdministrative: false }),
    administration: commandTable({ isAdministrative: true }),
    ...Object.fromEntries(declarations.map((command) => [command.name, optionTable(command)])),
  }),
  'docs/configuration.md': () => ({ variables: variableTable() }),
  'docs/privacy.md': () => ({ records: recordTable() }),
  'test/contract/readme.md': () => ({ parity: parityTable() }),
};

/** Paths of the documents that have generated sections. */
export const GENERATED: readonly string[] = Object.keys(SECTIONS);

/** Returns a document with its generated sections as the program has them now. */
export function upToDate(path: string, document: string): string {
  const sections = Object.entries(SECTIONS[path]?.() ?? {});
  return sections.reduce((text, [name, section]) => withSection(text, name, section), document);
}
