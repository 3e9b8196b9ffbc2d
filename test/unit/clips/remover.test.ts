import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { RetractionCount } from '#src/chat/retraction.ts';
import { type RemovalOrder, Remover } from '#src/clips/remover.ts';
import type { Change } from '#src/engine/store/store.ts';
import { type Draft, Drafts } from '#src/pipeline/drafts.ts';
import { retryKey, taskIdOf } from '#src/pipeline/task-ids.ts';
import { REMOVALS } from '#src/tasks/indexes.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { runJob, startJobs } from '#test/fakes/jobs.ts';
import type { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, EVENTS, originOf } from '#test/fakes/tasks.ts';

const EXPIRED = { reason: 'expired' } as const;
const DELETED = { reason: 'deleted' } as const;
/** Time after which a sweep considers a removal abandoned, in milliseconds. */
const ABANDONED_MS = 61_000;

/** A remover with the steps that it took; `broken` steps fail. */
function removerOf(house: ChatHouse) {
  const steps: string[] = [];
  const broken = new Set<string>();
  /** What happens in the middle of a step. */
  const during = new Map<string, () => Promise<unknown>>();
  const step = async (name: string): Promise<void> => {
    if (broken.has(name)) throw new TypeError(`${name} fails`);
    steps.push(name);
    await during.get(name)?.();
  };
  const { store, repository, clock, chat } = house;
  const audit = new AuditTrail(store, clock);
  const remover: Remover = new Remover({
    cuts: { removeWith: (id) => step(`cuts ${id}`) },
    store,
    repository,
    clips: { list: async () => new Map(), remove: (id) => step(`file ${id}`) },
    messages: {
      retract: async (task, { address }, reason) => {
        await step(`messages ${task.id} ${address['thread']} ${reason}`);
        return { retracted: 1, kept: 0 };
      },
      expire: ({ id, origin: { address } }) => step(`expire ${id} ${address['thread']}`),
      deletions: (task) => chat.retraction.deletions(task),
    },
    audit,
    clock,
    logger: pino({ level: 'silent' }),
  });
  return { remover, steps, broken, during, audit };
}

const origin = originOf({ address: { thread: 't1' }, audience: 'team' });

/** A delivered clip of Ada and a remover. */
async function delivered() {
  const house = new ChatHouse();
  const id = await house.done({ id: 'clip' as TaskId, origin });
  await house.pass(0);
  expect(await house.record(id)).toMatchObject({ presented: true });
  const parts = removerOf(house);
  return { house, id, ...parts, remove: (order: RemovalOrder) => parts.remover.remove({ id }, order) };
}

/** The keys of all records about the messages and deliveries of tasks. */
async function leftIn(store: ChatHouse['store']): Promise<readonly string[]> {
  const namespaces = ['cards', 'messages', 'deliveries', 'posts', 'retractions', 'removals', 'ledger'];
  const pages = namespaces.map((namespace) => Array.fromAsync(store.contents.records(namespace)));
  return (await Promise.all(pages)).flat(2).map(({ key }) => key);
}

describe('an expired clip', () => {
  it('loses its file, its content and the records about it; its messages stay', async () => {
    const { house, id, remove, steps } = await delivered();
    expect(await leftIn(house.store)).not.toEqual([]);
    expect(await remove(EXPIRED)).toBe(true);
    expect(steps).toEqual(['file clip', 'cuts clip', 'expire clip t1']);
    expect(await house.record(id)).toMatchObject({ request: { prompt: '' }, origin: { address: {} } });
    expect(await leftIn(house.store)).toEqual([]);
    expect(await house.store.count(REMOVALS)).toBe(0);
  });

  it('keeps its prompt and its message where only the clip is removed', async () => {
    const { house, id, remove, steps } = await delivered();
    const before = await house.record(id);
    expect(await remove({ ...EXPIRED, keepsContent: true })).toBe(true);
    expect(steps).toEqual(['file clip', 'cuts clip', 'expire clip t1']);
    expect(await house.record(id)).toMatchObject({ request: before.request, origin: before.origin });
    expect(await house.chat.messageOf(id)).toBeDefined();
    expect(await house.store.count(REMOVALS)).toBe(0);
  });

  it('is not posted again, whatever happens to it later', async () => {
    const { house, id, remove } = await delivered();
    await remove(EXPIRED);
    await expect(house.chat.show(id)).rejects.toMatchObject({ code: 'message_gone' });
    const posted = house.platform.countOf('open');
    await house.happen(id, { kind: 'book', send: 1, as: 'refunded' });
    await house.pass(10_000);
    expect(house.platform.countOf('open')).toBe(posted);
    expect(await leftIn(house.store)).toEqual([]);
  });

  it('that another process removed is removed', async () => {
    const { remove, steps } = await delivered();
    expect(await Promise.all([remove(EXPIRED), remove(EXPIRED)])).toEqual([true, true]);
    expect(steps).toContain('file clip');
  });
});

