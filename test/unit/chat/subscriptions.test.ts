import { describe, expect, it } from 'vitest';
import { type Subscription, Subscriptions } from '#src/chat/subscriptions.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB } from '#test/fakes/tasks.ts';

const inNews: Subscription = { platform: 'fake', team: 'T1', channel: 'news', who: 'everyone', by: BOB };

describe('subscriptions', () => {
  it('are stored by team, each once', async () => {
    const store = new MemoryStore();
    const subscriptions = new Subscriptions(store);
    expect(await subscriptions.list('fake', 'T1')).toEqual([]);
    expect(await subscriptions.add(inNews)).toBe(true);
    expect(await subscriptions.add({ ...inNews, by: ADA })).toBe(false);
    expect(await subscriptions.add({ ...inNews, who: ADA })).toBe(true);
    expect(await subscriptions.add({ ...inNews, who: { ...ADA, name: 'Ada L.' } })).toBe(false);
    expect(await new Subscriptions(store).list('fake', 'T1')).toEqual([inNews, { ...inNews, who: ADA }]);
    expect(await subscriptions.list('fake', 'T2')).toEqual([]);
    expect(await subscriptions.list('other', 'T1')).toEqual([]);
  });

  it('are all kept when two processes add many concurrently', async () => {
    const store = new MemoryStore();
    const both = [new Subscriptions(store), new Subscriptions(store)];
    const added = await Promise.all(
      both.flatMap((one) => Array.from({ length: 20 }, (_, at) => one.add({ ...inNews, channel: `c${at}` }))),
    );
    expect(added.filter(Boolean)).toHaveLength(20);
    expect(await both[0]?.list('fake', 'T1')).toHaveLength(20);
  });

  it('are removed one at a time, or all of a channel', async () => {
    const subscriptions = new Subscriptions(new MemoryStore());
    const elsewhere = { ...inNews, channel: 'other' };
    for (const one of [inNews, { ...inNews, who: ADA }, { ...inNews, who: BOB }, elsewhere])
      await subscriptions.add(one);
    const removed = (isIt: (one: Subscription) => boolean) => subscriptions.remove('fake', 'T1', isIt);
    expect(await removed(({ who }) => who !== 'everyone' && who.id === ADA.id)).toEqual([{ ...inNews, who: ADA }]);
    expect(await removed(({ who }) => who !== 'everyone' && who.id === ADA.id)).toEqual([]);
    expect(await removed(({ channel }) => channel === 'news')).toEqual([inNews, { ...inNews, who: BOB }]);
    expect(await subscriptions.list('fake', 'T1')).toEqual([elsewhere]);
  });

  it('to a user called "everyone" differ from those to everyone', async () => {
    const subscriptions = new Subscriptions(new MemoryStore());
    await subscriptions.add(inNews);
    expect(await subscriptions.add({ ...inNews, who: { id: 'everyone', name: 'everyone' } })).toBe(true);
  });
});
