import { describe, expect, it, vi } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import type { NamedSum, Store } from '#src/engine/store/store.ts';
import { Drafts } from '#src/pipeline/drafts.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import { FORGETTINGS } from '#src/tasks/indexes.ts';
import type { Person, Task, TaskId } from '#src/tasks/task.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { References } from '#src/teams/references.ts';
import { wrongBooks } from '#test/fakes/books.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import {
  actor,
  EVE,
  type ForgettingHouse,
  finish,
  livedIn,
  origin,
  partsOf,
  request,
  TEAM,
  TRACES,
} from '#test/fakes/forgetting-house.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { MortalStore } from '#test/fakes/mortal-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { BOB, CLIP, EVENTS, newTask, originOf, requestedTask, waitingTask } from '#test/fakes/tasks.ts';

/** Everything in a store, names of keys, indexes and sums included. */
async function dumpOf(store: Store): Promise<string> {
  const indexes = await store.contents.indexes();
  const entries = await Promise.all(indexes.map((index) => store.scan(index)));
  const sums = (await Array.fromAsync(store.contents.sums())).flat().map(({ sum }) => sum);
  return `${await storedIn(store)}\n${JSON.stringify([indexes, entries, sums])}`;
}

async function sumsIn(store: Store): Promise<readonly NamedSum[]> {
  return (await Array.fromAsync(store.contents.sums())).flat();
}

const shared = (sums: readonly NamedSum[]) =>
  sums.filter(({ sum }) => !sum.startsWith('person:')).toSorted((a, b) => (a.sum < b.sum ? -1 : 1));
const perPerson = (sums: readonly NamedSum[]): bigint =>
  sums
    .filter(({ sum }) => sum.startsWith('person:'))
    .reduce((total, { parts }) => total + parts.held + parts.settled + parts.doubted, 0n);

const forget = ({ forgetting }: ForgettingHouse, by: Person = EVE) =>
  forgetting.request({ ...TEAM, person: EVE, actor: actor(by) });

