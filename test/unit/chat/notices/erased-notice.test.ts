import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { eraseNotice } from '#src/chat/notices/erased-notice.ts';
import { endNotices } from '#src/chat/records.ts';
import { DailiesError, type ErrorCode } from '#src/errors.ts';
import type { Person } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { newTask } from '#test/fakes/tasks.ts';
import { reviewNotice } from '#test/fakes/views.ts';

const KEY = 'review:task-1:1';
const BEN: Person = { id: 'U9', name: 'Ben' };
const [ONE, OTHER] = ['forgotten-1', 'forgotten-2'].map((id) => ({ id, name: 'Removed person' })) as [Person, Person];

async function posted() {
  const store = new MemoryStore();
  const task = newTask();
  await endNotices.set(store, task.id, [KEY, { channel: 'clips', message: KEY }]);
  const platform = new FakePlatform();
  const events: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void events.push(JSON.parse(line).event) });
  const erase = (changes: Parameters<typeof reviewNotice>[0]): Promise<void> =>
    eraseNotice({
      task,
      store,
      platform,
      key: KEY,
      view: reviewNotice(changes),
      logger,
    });
  return {
    platform,
    events,
    erase,
    markers: async () => (await endNotices.get(store, task.id))?.slice(2),
  };
}

describe('a posted notice', () => {
  it('is shown again once for each person in it who was forgotten', async () => {
    const { platform, erase } = await posted();
    // A text that only begins like one names no one.
    for (const note of [null, { text: 'forgotten-1' }]) await erase({ by: BEN, takesBack: BEN, note });
    expect(platform.erased).toEqual([]);
    for (let times = 0; times < 2; times += 1) await erase({ by: BEN, takesBack: ONE });
    for (let times = 0; times < 2; times += 1) await erase({ by: OTHER, takesBack: ONE });
    expect(platform.erased.map(({ view }) => view)).toMatchObject([{ by: BEN }, { by: OTHER }]);
  });

  it.each<[ErrorCode, readonly string[]]>([
    ['message_gone', []],
    ['missing_permission', []],
    ['internal', ['notice_not_erased']],
  ])('is given up after %s, and logged where that is a fault of ours', async (code, logged) => {
    const { platform, erase, events, markers } = await posted();
    platform.fails('edit', 'before', platformError(code, { retryable: false }));
    await erase({ by: ONE });
    expect([events, await markers()]).toEqual([logged, [`erased:${KEY}`]]);
  });

  it('is tried again after a failure that may pass', async () => {
    const { platform, erase, markers } = await posted();
    platform.fails('edit', 'before', platformError('platform_unavailable'));
    await expect(erase({ by: ONE })).rejects.toThrow(DailiesError);
    expect(await markers()).toEqual([]);
    await erase({ by: ONE });
    expect(platform.erased).toHaveLength(1);
  });
});
