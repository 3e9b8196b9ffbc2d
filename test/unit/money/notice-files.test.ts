import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpendExport, TeamNotice } from '#src/chat/team-notice.ts';
import { describeChart } from '#src/money/reports/chart-picture.ts';
import { createNoticeFiles, type NoticeFilesOptions } from '#src/money/reports/notice-files.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { newTask } from '#test/fakes/tasks.ts';
import { spendReport } from '#test/fakes/views.ts';

const OF = { platform: 'slack', team: 'T1' };
const OCTOBER_3 = Date.UTC(2026, 9, 3, 12);
const EXPORT: SpendExport = { kind: 'export', period: '2026-10', who: null };

let directory: string;
let store: MemoryStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-files-'));
  store = new MemoryStore();
});

afterEach(() => rm(directory, { recursive: true }));

async function book(changes: Partial<LedgerEntry> = {}, task: Partial<Task> = {}): Promise<void> {
  const id = (changes.task ?? 'task-1') as TaskId;
  const entry = {
    task: id,
    send: 1,
    ...OF,
    channel: 'C1',
    user: 'U1',
    userName: 'Ada',
    model: 'swift-1',
    amount: '0.30',
    currency: 'USD',
    state: 'settled',
    createdAtMs: OCTOBER_3,
    ...changes,
  };
  const key = `${id}:${entry.send}`;
  await store.commit({
    records: [
      { namespace: 'ledger', key, value: entry, expected: 'any' },
      { namespace: 'tasks', key: id, value: newTask({ id, sends: 1, ...task }), expected: 'any' },
    ],
    index: [{ index: 'spend:slack:T1:2026-10', member: key, score: entry.createdAtMs }],
  });
}

/** Writes one line, of 10 bytes. */
const writePersonExport: NoticeFilesOptions['writePersonExport'] = ({ user }, path) =>
  writeFile(path, `{"u":"${user}"}`);

const clock = { now: () => Date.now() };
const filesOf = (changes: Partial<NoticeFilesOptions> = {}) =>
  createNoticeFiles({ store, directory, clock, writePersonExport, ...changes });

async function csvRows(notice: TeamNotice = EXPORT): Promise<readonly Readonly<Record<string, string>>[]> {
  const { files, remove } = await filesOf()(notice, OF, new FakePlatform());
  const text = await readFile(files.find(({ name }) => name.endsWith('.csv'))?.path ?? '', 'utf8');
  await remove();
  return parse(text, { columns: true, bom: true });
}

