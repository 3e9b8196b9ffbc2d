import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { changeOf, decisionWrites, Statements } from '#src/money/statement/decisions.ts';
import type { Discrepancy } from '#src/money/statement/findings.ts';
import { type Decided, importStatement, type Resolution } from '#src/money/statement/imports.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, lived, newTask, originOf } from '#test/fakes/tasks.ts';
import { CATALOG } from '../videos/models.ts';

const HASH = `${'a'.repeat(16)}${'0'.repeat(48)}`;
const usd = (amount: string) => ({ amount, currency: 'USD' });

let house: BotHouse;
let store: MemoryStore;
let audit: AuditTrail;
let statements: Statements;
/** Decisions in the order of their presses. */
let decided: { readonly position: number; readonly as: Resolution; readonly by: string }[];
let bookings: number;
let outcome: Awaited<ReturnType<Statements['decide']>> | null;

beforeEach(() => {
  house = new BotHouse(CATALOG);
  store = new MemoryStore();
  audit = new AuditTrail(store, house.clock);
  const repository = { get: async (id: TaskId) => house.records.get(id), record: async () => undefined };
  const logger = pino({ level: 'silent' });
  statements = new Statements({ store, repository, audit, clock: house.clock, logger });
  [decided, bookings, outcome] = [[], 0, null];
  house.statements = {
    list: (...of) => statements.list(...of),
    get: (...of) => statements.get(...of),
    discrepancy: (...of) => statements.discrepancy(...of),
    decision: (...of) => statements.decision(...of),
    nextUndecided: (...of) => statements.nextUndecided(...of),
    isBooking: () => false,
    bookMatches: async (team, id, { person }) => {
      bookings += 1;
      const found = await statements.get(team, id);
      if (found === undefined) return false;
      const booking = { by: person, atMs: NOON_MS, pages: 1, endedAtMs: NOON_MS };
      return store.commit({ records: [changeOf(team, found, { booking })] });
    },
    decide: async (team, { id, position, as }, { person }) => {
      decided.push({ position, as, by: person.id });
      if (outcome !== null) return outcome;
      const found = await statements.get(team, id);
      if (found === undefined) return { kind: 'unknown' };
      await store.commit({ records: decisionWrites(team, found, { position, as, by: person, atMs: NOON_MS }) });
      return { kind: 'decided' };
    },
  };
});

/** Imports a statement of 431 rows for the team of the tests. */
async function imported(discrepancies: readonly Discrepancy[], confirmed = 428, hash = HASH): Promise<void> {
  const { platform, team } = operator();
  const tally = (kind: Discrepancy['kind']) => {
    const some = discrepancies.filter((one) => one.kind === kind);
    return { count: some.length, by: some.flatMap(({ by }) => by) };
  };
  const months = [
    {
      month: '2026-10',
      rows: 431,
      billed: [usd('212.4')],
      matched: 428,
      differs: tally('differs'),
      unknown: tally('unknown'),
      missing: tally('missing'),
      later: 0,
    },
  ];
  const matches = Array.from({ length: confirmed }, () => ({ task: 't' as TaskId, send: 1, book: 'settled' }) as const);
  const teams = [{ team: { platform, team }, matches, discrepancies, months }];
  await importStatement({ store, audit, clock: house.clock }, hash, { teams });
}

const operator = (): Caller => ({ ...ada(), mayAdminister: true });

const DIFFERS: Discrepancy = {
  kind: 'differs',
  month: '2026-10',
  id: 'up-*1*',
  task: 'abcdefghijkl' as TaskId,
  send: 1,
  ours: usd('0.3'),
  theirs: usd('0.45'),
  by: [usd('0.15')],
};
const UNKNOWN: Discrepancy = { kind: 'unknown', month: '2026-10', id: 'foreign', theirs: usd('0.5'), by: [usd('0.5')] };
const MISSING: Discrepancy = { ...DIFFERS, kind: 'missing', by: [usd('0.3')] };

const shown = async (caller = operator()) => replyText(await house.bot.text(caller, 'statement'));

/** Presses the button with a label under the last reply. */
async function press(label: string, caller = operator()): Promise<string> {
  const button = buttons.find((one) => one.label === label);
  if (button === undefined)
    throw new TypeError(`no button ${label} among ${buttons.map((one) => one.label).join(', ')}`);
  return remember(await house.bot.press(caller, button.id));
}

let buttons: readonly { readonly id: string; readonly label: string }[] = [];

function remember(reply: Awaited<ReturnType<BotHouse['bot']['press']>>): string {
  if (reply.kind === 'private') buttons = buttonsOf(reply.card);
  return replyText(reply);
}

