import type { Insertion } from './change.ts';

/** A new setting of a team, as CONTRIBUTING describes it. */
export const TEAM_SETTING = [
  {
    file: 'src/teams/settings-schema.ts',
    before: 'reviewIn: {',
    lines: "  weeklySummary: { kind: 'on_off', action: 'weekly_summary', default: false },\n",
  },
  {
    file: 'commands/administration/setting-words.ts',
    before: 'reviewIn: {',
    lines: `  weeklySummary: {
    description: 'Whether to post a summary every Monday',
    label: 'Weekly summary',
    shown: onOff('posted every Monday.', 'off'),
    audited: { on: 'turned the weekly summary on', off: 'turned the weekly summary off' },
  },
`,
  },
] as const satisfies readonly Insertion[];
