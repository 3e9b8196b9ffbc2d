import type { Insertion } from './change.ts';

/** The file of a new command, as CONTRIBUTING describes it. */
export const COMMAND = {
  file: 'commands/hello.ts',
  text: `import { privately, type Subcommand } from './input/subcommand.ts';
import { textCard } from './ui/card.ts';

/** \`/video hello\`: greets the caller. */
export const hello: Subcommand = {
  declaration: {
    name: 'hello',
    description: 'Greets you',
    example: '/video hello',
    options: [],
    visibility: 'private',
  },
  run: async (_ports, caller) => privately(textCard([{ untrusted: \`Hello \${caller.user.name}\` }])),
};
`,
} as const;

/** Its lines in the registry. */
export const REGISTRY: readonly Insertion[] = [
  { file: 'commands/registry.ts', before: 'import { helpOn }', lines: "import { hello } from './hello.ts';\n" },
  { file: 'commands/registry.ts', before: '  erase,\n];', lines: '  hello,\n' },
];
