import type { Resolution } from '#src/money/index.ts';

/** Press of a button under a statement; `statement` is its id. */
export type StatementPress =
  /** Shows the statement that is `offset` imports older than the last one. */
  | { readonly action: 'statement'; readonly what: 'show'; readonly offset: number }
  | { readonly action: 'statement'; readonly what: 'book'; readonly statement: string; readonly offset: number }
  /** Shows a discrepancy, or the next one that is undecided. */
  | {
      readonly action: 'statement';
      readonly what: 'review';
      readonly statement: string;
      readonly offset: number;
      readonly position: number;
    }
  | {
      readonly action: 'statement';
      readonly what: Resolution;
      readonly statement: string;
      readonly offset: number;
      readonly position: number;
    };

type Encoded = StatementPress extends infer Each ? (Each extends unknown ? Omit<Each, 'action'> : never) : never;

/** Returns the id of a button under a statement: `statement:show:0`, `statement:billed:9f86d081884c7d65:0:12`. */
export function statementButtonId(press: Encoded): string {
  if (press.what === 'show') return `statement:show:${press.offset}`;
  const position = 'position' in press ? `:${press.position}` : '';
  return `statement:${press.what}:${press.statement}:${press.offset}${position}`;
}

/** Parses the id of a button under a statement; `null` for one that no version of Dailies created. */
export function parseStatementButton(id: string): StatementPress | null {
  const [, shown] = /^statement:show:(\d{1,6})$/u.exec(id) ?? [];
  if (shown !== undefined) return { action: 'statement', what: 'show', offset: Number(shown) };
  const [, what, statement = '', at = '', position] =
    /^statement:(book|review|ours|billed|not_billed|same|apart):([0-9a-f]{16}):(\d{1,6})(?::(\d{1,7}))?$/u.exec(id) ??
    [];
  if (what === undefined) return null;
  const offset = Number(at);
  if (what === 'book') return position === undefined ? { action: 'statement', what, statement, offset } : null;
  if (position === undefined) return null;
  return { action: 'statement', what: what as Resolution | 'review', statement, offset, position: Number(position) };
}
