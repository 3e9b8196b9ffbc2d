import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Upload } from '#src/chat/platform.ts';
import { type NoticeOrder, Notices, type NoticesOptions } from '#src/money/notices.ts';
import type { Person } from '#src/tasks/task.ts';
import { startJobs } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { type CrewMember, ReplicaCrew } from '#test/fakes/replica-crew.ts';
import { pass } from '#test/fakes/settle.ts';
import { spendReport } from '#test/fakes/views.ts';

const ADA: Person = { id: 'ada', name: 'Ada' };
const BEN: Person = { id: 'ben', name: 'Ben' };
const OF = { platform: 'fake', team: 'T1' };
const REPORT: NoticeOrder = { key: ['report', 'T1', '2026-10'], of: OF, to: { kind: 'team' }, notice: spendReport() };
const FILE: Upload = { path: '/none', bytes: 3, contentType: 'text/csv', name: 'spend.csv', description: 'rows' };

let clock: ManualClock;
let crew: ReplicaCrew;
let platform: FakePlatform;
let logged: { readonly event: string; readonly level: number }[];

beforeEach(() => {
  clock = new ManualClock();
  crew = new ReplicaCrew(clock);
  platform = new FakePlatform();
  logged = [];
});

function noticesOf({ store, clock }: CrewMember, changes: Partial<NoticesOptions> = {}): Notices {
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  return new Notices({
    store,
    clock,
    random: () => 0.5,
    logger,
    platforms: new Map([['fake', platform]]),
    reportChannel: async () => 'finance',
    recipients: async () => [ADA, BEN],
    lost: () => undefined,
    filesOf: async () => ({ files: [], remove: async () => undefined }),
    ...changes,
  });
}

/** Starts the outbox of one more replica. */
function startOutbox(): Notices {
  const member = crew.join();
  const notices = noticesOf(member);
  startJobs(member, notices.job);
  return notices;
}

/** Starts the outbox of one replica, with a claimed report. */
async function start(changes: Partial<NoticesOptions> = {}, order = REPORT): Promise<Notices> {
  const member = crew.join();
  const notices = noticesOf(member, changes);
  await crew.store.commit(notices.claim(order));
  startJobs(member, notices.job);
  return notices;
}

const channels = (): readonly string[] => platform.notices.map(({ place }) => place.channel);
const events = (): readonly string[] => logged.map(({ event }) => event);
const waiting = (): Promise<number> => crew.store.count('notices');

