import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type BarChart, isOnlyFile, type Platform, type TeamNotice, type Upload } from '../../chat/index.ts';
import type { Clock } from '../../clock.ts';
import type { Store } from '../../engine/index.ts';
import type { MemberKey, TeamKey } from '../../teams/index.ts';
import type { NoticeFiles } from '../notices.ts';
import { type CsvQuery, writeSpendCsv } from './spend-csv.ts';

/** Options of {@link createNoticeFiles}. */
export interface NoticeFilesOptions {
  readonly store: Store;
  /** Folder for the files while they are uploaded. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Writes what is stored about a person to a file. */
  readonly writePersonExport: (person: MemberKey, path: string) => Promise<void>;
}

/** Age at which files count as left by a process that died while it uploaded them. */
const ABANDONED_MS = 3_600_000;

/**
 * Creates the builder of the files of notices: the ledger as CSV, the chart where the platform draws none, and what is
 * stored about a person. Deletes those that a killed process left: at the start where no other process shares the store,
 * else with the next notice after an hour.
 */
export function createNoticeFiles({ store, directory, clock, writePersonExport }: NoticeFilesOptions) {
  let swept = store.exclusive ? removeAbandoned(directory, Number.POSITIVE_INFINITY) : Promise.resolve();
  return async (notice: TeamNotice, of: TeamKey, { limits }: Platform): Promise<NoticeFiles> => {
    if (notice.kind !== 'report' && !isOnlyFile(notice)) return { files: [], remove: async () => undefined };
    swept = swept.then(() => removeAbandoned(directory, clock.now() - ABANDONED_MS));
    await swept;
    const folder = join(directory, `notice-${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    const remove = () => rm(folder, { recursive: true, force: true });
    try {
      if (notice.kind === 'person_export') {
        const write = (path: string) => writePersonExport({ ...of, user: notice.person.id }, path);
        const file = await fittingFile(PERSON_EXPORT, { folder, maxBytes: limits.uploadBytes, write });
        // Platforms refuse an empty file.
        return { files: file.bytes === 0 ? [] : [file], remove };
      }
      const chart = notice.kind === 'report' && !limits.drawsCharts ? notice.chart : null;
      const pictures = chart === null ? [] : [await pictureOf(chart, notice.period, folder)];
      const query: CsvQuery = {
        ...of,
        month: notice.period,
        ...(notice.kind === 'export' ? { user: notice.who?.id, channel: notice.channel } : {}),
      };
      const write = (path: string) => writeSpendCsv(store, query, path);
      const csv = await fittingFile(csvFile(query), { folder, maxBytes: limits.uploadBytes, write });
      return { files: [...pictures, csv], remove };
    } catch (thrown) {
      await remove();
      throw thrown;
    }
  };
}

/** Deletes what was last changed before a time. Never rejects: what cannot be deleted now is tried again. */
async function removeAbandoned(directory: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < beforeMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
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

/** Name, type and description of a file that is compressed if it has to be. */
type Written = Pick<Upload, 'name' | 'contentType' | 'description'>;

const PERSON_EXPORT: Written = {
  name: 'dailies-my-data.jsonl',
  contentType: 'application/x-ndjson',
  description: 'What Dailies stores about you, one JSON object per line',
};

interface FittingFile {
  readonly folder: string;
  readonly maxBytes: number;
  readonly write: (path: string) => Promise<void>;
}

/** Writes a file; compressed if it is larger than the platform takes. */
async function fittingFile(
  { name, contentType, description }: Written,
  { folder, maxBytes, write }: FittingFile,
): Promise<Upload> {
  const path = join(folder, name);
  await write(path);
  const { size: bytes } = await stat(path);
  if (bytes <= maxBytes) return { path, name, bytes, contentType, description };
  const [gzPath, gzName] = [`${path}.gz`, `${name}.gz`];
  await pipeline(createReadStream(path), createGzip(), createWriteStream(gzPath));
  const { size: gzBytes } = await stat(gzPath);
  return { path: gzPath, name: gzName, bytes: gzBytes, contentType: 'application/gzip', description };
}

function csvFile({ month }: CsvQuery): Written {
  const description = `Spend in ${month}, one row for each time a clip was sent to the service`;
  return { name: `dailies-${month}.csv`, contentType: 'text/csv', description };
}
