import { expect, it } from 'vitest';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const ADA = { platform: 'slack', team: 'T1', user: 'U1' };

it('keeps both of two changes at the same time', async () => {
  const defaults = new PersonalDefaults(new MemoryStore());
  await Promise.all([defaults.change(ADA, { seconds: 6 }), defaults.change(ADA, { aspect: '9:16' })]);
  expect(await defaults.get(ADA)).toEqual({ seconds: 6, aspect: '9:16' });
});

it('keeps no record of a person without defaults', async () => {
  const store = new MemoryStore();
  const defaults = new PersonalDefaults(store);
  expect(await defaults.change(ADA, { model: 'swift-1' })).toEqual({ model: 'swift-1' });
  expect(await defaults.change(ADA, { model: null })).toEqual({});
  expect(await Array.fromAsync(store.contents.records('defaults'))).toEqual([]);
  expect(await defaults.get(ADA)).toEqual({});
});