const open = async () => remember(await house.bot.text(operator(), 'statement'));

describe('/video statement', () => {
  it('explains how to import one where there is none', async () => {
    expect(await shown()).toContain('npm run reconcile -- --statement FILE.csv');
  });

  it('is for administrators alone, and so is every button', async () => {
    await imported([DIFFERS]);
    expect(await shown(bob())).toMatch(/^refused: /u);
    await open();
    const [first] = buttons;
    for (const { id } of buttons) expect(replyText(await house.bot.press(bob(), id))).toMatch(/^refused: /u);
    expect(first).toBeDefined();
    expect([decided, bookings]).toEqual([[], 0]);
  });

  it('shows a line per month, and books all matches with one press', async () => {
    await imported([DIFFERS, UNKNOWN, MISSING]);
    expect(await open()).toBe(
      [
        'The video service’s statement',
        'October: 431 rows, $212.40. 428 match. 1 differs by $0.15. 1 not in our records: $0.50. ' +
          '1 missing from the statement: $0.30.',
        '428 matching clips are not booked yet.',
        '3 discrepancies to decide.',
        'Imported 2026-11-20T12:00',
        '(Book 428 matches) (Decide 3 discrepancies)',
      ].join('\n'),
    );
    const booked = await press('Book 428 matches');
    expect(booked).toContain('428 matching clips booked by Ada.');
    expect(booked).toContain('\n(Decide 3 discrepancies)');
    expect(bookings).toBe(1);
  });

  it('leads from one discrepancy to the next, each decided by a button', async () => {
    await imported([DIFFERS, UNKNOWN, MISSING]);
    await open();
    expect(await press('Decide 3 discrepancies')).toBe(
      [
        'Discrepancy 1 of 3',
        'Our books count $0.30; the statement bills $0.45.',
        'Clip `abcdefgh` · ID at the service ‹up-*1*› · 2026-10',
        '(Keep ours · $0.30) (It was billed) (It was not billed) (Skip) (Back)',
      ].join('\n'),
    );
    expect(await press('Skip')).toContain('The statement bills $0.50 for something that isn’t in our records.');
    expect(await press('Set aside')).toBe(
      [
        'Decided: our books stay as they are.',
        'Discrepancy 3 of 3',
        'Our books count $0.30; the statement doesn’t list this clip.',
        'Clip `abcdefgh` · ID at the service ‹up-*1*› · 2026-10',
        '(Keep ours · $0.30) (It was billed) (It was not billed) (Skip) (Back)',
      ].join('\n'),
    );
    expect(await press('It was not billed')).toContain('Decided: it was not billed.\nDiscrepancy 1 of 3');
    expect(await press('It was billed')).toContain('All 3 discrepancies decided.');
    expect(decided.map(({ position, as }) => [position, as])).toEqual([
      [1, 'ours'],
      [2, 'not_billed'],
      [0, 'billed'],
    ]);
  });

  it('says who decided before, and what cannot be decided now', async () => {
    await imported([DIFFERS, MISSING]);
    await open();
    await press('Decide 2 discrepancies');
    const before: Decided = { revision: 1, as: 'billed', by: bob().user, atMs: NOON_MS };
    outcome = { kind: 'known', decided: before };
    expect(await press('Keep ours · $0.30')).toContain('Bob decided this already: it was billed.');
    outcome = { kind: 'not_now' };
    expect(await press('It was billed')).toMatch(/^refused: This clip is in progress/u);
  });

  it('pages from the last import to older ones', async () => {
    await imported([], 1);
    house.clock.advance(1_000);
    await imported([], 0, `${'b'.repeat(16)}${'0'.repeat(48)}`);
    expect(await open()).toContain('No clip matches, so there is nothing to book.');
    expect(await press('Older')).toContain('1 matching clip is not booked yet.');
    expect(await press('Newer')).toContain('No clip matches');
  });

  it('offers the rest of an interrupted booking, and waits for a running one', async () => {
    await imported([]);
    const { platform, team } = operator();
    const found = await statements.get({ platform, team }, 'a'.repeat(16));
    if (found === undefined) throw new TypeError('no statement');
    const booking = { by: bob().user, atMs: NOON_MS, pages: 0 };
    await store.commit({ records: [changeOf({ platform, team }, found, { booking })] });
    expect(await shown()).toContain('Booking 428 matching clips was interrupted.');
    expect(await shown()).toContain('(Book the rest)');
    house.statements = { ...house.statements, isBooking: () => true };
    expect(await shown()).toContain('Booking 428 matching clips…');
    expect(await shown()).toContain('(Refresh)');
  });
});

