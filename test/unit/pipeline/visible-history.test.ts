import { beforeEach, describe, expect, it } from 'vitest';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { visiblePage } from '#src/pipeline/visible-history.ts';
import type { Audience, Person, TaskId } from '#src/tasks/task.ts';
import { isVisible, type Viewer } from '#src/tasks/visibility.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

const IN_CLIPS: Viewer = { user: 'ada', channel: 'clips' };

describe('the visibility of a task', () => {
  const origin = originOf({ channel: 'secret', user: BOB });

  it('is the whole team where its audience is the team, and else its channel and its requester', () => {
    expect(isVisible({ ...origin, audience: 'team' }, IN_CLIPS)).toBe(true);
    expect(isVisible({ ...origin, audience: 'channel' }, IN_CLIPS)).toBe(false);
    expect(isVisible({ ...origin, audience: 'channel' }, { user: 'ada', channel: 'secret' })).toBe(true);
    expect(isVisible({ ...origin, audience: 'channel' }, { user: 'bob', channel: 'clips' })).toBe(true);
  });

  it('is its channel alone for external users', () => {
    expect(isVisible({ ...origin, audience: 'team' }, { ...IN_CLIPS, isExternal: true })).toBe(false);
    expect(isVisible({ ...origin, audience: 'team' }, { user: 'bob', channel: 'clips', isExternal: true })).toBe(false);
    expect(isVisible({ ...origin, audience: 'channel' }, { user: 'eve', channel: 'secret', isExternal: true })).toBe(
      true,
    );
  });
});

describe('the list of visible tasks', () => {
  const scope = { platform: 'fake', team: 'T1' };
  let store: MemoryStore;
  let made = 0;
  const seed = async (audience: Audience, channel: string, user: Person): Promise<string> => {
    made += 1;
    const id = `${audience}-${channel}-${user.id}-${made}` as TaskId;
    // Two per timestamp: their ids decide their order.
    const createdAtMs = NOON_MS + Math.floor(made / 2);
    await new TaskRepository(store).claim([
      newTask({ id, createdAtMs, origin: originOf({ audience, channel, user }) }),
    ]);
    return id;
  };
  const listed = async (
    viewer: Viewer,
    user?: string,
    page = { offset: 0, limit: 1_000 },
  ): Promise<readonly string[]> =>
    (await visiblePage(store, { ...scope, viewer, user }, page)).map(({ member }) => member);

  beforeEach(async () => {
    store = new MemoryStore();
    made = 0;
    for (let round = 0; round < 20; round += 1) {
      await seed('team', 'general', BOB);
      await seed('channel', 'secret', BOB);
      await seed('channel', 'secret', ADA);
      await seed('channel', 'clips', BOB);
      await seed('channel', 'dm', BOB);
    }
  });

  it('fills its pages, newest first, past hidden tasks', async () => {
    const all = await listed(IN_CLIPS);
    expect(all).toHaveLength(60);
    const expected = (await store.scan('history:fake:T1'))
      .map(({ member }) => member)
      .filter((id) => !/^channel-(?:secret|dm)-bob/.test(id));
    expect(all).toEqual(expected);
    const pages = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6].map((page) => listed(IN_CLIPS, undefined, { offset: page * 10, limit: 10 })),
    );
    expect(pages.flat()).toEqual(all);
  });

  it('shows the visible tasks of another user, and all of the viewer’s own', async () => {
    const ofBob = await listed(IN_CLIPS, 'bob');
    expect(ofBob).toHaveLength(40);
    expect(ofBob.every((id) => /^(?:team-general|channel-clips)-bob/.test(id))).toBe(true);
    expect(await listed(IN_CLIPS, 'bob', { offset: 38, limit: 10 })).toEqual(ofBob.slice(38));
    expect(await listed({ user: 'bob', channel: 'elsewhere' }, 'bob')).toHaveLength(80);
    expect(await listed({ ...IN_CLIPS, isExternal: true })).toHaveLength(20);
    expect(await listed({ ...IN_CLIPS, isExternal: true }, 'ada')).toEqual([]);
  });
});