describe('forgetting a person', () => {
  it('leaves no trace of them in the store, and every amount', async () => {
    const parts = await livedIn();
    const { house, references } = parts;
    const { store } = house;
    expect(await dumpOf(store)).toMatch(TRACES);
    const before = await sumsIn(store);
    const overwrite = vi.spyOn(store.contents, 'overwriteDeleted');
    await forget(parts);
    await finish(parts);
    // What was deleted is gone from the file, too.
    expect(overwrite).toHaveBeenCalledOnce();
    expect(await dumpOf(store)).not.toMatch(TRACES);
    const after = await sumsIn(store);
    expect(shared(after)).toEqual(shared(before));
    expect(perPerson(after)).toBe(perPerson(before));
    expect(await wrongBooks(store)).toEqual([]);
    expect(references).toEqual(expect.arrayContaining([1, 2].map((at) => `https://dailies.example/media/relay-${at}`)));
    expect(house.platform.forgotten).toEqual([EVE.id]);
  });

  it('retracts their messages, and shows those of others without them', async () => {
    const parts = await livedIn();
    const { house } = parts;
    await forget(parts);
    await finish(parts);
    const retracted = new Set(house.platform.retracted.map(({ ref }) => ref.message));
    const left = house.platform.messages.filter(({ ref }) => !retracted.has(ref.message));
    expect(left).toHaveLength(1);
    expect(JSON.stringify(left.map(({ shown }) => shown.at(-1)))).not.toMatch(TRACES);
    expect(house.platform.retracted[0]?.view).toEqual({ kind: 'removed', reason: 'forgotten' });
    expect(house.platform.erased).toMatchObject([{ ref: { message: 'review:his:1' }, view: { note: null } }]);
    expect(JSON.stringify(house.platform.erased)).not.toMatch(TRACES);
  });

  it('keeps the claims: a redelivered interaction buys nothing', async () => {
    const parts = await livedIn();
    const { repository } = parts.house;
    await forget(parts);
    await finish(parts);
    const claim = await repository.claim([newTask({ id: 'done' as TaskId, origin, request })]);
    expect(claim).toMatchObject({ kind: 'known', task: { request: { prompt: '' }, removal: { reason: 'forgotten' } } });
  });

  it('waits for what is in progress', async () => {
    const parts = await livedIn();
    const { house, forgetting, references } = parts;
    const file = 'https://dailies.example/media/relay-3';
    const price = { amount: '0.01', currency: 'USD' };
    const shared = { origin, price, request: { ...request, media: { ...request.media, image: [file] } } };
    const id = await house.running({ ...shared, id: 'running' as TaskId });
    // Signed anew, the same file has another address.
    const image = [`${file}?expires=1`];
    const again = { ...shared, request: { ...request, media: { ...request.media, image } } };
    await house.task({ ...again, id: 'again' as TaskId }, EVENTS.send, EVENTS.accepted, EVENTS.failed);
    const draft = { ...TEAM, id: 'kept' as TaskId, key: 'fake:kept', channel: 'clips', by: EVE };
    await new Drafts(house.store, house.clock).save({ ...draft, request: { prompt: 'a secret fox', image } });
    await forget(parts);
    for (let round = 0; round < 3; round += 1) {
      house.clock.step(31_000);
      await runJob(forgetting.job, house);
      await house.pass(0);
    }
    expect(await house.store.count(FORGETTINGS)).toBe(1);
    expect((await house.record(id)).request.prompt).toBe('a secret fox');
    // The service may still fetch it.
    expect(references.filter((url) => url.startsWith(file))).toEqual([]);
    // What is not ordered, or goes on by itself, ends at once.
    expect(await house.store.keyv('drafts').get('draft')).toBeUndefined();
    expect(await house.subscriptions.list(TEAM.platform, TEAM.team)).toMatchObject([{ channel: 'his' }]);
    expect((await parts.money.approvers.list(TEAM)).map(({ name }) => name)).toEqual(['Carol']);
    await house.happen(id, EVENTS.completed, EVENTS.fetched);
    await finish(parts);
    expect(references).toContain(file);
    expect(await dumpOf(house.store)).not.toMatch(TRACES);
  });

  it('cancels their shots that wait for the clip before, which nobody would see', async () => {
    const parts = await livedIn();
    const { house } = parts;
    const set = { id: 'chained' as TaskId, kind: 'storyboard', of: 2 } as const;
    const [one, two] = memberIds(set) as [TaskId, TaskId];
    const created = { origin, createdAtMs: house.clock.now(), price: { amount: '0.10', currency: 'USD' } };
    await house.repository.claim([
      newTask({ ...created, id: one, request, set: { ...set, at: 1 } }),
      waitingTask({ ...created, id: two, request: { ...request, chain: {} }, set: { ...set, at: 2 } }),
    ]);
    await house.chat.show(one);
    await house.happen(one, EVENTS.send, { ...EVENTS.accepted, upstreamId: 'up-chained' as never });
    await forget(parts);
    await house.pass(0);
    house.clock.step(3_000);
    await runJob(parts.forgetting.job, house);
    expect(await house.record(two)).toMatchObject({ state: 'cancelled', sends: 0 });
    expect(await house.record(one)).toMatchObject({ state: 'polling' });
    await house.happen(one, {
      kind: 'failed',
      failure: { code: 'generation_failed', words: null },
      atMs: house.clock.now(),
    });
    await finish(parts);
    expect(await dumpOf(house.store)).not.toMatch(TRACES);
    expect(await wrongBooks(house.store)).toEqual([]);
  });

  it('ends only once their messages are retracted', async () => {
    const parts = await livedIn();
    const { house, forgetting } = parts;
    const { platform } = house;
    const retract = platform.retract.bind(platform);
    platform.retract = async () => {
      throw platformError('platform_unavailable');
    };
    await forget(parts);
    for (let round = 0; round < 3; round += 1) {
      house.clock.step(31_000);
      await runJob(forgetting.job, house);
      await house.pass(0);
    }
    expect(platform.forgotten).toEqual([]);
    expect(await house.store.count(FORGETTINGS)).toBe(1);
    platform.retract = retract;
    await finish(parts);
    expect(platform.retracted.length).toBeGreaterThan(0);
    expect(await dumpOf(house.store)).not.toMatch(TRACES);
  });

  it('deletes what they begin while it is at work', async () => {
    const parts = await livedIn();
    const { house } = parts;
    const { platform, store, clock } = house;
    const erase = platform.forget.bind(platform);
    platform.forget = async (...given) => {
      const draft = { ...TEAM, channel: 'clips', by: EVE, request: { prompt: 'a secret fox, again' } };
      await new Drafts(store, clock).save({ ...draft, id: 'meanwhile' as TaskId, key: 'fake:meanwhile' });
      return erase(...given);
    };
    await forget(parts);
    await finish(parts);
    expect(await dumpOf(store)).not.toMatch(TRACES);
  });

  it('leaves alone what they are and did in another team, where they have the same id', async () => {
    const parts = await livedIn();
    const { house, money } = parts;
    const { store, clock } = house;
    const other = { platform: TEAM.platform, team: 'T2' };
    await house.subscriptions.add({ ...other, channel: 'clips', who: EVE, by: EVE });
    await money.approvers.add(other, actor(BOB), { kind: 'person', ...EVE });
    const create = [{ kind: 'person', ...EVE } as const];
    await money.settings.change(other, actor(EVE), { policy: { team: { create }, channels: {} } });
    await new PersonalDefaults(store).change({ ...other, user: EVE.id }, { seconds: 8 });
    await new References(store, clock).add(other, { name: 'mug', url: 'https://a.test/mug.png', by: EVE });
    const comparisons = new ComparisonRecords(store, clock);
    await comparisons.show({ id: 'compared' as TaskId, kind: 'comparison', at: 1, of: 2 }, other);
    await comparisons.vote('compared' as TaskId, EVE.id, 2);
    const draft = { ...other, channel: 'clips', by: EVE, request: { prompt: 'another fox' } };
    await new Drafts(store, clock).save({ ...draft, id: 'T2-draft' as TaskId, key: 'fake:T2-draft' });
    await house.done({ id: 'T2-done' as TaskId, origin: { ...origin, team: 'T2' }, request });
    const asked = requestedTask({
      id: 'T2-his' as TaskId,
      origin: originOf({ user: BOB, team: 'T2', audience: 'team' }),
    });
    await house.task({ ...asked, ...(asked.approval && { approval: { ...asked.approval, askedOf: create } }) });
    await house.happen('T2-his' as TaskId, { ...EVENTS.approve, by: EVE });
    const records = async (): Promise<ReadonlyMap<string, unknown>> => {
      const all = (await store.contents.namespaces()).map(async (namespace) =>
        (await Array.fromAsync(store.contents.records(namespace)))
          .flat()
          .map(({ key, value }) => [`${namespace} ${key}`, value] as const),
      );
      // Not within random text, such as the secret of carried spend.
      const isOfOther = /(?<![\w-])T2(?!\w)|compared/u;
      const found = (await Promise.all(all)).flat().filter((one) => isOfOther.test(JSON.stringify(one)));
      return new Map(found);
    };
    const before = await records();
    expect(before.size).toBeGreaterThan(12);
    await forget(parts);
    await finish(parts);
    expect(Object.fromEntries(await records())).toEqual(Object.fromEntries(before));
  });

  it('leaves alone what they order afterwards', async () => {
    const parts = await livedIn();
    const { house } = parts;
    await forget(parts);
    house.clock.step(10);
    const id = await house.done({ id: 'later' as TaskId, origin, request, createdAtMs: house.clock.now() });
    await finish(parts);
    expect(await house.record(id)).toMatchObject({ request: { prompt: 'a secret fox' }, origin: { user: EVE } });
  });

  it('is in the audit log as a fact: by whom, and that the person is erased', async () => {
    const parts = await livedIn();
    const { audit } = parts.money;
    await forget(parts, BOB);
    await finish(parts);
    const { entries } = await audit.page(TEAM, { offset: 0, limit: 99 });
    expect(entries[0]).toMatchObject({ action: 'erasure', by: BOB, subject: [{ kind: 'erased' }] });
    expect(entries.find(({ action }) => action === 'pause')).toMatchObject({ by: 'erased' });
    expect(await audit.verifyAll()).toEqual([]);
  });

  it('knows sets: the card of theirs is retracted, and that of a set which they approved names them no more', async () => {
    const parts = await livedIn();
    const { house } = parts;
    const asked = requestedTask({ origin: originOf({ user: BOB, audience: 'team' }) });
    const approval = {
      ...asked.approval,
      askedOf: [
        { kind: 'person', ...EVE },
        { kind: 'person', id: 'carol', name: 'Carol' },
      ],
    } as NonNullable<Task['approval']>;
    const theirs = { id: 'approved' as TaskId, kind: 'takes', of: 2 } as const;
    const own = { id: 'hers' as TaskId, kind: 'takes', of: 3 } as const;
    const created = { createdAtMs: house.clock.now(), price: { amount: '0.10', currency: 'USD' } };
    const tasks = memberIds(theirs).map((id, at) => ({ ...asked, approval, id, set: { ...theirs, at: at + 1 } }));
    const hers = memberIds(own).map((id, at) =>
      newTask({ id, origin, request, ...created, set: { ...own, at: at + 1 } }),
    );
    for (const set of [tasks, hers]) await house.repository.claim(set);
    for (const id of [theirs.id, own.id]) await house.chat.show(id);
    await house.pass(0);
    await house.happen(theirs.id, { ...EVENTS.approve, by: EVE });
    for (const { id } of tasks) await house.happen(id, { ...EVENTS.cancel, by: BOB });
    const [first, second, third] = memberIds(own) as [TaskId, TaskId, TaskId];
    const done = [
      { kind: 'completed', atMs: house.clock.now() },
      { kind: 'fetched', clip: CLIP },
    ] as const;
    await house.happen(first, EVENTS.send, EVENTS.accepted, ...done);
    await house.happen(second, EVENTS.send, EVENTS.accepted, EVENTS.failed);
    await house.happen(third, { ...EVENTS.cancel, by: EVE });
    await forget(parts);
    await finish(parts);
    expect(await dumpOf(house.store)).not.toMatch(TRACES);
    const shown = (id: TaskId) => house.platform.messages.find(({ task }) => task === setCardId(id));
    const retracted = house.platform.retracted.map(({ ref }) => ref.message);
    expect(retracted).toContain(shown(own.id)?.ref.message);
    expect(shown(own.id)?.files).toEqual([]);
    expect(retracted).not.toContain(shown(theirs.id)?.ref.message);
    expect(JSON.stringify(shown(theirs.id)?.shown.at(-1))).not.toMatch(TRACES);
    expect(await wrongBooks(house.store)).toEqual([]);
  });

  it('does the work of two requests once', async () => {
    const parts = await livedIn();
    await forget(parts);
    await forget(parts, BOB);
    const { entries } = await parts.money.audit.page(TEAM, { offset: 0, limit: 99 });
    expect(entries.filter(({ action }) => action === 'erasure')).toHaveLength(1);
    await finish(parts);
  });

  it('goes on after a kill at any write', async () => {
    const count = async (writes: number): Promise<number> => {
      const mortal = new MortalStore(new MemoryStore());
      const parts = await livedIn(new ChatHouse({ store: mortal.store }));
      const before = await sumsIn(mortal.store);
      await forget(parts);
      mortal.writesLeft = writes;
      for (let round = 0; round < 4; round += 1) {
        parts.house.clock.step(31_000);
        await runJob(parts.forgetting.job, parts.house);
        await parts.house.pass(0);
      }
      const isKilled = mortal.writesLeft <= 0;
      const used = writes - mortal.writesLeft;
      mortal.writesLeft = Number.POSITIVE_INFINITY;
      // Another process, on what the killed one has left.
      const next = partsOf(await parts.house.restart());
      await finish(next);
      expect(await dumpOf(mortal.store), `after ${writes} writes`).not.toMatch(TRACES);
      const after = await sumsIn(mortal.store);
      expect(shared(after)).toEqual(shared(before));
      expect(perPerson(after)).toBe(perPerson(before));
      expect(await wrongBooks(mortal.store), `after ${writes} writes`).toEqual([]);
      return isKilled ? -1 : used;
    };
    const whole = await count(10_000);
    expect(whole).toBeGreaterThan(20);
    for (let writes = 1; writes < whole; writes += 1) await count(writes);
  });
});

