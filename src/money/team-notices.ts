import { join } from 'node:path';
import { FOR_APPROVERS, type Platform } from '../chat/index.ts';
import type { Config } from '../config/index.ts';
import type { Job } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { TaskObserver } from '../pipeline/index.ts';
import { type Person, sumsOf } from '../tasks/index.ts';
import {
  type Admin,
  type Approvers,
  BUILT_IN_ADMINS,
  type TeamKey,
  type TeamSettingsRepository,
} from '../teams/index.ts';
import { OutOfCreditAlerts } from './alerts/out-of-credit.ts';
import { type AlertDeps, Notices, type NoticesOptions } from './notices.ts';
import { createNoticeFiles, type NoticeFilesOptions } from './reports/notice-files.ts';
import { SpendWatch } from './spend-watch.ts';

/** Options of {@link createTeamNotices}. */
interface TeamNoticesOptions extends Pick<AlertDeps, 'store' | 'catalog' | 'clock' | 'logger'> {
  readonly config: Pick<Config, 'admins' | 'dataDir' | 'refunds'>;
  readonly random: () => number;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly approvers: Pick<Approvers, 'list'>;
  readonly metrics: { readonly noticeLost: () => void };
  readonly writePersonExport: NoticeFilesOptions['writePersonExport'];
}

/** Alerts and reports of the teams: the outbox of notices, and what causes them. */
export interface TeamNotices {
  readonly notices: Notices;
  readonly jobs: readonly Job[];
  /** Waits for the checks of changes in flight. */
  readonly stop: () => Promise<void>;
  /** Has the budgets of a changed task checked, and the credit of the video service. */
  readonly observer: TaskObserver;
}

/** Creates the alerts and reports; nothing runs before their jobs do. */
export function createTeamNotices(options: TeamNoticesOptions): TeamNotices {
  const { config, store, settings, platforms } = options;
  const operators = [...config.admins, ...BUILT_IN_ADMINS];
  const notices = new Notices({
    ...options,
    reportChannel: async (of) => (await settings.get(of)).reportChannel ?? null,
    recipients: recipientsOf(options, operators),
    lost: () => options.metrics.noticeLost(),
    filesOf: createNoticeFiles({ ...options, store, directory: join(config.dataDir, 'tmp') }),
  });
  const watched = {
    ...options,
    notices,
    refunds: config.refunds,
    settings: (of: TeamKey) => settings.get(of),
    operatorsOn: [...new Set(operators.map(({ platform }) => platform))].filter((name) => platforms.has(name)),
  };
  const spend = new SpendWatch(watched);
  const credit = new OutOfCreditAlerts(watched);
  return {
    notices,
    jobs: [notices.job, spend.job],
    stop: async () => void (await Promise.all([spend.stop(), credit.stop()])),
    observer: {
      changed(task, event, before) {
        spend.sumsChanged((task.money?.sends ?? []).flatMap((send) => Object.values(sumsOf(task.origin, send))));
        credit.changed(task, event, before);
      },
    },
  };
}

/** Returns the reader of the recipients of a team's notices: its administrators, and approvers who are still members. */
function recipientsOf(
  { approvers, platforms }: Pick<TeamNoticesOptions, 'approvers' | 'platforms'>,
  administrators: readonly Admin[],
): NoticesOptions['recipients'] {
  const isMember = async ({ platform, team }: TeamKey, user: string): Promise<boolean> => {
    try {
      return (await platforms.get(platform)?.channels.isMember({ team, channel: '', address: {} }, user)) === true;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking up an approver');
      if (error.retryable) throw error;
      return false;
    }
  };
  return async (of, kind) => {
    const first = administrators.filter(({ platform }) => platform === of.platform).map(({ user }) => user);
    const listed = of.team === '' || !FOR_APPROVERS[kind] ? [] : await approvers.list(of);
    const users = new Set(listed.filter(({ kind }) => kind === 'person').map(({ id }) => id)).difference(
      new Set(first),
    );
    const members: string[] = [];
    for (const user of users) if (await isMember(of, user)) members.push(user);
    return [...new Set([...first, ...members])].map((user): Person => ({ id: user, name: user }));
  };
}
