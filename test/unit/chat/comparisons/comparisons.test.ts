import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { memberIds, retryKey, taskIdOf } from '#src/pipeline/task-ids.ts';
import { OUTBOX } from '#src/tasks/indexes.ts';
import type { SetPlace, Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, CLIP, EVENTS, newTask } from '#test/fakes/tasks.ts';
import { FOX } from '../../videos/models.ts';

const SET = taskIdOf('fake:i1');
const CARD = setCardId(SET);
const MODELS = ['zebra-9', 'aardvark-1', 'mole-3'];
const PRICES = ['0.77', '0.33', '0.55'];
/** What nobody may be told before the reveal: a model, a price, the service's words, the time of a clip. */
const BETRAYING = /zebra|aardvark|mole|0\.77|0\.33|0\.55|tired|made in|Done in/iu;
const MINUTE_MS = 60_000;

/** A house with a claimed comparison whose card is posted. */
async function comparison(house = new ChatHouse()) {
  const ids = memberIds({ id: SET, of: 3 });
  const createdAtMs = house.clock.now();
  const placeOf = (at: number): SetPlace => ({
    id: SET,
    kind: 'comparison',
    at,
    of: 3,
    upTo: { amount: '0.77', currency: 'USD' },
  });
  const tasks = ids.map((id, index) =>
    newTask({
      id,
      createdAtMs,
      request: { ...FOX, model: MODELS[index] ?? '' },
      price: { amount: PRICES[index] ?? '', currency: 'USD' },
      set: placeOf(index + 1),
    }),
  );
  await house.repository.claim(tasks);
  await house.chat.show(SET);
  for (const id of ids) await house.happen(id, EVENTS.send, EVENTS.accepted);
  return { house, ids: ids as readonly [TaskId, TaskId, TaskId], tasks, placeOf, place: placeOf(1) };
}

function done(house: ChatHouse): readonly TaskEvent[] {
  return [
    { kind: 'completed', atMs: house.clock.now() },
    { kind: 'fetched', clip: CLIP },
  ];
}

const FAILED: TaskEvent = { ...EVENTS.failed, failure: { code: 'generation_failed', words: 'mole-3 is tired' } };

function message(house: ChatHouse, task: TaskId) {
  return house.platform.messages.find((one) => one.task === task);
}

/** Names of the files on the card. */
function filesOf(house: ChatHouse): readonly string[] {
  return message(house, CARD)?.files.map(({ name }) => name) ?? [];
}

function card(house: ChatHouse, id: TaskId = CARD): string {
  const view = message(house, id)?.shown.at(-1)?.view;
  return view === undefined ? '' : cardText(cardOf(view));
}

/** Everything that the chat was told, with the views that it was rendered from; the highest price of all is known. */
function told({ platform }: ChatHouse): string {
  const views = platform.messages.flatMap(({ shown, files }) => [...shown.map(({ view }) => view), ...files]);
  const cards = platform.messages.flatMap(({ shown }) => shown.map(({ view }) => cardText(cardOf(view))));
  const notices = platform.notices.map((notice) => [notice, cardText(cardOf(notice.view))]);
  const all = JSON.stringify([views, cards, notices]);
  return all.replaceAll(/"upTo":\{[^}]*\}|"(?:retryPrice|price)":\{"amount":"0\.77"[^}]*\}|up to \$0\.77/gu, '');
}

