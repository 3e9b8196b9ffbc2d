import { expect, it } from 'vitest';
import { chartBlock, tableBlock } from '#adapters/slack/messages/render.ts';
import type { Line } from '#commands/ui/card.ts';

it('keeps a table within Slack’s limits: 100 rows, no empty cell, shortened cells', () => {
  const rows = Array.from({ length: 150 }, (_, at): readonly Line[] => [
    [{ person: { id: `${at}`, name: '<!channel> '.repeat(20) } }],
    [],
  ]);
  const { rows: shown } = tableBlock({ kind: 'table', columns: ['Person', 'Spent'], rows });
  expect(shown).toHaveLength(100);
  const texts = shown.flat().map((cell) => ('text' in cell ? cell.text : ''));
  expect(texts.slice(0, 2)).toEqual(['Person', 'Spent']);
  expect(texts).not.toContain('');
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(60);
});

it('keeps a chart within Slack’s limits: 6 series of 20 values, labels of 20 characters', () => {
  const categories = Array.from({ length: 30 }, (_, at) => `Week ${at} of a very long month`);
  const series = Array.from({ length: 9 }, (_, at) => ({ name: `${at} a model with a long name`, values: ['0.5'] }));
  const { title, chart } = chartBlock({ title: 'x'.repeat(80), categories, series, currency: 'USD' });
  expect([title.length, chart.series.length, chart.axis_config.categories.length]).toEqual([50, 6, 20]);
  for (const { name, data } of chart.series) {
    expect(name.length).toBeLessThanOrEqual(20);
    expect(data.map(({ label }) => label)).toEqual(chart.axis_config.categories);
    expect(data.slice(0, 2).map(({ value }) => value)).toEqual([0.5, 0]);
  }
});
