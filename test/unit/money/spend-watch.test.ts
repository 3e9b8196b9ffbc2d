import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TeamNotice } from '#src/chat/team-notice.ts';
import { alertOfBudgets } from '#src/money/alerts/budget-alerts.ts';
import { type AlertDeps, Notices } from '#src/money/notices.ts';
import { SpendWatch } from '#src/money/spend-watch.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { newPseudonym } from '#src/tasks/forgotten.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { startJobs } from '../../fakes/jobs.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { FakePlatform } from '../../fakes/platform.ts';
import { type CrewMember, ReplicaCrew } from '../../fakes/replica-crew.ts';
import { pass } from '../../fakes/settle.ts';

const NOVEMBER_10 = Date.UTC(2026, 10, 10, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TEAM = 'team:fake:T1:2026-11:USD';

let clock: ManualClock;
let crew: ReplicaCrew;
let platform: FakePlatform;
let settings: Awaited<ReturnType<AlertDeps['settings']>>;
let sends: number;

beforeEach(() => at(NOVEMBER_10));

function at(nowMs: number): void {
  clock = new ManualClock(nowMs);
  crew = new ReplicaCrew(clock);
  platform = new FakePlatform();
  settings = { timeZone: 'UTC', alerts: true };
  sends = 0;
}

function replica(member: CrewMember = crew.join()) {
  const options = { store: member.store, clock: member.clock, logger: pino({ level: 'silent' }), random: () => 0.5 };
  const notices = new Notices({
    ...options,
    platforms: new Map([['fake', platform]]),
    reportChannel: async ({ team }) => (team === '' ? null : 'finance'),
    recipients: async () => [{ id: 'ops', name: 'ops' }],
    lost: () => undefined,
    filesOf: async () => ({ files: [], remove: async () => undefined }),
  });
  const deps: AlertDeps = {
    ...options,
    notices,
    catalog: () => parseCatalog(sandboxCatalog),
    settings: async () => settings,
    refunds: 'assumed',
    operatorsOn: ['fake'],
  };
  const watch = new SpendWatch(deps);
  startJobs(options, notices.job, watch.job);
  return { deps, watch };
}

async function budget(key: string, hard: Readonly<Record<string, string>>): Promise<void> {
  await crew.store.keyv('budgets').set(key, { revision: 1, hard, soft: {} });
}

async function spend(sum: string, add: { held?: bigint; settled?: bigint; doubted?: bigint }): Promise<void> {
  await crew.store.commit({ records: [], sums: [{ sum, add }] });
}

/** Books a send of the team in the ledger and in its sum. */
async function send(
  state: LedgerEntry['state'],
  createdAtMs: number,
  { amount = '0.30', ...more }: Partial<LedgerEntry> = {},
) {
  sends += 1;
  const period = more.period ?? new Date(createdAtMs).toISOString().slice(0, 7);
  const key = `task-${sends}:1`;
  const value = {
    task: `task-${sends}` as TaskId,
    send: 1,
    platform: 'fake',
    team: 'T1',
    channel: 'clips',
    user: 'ada',
    userName: 'Ada',
    model: 'swift-1',
    currency: 'USD',
    state,
    createdAtMs,
    amount,
    ...more,
  };
  const part = ({ settled: 'settled', reserved: 'held', in_doubt: 'doubted' } as const)[state as 'settled'];
  await crew.store.commit({
    records: [{ namespace: 'ledger', key, value, expected: 'any' }],
    index: [{ index: `spend:fake:T1:${period}`, member: key, score: createdAtMs }],
    sums: [{ sum: `team:fake:T1:${period}:USD`, add: part === undefined ? {} : { [part]: millionths(amount) } }],
  });
}

const millionths = (amount: string): bigint => BigInt(Math.round(Number(amount) * 1e6));
const posted = (): readonly TeamNotice[] => platform.notices.map(({ view }) => view as TeamNotice);
const percents = () => posted().map((view) => (view.kind === 'budget_alert' ? view.percent : view.kind));
const hours = (count: number) => pass(clock, count * HOUR_MS, 60_000);

describe('alerts of a budget', () => {
  it('are sent seconds after the change, with the amounts and the day it runs out', async () => {
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '100000000' });
    await spend(TEAM, { settled: 77_400_000n, held: 3_000_000n });
    watch.sumsChanged([TEAM]);
    await pass(clock, 10_000, 500);
    expect(posted()).toEqual([
      {
        kind: 'budget_alert',
        scope: { kind: 'team' },
        period: '2026-11',
        currency: 'USD',
        percent: 80,
        limit: '100',
        used: '80.4',
        held: '3',
        refunds: 'assumed',
        doubted: '0',
        // 80.4 of 100 in the 820,802 s until the alert.
        runsOutAtMs: Date.UTC(2026, 10, 1) + Math.floor((820_802_000 * 100) / 80.4),
        timeZone: 'UTC',
      },
    ]);
    expect(platform.notices[0]?.place.channel).toBe('finance');
  });

  it('are sent for each threshold once, and for the highest one that a change passes', async () => {
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    for (const add of [490_000n, 10_000n, 100_000n, 250_000n, 150_000n, 100_000n]) {
      await spend(TEAM, { settled: add });
      watch.sumsChanged([TEAM]);
      await pass(clock, 10_000, 500);
    }
    await hours(24);
    expect(percents()).toEqual([50, 80, 100]);
  });

  it('skip the lower thresholds when one change passes several', async () => {
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { settled: 1_000_000n });
    watch.sumsChanged([TEAM]);
    await hours(1);
    expect(percents()).toEqual([100]);
  });

  it('are found by the sweep where the replica died before it checked', async () => {
    replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { doubted: 600_000n });
    await hours(1);
    expect(percents()).toEqual([50]);
  });

  it('are sent once by four replicas, one of which is killed in between', async () => {
    const members = Array.from({ length: 4 }, () => crew.join());
    const replicas = members.map((member) => replica(member));
    await budget('team:fake:T1', { USD: '1000000' });
    platform.dies('notify', 'after');
    for (const add of [500_000n, 300_000n, 200_000n]) {
      await spend(TEAM, { settled: add });
      for (const { watch } of replicas) watch.sumsChanged([TEAM]);
      await pass(clock, 10_000, 500);
      members.shift()?.kill();
    }
    await hours(2);
    expect(percents()).toEqual([50, 80, 100]);
  });

  it('are armed above the present use by a changed limit', async () => {
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { settled: 850_000n });
    watch.sumsChanged([TEAM]);
    await hours(1);
    await budget('team:fake:T1', { USD: '1050000' });
    await hours(1);
    expect(percents()).toEqual([80]);
    await spend(TEAM, { settled: 200_000n });
    await hours(1);
    await budget('team:fake:T1', { USD: '2000000' });
    await hours(1);
    await budget('team:fake:T1', { USD: '1000000' });
    await hours(1);
    expect(percents()).toEqual([80, 100]);
  });

  it('are not repeated when the use falls and rises again', async () => {
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    for (const add of [850_000n, -300_000n, 300_000n]) {
      await spend(TEAM, { settled: add });
      watch.sumsChanged([TEAM]);
      await hours(1);
    }
    expect(percents()).toEqual([80]);
  });

  it('start anew in the next month', async () => {
    replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { settled: 600_000n });
    await hours(1);
    clock.step(21 * DAY_MS);
    await spend('team:fake:T1:2026-12:USD', { settled: 600_000n });
    await hours(1);
    expect(percents().filter((kind) => kind !== 'report')).toEqual([50, 50]);
  });

  it('cost nothing for the sums of past months', async () => {
    await budget('team:fake:T1', { USD: '1000000' });
    const past = ['2026-10', '2025-11', '2026-12'].map((period) => `team:fake:T1:${period}:USD`);
    for (const sum of [...past, TEAM]) await spend(sum, { settled: 600_000n });
    const read: string[] = [];
    const store = crew.join().store;
    const sums = store.sums.bind(store);
    store.sums = (names) => {
      read.push(...names);
      return sums(names);
    };
    await alertOfBudgets({ ...replica().deps, store }, [...past, TEAM]);
    expect(read).toEqual([TEAM]);
  });

  it('reach the channel, the person and the operators that they are about', async () => {
    const { watch } = replica();
    const limits = ['deployment', 'channel:fake:T1:clips', 'everyone:fake:T1'];
    for (const key of limits) await budget(key, { USD: '1000000' });
    const sums = ['deployment:2026-11:USD', 'channel:fake:T1:clips:2026-11:USD', 'person:fake:T1:ada:2026-11:USD'];
    for (const sum of sums) await spend(sum, { settled: 600_000n });
    watch.sumsChanged(sums);
    await hours(1);
    const scopes = platform.notices.map(({ place, view }) => [
      place.channel,
      view.kind === 'budget_alert' ? view.scope.kind : '',
    ]);
    expect(scopes.toSorted(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
      ['clips', 'channel'],
      ['direct-ada', 'person'],
      ['direct-ops', 'deployment'],
    ]);
  });

  it('are not sent to the pseudonym of a forgotten person', async () => {
    const { watch } = replica();
    await budget('everyone:fake:T1', { USD: '1000000' });
    const theirs = `person:fake:T1:${newPseudonym('7f3a').id}:2026-11:USD`;
    for (const sum of [theirs, 'person:fake:T1:ada:2026-11:USD']) await spend(sum, { settled: 600_000n });
    watch.sumsChanged([theirs]);
    await hours(1);
    expect(platform.notices.map(({ place }) => place.channel)).toEqual(['direct-ada']);
  });

  it.each([
    ['there is none', {}, 'USD'],
    ['it is in another currency', { EUR: '1000000' }, 'USD'],
    ['it is 0', { USD: '0' }, 'USD'],
  ] as const)('are not sent where the limit does not apply: %s', async (_name, hard, currency) => {
    const { watch } = replica();
    await budget('team:fake:T1', hard);
    await spend(`team:fake:T1:2026-11:${currency}`, { settled: 600_000n });
    watch.sumsChanged([TEAM]);
    await hours(1);
    expect(posted()).toEqual([]);
  });

  it('are not sent where they are turned off', async () => {
    settings = { timeZone: 'UTC', alerts: false };
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { settled: 600_000n });
    watch.sumsChanged([TEAM]);
    await hours(1);
    expect(posted()).toEqual([]);
  });

  it('name no day on the first day of a month', async () => {
    at(Date.UTC(2026, 10, 1, 6));
    const { watch } = replica();
    await budget('team:fake:T1', { USD: '1000000' });
    await spend(TEAM, { settled: 600_000n });
    watch.sumsChanged([TEAM]);
    await pass(clock, 10_000, 500);
    expect(posted()).toMatchObject([{ percent: 50, runsOutAtMs: null }]);
  });
});