describe('a deleted clip', () => {
  it('leaves no draft of its order, of another reading of it, or of its retry', async () => {
    const house = new ChatHouse();
    const key = 'the order';
    const id = await house.done({ id: taskIdOf(key), origin });
    await house.pass(0);
    const drafts = new Drafts(house.store, house.clock);
    const { platform, team, channel } = origin;
    const draft = { platform, team, channel, by: ADA, request: { prompt: 'a secret' } };
    const save = (name: string, of: Pick<Draft, 'key' | 'retryOf'>) =>
      drafts.save({ ...draft, id: name as TaskId, ...of });
    await save(id, { key });
    await save('another reading', { key });
    await save('retry', { key: retryKey(id, 1), retryOf: id });
    await save('unrelated', { key: 'another order' });
    expect(await removerOf(house).remover.remove({ id }, DELETED)).toBe(true);
    const left = (await Array.fromAsync(house.store.contents.records('drafts'))).flat();
    expect(left.map((one) => one.key)).toEqual(['unrelated']);
  });

  it('is retracted from where its record said it was', async () => {
    const { house, remove, steps } = await delivered();
    expect(await remove({ ...DELETED, by: ADA })).toBe(true);
    expect(steps).toEqual(['file clip', 'cuts clip', 'messages clip t1 deleted']);
    expect(await leftIn(house.store)).toEqual([]);
  });

  it('reports what became of its messages, unless that is left to a sweep', async () => {
    const { remove } = await delivered();
    const counts: RetractionCount[] = [];
    const retracted = (count: RetractionCount) => void counts.push(count);
    await remove({ ...DELETED, retracted });
    expect(counts).toEqual([{ retracted: 1, kept: 0 }]);
    const another = await delivered();
    another.broken.add('messages clip t1 deleted');
    expect(await another.remove({ ...DELETED, retracted })).toBe(true);
    expect(counts).toHaveLength(1);
  });

  it('is in the audit log where somebody else than its requester deleted it', async () => {
    const { remove, audit } = await delivered();
    await remove({ ...DELETED, by: BOB });
    const { entries } = await audit.page({ platform: 'fake', team: 'T1' }, { offset: 0, limit: 9 });
    const subject = [
      { kind: 'task', task: 'clip' },
      { kind: 'person', person: ADA },
    ];
    expect(entries).toMatchObject([{ action: 'removal', by: BOB, subject }]);
  });

  it('is not in the audit log where its requester did', async () => {
    const { remove, audit } = await delivered();
    await remove({ ...DELETED, by: ADA });
    expect((await audit.page({ platform: 'fake', team: 'T1' }, { offset: 0, limit: 9 })).total).toBe(0);
  });
});

describe('a task that is running, unconfirmed or not delivered', () => {
  it('is not removed', async () => {
    const house = new ChatHouse();
    const { remover, steps } = removerOf(house);
    const running = await house.running({ id: 'running' as TaskId });
    const uncertain = await house.task({ id: 'uncertain' as TaskId }, EVENTS.send, EVENTS.lost);
    const release = house.platform.stalls('attach');
    const undelivered = await house.done({ id: 'undelivered' as TaskId });
    for (const id of [running, uncertain, undelivered]) {
      const before = await house.record(id);
      expect(await remover.remove({ id }, DELETED)).toBe(false);
      expect(await house.record(id)).toEqual(before);
    }
    expect(steps).toEqual([]);
    expect(await remover.remove({ id: 'none' as TaskId }, DELETED)).toBe(false);
    release();
  });
});