describe('a notice', () => {
  it('is awaited for a second, and posted once where that takes longer', async () => {
    const notices = noticesOf(crew.join());
    const release = platform.stalls('notify');
    const order = { ...REPORT, to: { kind: 'person', person: ADA } } as const;
    const outcome = notices.postNow(order);
    await pass(clock, 1_000, 100);
    expect(await outcome).toBe('waiting');
    release();
    await pass(clock, 1_000, 100);
    expect(await notices.postNow(order)).toBe('posted');
    expect(channels()).toEqual(['direct-ada']);
  });

  it('is posted once in the report channel', async () => {
    await start();
    await pass(clock, 60_000, 1_000);
    expect(channels()).toEqual(['finance']);
    expect(platform.notices[0]).toMatchObject({ mention: null, replyTo: null, view: { kind: 'report' } });
    expect([await waiting(), platform.countOf('notify')]).toEqual([0, 1]);
  });

  it('is claimed once', async () => {
    const notices = await start();
    expect(await crew.store.commit(notices.claim(REPORT))).toBe(false);
    await pass(clock, 60_000, 1_000);
    expect(await crew.store.commit(notices.claim(REPORT))).toBe(false);
    expect(channels()).toHaveLength(1);
  });

  it('is posted once by four replicas, one of which dies after it posted', async () => {
    const members = Array.from({ length: 4 }, () => crew.join());
    const all = members.map((member) => ({ member, notices: noticesOf(member) }));
    platform.dies('notify', 'after');
    await crew.store.commit(all[0]?.notices.claim(REPORT) ?? { records: [] });
    for (const { member, notices } of all) startJobs(member, notices.job);
    await pass(clock, 6_000, 1_000);
    expect([platform.countOf('notify'), await waiting()]).toEqual([1, 1]);
    members[0]?.kill();
    await pass(clock, 120_000, 1_000);
    expect([platform.notices.length, platform.countOf('notify'), await waiting()]).toEqual([1, 2, 0]);
  });

  it('is retried with backoff after a passing failure', async () => {
    for (let times = 0; times < 3; times += 1)
      platform.fails('notify', 'before', platformError('platform_unavailable'));
    await start();
    await pass(clock, 20_000, 1_000);
    expect(platform.countOf('notify')).toBeLessThan(4);
    await pass(clock, 60_000, 1_000);
    expect([platform.notices.length, platform.countOf('notify'), await waiting()]).toEqual([1, 4, 0]);
  });

  it('waits for as long as the platform asks', async () => {
    platform.fails('notify', 'before', platformError('rate_limited', { retryAfterMs: 120_000 }));
    await start();
    await pass(clock, 115_000, 1_000);
    expect(channels()).toEqual([]);
    await pass(clock, 20_000, 1_000);
    expect(channels()).toEqual(['finance']);
  });

  it.each(['message_gone', 'missing_permission'] as const)(
    'goes to the administrators where its channel answers %s',
    async (code) => {
      platform.fails('notify', 'before', platformError(code, { retryable: false }));
      await start();
      await pass(clock, 10_000, 1_000);
      expect(channels()).toEqual(['direct-ada', 'direct-ben']);
      expect(platform.notices.map(({ onlyFor }) => onlyFor)).toEqual([ADA, BEN]);
      expect(events()).toEqual(['notice_redirected']);
    },
  );

  it('goes to the administrators where there is no report channel, to those who can be reached', async () => {
    platform.fails('notify', 'before', platformError('missing_permission', { retryable: false }));
    await start({ reportChannel: async () => null });
    await pass(clock, 10_000, 1_000);
    expect(channels()).toEqual(['direct-ben']);
  });

  it('is given up with one log line where no one can be reached', async () => {
    let lost = 0;
    const count = () => {
      lost += 1;
    };
    await start({ reportChannel: async () => null, recipients: async () => [], lost: count });
    await pass(clock, 24 * 3_600_000, 60_000);
    expect([events(), await waiting(), channels(), lost]).toEqual([['notice_undeliverable'], 0, [], 1]);
  });

  it('is given up after a week of failures', async () => {
    await start({ platforms: new Map([['fake', platform]]) });
    for (let times = 0; times < 2_000; times += 1)
      platform.fails('notify', 'before', platformError('platform_unavailable'));
    await pass(clock, 8 * 24 * 3_600_000, 300_000);
    expect([events().at(-1), await waiting()]).toEqual(['notice_undeliverable', 0]);
    const calls = platform.countOf('notify');
    await pass(clock, 24 * 3_600_000, 300_000);
    expect(platform.countOf('notify')).toBe(calls);
  });

  it('of a person’s own limit goes to that person alone', async () => {
    await start({}, { ...REPORT, to: { kind: 'person', person: BEN } });
    await pass(clock, 10_000, 1_000);
    expect(platform.notices).toMatchObject([{ place: { channel: 'direct-ben' }, onlyFor: BEN }]);
  });

  it('of a channel’s limit goes to that channel', async () => {
    await start({}, { ...REPORT, to: { kind: 'channel', channel: 'clips' } });
    await pass(clock, 10_000, 1_000);
    expect(channels()).toEqual(['clips']);
  });

  it('does not hold up the others while it fails', async () => {
    platform.fails('notify', 'before', platformError('platform_unavailable'));
    const notices = await start();
    await crew.store.commit(notices.claim({ ...REPORT, key: ['other'] }));
    await pass(clock, 6_000, 1_000);
    expect(platform.notices).toHaveLength(1);
  });
});