describe('the report of a month', () => {
  const OCTOBER_20 = Date.UTC(2026, 9, 20, 12);

  it('is posted once after the end of the month in the team’s time zone', async () => {
    at(Date.UTC(2026, 9, 31, 20));
    settings = { timeZone: 'Europe/Berlin', alerts: true };
    replica();
    replica();
    await send('settled', OCTOBER_20);
    await send('refunded', OCTOBER_20);
    await hours(2);
    expect(posted()).toEqual([]);
    await hours(72);
    expect(posted()).toMatchObject([
      {
        kind: 'report',
        period: '2026-10',
        totals: [{ spent: '0.3', clips: 1, refunded: '0.3', refundedClips: 1 }],
        skipped: [],
      },
    ]);
  });

  it('is posted on the 3rd where the bot was down from the 1st', async () => {
    at(Date.UTC(2026, 10, 3, 9));
    await send('settled', OCTOBER_20);
    replica();
    await hours(48);
    expect(posted()).toMatchObject([{ kind: 'report', period: '2026-10' }]);
  });

  it('names the month that was skipped where the bot was down for two', async () => {
    at(Date.UTC(2026, 8, 10));
    const before = crew.join();
    replica(before);
    await send('settled', Date.UTC(2026, 8, 10));
    await hours(1);
    before.kill();
    await send('settled', Date.UTC(2026, 9, 2));
    clock.step(Date.UTC(2026, 10, 12) - clock.now());
    await pass(clock, 120_000, 1_000);
    replica();
    await hours(48);
    expect(posted()).toMatchObject([{ kind: 'report', period: '2026-10', skipped: ['2026-09'] }]);
  });

  it('is not posted for the months before the bot sent reports', async () => {
    at(Date.UTC(2026, 10, 20));
    await send('settled', OCTOBER_20);
    await send('settled', Date.UTC(2026, 5, 20));
    replica();
    await hours(48);
    expect(posted()).toEqual([]);
    await send('settled', Date.UTC(2026, 10, 21));
    clock.step(15 * DAY_MS);
    await hours(1);
    expect(posted()).toMatchObject([{ kind: 'report', period: '2026-11', skipped: [] }]);
  });

  it('of a new team with a single day says just that', async () => {
    at(Date.UTC(2026, 9, 31, 12));
    replica();
    await send('settled', Date.UTC(2026, 9, 31, 11));
    await hours(24);
    expect(posted()).toMatchObject([
      {
        totals: [{ spent: '0.3', clips: 1 }],
        rows: [{ person: { name: 'Ada' }, model: 'Swift 1', clips: 1 }],
        moreRows: 0,
      },
    ]);
  });

  it('is corrected once clips fail after it', async () => {
    at(Date.UTC(2026, 9, 31, 22));
    replica();
    await send('settled', OCTOBER_20);
    await send('reserved', Date.UTC(2026, 9, 31, 23));
    await send('reserved', Date.UTC(2026, 9, 31, 23));
    await hours(3);
    expect(posted()).toMatchObject([{ kind: 'report', totals: [{ spent: '0.9', held: '0.6', clips: 3 }] }]);
    for (const task of ['task-2', 'task-3']) {
      const ledger = crew.store.keyv('ledger');
      const entry = await ledger.get<LedgerEntry>(`${task}:1`);
      await ledger.set(`${task}:1`, { ...entry, state: 'refunded' });
      await spend('team:fake:T1:2026-10:USD', { held: -300_000n });
    }
    await hours(48);
    expect(posted().slice(1)).toEqual([
      { kind: 'correction', period: '2026-10', currency: 'USD', change: '-0.6', failed: 2, billed: 0 },
    ]);
  });

  it('is not corrected when clips in progress finish as expected', async () => {
    at(Date.UTC(2026, 9, 31, 22));
    replica();
    await send('reserved', Date.UTC(2026, 9, 31, 23));
    await hours(3);
    const ledger = crew.store.keyv('ledger');
    await ledger.set('task-1:1', { ...(await ledger.get<LedgerEntry>('task-1:1')), state: 'settled' });
    await spend('team:fake:T1:2026-10:USD', { held: -300_000n, settled: 300_000n });
    await hours(48);
    expect(posted()).toHaveLength(1);
  });
});

