import { expect, it } from 'vitest';
import '#adapters/discord/messages/message-store.ts';
import '#adapters/slack/messages/message-store.ts';
import '#src/app.ts';
import { forgetIn, linesAbout, withdrawFrom } from '#src/people/personal-records.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { storedIn } from '#test/fakes/stored.ts';

const EVE = { id: 'U1', name: 'Eve' };
const PSEUDONYM = { id: 'forgotten-1', name: 'Removed person' };
const OF = { platform: 'slack', team: 'T1', person: EVE, pseudonym: PSEUDONYM };

it('deletes where a direct message asked a forgotten person, of their team alone', async () => {
  const store = new MemoryStore();
  const message = { channel: 'D1', message: 'm1' };
  const keys = ['slack:T1:U1', 'slack:T2:U1', 'slack:T1:U2'].map((asked) => `notice:ask:task-1:${asked}`);
  for (const kind of ['slack_posts', 'discord_values'])
    for (const key of [...keys, `offer:${keys[0]}`, 'task:task-1'])
      await store.keyv(kind).set(key, { revision: 1, ...message });
  await forgetIn(store, OF, expect.unreachable);
  for (const kind of ['slack_posts', 'discord_values']) {
    const left = (await Array.fromAsync(store.contents.records(kind))).flat().map(({ key }) => key);
    expect(left.toSorted()).toEqual([keys[2], keys[1], 'task:task-1']);
  }
});

it('says that a record is damaged, and goes on with the others', async () => {
  const store = new MemoryStore();
  await store.keyv('budgets').set('a', { revision: 1 });
  await store.keyv('drafts').set('a', {});
  await store.keyv('drafts').set('b', { platform: 'slack', team: 'T1', by: EVE });
  await store.keyv('notices').set('a', { revision: 1, of: OF, to: { kind: 'person', person: EVE }, state: 'posted' });
  const damaged: string[] = [];
  const lines = await Array.fromAsync(linesAbout(store, OF));
  await withdrawFrom(store, OF, (kind) => damaged.push(kind));
  await forgetIn(store, OF, (kind) => damaged.push(kind));
  expect(damaged).toEqual(['budgets']);
  expect(lines.map(({ record, kind }) => kind ?? record)).toEqual(expect.arrayContaining(['draft', 'budgets']));
  expect(await storedIn(store)).not.toMatch(/"U1"|Eve/);
});

it('replaces who decided on a request of their team, and in that of another one nobody', async () => {
  const store = new MemoryStore();
  const posted = [{ key: 'ask:task-1:', message: { channel: 'C1', message: 'm1' }, view: { by: EVE } }];
  for (const team of ['T1', 'T2']) await store.keyv('posts').set(team, { of: { platform: 'slack', team }, posted });
  await forgetIn(store, OF, expect.unreachable);
  expect(await store.keyv('posts').get('T1')).toMatchObject({ posted: [{ view: { by: PSEUDONYM } }] });
  expect(await store.keyv('posts').get('T2')).toMatchObject({ posted });
});

it('leaves the statements of another team alone', async () => {
  const store = new MemoryStore();
  for (const team of ['T1', 'T2'])
    await store.keyv('statements').set(`slack:${team}:s1`, { revision: 1, booking: { by: EVE } });
  await forgetIn(store, OF, expect.unreachable);
  expect(await store.keyv('statements').get('slack:T1:s1')).toMatchObject({ booking: { by: PSEUDONYM } });
  expect(await store.keyv('statements').get('slack:T2:s1')).toMatchObject({ booking: { by: EVE } });
});
