import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TeamNotice } from '#src/chat/team-notice.ts';
import type { Config } from '#src/config/config.ts';
import { createMoney, type Money } from '#src/money/money.ts';
import type { NoticeTarget } from '#src/money/notices.ts';
import { createTeamNotices, type TeamNotices } from '#src/money/team-notices.ts';
import type { Approver } from '#src/tasks/approval.ts';
import { startJobs } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { pass } from '#test/fakes/settle.ts';
import { ADA } from '#test/fakes/tasks.ts';

const TEAM = { platform: 'fake', team: 'T1' };
const ADMIN = { person: ADA, surface: 'command' } as const;
const DAY_MS = 86_400_000;
const UNUSUAL: TeamNotice = {
  kind: 'unusual_spend',
  day: '2026-11-20',
  currency: 'USD',
  amount: '40',
  clips: 9,
  usual: '4',
};

let clock: ManualClock;
let store: MemoryStore;
let platform: FakePlatform;
let money: Money;
let lost: number;
let teamNotices: TeamNotices;

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore();
  platform = new FakePlatform();
  money = createMoney({ store, clock });
  lost = 0;
  teamNotices = notifying(['root']);
});

/** Starts the notices of a bot with these `ADMINS`. */
function notifying(admins: readonly string[]): TeamNotices {
  return createTeamNotices({
    catalog: () => ({ models: [] }),
    config: {
      admins: admins.map((user) => ({ platform: 'fake', user })),
      refunds: 'assumed',
      dataDir: '/none',
    } satisfies Partial<Config>,
    ...money,
    store,
    clock,
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
    platforms: new Map([['fake', platform]]),
    writePersonExport: async () => undefined,
    metrics: {
      noticeLost: () => {
        lost += 1;
      },
    },
  });
}

const approve = (id: string, untilMs?: number, kind: Approver['kind'] = 'person') =>
  money.approvers.add(TEAM, ADMIN, { kind, id, name: id }, untilMs);

/** Posts a notice, and returns the channels that it reached. */
async function reached(
  of: typeof TEAM = TEAM,
  to: NoticeTarget = { kind: 'team' },
  notice = UNUSUAL,
): Promise<readonly string[]> {
  const { notices } = teamNotices;
  await store.commit(notices.claim({ key: [of.team, notice.kind], of, to, notice }));
  const jobs = startJobs({ store, clock }, notices.job);
  await pass(clock, 60_000, 1_000);
  await jobs.stop();
  return platform.notices.map(({ place }) => place.channel);
}

describe('a notice to a team without a report channel', () => {
  it('reaches its administrators and the people who approve, each once', async () => {
    await approve('ben');
    await approve('root');
    expect(await reached()).toEqual(['direct-root', 'direct-ben']);
    expect(platform.notices.map(({ onlyFor }) => onlyFor?.id)).toEqual(['root', 'ben']);
  });

  it('reaches neither groups nor deputies whose time is over', async () => {
    await approve('leads', undefined, 'group');
    await approve('deputy', clock.now() + DAY_MS);
    clock.advance(DAY_MS);
    expect(await reached()).toEqual(['direct-root']);
  });

  it('reaches no approver who left the team, or who cannot be looked up', async () => {
    for (const id of ['former', 'hidden', 'ben']) await approve(id);
    platform.channels.isMember = async (...[, user]: readonly unknown[]) => {
      if (user === 'hidden') throw platformError('missing_permission', { retryable: false });
      return user !== 'former';
    };
    expect(await reached()).toEqual(['direct-root', 'direct-ben']);
  });

  it('reaches the approvers where nobody is named in ADMINS', async () => {
    teamNotices = notifying([]);
    await approve('ben');
    expect(await reached(TEAM, { kind: 'team' }, { kind: 'out_of_credit' })).toEqual(['direct-ben']);
    expect(lost).toBe(0);
  });

  it('reaches both where a channel refuses the alert of its budget', async () => {
    await approve('ben');
    platform.fails('notify', 'before', platformError('missing_permission', { retryable: false }));
    expect(await reached(TEAM, { kind: 'channel', channel: 'clips' })).toEqual(['direct-root', 'direct-ben']);
  });

  it('about the installation reaches its administrators alone', async () => {
    const installation = { platform: 'fake', team: '' };
    await money.approvers.add(installation, ADMIN, { kind: 'person', id: 'ben', name: 'Ben' });
    expect(await reached(installation)).toEqual(['direct-root']);
  });
});

it('with a report channel, a notice to a team reaches that alone', async () => {
  await approve('ben');
  await money.settings.change(TEAM, ADMIN, { reportChannel: 'finance' });
  expect(await reached()).toEqual(['finance']);
});
