import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Remover } from '#src/clips/remover.ts';
import { createKeptUntil, type Retention, retentionJob, retentionOf } from '#src/clips/retention.ts';
import { historyIndex } from '#src/tasks/indexes.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS, type TeamSettings } from '#src/teams/settings-schema.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { NO_CUTS } from '#test/fakes/no-cuts.ts';
import { ADA, CLIP, EVENTS, NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

const DAY_MS = 24 * 3_600_000;
const NONE: Retention = { clipsDays: 0, promptsDays: 0 };

describe('the periods of a team', () => {
  const own = (clips?: number, prompts?: number, fromMs = 0) => ({
    ...(clips === undefined ? {} : { keepClips: { days: clips, fromMs } }),
    ...(prompts === undefined ? {} : { keepPrompts: { days: prompts, fromMs } }),
  });

  it.each([
    ['nothing set', NONE, own(), null, null],
    ['the operator’s', { clipsDays: 30, promptsDays: 90 }, own(), 30, 90],
    ['the team’s', NONE, own(7, 8), 7, 8],
    ['the shorter one of both', { clipsDays: 30, promptsDays: 90 }, own(40, 60), 30, 60],
    ['a clip goes with its prompt', { clipsDays: 30, promptsDays: 0 }, own(undefined, 10), 10, 10],
    ['a prompt period alone', { clipsDays: 0, promptsDays: 5 }, own(), 5, 5],
    ['the team’s does not apply yet', { clipsDays: 30, promptsDays: 0 }, own(1, 1, 1_001), 30, null],
  ])('%s', (_name, operator, team, clips, prompts) => {
    const inMs = (days: number | null) => (days === null ? null : days * DAY_MS);
    expect(retentionOf(operator, team, 1_000)).toEqual({ clipsMs: inMs(clips), promptsMs: inMs(prompts) });
  });
});

it.each([
  ['kept for good', NONE, CLIP, null],
  ['without a clip', { clipsDays: 30, promptsDays: 0 }, undefined, null],
  ['kept for 30 days', { clipsDays: 30, promptsDays: 0 }, CLIP, NOON_MS + 31 * DAY_MS],
  ['that goes with its prompt', { clipsDays: 30, promptsDays: 7 }, CLIP, NOON_MS + 8 * DAY_MS],
])('the end of a clip %s is known', async (_name, retention, clip, expected) => {
  const settings = { get: async () => DEFAULT_SETTINGS };
  const keptUntil = createKeptUntil({ settings, retention, clock: new ManualClock() });
  const task = newTask({ endedAtMs: NOON_MS + DAY_MS, ...(clip === undefined ? {} : { clip }) });
  expect(await keptUntil(task)).toBe(expected);
});

/** A team with clips, and the retention of one replica; `remove` counts the removals. */
class Library {
  readonly house = new ChatHouse();
  readonly origin: Origin = originOf({ audience: 'team' });
  readonly files: string[] = [];
  readonly expired: (readonly [what: string, bytes: number])[] = [];
  settings: TeamSettings = DEFAULT_SETTINGS;
  retention: Retention = NONE;

  async done(id: string): Promise<TaskId> {
    const done = await this.house.done({ id: id as TaskId, origin: this.origin });
    await this.house.pass(0);
    return done;
  }

  get record() {
    return (id: string) => this.house.record(id as TaskId);
  }

  async sweep(): Promise<void> {
    const { store, repository, clock, chat } = this.house;
    const logger = pino({ level: 'silent' });
    const clips = { list: async () => new Map(), remove: async (id: TaskId) => void this.files.push(id) };
    const messages = {
      expire: async () => undefined,
      retract: () => Promise.reject(new TypeError('an expired clip stays in the chat')),
      deletions: chat.retraction.deletions.bind(chat.retraction),
    };
    const remover = new Remover({
      cuts: NO_CUTS,
      store,
      repository,
      clips,
      messages,
      audit: new AuditTrail(store, clock),
      clock,
      logger,
    });
    const { retention } = this;
    const job = retentionJob({
      store,
      remover,
      settings: { get: async () => this.settings },
      retention,
      metrics: { expired: (...expired) => this.expired.push(expired) },
      clock,
      logger,
    });
    expect(await runJob(job, { store, clock })).toBe(true);
  }
}

describe('the retention', () => {
  it('removes clips at the end of their period, and not before', async () => {
    const library = new Library();
    library.retention = { clipsDays: 30, promptsDays: 0 };
    await library.done('old');
    library.house.clock.step(29 * DAY_MS);
    await library.done('new');
    await library.sweep();
    expect(library.files).toEqual([]);
    library.house.clock.step(DAY_MS);
    await library.sweep();
    await library.sweep();
    expect(library.files).toEqual(['old']);
    expect(library.expired).toEqual([['clip', 1_000]]);
    expect(await library.record('old')).toMatchObject({
      removal: { reason: 'expired', hasContent: true },
      request: { prompt: expect.stringMatching(/./) },
    });
    expect((await library.record('new')).removal).toBeUndefined();
  });

  it('removes clips with their prompts, even those whose clip is gone already', async () => {
    const library = new Library();
    library.retention = { clipsDays: 10, promptsDays: 20 };
    await library.done('clip');
    library.house.clock.step(10 * DAY_MS);
    await library.sweep();
    library.house.clock.step(10 * DAY_MS);
    await library.sweep();
    expect(await library.record('clip')).toMatchObject({ removal: { hasContent: false }, request: { prompt: '' } });
    const { platform, team } = library.origin;
    expect(await library.house.store.count(historyIndex(platform, team))).toBe(0);
  });

  it('keeps what runs, is uncertain or is not delivered, and removes it once that is over', async () => {
    const library = new Library();
    const { house } = library;
    library.retention = { clipsDays: 1, promptsDays: 0 };
    await house.running({ id: 'runs' as TaskId, origin: library.origin });
    // Each sweep begins where the last one ended.
    house.clock.step(1_000);
    await library.done('done');
    house.clock.step(5 * DAY_MS);
    await library.sweep();
    expect(library.files).toEqual(['done']);

    const atMs = house.clock.now();
    await house.happen('runs' as TaskId, { kind: 'completed', atMs });
    await house.happen('runs' as TaskId, EVENTS.fetched);
    await house.pass(0);
    await library.sweep();
    expect(library.files).toEqual(['done']);
    house.clock.step(2 * DAY_MS);
    await library.sweep();
    expect(library.files).toEqual(['done', 'runs']);
  });

  it('waits a day with a period that a team has just set', async () => {
    const library = new Library();
    await library.done('clip');
    library.house.clock.step(100 * DAY_MS);
    library.settings = { ...DEFAULT_SETTINGS, keepClips: { days: 9, fromMs: library.house.clock.now() + DAY_MS } };
    await library.sweep();
    expect(library.files).toEqual([]);
    library.house.clock.step(DAY_MS);
    await library.sweep();
    expect(library.files).toEqual(['clip']);
  });

  it('still knows a removed task ten years later: its key buys nothing', async () => {
    const library = new Library();
    library.retention = { clipsDays: 1, promptsDays: 1 };
    await library.done('clip');
    library.house.clock.step(3_650 * DAY_MS);
    await library.sweep();
    const claim = await library.house.repository.claim([
      {
        ...(await library.record('clip')),
        origin: originOf({ user: ADA }),
      },
    ]);
    expect(claim).toMatchObject({ kind: 'known', task: { state: 'completed', removal: { hasContent: false } } });
  });
});

describe('signed-off clips', () => {
  const SIGNED = { kind: 'signed_off', by: ADA, atMs: NOON_MS } as const;
  const NOTE = { kind: 'changes_requested', by: ADA, atMs: NOON_MS, note: { text: 'too dark' } } as const;
  const decide = (library: Library, id: TaskId, after: number, decision: typeof SIGNED | typeof NOTE) =>
    library.house.happen(id, { kind: 'review', after, decision });

  it.each([
    ['clips', { clipsDays: 30, promptsDays: 0 }],
    ['prompts', { clipsDays: 0, promptsDays: 30 }],
  ] as const)(
    'outlive the retention of %s where the team keeps them, until changes are requested',
    async (_, periods) => {
      const library = new Library();
      library.retention = periods;
      library.settings = { ...DEFAULT_SETTINGS, keepSignedOff: true };
      const kept = await library.done('kept');
      // Each sweep begins where the last one ended.
      library.house.clock.step(1_000);
      const other = await library.done('other');
      await decide(library, kept, 0, SIGNED);
      library.house.clock.step(31 * DAY_MS);
      await library.sweep();
      expect(library.files).toEqual([other]);
      expect(await library.record('kept')).toMatchObject({
        clip: CLIP,
        request: { prompt: expect.stringContaining('fox') },
      });
      await library.sweep();
      await decide(library, kept, 1, NOTE);
      await library.sweep();
      expect(library.files).toEqual([other, kept]);
      expect(await library.house.store.count('signed-off:fake:T1')).toBe(0);
    },
  );

  it('expire like others where the team does not keep them, also once it stops to', async () => {
    const library = new Library();
    library.retention = { clipsDays: 30, promptsDays: 0 };
    library.settings = { ...DEFAULT_SETTINGS, keepSignedOff: true };
    const id = await library.done('kept');
    library.house.clock.step(1_000);
    const other = await library.done('other');
    await decide(library, id, 0, SIGNED);
    library.house.clock.step(31 * DAY_MS);
    await library.sweep();
    await library.sweep();
    expect(library.files).toEqual([other]);
    library.settings = DEFAULT_SETTINGS;
    await library.sweep();
    expect(library.files).toEqual([other, id]);
  });

  it('are spared by a removal that a sign-off overtakes', async () => {
    const library = new Library();
    const { house } = library;
    const id = await library.done('late');
    await house.happen(id, { kind: 'review', after: 0, decision: SIGNED });
    const remove = { kind: 'remove', reason: 'expired', keepsContent: true, atMs: NOON_MS } as const;
    expect(await house.repository.record(id, { ...remove, sparesSignedOff: true })).toMatchObject({ done: false });
    expect(await house.repository.record(id, { ...remove, sparesSignedOff: false })).toMatchObject({ done: true });
  });

  it('show no date of deletion where they are kept', async () => {
    const settings = { get: async () => ({ ...DEFAULT_SETTINGS, keepSignedOff: true }) };
    const keptUntil = createKeptUntil({
      settings,
      retention: { clipsDays: 30, promptsDays: 0 },
      clock: new ManualClock(),
    });
    const task = newTask({ endedAtMs: NOON_MS, clip: CLIP });
    expect(await keptUntil({ ...task, review: [SIGNED] })).toBeNull();
    expect(await keptUntil({ ...task, review: [SIGNED, NOTE] })).toBe(NOON_MS + 30 * DAY_MS);
  });
});