describe('a comparison', () => {
  it('shows the clips together once all have ended, and nothing that betrays a model until the reveal', async () => {
    const { house, ids } = await comparison();
    expect(card(house)).toContain('comparison of 3 models · $1.65');
    await house.poll(ids[0], 60);
    await house.pass(3_000);
    expect(card(house)).toMatch(/Making 3 clips · 0:0\d\n/u);
    expect(card(house)).toContain('[bar 20]');
    await house.happen(ids[1], ...done(house));
    await house.pass(MINUTE_MS);
    expect(card(house)).toContain('1 of 3 finished');
    expect(filesOf(house)).toEqual([]);
    await house.happen(ids[2], FAILED);
    await house.pass(5 * MINUTE_MS, MINUTE_MS);
    expect(filesOf(house)).toEqual([]);
    await house.happen(ids[0], ...done(house));
    await house.pass(6_000);
    expect(filesOf(house)).toEqual([expect.stringMatching(/^red-fox-.*-1\.mp4/u), expect.stringMatching(/-2\.mp4$/u)]);
    expect(card(house)).toMatch(/\*Clip A\*\n\*Clip B\*\n\*Clip C\* · could not be made/u);
    expect(card(house)).toContain('(Vote for A) (Vote for B) (Reveal the models) (Details)');
    expect(house.platform.messages).toHaveLength(1);
    expect(house.platform.notices.map((notice) => cardText(cardOf(notice.view)))).toEqual([
      expect.stringMatching(/2 of your 3 clips to compare of .* are ready; clip C failed\. Vote for the best one\./u),
    ]);
    for (const id of ids) expect((await house.record(id)).presented).toBe(true);
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('posts the clips in the order of their labels, so that none betrays that it was the last', async () => {
    const { house, ids } = await comparison();
    for (const id of ids) await house.happen(id, ...done(house));
    await house.pass(5_000);
    expect(filesOf(house).map((name) => name.slice(-6, -4))).toEqual(['-1', '-2', '-3']);
  });

  it('does not hold back the others for long where a clip cannot be posted', async () => {
    const { house, ids } = await comparison();
    for (let attempt = 0; attempt < 100; attempt += 1)
      house.platform.fails('attach', 'before', platformError('platform_unavailable'), '-1.mp4');
    for (const id of ids) await house.happen(id, ...done(house));
    await house.pass(MINUTE_MS + 1_000);
    expect(filesOf(house).map((name) => name.slice(-6, -4))).toEqual(['-2', '-3']);
  });

  it('can be voted on once the last clip is there, or late', async () => {
    const { house, ids, place } = await comparison();
    const broken = platformError('platform_unavailable', { retryAfterMs: 4 * MINUTE_MS });
    house.platform.fails('attach', 'before', broken, '-3.mp4');
    for (const id of ids) await house.happen(id, ...done(house));
    await house.pass(5_000);
    expect(filesOf(house)).toHaveLength(2);
    expect(card(house)).toContain('Making 3 clips · 3 of 3 finished');
    expect(card(house)).not.toMatch(/Vote for|Cancel/u);
    await house.pass(2 * MINUTE_MS);
    expect(await house.chat.comparisons.vote(place, 'ben', 1)).toBe('counted');
    await house.pass(3_000);
    expect(card(house)).toContain('(Vote for A) (Vote for B)');
    await house.pass(3 * MINUTE_MS, MINUTE_MS / 2);
    expect(filesOf(house)).toHaveLength(3);
    expect(card(house)).toContain('(Vote for C)');
  });

  it('has its links and votes on its card with the last clip, and nothing to cancel', async () => {
    const { house, ids } = await comparison();
    for (const id of ids) await house.happen(id, ...done(house));
    while (filesOf(house).length < 3) await house.pass(50, 50);
    expect(card(house)).toContain('(Vote for A) (Vote for B) (Vote for C) (Reveal the models) (Details)');
  });

  it('names the models, prices, times and votes once revealed, in its messages as well', async () => {
    const { house, ids, place } = await comparison();
    await house.pass(MINUTE_MS);
    for (const id of ids) await house.happen(id, ...done(house));
    for (const [person, at] of [
      ['ben', 2],
      ['cleo', 2],
      ['ada', 1],
    ] as const)
      expect(await house.chat.comparisons.vote(place, person, at)).toBe('counted');
    await house.pass(5_000);
    expect(card(house)).toContain('3 people have voted.');
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
    expect(await house.chat.comparisons.reveal(place)).toBe(true);
    await house.pass(5_000);
    expect(card(house)).toMatch(/\*Clip B\* · ‹aardvark-1› · \$0\.33 · made in 0:59 · 2 votes\n/u);
    expect(card(house)).toContain('*Clip B*, made by ‹aardvark-1›, won with 2 of 3 votes.');
    expect(card(house).split('*Clip A*')[0]).not.toMatch(/zebra|aardvark|mole/u);
    expect(card(house)).toContain('(Make aardvark-1 the default here)');
    expect(house.platform.notices).toHaveLength(1);
    expect(await house.store.scan(OUTBOX)).toEqual([]);
  });

  it('shows what is there 30 minutes after the first outcome, and names what is missing', async () => {
    const { house, ids } = await comparison();
    await house.happen(ids[0], ...done(house));
    await house.happen(ids[2], ...done(house));
    await house.pass(29 * MINUTE_MS, MINUTE_MS / 2);
    expect(filesOf(house)).toEqual([]);
    // An outcome that waits as it should is not late.
    const [oldest] = await house.store.scan(OUTBOX, { order: 'oldest', limit: 1 });
    expect(oldest?.score).toBeGreaterThan(house.clock.now());
    await house.pass(2 * MINUTE_MS, MINUTE_MS / 2);
    expect(filesOf(house)).toHaveLength(2);
    expect(card(house)).toContain('*Clip B* · still in progress');
    expect(house.platform.notices.map((notice) => cardText(cardOf(notice.view)))).toEqual([
      expect.stringContaining('are ready; clip B isn’t ready yet.'),
    ]);
    await house.happen(ids[1], ...done(house));
    expect(filesOf(house)).toHaveLength(3);
    expect(card(house)).toMatch(/\*Clip B\*\n/u);
    expect(house.platform.notices).toHaveLength(2);
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('is revealed after 24 hours, also where the process that began it died in the middle', async () => {
    const { house, ids, place } = await comparison();
    for (const id of ids) await house.happen(id, ...done(house));
    await house.chat.comparisons.vote(place, 'ben', 3);
    house.clock.step(24 * 60 * MINUTE_MS - 1_000);
    expect(await runJob(house.chat.comparisons.job, house)).toBe(true);
    expect((await house.record(ids[0])).revealedAtMs).toBeUndefined();
    house.clock.step(2_000);
    const { repository } = house;
    const record = repository.record.bind(repository);
    let writes = 0;
    repository.record = (...given) => {
      writes += 1;
      return writes === 2 ? Promise.reject(new Error('killed')) : record(...given);
    };
    expect(await runJob(house.chat.comparisons.job, house)).toBe(false);
    const next = await house.restart();
    expect(await runJob(next.chat.comparisons.job, next)).toBe(true);
    await next.pass(10_000);
    for (const id of ids) expect((await next.record(id)).revealedAtMs).toBeDefined();
    expect(card(next)).toContain('*Clip C*, made by ‹mole-3›, won with 1 of 1 vote.');
    expect(await next.chat.comparisons.records.winsOf({ platform: 'fake', team: 'T1' })).toEqual({
      'zebra-9': { won: 0, of: 1 },
      'aardvark-1': { won: 0, of: 1 },
      'mole-3': { won: 1, of: 1 },
    });
    expect(await next.store.scan('comparisons')).toEqual([]);
  });

  it('survives a kill while its clips wait, and shows each once', async () => {
    const { house, ids } = await comparison();
    await house.happen(ids[0], ...done(house));
    await house.happen(ids[1], ...done(house));
    const next = await house.restart();
    expect(filesOf(next)).toEqual([]);
    await next.happen(ids[2], ...done(next));
    await next.pass(5_000);
    expect(next.platform.only.files).toHaveLength(3);
    expect(next.platform.notices).toHaveLength(1);
  });

  it('is revealed at once where no clip was made and none can be', async () => {
    const { house, ids } = await comparison();
    for (const id of ids) await house.happen(id, FAILED);
    await house.pass(5_000);
    for (const id of ids) expect((await house.record(id)).revealedAtMs).toBeDefined();
    expect(card(house)).toMatch(/\*Clip A\* · ‹zebra-9›/u);
  });

  it('is not revealed while an unconfirmed clip may still be there', async () => {
    const { house, ids } = await comparison();
    await house.happen(ids[0], EVENTS.disowned);
    for (const id of ids.slice(1)) await house.happen(id, FAILED);
    await house.pass(5_000);
    for (const id of ids) expect((await house.record(id)).revealedAtMs).toBeUndefined();
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('leaves nothing behind that is looked for every time once its content was removed', async () => {
    const { house, ids } = await comparison();
    for (const id of ids) await house.happen(id, ...done(house));
    await house.store.keyv('comparisons').delete(SET);
    expect(await house.store.scan('comparisons')).toHaveLength(1);
    house.clock.step(25 * 60 * MINUTE_MS);
    expect(await runJob(house.chat.comparisons.job, house)).toBe(true);
    expect(await house.store.scan('comparisons')).toEqual([]);
  });

  it('says nothing at the end of one that was cancelled, and posts a deleted card anew with its clips', async () => {
    const { house, ids } = await comparison();
    for (const id of ids) await house.happen(id, { kind: 'cancel', by: ADA, atMs: house.clock.now() });
    expect(house.platform.notices).toEqual([]);
    const other = await comparison();
    const shown = message(other.house, CARD);
    if (shown !== undefined) shown.isDeleted = true;
    for (const id of other.ids) await other.house.happen(id, ...done(other.house));
    await other.house.pass(5_000);
    expect(other.house.platform.messages).toHaveLength(2);
    expect(other.house.platform.messages[1]?.files).toHaveLength(3);
    for (const id of other.ids) expect((await other.house.record(id)).presented).toBe(true);
  });

  it('shows a clip that needs a decision at once, without its price, and waits for it no longer than for others', async () => {
    const { house, ids } = await comparison();
    await house.happen(ids[1], EVENTS.disowned);
    expect(card(house)).toContain('A decision is needed on clip B');
    expect(card(house)).toContain('(Decide on clip B)');
    await house.happen(ids[0], ...done(house));
    await house.happen(ids[2], ...done(house));
    await house.pass(1_000);
    expect(filesOf(house)).toHaveLength(2);
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('ends where its clips were cancelled and one was left unresolved', async () => {
    const { house, ids } = await comparison();
    await house.happen(ids[1], EVENTS.disowned);
    for (const id of [ids[0], ids[2]]) await house.happen(id, { kind: 'cancel', by: ADA, atMs: house.clock.now() });
    await house.pass(5_000);
    expect(card(house)).toMatch(/\*Clip A\* · was cancelled\n\*Clip B\* · needs a decision/u);
    expect(card(house)).not.toContain('Making');
    expect((await house.record(ids[1])).revealedAtMs).toBeUndefined();
    await house.happen(ids[1], { kind: 'leave', by: ADA });
    await house.pass(5_000);
    expect(card(house)).toMatch(/\*Clip B\* · ‹aardvark-1› · \$0\.33 · was left unresolved/u);
    for (const id of ids) expect((await house.record(id)).revealedAtMs).toBeDefined();
  });

  it('shows the retry of a failed clip under its label', async () => {
    const { house, ids, placeOf } = await comparison();
    for (const id of ids.slice(0, 2)) await house.happen(id, ...done(house));
    await house.happen(ids[2], FAILED);
    const failed = await house.record(ids[2]);
    const retry: Task = {
      ...newTask({ createdAtMs: house.clock.now(), request: failed.request, price: failed.price }),
      id: taskIdOf(retryKey(ids[2], 1)),
      retryOf: ids[2],
      takeOf: placeOf(3),
    };
    await house.repository.claim([retry]);
    await house.chat.show(retry.id);
    await house.happen(retry.id, EVENTS.send, EVENTS.accepted);
    expect(card(house, retry.id)).toContain('clip C of 3');
    await house.pass(MINUTE_MS);
    await house.happen(retry.id, ...done(house));
    expect(card(house)).toMatch(/\*Clip C\* · \[See it/u);
    expect(card(house)).toContain('(Vote for C)');
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('shows a clip that its retry has replaced in a message of its own, once it is there after all', async () => {
    const { house, ids, placeOf } = await comparison();
    for (const id of ids.slice(0, 2)) await house.happen(id, ...done(house));
    await house.happen(ids[2], ...done(house).slice(0, 1), EVENTS.unfetchable);
    await house.pass(5_000);
    const { request, price } = await house.record(ids[2]);
    const retry = { ...newTask({ createdAtMs: house.clock.now(), request, price }), id: taskIdOf(retryKey(ids[2], 1)) };
    await house.repository.claim([{ ...retry, retryOf: ids[2], takeOf: placeOf(3) }]);
    await house.chat.show(retry.id);
    await house.happen(ids[2], { kind: 'refetch' }, { kind: 'fetched', clip: CLIP });
    await house.pass(5_000);
    expect(message(house, ids[2])?.files).toHaveLength(1);
    expect(filesOf(house)).toHaveLength(2);
    expect(told(house).match(BETRAYING)?.[0]).toBeUndefined();
  });

  it('never shows the models of some and not of others, and reveals a retry that the reveal did not find', async () => {
    const { house, ids, place, placeOf } = await comparison();
    for (const id of ids.slice(0, 2)) await house.happen(id, ...done(house));
    await house.happen(ids[2], FAILED);
    await house.pass(1_000);
    const { repository } = house;
    const record = repository.record.bind(repository);
    const cards: string[] = [];
    repository.record = async (...given) => {
      if (given[1].kind === 'reveal') {
        await house.pass(5_000);
        cards.push(card(house));
      }
      return record(...given);
    };
    await house.chat.comparisons.reveal(place);
    expect(cards.map((shown) => shown.includes('Which one is better?'))).toEqual([true, true, true]);
    repository.record = record;
    await house.pass(5_000);
    expect(card(house)).toContain('Nobody voted.');
    const { request, price } = await house.record(ids[2]);
    const retry = { ...newTask({ createdAtMs: house.clock.now(), request, price }), id: taskIdOf(retryKey(ids[2], 1)) };
    await repository.claim([{ ...retry, retryOf: ids[2], takeOf: placeOf(3) }]);
    await house.chat.show(retry.id);
    await house.happen(retry.id, EVENTS.send, EVENTS.accepted, ...done(house));
    await house.pass(5_000);
    expect((await house.record(retry.id)).revealedAtMs).toBeDefined();
    expect(card(house)).toMatch(/\*Clip C\* · ‹mole-3›/u);
    expect(card(house, retry.id)).toContain('‹mole-3›');
    const votable = await house.chat.comparisons.entries(place);
    const later = { ...newTask({ createdAtMs: house.clock.now(), request, price }), id: taskIdOf(retryKey(ids[2], 2)) };
    await repository.claim([{ ...later, retryOf: ids[2] }]);
    expect(await house.chat.comparisons.entries(place)).toEqual(votable);
  });
});
