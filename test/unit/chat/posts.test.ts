import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { type Post, Posts, placesNear } from '#src/chat/posts.ts';
import { DailiesError, type ErrorCode } from '#src/errors.ts';
import type { Person } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { newTask } from '#test/fakes/tasks.ts';
import { reviewNotice } from '#test/fakes/views.ts';

const KEY = 'review:task-1:1';
const BEN: Person = { id: 'U9', name: 'Ben' };
const [ONE, OTHER] = ['forgotten-1', 'forgotten-2'].map((id) => ({ id, name: 'Removed person' })) as [Person, Person];
const CARD = { channel: 'clips', message: 'm1' };
const FILE = { path: 'clip.mp4', bytes: 5, contentType: 'video/mp4', name: 'fox.mp4', description: 'a fox' };

function begin() {
  const store = new MemoryStore();
  const task = newTask();
  const platform = new FakePlatform();
  const events: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void events.push(JSON.parse(line).event) });
  const posts = new Posts({ store, platformOf: () => platform, logger });
  const about = { of: task, lock: { assertHeld: () => undefined } };
  const places = placesNear(task.origin, CARD);
  const post = (changes: Partial<Post> = {}): Promise<void> =>
    posts.post(about, { key: KEY, view: reviewNotice({ by: BEN }), mention: null, places, ...changes });
  const shows = (changes: Parameters<typeof reviewNotice>[0]): Promise<void> => post({ view: reviewNotice(changes) });
  return { store, task, platform, events, posts, about, post, shows, posted: () => posts.of(task.id) };
}

const refused = (code: ErrorCode): DailiesError => platformError(code, { retryable: false });

describe('a post', () => {
  it('is posted once under its key, below the message that it is about', async () => {
    const { platform, post, posted } = begin();
    for (let times = 0; times < 2; times += 1) await post();
    expect(platform.notices).toMatchObject([{ key: KEY, replyTo: CARD }]);
    expect(await posted()).toEqual([{ key: KEY, message: { channel: 'clips', message: KEY } }]);
  });

  it('is found again by the platform after a crash before its record', async () => {
    const { store, task, platform, about, post, posts } = begin();
    await post();
    await store.keyv('posts').delete(task.id);
    await post();
    expect(platform.notices).toHaveLength(1);
    expect(await posts.of(about.of.id)).toHaveLength(1);
  });

  it('is recorded beside another one that was posted meanwhile', async () => {
    const { task, posts, post, posted } = begin();
    await Promise.all([post(), post({ key: 'end:task-1:done:1' }), posts.record(task, { key: 'x', message: null })]);
    expect((await posted()).map(({ key }) => key).toSorted()).toEqual(['end:task-1:done:1', KEY, 'x'].toSorted());
  });

  it('goes to its channel where the message is gone, and then to whom it says', async () => {
    const { platform, post, posted, events } = begin();
    for (const _ of [1, 2]) platform.fails('notify', 'before', refused('message_gone'), KEY);
    await post({ otherwise: 'requester' });
    expect(platform.notices).toMatchObject([{ key: `${KEY}:direct`, replyTo: null }]);
    for (const _ of [1, 2]) platform.fails('notify', 'before', refused('message_gone'), 'other');
    await post({ key: 'other', otherwise: 'nobody' });
    expect(events).toEqual(['notice_channel_gone']);
    expect((await posted()).at(-1)).toEqual({ key: 'other', message: null });
    for (const _ of [1, 2]) platform.fails('notify', 'before', refused('message_gone'), 'third');
    await expect(post({ key: 'third' })).rejects.toMatchObject({ code: 'message_gone' });
    expect(await posted()).toHaveLength(2);
  });

  it('is posted nowhere once another process holds the lock', async () => {
    const { platform, about, posts, posted } = begin();
    const view = reviewNotice({ by: BEN });
    let held = 0;
    const lock = {
      assertHeld(): void {
        held -= 1;
        if (held < 0) throw platformError('platform_unavailable');
      },
    };
    const post = {
      key: KEY,
      view,
      mention: null,
      places: placesNear(about.of.origin, null),
      otherwise: 'requester',
    } as const;
    await expect(posts.post({ ...about, lock }, post)).rejects.toMatchObject({ code: 'platform_unavailable' });
    held = 1;
    platform.fails('notify', 'before', refused('message_gone'), KEY);
    await expect(posts.post({ ...about, lock }, post)).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect([platform.notices, await posted()]).toEqual([[], []]);
  });

  it('is not posted elsewhere because of a failure that may pass', async () => {
    const { platform, post, posted } = begin();
    platform.fails('notify', 'before', platformError('platform_unavailable'));
    await expect(post({ otherwise: 'requester' })).rejects.toThrow(DailiesError);
    expect([platform.notices, await posted()]).toEqual([[], []]);
  });

  it.each<ErrorCode>(['too_large', 'missing_permission'])('goes without its file where that is %s', async (code) => {
    const { platform, post } = begin();
    platform.fails('notify', 'before', refused(code));
    await post({ files: [FILE] });
    expect(platform.notices).toHaveLength(1);
    expect(platform.notices[0]?.files).toBeUndefined();
  });

  it('follows the direct message that stands in for a message in the channel', () => {
    const { origin } = newTask();
    const direct = { channel: 'direct-alice', message: 'm1' };
    expect(placesNear(origin, direct)).toMatchObject([
      { place: { channel: 'direct-alice', address: {} }, replyTo: direct },
      { place: { channel: origin.channel }, replyTo: null },
    ]);
  });
});

