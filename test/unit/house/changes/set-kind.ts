import type { Insertion } from './change.ts';

/** A new kind of set: its name, and the words of its clips. */
export const SET_KIND = [
  { file: 'src/tasks/task.ts', before: "'takes' | 'comparison' | 'storyboard';", lines: "'loops' | " },
  {
    file: 'commands/sentences/ordered.ts',
    before: '  takes: {',
    lines: "  loops: { one: 'loop', many: 'loops' },\n",
  },
  {
    file: 'commands/sentences/cards/task-card.ts',
    before: "  takes: 'Show the takes'",
    lines: "  loops: 'Show the loops',\n",
  },
] as const satisfies readonly Insertion[];
