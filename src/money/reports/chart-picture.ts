import type { ChartConfiguration } from 'chart.js';
import type { BarChart } from '../../chat/index.ts';
import { FONTS, loadFonts } from '../../fonts.ts';
import { formatPrice } from '../../tasks/index.ts';

/** Twice the size at which chats show it, for dense screens. */
const WIDTH = 1280;
const HEIGHT = 640;
const FONT_PX = 26;

/**
 * Colours of the series, readable on each other and for people who do not tell red from green.
 * @see https://davidmathlogic.com/colorblind (Okabe and Ito)
 */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#8c8c8c'];
/** The picture has a background of its own, so that it reads the same in dark and light chats. */
const PAPER = '#ffffff';
const INK = '#1f2328';
const GRID = '#d0d7de';

/**
 * Draws a chart as a PNG. Loads the chart library and the canvas at the first call, since most processes never draw.
 */
export async function drawChart(chart: BarChart): Promise<Buffer> {
  const [{ createCanvas }, { BarController, BarElement, CategoryScale, Chart, Legend, LinearScale, Title }] =
    await Promise.all([import('@napi-rs/canvas'), import('chart.js')]);
  loadFonts();
  Chart.register(BarController, BarElement, CategoryScale, Legend, LinearScale, Title);
  const canvas = createCanvas(WIDTH, HEIGHT);
  const drawn = new Chart(canvas as unknown as HTMLCanvasElement, configurationOf(chart));
  try {
    return await canvas.encode('png');
  } finally {
    drawn.destroy();
  }
}

function configurationOf({ title, categories, series, currency }: BarChart): ChartConfiguration<'bar'> {
  const font = { family: FONTS.text, size: FONT_PX };
  const price = (value: number | string): string => formatPrice({ amount: String(value), currency });
  return {
    type: 'bar',
    data: {
      labels: [...categories],
      datasets: series.map(({ name, values }, at) => ({
        label: name,
        // The height of a bar: the only place where an amount becomes a float.
        data: values.map(Number),
        backgroundColor: COLOURS[at % COLOURS.length] ?? INK,
      })),
    },
    options: {
      responsive: false,
      animation: false,
      devicePixelRatio: 1,
      layout: { padding: 28 },
      scales: {
        x: { stacked: true, grid: { display: false }, ticks: { color: INK, font } },
        y: {
          stacked: true,
          beginAtZero: true,
          grid: { color: GRID },
          ticks: { color: INK, font, maxTicksLimit: 6, callback: (value) => price(value) },
        },
      },
      plugins: {
        legend: { position: 'bottom', labels: { color: INK, font, boxWidth: FONT_PX, boxHeight: FONT_PX } },
        title: { display: true, text: title, color: INK, font: { ...font, family: FONTS.title, size: FONT_PX + 6 } },
      },
    },
    plugins: [
      {
        id: 'paper',
        beforeDraw: ({ ctx, width, height }) => {
          ctx.save();
          ctx.fillStyle = PAPER;
          ctx.fillRect(0, 0, width, height);
          ctx.restore();
        },
      },
    ],
  };
}

/** Describes a chart in words, as alternative text: its title, then the amount of each category. */
export function describeChart({ title, categories, series, currency }: BarChart): string {
  const bars = categories.map((category, at) => {
    const parts = series
      .map(({ name, values }) => ({ name, amount: values[at] ?? '0' }))
      .filter(({ amount }) => Number(amount) !== 0)
      .map(({ name, amount }) => `${formatPrice({ amount, currency })} ${name}`);
    return `${category}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
  });
  return `Bar chart. ${title}. ${bars.join('; ')}.`;
}