describe('a posted message', () => {
  it('is shown again once for each person in it who was forgotten', async () => {
    const { platform, shows } = begin();
    await shows({ by: BEN, takesBack: BEN });
    // A text that only begins like one names no one.
    for (const note of [null, { text: 'forgotten-1' }]) await shows({ by: BEN, takesBack: BEN, note });
    expect(platform.erased).toEqual([]);
    for (let times = 0; times < 2; times += 1) await shows({ by: BEN, takesBack: ONE });
    for (let times = 0; times < 2; times += 1) await shows({ by: OTHER, takesBack: ONE });
    expect(platform.erased.map(({ view }) => view)).toMatchObject([{ by: BEN }, { by: OTHER }]);
  });

  it.each<[ErrorCode, readonly string[]]>([
    ['message_gone', []],
    ['missing_permission', []],
    ['internal', ['message_kept']],
  ])('is given up after %s, and that is logged where it is a fault of ours', async (code, logged) => {
    const { platform, shows, events, posted } = begin();
    await shows({ by: BEN });
    platform.fails('edit', 'before', refused(code));
    await shows({ by: ONE });
    expect([events, await posted()]).toMatchObject([logged, [{ key: KEY, shown: ONE.id }]]);
  });

  it('is tried again after a failure that may pass', async () => {
    const { platform, shows, posted } = begin();
    await shows({ by: BEN });
    platform.fails('edit', 'before', platformError('platform_unavailable'));
    await expect(shows({ by: ONE })).rejects.toThrow(DailiesError);
    expect(await posted()).toEqual([{ key: KEY, message: { channel: 'clips', message: KEY } }]);
    await shows({ by: ONE });
    expect(platform.erased).toHaveLength(1);
  });

  it('is edited without its lock, and then shown again with it', async () => {
    const { platform, task, posts, shows, posted } = begin();
    await shows({ by: BEN });
    const [known] = await posted();
    if (known === undefined) throw new TypeError('nothing was posted');
    const next = { view: reviewNotice({ by: ONE }), shown: 'next' };
    for (const isRecorded of [false, true]) await posts.edit(task, known, next, isRecorded);
    expect(platform.erased).toHaveLength(2);
    expect(await posted()).toMatchObject([{ shown: 'next' }]);
  });
});
