import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { teamNoticeCard } from '#commands/sentences/cards/team-notice.ts';
import type { ErrorCode } from '#src/errors.ts';
import { OutOfCreditAlerts } from '#src/money/alerts/out-of-credit.ts';
import { type AlertDeps, Notices } from '#src/money/notices.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { startJobs } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { ReplicaCrew } from '#test/fakes/replica-crew.ts';
import { pass } from '#test/fakes/settle.ts';
import { NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

let clock: ManualClock;
let crew: ReplicaCrew;
let platform: FakePlatform;
let operatorsOn: readonly string[];
let settings: Awaited<ReturnType<AlertDeps['settings']>>;
let logged: string[];
let orders: number;

beforeEach(() => {
  clock = new ManualClock(NOON_MS);
  crew = new ReplicaCrew(clock);
  platform = new FakePlatform();
  operatorsOn = ['fake'];
  settings = { timeZone: 'UTC', alerts: true };
  logged = [];
  orders = 0;
});

/** Starts a replica. */
function replica(): TaskRepository {
  const { store, clock: own } = crew.join();
  const logger = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line).event) });
  const options = { store, clock: own, logger, random: () => 0.5 };
  const notices = new Notices({
    ...options,
    platforms: new Map([['fake', platform]]),
    reportChannel: async ({ team }) => (team === '' ? null : (settings.reportChannel ?? null)),
    recipients: async () => [{ id: 'ops', name: 'ops' }],
    lost: () => undefined,
    filesOf: async () => ({ files: [], remove: async () => undefined }),
  });
  startJobs(options, notices.job);
  const repository = new TaskRepository(store);
  repository.subscribe(new OutOfCreditAlerts({ ...options, notices, settings: async () => settings, operatorsOn }));
  return repository;
}

/** Sends a new task from a replica, up to the response to its create. */
async function create(on: TaskRepository, response: TaskEvent, team = 'T1', service?: string): Promise<void> {
  orders += 1;
  const id = `00000000-0000-4000-8000-00000000000${orders}` as TaskId;
  const request = { ...newTask().request, ...(service === undefined ? {} : { service }) };
  await on.claim([newTask({ id, request, origin: originOf({ team, interaction: id }) })]);
  await on.record(id, { kind: 'send', owner: 'replica', atMs: 0 });
  await on.record(id, response);
  await pass(clock, 10_000, 500);
}

const refused = (code: ErrorCode = 'no_balance'): TaskEvent => ({
  kind: 'refused',
  failure: { code, words: null },
  atMs: clock.now(),
});
const accepted = (): TaskEvent => ({ kind: 'accepted', upstreamId: `up-${orders}` as UpstreamId, atMs: clock.now() });
const channels = () => platform.notices.map(({ place }) => place.channel);

describe('an account without credit', () => {
  it('is reported to the operators, with what to do, and logged as an error', async () => {
    await create(replica(), refused());
    expect(platform.notices).toHaveLength(1);
    const [notice] = platform.notices;
    expect(notice).toMatchObject({ view: { kind: 'out_of_credit' }, onlyFor: { id: 'ops' } });
    expect(cardText(teamNoticeCard({ kind: 'out_of_credit' }))).toBe(
      'The video service reports that the account is out of credit. Orders fail until someone tops it up.\n' +
        'Top it up in the console of the video service; nothing has to be restarted. ' +
        'Refused clips cost nothing: order them again with Retry.',
    );
    expect(logged).toEqual(['out_of_credit']);
  });

  it('is reported once, whichever replica is refused, also at the same time', async () => {
    const [one, other] = [replica(), replica()];
    await Promise.all([create(one, refused()), create(other, refused())]);
    for (const on of [one, other, replica()]) await create(on, refused());
    expect(platform.notices).toHaveLength(1);
    expect(logged).toEqual(['out_of_credit']);
  });

  it('is reported again after another replica had a clip accepted', async () => {
    const [one, other] = [replica(), replica()];
    await create(one, refused());
    await create(other, accepted());
    await create(one, accepted());
    await create(one, refused());
    await create(other, refused());
    expect(platform.notices).toHaveLength(2);
  });

  it('is an incident of its service, which is named: a clip that another one accepts does not end it', async () => {
    const on = replica();
    await create(on, refused(), 'T1', 'one');
    await create(on, accepted(), 'T1', 'other');
    await create(on, refused(), 'T1', 'one');
    expect(platform.notices.map(({ view }) => view)).toEqual([{ kind: 'out_of_credit', service: 'one' }]);
    await create(on, refused(), 'T1', 'other');
    expect(platform.notices).toHaveLength(2);
    expect(cardText(teamNoticeCard({ kind: 'out_of_credit', service: 'other' }))).toContain(
      'The service other reports that the account is out of credit. Orders of its models fail until someone tops it up.',
    );
  });

  it('lasts while the service refuses clips for other reasons, and while a person enters an id', async () => {
    const on = replica();
    await create(on, refused());
    await create(on, refused('moderated'));
    await create(on, { kind: 'lost', failure: { code: 'lost_answer', words: null } });
    const uncertain = `00000000-0000-4000-8000-00000000000${orders}` as TaskId;
    expect((await on.record(uncertain, accepted()))?.done).toBe(true);
    await pass(clock, 10_000, 500);
    await create(on, refused());
    expect(platform.notices).toHaveLength(1);
  });

  it('is reported to each affected team with a report channel, once', async () => {
    const on = replica();
    settings = { timeZone: 'UTC', alerts: true, reportChannel: 'finance' };
    for (const team of ['T1', 'T2', 'T1']) await create(on, refused(), team);
    expect(platform.notices.map(({ place }) => place.team).sort()).toEqual(['', 'T1', 'T2']);
    expect(channels().filter((channel) => channel === 'finance')).toHaveLength(2);
  });

  it('is not reported to a team that turned alerts off', async () => {
    settings = { timeZone: 'UTC', alerts: false, reportChannel: 'finance' };
    await create(replica(), refused());
    expect(channels()).not.toContain('finance');
  });

  it('is reported to the team where its platform has no operators', async () => {
    operatorsOn = [];
    await create(replica(), refused());
    expect(platform.notices.map(({ place }) => place.team)).toEqual(['T1']);
  });

  it('is not what another refusal reports', async () => {
    const on = replica();
    for (const code of ['moderated', 'rate_limited', 'unauthorised'] as const) await create(on, refused(code));
    expect(platform.notices).toEqual([]);
  });

  it('is reported at the next refusal when the store was away', async () => {
    const on = replica();
    const commit = crew.store.commit.bind(crew.store);
    crew.store.commit = async (change) => {
      if (change.records.some(({ namespace }) => namespace === 'notices')) throw new Error('down');
      return commit(change);
    };
    await create(on, refused());
    expect(platform.notices).toEqual([]);
    crew.store.commit = commit;
    await create(on, refused());
    expect(platform.notices).toHaveLength(1);
  });
});