describe('a budget of a forgotten person', () => {
  const spent = { period: '2026-11', currency: 'USD' };
  const limitOf = async ({ money }: ForgettingHouse) => {
    await money.carried.restore(origin);
    return (await money.budgets.limits(origin, spent)).find(({ scope }) => scope === 'person');
  };

  it('is not reset until the month ends', async () => {
    const parts = await livedIn();
    const before = await limitOf(parts);
    const used = (of: typeof before) => (of === undefined ? 0n : of.spend.held + of.spend.settled + of.spend.doubted);
    expect(used(before)).toBeGreaterThan(0n);
    await forget(parts);
    await finish(parts);
    const after = await limitOf(parts);
    expect(after).toMatchObject({ hard: 1_000_000n });
    expect(used(after)).toBe(used(before));
    expect(await wrongBooks(parts.house.store)).toEqual([]);
    // A second time, too.
    await forget(parts);
    await finish(parts);
    expect(await dumpOf(parts.house.store)).not.toMatch(TRACES);
    expect(used(await limitOf(parts))).toBe(used(before));
  });

  it('begins anew with the next month, and leads to nobody then', async () => {
    const parts = await livedIn();
    const { house, money } = parts;
    await forget(parts);
    await finish(parts);
    await money.carried.restore(origin);
    const carried = /"kind":"(?:carry_keys|carried_spend|restored_spend)"/u;
    expect(await storedIn(house.store)).toMatch(carried);
    house.clock.step(40 * 24 * 3_600_000);
    expect(await runJob(money.carried.job, house)).toBe(true);
    expect(await storedIn(house.store)).not.toMatch(carried);
    expect(JSON.stringify((await sumsIn(house.store)).map(({ sum }) => sum))).not.toMatch(TRACES);
    expect(await wrongBooks(house.store)).toEqual([]);
  });
});