describe('the files of a notice', () => {
  const built = (removed: { count: number }) => async () => ({
    files: [FILE],
    remove: async () => {
      removed.count += 1;
    },
  });

  it('are attached, and removed afterwards', async () => {
    const removed = { count: 0 };
    await start({ filesOf: built(removed) });
    await pass(clock, 10_000, 1_000);
    expect(platform.notices[0]?.files).toEqual([FILE]);
    expect(removed.count).toBe(1);
  });

  it('are left out where the platform refuses them', async () => {
    platform.fails('notify', 'before', platformError('too_large', { retryable: false }));
    await start({ filesOf: built({ count: 0 }) });
    await pass(clock, 10_000, 1_000);
    expect(platform.notices.map(({ files, place }) => [files, place.channel])).toEqual([[undefined, 'finance']]);
    expect(events()).toEqual(['notice_files_refused']);
  });

  it('are left out where they cannot be built', async () => {
    await start({ filesOf: () => Promise.reject(new TypeError('no font')) });
    await pass(clock, 10_000, 1_000);
    expect(channels()).toEqual(['finance']);
    expect(events()).toEqual(['notice_files_failed']);
  });
});

describe('a notice that someone waits for', () => {
  const order: NoticeOrder = {
    key: ['export', 'interaction-1'],
    of: OF,
    to: { kind: 'person', person: ADA },
    notice: { kind: 'export', period: '2026-10', who: null },
  };

  it('is posted at once, and only once', async () => {
    const notices = noticesOf(crew.join());
    expect(await notices.postNow(order)).toBe('posted');
    expect(await notices.postNow(order)).toBe('posted');
    expect(platform.countOf('notify')).toBe(1);
  });

  it('is posted by one replica while the sweep of another runs', async () => {
    startOutbox();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const files = { files: [], remove: async () => undefined };
    const posting = noticesOf(crew.join(), { filesOf: () => gate.then(() => files) }).postNow(order);
    await pass(clock, 15_000, 1_000);
    expect(platform.countOf('notify')).toBe(0);
    expect(await noticesOf(crew.join()).postNow(order)).toBe('waiting');
    open();
    expect(await posting).toBe('waiting');
    await pass(clock, 1_000, 100);
    expect(await noticesOf(crew.join()).postNow(order)).toBe('posted');
    expect(platform.countOf('notify')).toBe(1);
  });

  it('is posted by another replica where the one that claimed it died', async () => {
    const member = crew.join();
    const dying = noticesOf(member, { filesOf: () => new Promise(() => undefined) }).postNow(order);
    dying.catch(() => undefined);
    await pass(clock, 1_000, 100);
    member.kill();
    startOutbox();
    await pass(clock, 60_000, 1_000);
    expect(channels()).toEqual(['direct-ada']);
  });

  it('says to a person of whom nothing is stored that there is nothing', async () => {
    const notices = noticesOf(crew.join());
    const to = { kind: 'person', person: ADA, near: 'clips' } as const;
    await notices.postNow({ key: ['mine'], of: OF, to, notice: { kind: 'person_export', person: ADA } });
    expect(platform.notices[0]?.view).toMatchObject({ kind: 'person_export', isEmpty: true });
  });

  it('reports that the person cannot be reached', async () => {
    const notices = noticesOf(crew.join());
    platform.fails('notify', 'before', platformError('missing_permission', { retryable: false, isUnreachable: true }));
    expect(await notices.postNow(order)).toBe('undeliverable');
    expect([events(), await waiting()]).toEqual([['notice_not_accepted'], 0]);
  });

  it('reports a file that the chat refuses as failed: the person’s direct messages are open', async () => {
    const notices = noticesOf(crew.join());
    platform.fails('notify', 'before', platformError('missing_permission', { retryable: false }));
    expect(await notices.postNow(order)).toBe('failed');
    expect([events(), await waiting()]).toEqual([['notice_not_accepted'], 0]);
  });

  it('is posted later where the platform is away, as the answer says', async () => {
    const notices = startOutbox();
    platform.fails('notify', 'before', platformError('platform_unavailable'));
    expect(await notices.postNow(order)).toBe('waiting');
    await pass(clock, 60_000, 1_000);
    expect(channels()).toEqual(['direct-ada']);
  });
});
