import type { Insertion } from './change.ts';

/** A new notice to a team, as CONTRIBUTING describes it: what it says and to whom, and its words. */
export const TEAM_NOTICE = [
  {
    file: 'src/chat/team-notice.ts',
    before: '/** Notice to a team or to a person, in a message',
    lines: `/** Clips of a week. */
interface WeeklySummary {
  readonly kind: 'weekly_summary';
  readonly clips: number;
}

`,
  },
  { file: 'src/chat/team-notice.ts', before: '  | OutOfCredit\n', lines: '  | WeeklySummary\n' },
  { file: 'src/chat/team-notice.ts', before: '  out_of_credit: true,', lines: '  weekly_summary: true,\n' },
  {
    file: 'commands/sentences/cards/team-notice.ts',
    before: "    case 'out_of_credit':",
    lines: `    case 'weekly_summary':
      return textCard([\`\${count(notice.clips, 'clip')} this week.\`]);
`,
  },
] as const satisfies readonly Insertion[];