describe('the CSV', () => {
  it('has one row per send, with the names of FOCUS', async () => {
    const origin = newTask().origin;
    await book(
      {},
      { origin: { ...origin, audience: 'team' }, endedAtMs: OCTOBER_3 + 60_000, upstreamId: 'up-1' as never },
    );
    await book({ task: 'task-2' as TaskId, state: 'refunded', createdAtMs: OCTOBER_3 + 1 });
    const [first, second, ...rest] = await csvRows();
    expect(Object.keys(first ?? {})).toEqual([
      'ChargePeriodStart',
      'BillingPeriod',
      'BilledCost',
      'BillingCurrency',
      'ResourceId',
      'SkuId',
      'ConsumedQuantity',
      'ConsumedUnit',
      'x_State',
      'x_Task',
      'x_Send',
      'x_Person',
      'x_Channel',
      'x_Platform',
      'x_EndedAt',
      'ListCost',
    ]);
    expect(first).toMatchObject({
      ChargePeriodStart: '2026-10-03T12:00:00.000Z',
      BillingPeriod: '2026-10',
      BilledCost: '0.3',
      BillingCurrency: 'USD',
      ResourceId: 'up-1',
      SkuId: 'swift-1',
      ConsumedUnit: 'Seconds',
      x_State: 'billed',
      x_Task: 'task-1',
      x_Send: '1',
      x_Person: 'Ada',
      x_Channel: 'C1',
      x_Platform: 'slack',
      x_EndedAt: '2026-10-03T12:01:00.000Z',
    });
    expect(second).toMatchObject({ x_State: 'refunded', BilledCost: '0' });
    expect(rest).toEqual([]);
  });

  it('has what the service billed beside the price of the catalog', async () => {
    await book({ amount: '0.28', listed: '0.3' });
    expect(await csvRows()).toMatchObject([{ BilledCost: '0.28', ListCost: '0.3' }]);
  });

  it('counts a failed clip until its refund, if a statement has to show that', async () => {
    await book({ state: 'refunded', counted: 'held' });
    expect(await csvRows()).toMatchObject([{ x_State: 'awaiting refund', BilledCost: '0.3' }]);
  });

  it.each([
    '=HYPERLINK("https://evil.example","click")',
    '+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    'a "quoted", comma',
    'two\r\nlines',
    'عادة 🎬',
    '\u202Eevil',
  ])('takes the name %j as text', async (userName) => {
    await book({ userName });
    const [row] = await csvRows();
    const name = row?.['x_Person'] ?? '';
    expect(name.replace(/^'/, '')).toBe(userName);
    expect(name).not.toMatch(/^[=+\-@\t\r]/);
  });

  it('never names the channel of a private task, or of one whose audience is unknown', async () => {
    const { audience: _audience, ...origin } = newTask().origin;
    await book({}, { origin: { ...origin, audience: 'channel' } });
    await book({ task: 'task-2' as TaskId }, { origin });
    expect((await csvRows()).map((row) => row['x_Channel'])).toEqual(['', '']);
  });

  it('lists one person, or one channel, only', async () => {
    await book();
    await book({ task: 'task-2' as TaskId, user: 'U2', channel: 'C2' });
    const ids = async (notice: TeamNotice) => (await csvRows(notice)).map((row) => row['x_Task']);
    expect(await ids({ ...EXPORT, who: { id: 'U2', name: 'Ben' } })).toEqual(['task-2']);
    expect(await ids({ ...EXPORT, channel: 'C1' })).toEqual(['task-1']);
  });

  it('of an empty month has its header', async () => {
    const { files } = await filesOf()(EXPORT, OF, new FakePlatform());
    expect((await readFile(files[0]?.path ?? '', 'utf8')).trim()).toMatch(
      /^\uFEFF?ChargePeriodStart,.*x_EndedAt,ListCost$/,
    );
  });

  it('is compressed where the platform takes no file of its size', async () => {
    for (let at = 0; at < 200; at += 1) await book({ task: `task-${at}` as TaskId });
    const { files } = await filesOf()(EXPORT, OF, new FakePlatform());
    expect(files.map(({ name }) => name)).toEqual(['dailies-2026-10.csv.gz']);
    const text = gunzipSync(await readFile(files[0]?.path ?? '')).toString();
    expect(text.trim().split('\r\n')).toHaveLength(201);
  });
});

describe('the chart', () => {
  it('is a picture with its figures as alternative text', async () => {
    await book();
    const platform = new FakePlatform();
    platform.limits = { ...platform.limits, uploadBytes: 1_000_000 };
    const { files, remove } = await filesOf()(spendReport(), OF, platform);
    const [picture, csv] = files;
    expect([picture?.name, csv?.name]).toEqual(['dailies-2026-10.png', 'dailies-2026-10.csv']);
    expect(picture?.description).toBe('Bar chart. October by week, USD. 1–7: $0.30 swift-1; 8–14: $0.90 swift-1.');
    const bytes = await readFile(picture?.path ?? '');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect((await stat(picture?.path ?? '')).size).toBe(picture?.bytes);
    await remove();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is left to the platform where that draws it', async () => {
    const platform = new FakePlatform();
    platform.limits = { ...platform.limits, drawsCharts: true };
    const { files } = await filesOf()(spendReport(), OF, platform);
    expect(files.map(({ name }) => name)).toEqual(['dailies-2026-10.csv']);
  });

  it('describes a week without spend', () => {
    const chart = { title: 'October', categories: ['1–7'], series: [{ name: 'a', values: ['0'] }], currency: 'USD' };
    expect(describeChart(chart)).toBe('Bar chart. October. 1–7: nothing.');
  });
});

it('other notices have no files', async () => {
  const correction = {
    kind: 'correction',
    period: '2026-10',
    currency: 'USD',
    change: '-1',
    failed: 1,
    billed: 0,
  } as const;
  const { files } = await filesOf()(correction, OF, new FakePlatform());
  expect(files).toEqual([]);
});

describe('the data of a person', () => {
  const notice = { kind: 'person_export', person: { id: 'U1', name: 'Ada' } } as const;

  it('are one file of theirs, compressed where the platform takes no more', async () => {
    const platform = new FakePlatform();
    const whole = await filesOf()(notice, OF, platform);
    expect(whole.files).toMatchObject([{ name: 'dailies-my-data.jsonl', bytes: 10 }]);
    expect(await readFile(whole.files[0]?.path ?? '', 'utf8')).toBe('{"u":"U1"}');
    await whole.remove();
    platform.limits = { ...platform.limits, uploadBytes: 9 };
    const small = await filesOf()(notice, OF, platform);
    expect(small.files).toMatchObject([{ name: 'dailies-my-data.jsonl.gz', contentType: 'application/gzip' }]);
    expect(gunzipSync(await readFile(small.files[0]?.path ?? '')).toString()).toBe('{"u":"U1"}');
    await small.remove();
    expect(await readdir(directory)).toEqual([]);
  });

  it('are no file where nothing is stored', async () => {
    const nothing = filesOf({ writePersonExport: (_, path) => writeFile(path, '') });
    expect((await nothing(notice, OF, new FakePlatform())).files).toEqual([]);
  });
});

it('deletes what a killed process left: at the start if it was alone, else after an hour', async () => {
  const leave = async (): Promise<void> => {
    await mkdir(join(directory, 'notice-1'));
    await writeFile(join(directory, 'notice-1', 'my-data.jsonl'), 'everything');
  };
  await leave();
  store = new MemoryStore(false);
  let nowMs = Date.now();
  const shared = createNoticeFiles({ store, directory, clock: { now: () => nowMs }, writePersonExport });
  const build = async () => (await shared(EXPORT, OF, new FakePlatform())).remove();
  await build();
  expect(await readdir(directory)).toEqual(['notice-1']);
  nowMs += 3_700_000;
  await build();
  expect(await readdir(directory)).toEqual([]);
  await leave();
  store = new MemoryStore();
  const { remove } = await filesOf()(EXPORT, OF, new FakePlatform());
  await remove();
  expect(await readdir(directory)).toEqual([]);
});