describe('an unconfirmed clip and a bill that may be its own', () => {
  const lost = 'abcdefghijkl' as TaskId;
  const BILL: Discrepancy = { ...UNKNOWN, id: 'up-new', theirs: usd('0.2'), pair: 1 };
  const { id: _none, theirs: _unbilled, ...clip } = MISSING;
  const PAIR: readonly Discrepancy[] = [DIFFERS, { ...clip, pair: 2 }, BILL];
  const QUESTION = 'Is this the unconfirmed clip “‹lost›” by Bob?';

  beforeEach(() => {
    house.statements = statements;
  });

  /** Puts the clip into the house, and opens the question about it. */
  async function asked(changes: Partial<Task> = {}): Promise<string> {
    const { platform, team, channel } = operator();
    const origin = originOf({ platform, team, channel, user: bob().user });
    const request = { ...newTask().request, prompt: 'lost' };
    const task = newTask({ id: lost, origin, request, ...changes });
    house.records.set(lost, lived(task, EVENTS.send, EVENTS.lost));
    await imported(PAIR);
    await open();
    await press('Decide 3 discrepancies');
    return press('Skip');
  }

  const logged = async () =>
    (await new AuditTrail(store, house.clock).page(operator(), { offset: 0, limit: 9 })).entries.map(
      ({ after }) => after,
    );

  it('are one question', async () => {
    expect(await asked()).toBe(
      [
        'Discrepancy 2 of 3',
        'Our books count $0.30; the statement doesn’t list this clip.',
        'The statement bills $0.20 for something that isn’t in our records.',
        QUESTION,
        'Clip `abcdefgh` · Bob · ‹Swift 1› · ID at the service ‹up-new› · 2026-10',
        '(Yes: enter the ID and fetch the clip) (No) (Skip) (Back)',
      ].join('\n'),
    );
  });

  it('are asked about from the bill as well, and Yes enters the id and settles both', async () => {
    await asked();
    expect(await press('Skip')).toContain(QUESTION);
    const settled = await press('Yes: enter the ID and fetch the clip');
    expect(settled).toContain('Decided: both are the same clip, and its ID is entered.\nDiscrepancy 1 of 3');
    expect(house.records.get(lost)).toMatchObject({ state: 'polling', upstreamId: 'up-new' });
    expect(await open()).toContain('1 discrepancy to decide, 2 decided.');
    expect(await logged()).toContainEqual([{ kind: 'text', text: 'same' }]);
  });

  it('stay as they are where the service does not know the id, or the clip has another', async () => {
    await asked();
    house.unknown.add('up-new');
    expect(await press('Yes: enter the ID and fetch the clip')).toMatch(/^refused: The video service doesn’t know/u);
    house.unknown.clear();
    house.records.set(lost, lived(house.task(lost), { ...EVENTS.identify, upstreamId: 'up-other' as UpstreamId }));
    expect(await press('Yes: enter the ID and fetch the clip')).toMatch(/^refused: This clip is in progress/u);
    expect(house.records.get(lost)?.upstreamId).toBe('up-other');
    expect(await open()).toContain('3 discrepancies to decide.');
  });

  it('are settled by a second Yes where the first was interrupted after the id', async () => {
    await asked();
    house.records.set(lost, lived(house.task(lost), { ...EVENTS.identify, upstreamId: 'up-new' as UpstreamId }));
    expect(await press('Yes: enter the ID and fetch the clip')).toContain('Decided: both are the same clip');
  });

  it('are decided one by one after No, and not asked about again', async () => {
    await asked();
    expect(await press('No')).toContain('Decided: they are not the same clip.\nDiscrepancy 2 of 3');
    expect(buttons.map(({ label }) => label)).toContain('It was not billed');
    expect(await press('Skip')).toContain('(Set aside)');
    expect(house.records.get(lost)?.state).toBe('uncertain');
    expect(await logged()).toContainEqual([{ kind: 'text', text: 'apart' }]);
  });

  it('are for administrators alone, and show no prompt of a private channel', async () => {
    const { platform, team } = operator();
    const origin = originOf({ platform, team, channel: 'private', audience: 'channel', user: bob().user });
    const shownNow = await asked({ origin });
    expect(shownNow).toContain('\nIs this the unconfirmed clip by Bob?\n');
    expect(shownNow).not.toContain('lost');
    expect(await press('Yes: enter the ID and fetch the clip', bob())).toMatch(/^refused: /u);
    expect(house.records.get(lost)?.state).toBe('uncertain');
  });
});
