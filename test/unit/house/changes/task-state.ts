import type { Insertion } from './change.ts';

/** A new state of tasks with an event, as CONTRIBUTING describes it: its name, its row, the answer to a late *Cancel*. */
export const TASK_STATE = [
  {
    file: 'src/tasks/task.ts',
    before: '  /** Its request for approval was denied, withdrawn',
    lines: "  /** Put aside by a user, before anything is sent. */\n  | 'parked'\n",
  },
  {
    file: 'src/tasks/task.ts',
    before: "  | { readonly kind: 'leave';",
    lines: "  | { readonly kind: 'park' }\n",
  },
  {
    file: 'src/tasks/state-machine.ts',
    before: '  sending: {\n    queues',
    lines: `  parked: {
    queues: [],
    isEnded: false,
    isAwaited: false,
    ledger: 'reserved',
    phase: 'queued',
    countsAsEnd: false,
    on: { cancel: (task, { by, atMs }) => ({ ...task, state: 'cancelled', cancelledBy: by, endedAtMs: atMs }) },
  },
`,
  },
  {
    file: 'src/tasks/state-machine.ts',
    before: "      send: (task, { owner, atMs }) => ({ ...task, state: 'sending'",
    lines: "      park: (task) => ({ ...task, state: 'parked' }),\n",
  },
  { file: 'commands/orders/task-actions.ts', before: "    case 'claimed':\n", lines: "    case 'parked':\n" },
] as const satisfies readonly Insertion[];
