import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform, Upload } from '../../chat/platform.ts';
import type { BarChart, TeamNotice } from '../../chat/team-notice.ts';
import type { Store } from '../../store/store.ts';
import type { NoticeFiles, NoticeTeam } from '../notices.ts';
import { type CsvQuery, writeSpendCsv } from './spend-csv.ts';

/** Options of {@link createNoticeFiles}. */
export interface NoticeFilesOptions {
  readonly store: Store;
  /** Folder for the files while they are uploaded. */
  readonly directory: string;
}

/** Creates the builder of the files of notices: the ledger as CSV, and the chart where the platform draws none. */
export function createNoticeFiles({ store, directory }: NoticeFilesOptions) {
  return async (notice: TeamNotice, of: NoticeTeam, { limits }: Platform): Promise<NoticeFiles> => {
    if (notice.kind !== 'report' && notice.kind !== 'export') return { files: [], remove: async () => undefined };
    const folder = join(directory, `notice-${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    const remove = () => rm(folder, { recursive: true, force: true });
    try {
      const chart = notice.kind === 'report' && !limits.drawsCharts ? notice.chart : null;
      const pictures = chart === null ? [] : [await pictureOf(chart, notice.period, folder)];
      const query = {
        ...of,
        month: notice.period,
        ...(notice.kind === 'export' ? { user: notice.who?.id, channel: notice.channel } : {}),
      };
      const csv = await csvOf(store, query, { folder, maxBytes: limits.uploadBytes });
      return { files: [...pictures, csv], remove };
    } catch (thrown) {
      await remove();
      throw thrown;
    }
  };
}

async function pictureOf(chart: BarChart, period: string, folder: string): Promise<Upload> {
  // The chart library is loaded only where a chart is drawn.
  const { describeChart, drawChart } = await import('./chart-picture.ts');
  const picture = await drawChart(chart);
  const name = `dailies-${period}.png`;
  const path = join(folder, name);
  await writeFile(path, picture);
  return { path, name, bytes: picture.length, contentType: 'image/png', description: describeChart(chart) };
}

/** Writes the CSV; compressed if it is larger than the platform takes. */
async function csvOf(
  store: Store,
  query: CsvQuery,
  { folder, maxBytes }: { readonly folder: string; readonly maxBytes: number },
): Promise<Upload> {
  const name = `dailies-${query.month}.csv`;
  const path = join(folder, name);
  const description = `Spend in ${query.month}, one row for each time a clip was sent to the service`;
  const bytes = await writeSpendCsv(store, query, path);
  if (bytes <= maxBytes) return { path, name, bytes, contentType: 'text/csv', description };
  const [gzPath, gzName] = [`${path}.gz`, `${name}.gz`];
  const gzBytes = await writeSpendCsv(store, query, gzPath, true);
  return { path: gzPath, name: gzName, bytes: gzBytes, contentType: 'application/gzip', description };
}