describe('unusual spend', () => {
  beforeEach(() => {
    settings = { timeZone: 'UTC', alerts: true, unusualSpend: { amount: '1', currency: 'USD' } };
  });

  const days = async (amounts: readonly string[]): Promise<void> => {
    for (const [back, amount] of amounts.entries()) {
      if (amount !== '') await send('settled', NOVEMBER_10 - back * DAY_MS, { amount });
    }
  };
  const kinds = () => posted().filter(({ kind }) => kind === 'unusual_spend');

  it('is reported once a day, from three times the median on', async () => {
    replica();
    await days(['3', '1', '0.5', '', '2']);
    await hours(10);
    expect(kinds()).toEqual([
      { kind: 'unusual_spend', day: '2026-11-10', currency: 'USD', amount: '3', clips: 1, usual: '1' },
    ]);
  });

  it.each([
    ['below three times the median', ['2.9', '1', '0.5', '2']],
    ['with fewer than three usable days', ['9', '1', '', '1']],
    ['below the floor', ['0.9', '0.1', '0.1', '0.1']],
    ['of days longer ago than two weeks', ['9', '1', '1', ...Array(12).fill(''), '1']],
  ])('is not reported %s', async (_name, amounts) => {
    replica();
    await days(amounts as readonly string[]);
    await hours(3);
    expect(kinds()).toEqual([]);
  });

  it('is not reported where it is turned off', async () => {
    settings = { timeZone: 'UTC', alerts: true };
    replica();
    await days(['9', '1', '1', '1']);
    await hours(3);
    expect(kinds()).toEqual([]);
  });
});