describe('a removal that is cut off', () => {
  it.each(['file clip', 'cuts clip', 'messages clip t1 deleted'])(
    'before “%s” is completed at the next start',
    async (cut) => {
      const { house, id, remove, broken } = await delivered();
      broken.add(cut);
      expect(await remove(DELETED)).toBe(true);
      expect(await house.record(id)).toMatchObject({ removal: { reason: 'deleted' } });
      expect(await house.store.count(REMOVALS)).toBe(1);
      const next = await house.restart();
      const { remover: another, steps: taken } = removerOf(next);
      const jobs = startJobs(next, another.job);
      await next.pass(0);
      await jobs.stop();
      expect(taken).toEqual(['file clip', 'cuts clip', 'messages clip t1 deleted']);
      expect(await leftIn(house.store)).toEqual([]);
      expect(await house.store.count(REMOVALS)).toBe(0);
    },
  );

  it('is left alone by a sweep while its process is at it', async () => {
    const { house, remove, during, steps, remover } = await delivered();
    during.set('file clip', () => runJob(remover.job, house));
    await remove(DELETED);
    expect(steps.filter((step) => step === 'file clip')).toHaveLength(1);
  });

  it('at any commit is either not begun or completed by the next sweep', async () => {
    for (let commits = 0; commits < 2; commits += 1) {
      const { house, id, remove } = await delivered();
      const before = await house.record(id);
      const store = house.store as MemoryStore;
      const commit = store.commit.bind(store);
      let left = commits;
      store.commit = async (change: Change) => {
        left -= 1;
        if (left < 0) throw new TypeError('killed');
        return commit(change);
      };
      await remove(DELETED).catch(() => undefined);
      store.commit = commit;
      await house.pass(ABANDONED_MS, 10_000);
      expect(await runJob(removerOf(house).remover.job, house)).toBe(true);
      expect(await store.count(REMOVALS)).toBe(0);
      if (commits === 0) expect(await house.record(id)).toEqual(before);
      else expect(await leftIn(store)).toEqual([]);
    }
  });

  it('by another removal does what that one adds as well', async () => {
    const { house, id, remove, during, steps } = await delivered();
    during.set('expire clip t1', async () => {
      during.clear();
      const remove = { ...EVENTS.remove, reason: 'deleted', atMs: house.clock.now() } as const;
      const job = { revision: 99, reason: 'deleted', keepsContent: false, address: { thread: 't1' } };
      const records = [{ namespace: 'removals', key: id, value: job, expected: 'any' }] as const;
      await house.repository.record(id, remove, undefined, async () => ({ records }));
    });
    await remove({ ...EXPIRED, keepsContent: true });
    expect(steps.slice(3)).toEqual(['file clip', 'cuts clip', 'messages clip t1 deleted']);
    expect(await leftIn(house.store)).toEqual([]);
    expect(await house.store.count(REMOVALS)).toBe(0);
  });

  it('is completed with what was removed besides meanwhile', async () => {
    const { house, remove, broken, steps, remover } = await delivered();
    broken.add('file clip');
    await remove({ ...EXPIRED, keepsContent: true });
    await remove(EXPIRED);
    await remove({ reason: 'forgotten', person: { id: 'forgotten-1', name: 'Someone' } });
    broken.clear();
    await house.pass(ABANDONED_MS, 10_000);
    expect(await runJob(remover.job, house)).toBe(true);
    expect(steps).toEqual(['file clip', 'cuts clip', 'messages clip t1 forgotten']);
    expect(await leftIn(house.store)).toEqual([]);
  });
});

it('ends a removal whose task is not there', async () => {
  const { house, id, steps, remover, broken, remove } = await delivered();
  broken.add(`file ${id}`);
  await remove(DELETED);
  await house.store.keyv('tasks').delete(id);
  broken.clear();
  await remover.complete([id]);
  expect(steps).toEqual([]);
  expect(await house.store.keyv('removals').get(id)).toBeUndefined();
  expect(await house.store.scan(REMOVALS)).toEqual([]);
});
