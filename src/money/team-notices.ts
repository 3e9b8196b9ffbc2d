import { join } from 'node:path';
import type { Platform } from '../chat/platform.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../logger.ts';
import type { TaskObserver } from '../pipeline/repository.ts';
import type { Store } from '../store/store.ts';
import { sumsOf } from '../tasks/money.ts';
import type { Person, Task } from '../tasks/task.ts';
import { OutOfCreditAlerts } from './alerts/out-of-credit.ts';
import { Notices, type NoticeTeam } from './notices.ts';
import { createNoticeFiles } from './reports/notice-files.ts';
import { SpendWatch } from './spend-watch.ts';
import type { TeamSettingsRepository } from './team-settings.ts';

/** Options of {@link createTeamNotices}. */
export interface TeamNoticesOptions {
  readonly config: Pick<Config, 'admins' | 'dataDir'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly settings: Pick<TeamSettingsRepository, 'get'>;
  readonly metrics: { readonly noticeLost: () => void };
}

/** Alerts and reports of the teams: the outbox of notices, and what causes them. */
export interface TeamNotices {
  readonly notices: Notices;
  /** What causes them. */
  readonly watch: Pick<SpendWatch, 'start' | 'stop'>;
  /** Has the budgets of a changed task checked, and the credit of the video service. */
  readonly observer: TaskObserver;
}

/** Users who administer a platform without being named in `ADMINS`. */
const OPERATORS: Readonly<Record<string, string>> = { playground: 'operator' };

/** Creates the alerts and reports; nothing runs before they start. */
export function createTeamNotices(options: TeamNoticesOptions): TeamNotices {
  const { config, store, settings, platforms } = options;
  const operators = [
    ...config.admins,
    ...[...platforms.keys()].flatMap((platform) => {
      const user = OPERATORS[platform];
      return user === undefined ? [] : [{ platform, user }];
    }),
  ];
  const notices = new Notices({
    ...options,
    reportChannel: async (of) => (await settings.get(of)).reportChannel ?? null,
    administrators: async ({ platform }: NoticeTeam) =>
      operators.filter((one) => one.platform === platform).map(({ user }): Person => ({ id: user, name: user })),
    lost: () => options.metrics.noticeLost(),
    filesOf: createNoticeFiles({ store, directory: join(config.dataDir, 'tmp') }),
  });
  const watched = {
    ...options,
    notices,
    settings: (of: NoticeTeam) => settings.get(of),
    operatorsOn: [...new Set(operators.map(({ platform }) => platform))].filter((name) => platforms.has(name)),
  };
  const spend = new SpendWatch(watched);
  const credit = new OutOfCreditAlerts(watched);
  return {
    notices,
    watch: {
      start: () => spend.start(),
      stop: async () => {
        await spend.stop();
        await credit.stop();
      },
    },
    observer: {
      changed(...change) {
        spend.sumsChanged(sumsOfTask(change[0]));
        credit.changed(...change);
      },
    },
  };
}

/** Names the sums that a task's sends count in. */
function sumsOfTask({ origin, money }: Task): readonly string[] {
  return (money?.sends ?? []).flatMap((send) => Object.values(sumsOf(origin, send)));
}
