import type { types } from '@slack/bolt';
import { shorten } from '#commands/sentences/format.ts';
import type { Line, TableBlock } from '#commands/ui/card.ts';
import type { BarChart } from '#src/chat/index.ts';
import { literal } from './rich-text.ts';

/** Rows of a table, its header included. @see https://docs.slack.dev/reference/block-kit/blocks/table-block */
const MAX_ROWS = 100;
/** Length of a cell's text; keeps a table within the 10,000 characters of all its cells. */
const CELL_LENGTH = 60;
/** Shown in an empty cell: Slack refuses an empty text. */
const EMPTY_CELL = '–';
/** @see https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
const MAX_TITLE_LENGTH = 50;
const MAX_SERIES = 6;
const MAX_CATEGORIES = 20;
const MAX_LABEL_LENGTH = 20;

/** Chart in a message. The SDK has no type for it yet. */
interface DataVisualizationBlock {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'bar';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label: string };
  };
}

/**
 * Renders a table as Slack's own, which is accepted only in messages, once in each.
 * @see https://docs.slack.dev/reference/block-kit/blocks/table-block
 */
export function tableBlock({ columns, rows }: TableBlock): types.TableBlock {
  const cells = [columns.map((name): Line => [name]), ...rows].slice(0, MAX_ROWS);
  return { type: 'table', rows: cells.map((row) => row.map(cellOf)), column_settings: [{ is_wrapped: true }] };
}

function cellOf(line: Line): types.RawTextElement {
  const text = shorten(line.map(literal).join(''), CELL_LENGTH);
  return { type: 'raw_text', text: text === '' ? EMPTY_CELL : text };
}

/**
 * Renders a chart as Slack's own, of which a message takes two at most.
 * @see https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
 * @see https://github.com/vercel/chat/pull/696 (the number per message)
 */
export function chartBlock({ title, categories, series, currency }: BarChart): DataVisualizationBlock {
  const labels = categories.slice(0, MAX_CATEGORIES).map((name) => shorten(name, MAX_LABEL_LENGTH));
  return {
    type: 'data_visualization',
    title: shorten(title, MAX_TITLE_LENGTH),
    chart: {
      type: 'bar',
      series: series.slice(0, MAX_SERIES).map(({ name, values }) => ({
        name: shorten(name, MAX_LABEL_LENGTH),
        data: labels.map((label, at) => ({ label, value: Number(values[at] ?? 0) })),
      })),
      axis_config: { categories: labels, y_label: currency },
    },
  };
}
