import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { deliveryRecords } from '#src/chat/records.ts';
import type { CutView } from '#src/chat/view.ts';
import { DailiesError, overloaded } from '#src/errors.ts';
import { ShotError, ShotsDifferError } from '#src/media/join/joiner.ts';
import { openBucket } from '#src/storage/bucket.ts';
import { BucketStorage } from '#src/storage/bucket-storage.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { CutHouse, type CutHouseOptions, SHOT_BYTES } from '#test/fakes/cut-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { startS3Server } from '#test/fakes/s3-server.ts';
import { ADA, BOB, originOf } from '#test/fakes/tasks.ts';

const houses: CutHouse[] = [];

function open(options: CutHouseOptions = {}): CutHouse {
  const house = new CutHouse(options);
  houses.push(house);
  return house;
}

afterEach(() => {
  for (const house of houses.splice(0)) house.remove();
});

const filesOf = (house: CutHouse): readonly string[] =>
  readdirSync(house.folder).filter((name) => name.startsWith('cut-'));

const NAME = /^cut-fox-part-1-[0-9a-f]{4}\.mp4$/u;

describe('a cut', () => {
  it('is announced, joined once, and delivered in the same message', async () => {
    const house = open();
    const tasks = await house.shots(3);
    const requested = await house.request(tasks);
    if (requested.kind !== 'accepted') throw new TypeError(requested.kind);
    await house.cuts.show(requested.cut);
    expect(house.shown).toMatchObject({ phase: 'running', cut: { file: null }, files: [] });
    await house.work();
    const file = { bytes: 3 * SHOT_BYTES, seconds: 18 };
    expect(house.shown).toMatchObject({
      phase: 'done',
      cut: { file, failure: null, shots: [{ prompt: 'a fox, part 1', seconds: 6 }, {}, {}] },
      handover: { kind: 'attached' },
      files: [{ name: expect.stringMatching(NAME), bytes: file.bytes }],
    });
    expect(house.messages).toHaveLength(1);
    expect(house.joiner.joins).toEqual([tasks]);
    expect(house.joined).toEqual(['joined']);
    expect(await house.cuts.find(requested.cut)).toMatchObject({
      bytes: file.bytes,
      name: expect.stringMatching(NAME),
    });
  });

  it('is the same for the same clips in the same order: a second request leads to it', async () => {
    const house = open();
    const tasks = await house.shots(2);
    const first = await house.request(tasks);
    expect(await house.request(tasks)).toMatchObject({ kind: 'joining' });
    await house.work();
    const [message] = house.messages;
    expect(await house.request(tasks, { user: BOB })).toEqual({ kind: 'there', message: message?.ref });
    const other = await house.request(tasks.toReversed());
    expect(other).toMatchObject({ kind: 'accepted' });
    expect(other).not.toEqual(first);
    await house.work();
    expect(house.joiner.joins).toEqual([tasks, tasks.toReversed()]);
    expect(house.messages).toHaveLength(2);
  });

  it('leads a redelivered interaction to its message', async () => {
    const house = open();
    const tasks = await house.shots(2);
    const order = { interaction: 'twice' };
    const both = await Promise.all([house.request(tasks, order), house.request(tasks, order)]);
    await house.work();
    expect([...both, await house.request(tasks, order)]).toEqual(
      Array(3).fill({ kind: 'accepted', cut: both[0].kind === 'accepted' ? both[0].cut : '' }),
    );
    expect(house.messages).toHaveLength(1);
  });

  it('is posted again where its message is gone, without another join', async () => {
    const house = open();
    const tasks = await house.shots(2);
    await house.cut(tasks);
    for (const message of house.messages) message.isDeleted = true;
    expect(await house.request(tasks)).toMatchObject({ kind: 'accepted' });
    await house.work();
    expect(house.messages).toHaveLength(2);
    expect(house.shown).toMatchObject({ phase: 'done', files: [{ bytes: 2 * SHOT_BYTES }] });
    expect(await house.request(tasks, { channel: 'elsewhere' })).toMatchObject({ kind: 'accepted' });
    await house.work();
    expect(house.messages.at(-1)?.ref.channel).toBe('elsewhere');
    expect(house.joiner.joins).toHaveLength(1);
  });

  it('waits with at most 19 others', async () => {
    const house = open();
    const tasks = await house.shots(3);
    for (let at = 0; at < 20; at += 1) await house.request([...tasks, `extra${at}` as TaskId]);
    expect(await house.request(tasks)).toEqual({ kind: 'full' });
  });
});

describe('clips that cannot be joined', () => {
  const difference = { shot: 2, property: 'size', value: '320×180', expected: '160×90' } as const;
  it.each([
    ['differ', new ShotsDifferError([difference]), { code: 'shots_differ', differences: [difference] }],
    ['are no videos', new ShotError(2, 'not_a_video', 'nonsense'), { code: 'not_a_video', shot: 2 }],
    ['are HDR', new ShotError(2, 'hdr', 'no zscale'), { code: 'hdr', shot: 2 }],
    ['take too long', new DailiesError('x', { code: 'timed_out', retryable: true }), { code: 'timed_out' }],
    ['fill the disk', new DailiesError('x', { code: 'disk_full', retryable: true }), { code: 'disk_full' }],
  ])('are explained when they %s, and joined by another press', async (_, error, failure) => {
    const house = open();
    const tasks = await house.shots(2);
    house.joiner.failures.push(error);
    await house.cut(tasks);
    expect(house.shown).toMatchObject({ phase: 'failed', cut: { file: null, failure }, files: [] });
    expect(house.joined).toEqual([failure.code]);
    expect(await house.request(tasks)).toMatchObject({ kind: 'again', message: house.messages[0]?.ref });
    await house.work();
    expect(house.shown).toMatchObject({ phase: 'done', cut: { failure: null }, files: [{}] });
    expect(house.messages).toHaveLength(1);
  });

  it('are not joined at the limit of the data folder', async () => {
    const house = open();
    house.isFull = true;
    const tasks = await house.shots(2);
    await house.cut(tasks);
    expect(house.shown.cut?.failure).toEqual({ code: 'disk_full' });
    house.isFull = false;
    await house.request(tasks);
    await house.work();
    expect(house.shown.phase).toBe('done');
  });

  it('are named where a clip is gone at the service, too', async () => {
    const gone = async ({ id }: { readonly id: TaskId }) => {
      if (id.startsWith('shot2')) throw new DailiesError('x', { code: 'gone', retryable: false });
      return undefined;
    };
    const house = open({ find: gone });
    await house.cut(await house.shots(3));
    expect(house.shown.cut?.failure).toEqual({ code: 'clip_missing', shots: [1, 2, 3] });
  });

  it('are tried again after what passes by itself, and given up after five attempts', async () => {
    const house = open();
    const tasks = await house.shots(2);
    house.joiner.failures.push(overloaded('joining'), new Error('boom'));
    await house.cut(tasks);
    expect(house.joiner.joins).toHaveLength(3);
    expect(house.shown.phase).toBe('done');
    house.joiner.failures.push(...Array.from({ length: 5 }, () => new Error('boom')));
    await house.cut(tasks.toReversed());
    expect(house.shown.cut?.failure).toEqual({ code: 'failed' });
    house.joiner.failures.push(...Array.from({ length: 5 }, () => new ShotError(2, 'not_converted', 'crash')));
    await house.request(tasks.toReversed());
    await house.work();
    expect(house.shown.cut?.failure).toEqual({ code: 'not_converted', shot: 2 });
  });
});

describe('the delivery of a cut', () => {
  it.each(['before', 'after'] as const)('is completed after a failure %s the upload, with one file', async (when) => {
    const house = open();
    house.house.platform.fails('attach', when, platformError('platform_unavailable'), 'cut-');
    await house.cut(await house.shots(2));
    expect(house.shown).toMatchObject({ phase: 'done', files: [{ bytes: 2 * SHOT_BYTES }] });
    expect(house.joiner.joins).toHaveLength(1);
  });

  it('offers a smaller copy or a link above the upload limit', async () => {
    const fitted = { path: '/fitted.mp4', bytes: 1_500, contentType: 'video/mp4' };
    const link = { url: 'https://dailies.example/media/cut', expiresAtMs: 1 };
    const one = open({ fitter: { isThere: true, fit: async (_clip, seconds) => (seconds === 12 ? fitted : null) } });
    one.house.platform.limits = { ...one.house.platform.limits, uploadBytes: 1_600 };
    await one.cut(await one.shots(2));
    expect(one.shown).toMatchObject({ handover: { kind: 'fitted', bytes: 2_000 }, files: [{ bytes: 1_500 }] });
    const linked: string[] = [];
    const forClip = async ({ id }: { readonly id: string }) => {
      linked.push(id);
      return link;
    };
    const other = open({ links: { forClip } });
    other.house.platform.limits = { ...other.house.platform.limits, uploadBytes: 1_600 };
    const id = await other.cut(await other.shots(2));
    expect(other.shown).toMatchObject({ handover: { kind: 'linked', link }, files: [] });
    expect(linked).toContain(id);
  });

  it('goes on after the platform refuses a size that it did not state', async () => {
    const sizes: number[] = [];
    const fit = async (_clip: unknown, _seconds: number, bytes: number) => {
      sizes.push(bytes);
      return { path: '/fitted.mp4', bytes, contentType: 'video/mp4' };
    };
    const house = open({ fitter: { isThere: true, fit } });
    house.house.platform.takesBytes = 1_200;
    await house.cut(await house.shots(2));
    expect(house.shown).toMatchObject({ handover: { kind: 'fitted', limitBytes: null }, files: [{ bytes: 1_000 }] });
    expect(sizes).toEqual([1_000]);
  });

  it('posts a message again, once, that was deleted before the cut was in it', async () => {
    const house = open();
    const tasks = await house.shots(2);
    const requested = await house.request(tasks);
    if (requested.kind !== 'accepted') throw new TypeError(requested.kind);
    await house.cuts.show(requested.cut);
    for (const message of house.messages) message.isDeleted = true;
    await house.work();
    expect(house.messages.map(({ files }) => files.length)).toEqual([0, 1]);
  });
});

describe.each(['message_gone', 'missing_permission'] as const)('a channel that takes no message: %s', (code) => {
  it('has the cut sent to who asked for it, once, also over a restart', async () => {
    const house = open();
    const requested = await house.request(await house.shots(2));
    if (requested.kind !== 'accepted') throw new TypeError(requested.kind);
    const { platform } = house.house;
    platform.closed.set('clips', code);
    platform.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @bot' };
    platform.fails('attach', 'after', platformError('platform_unavailable'), 'cut-');
    while (platform.countOf('attach') === 0) await house.cuts.run(requested.cut, new AbortController().signal);
    const next = house.again();
    next.jobs.add(requested.cut);
    await next.work();
    expect(next.messages.map(({ ref, files }) => [ref.channel, files.map(({ name }) => name)])).toEqual([
      [`direct-${ADA.id}`, [expect.stringMatching(NAME)]],
    ]);
    expect(next.shown.phase).toBe('done');
    expect(await next.cuts.get(requested.cut)).toMatchObject({ presented: true });
  });

  it.each([
    ['a cut', [], 'done', 1],
    ['a failure, with its button,', [new ShotError(2, 'not_a_video', 'nonsense')], 'failed', 0],
  ] as const)('has %s sent to the requester, once', async (_, failures, phase, files) => {
    const house = open();
    const requested = await house.request(await house.shots(2));
    if (requested.kind !== 'accepted') throw new TypeError(requested.kind);
    await house.cuts.show(requested.cut);
    house.joiner.failures.push(...failures);
    house.house.platform.closed.set(originOf().channel, code);
    await house.work();
    const [, direct, ...others] = house.messages;
    expect([direct?.ref.channel, others]).toEqual([`direct-${ADA.id}`, []]);
    expect(direct?.shown.at(-1)?.view).toMatchObject({ phase, awayFrom: originOf().channel });
    const { buttons } = cardOf(direct?.shown.at(-1)?.view as CutView);
    expect(buttons.map(({ label }) => label)).toEqual(phase === 'failed' ? ['Join again'] : []);
    expect(direct?.files).toHaveLength(files);
  });
});

describe('a restart', () => {
  it('goes on with a join, and with a delivery', async () => {
    const house = open();
    const tasks = await house.shots(2);
    await house.request(tasks);
    const ending = new AbortController();
    house.joiner.during = async () => ending.abort(new Error('the process stops'));
    await expect(house.work(ending.signal)).rejects.toThrow('the process stops');
    expect(filesOf(house)).toEqual([]);
    const second = house.again();
    await second.cuts.resume();
    expect(second.jobs.size).toBe(1);
    second.house.platform.fails('attach', 'before', platformError('platform_unavailable'), 'cut-');
    const [job = '' as TaskId] = second.jobs;
    expect(await second.cuts.run(job, new AbortController().signal)).toBeGreaterThan(0);
    const third = house.again();
    await third.cuts.resume();
    expect(third.jobs.size).toBe(1);
    await third.work();
    expect(third.joiner.sweeps).toBe(1);
    expect(third.joiner.joins).toEqual([]);
    expect(third.shown).toMatchObject({ phase: 'done', files: [{}] });
    expect(third.messages).toHaveLength(1);
  });

  it('deletes the files of a cut without a record, and keeps the others', async () => {
    const house = open();
    await house.cut(await house.shots(2));
    const [kept] = filesOf(house);
    const orphan = `cut-${'0'.repeat(32)}`;
    for (const name of [`${orphan}.mp4`, `${orphan}.mp4.1.part`]) writeFileSync(join(house.folder, name), 'x');
    const next = house.again();
    await next.cuts.resume();
    expect(filesOf(house)).toEqual([kept]);
  });
});

describe('a removal', () => {
  it.each(['deleted', 'forgotten', 'expired'] as const)(
    'of a clip that is %s takes its cuts with it',
    async (reason) => {
      const house = open();
      const tasks = await house.shots(3);
      const [first, second, third] = tasks;
      if (first === undefined || second === undefined || third === undefined) throw new TypeError('no shots');
      const id = await house.cut([first, second]);
      const other = await house.cut([second, third]);
      await house.cuts.removeWith(first, reason);
      await house.cuts.removeWith(first, reason);
      const { retracted, expired } = house.house.platform;
      const gone = reason === 'expired' ? expired : retracted;
      expect(gone).toEqual([{ ref: house.messages[0]?.ref, view: { kind: 'removed', reason } }]);
      expect(filesOf(house)).toEqual([`${other}.mp4`]);
      expect(await house.cuts.find(id)).toBeUndefined();
      expect(await house.cuts.tasksOf(other)).toEqual([second, third]);
      // The message of an expired one is found by a later deletion, which ends the other as well.
      if (reason === 'expired') {
        // Its link leads nowhere.
        expect(await deliveryRecords.get(house.house.store, id)).toEqual({ copies: 1 });
        await house.cuts.removeWith(second, 'deleted');
        expect(retracted.map(({ ref }) => ref)).toEqual(house.messages.map(({ ref }) => ref));
      }
      for (const kind of ['cuts', 'cards', 'messages', 'deliveries'] as const) {
        const dump = JSON.stringify(await Array.fromAsync(house.house.store.contents.records(kind)));
        expect(dump).not.toContain(id);
      }
    },
  );

  it('ends the join of a clip that is removed, and leaves no file', async () => {
    const house = open();
    const tasks = await house.shots(2);
    await house.request(tasks);
    const removals: Promise<void>[] = [];
    house.joiner.during = async (signal) => {
      removals.push(house.cuts.removeWith(tasks[0] ?? ('' as TaskId), 'deleted'));
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const [job = '' as TaskId] = house.jobs;
    const dueInMs = await house.cuts.run(job, new AbortController().signal);
    expect(dueInMs).toBeGreaterThan(0);
    house.house.clock.advance(dueInMs ?? 0);
    await Promise.all(removals);
    expect(await house.cuts.run(job, new AbortController().signal)).toBeNull();
    expect(house.joiner.joins).toHaveLength(1);
    expect(filesOf(house)).toEqual([]);
    expect(house.shown.files).toEqual([]);
  });

  it('of a person takes the cuts that they asked for', async () => {
    const house = open();
    const tasks = await house.shots(2);
    await house.cut(tasks, BOB);
    await house.cut(tasks.toReversed(), ADA);
    await house.cuts.forget({ platform: 'fake', team: 'T1', user: BOB.id });
    expect(filesOf(house)).toHaveLength(1);
    expect(house.house.platform.retracted).toHaveLength(1);
  });
});

it('in a bucket is stored there, brought back from there, and removed there', async () => {
  const server = await startS3Server();
  const folder = mkdtempSync(join(tmpdir(), 'dailies-cuts-'));
  const bucket = await openBucket(server.address, Date.now);
  try {
    const logger = pino({ level: 'silent' });
    const storage = new BucketStorage({ bucket, folder, maxLocalBytes: 1e9, logger });
    const house = open({ folder, storage });
    const tasks = await house.shots(2);
    const id = await house.cut(tasks);
    expect(await bucket.sizeOf(`${id}.mp4`)).toBe(2 * SHOT_BYTES);
    rmSync(join(folder, `${id}.mp4`));
    expect(await house.cuts.find(id)).toMatchObject({ bytes: 2 * SHOT_BYTES });
    expect(house.joiner.joins).toHaveLength(1);
    await house.cuts.removeWith(tasks[0] ?? id, 'deleted');
    expect(await bucket.sizeOf(`${id}.mp4`)).toBeNull();
  } finally {
    bucket.close();
    await server.close();
  }
});

it('a cut whose file was deleted to make room is made again for its link', async () => {
  const house = open();
  const id = await house.cut(await house.shots(2));
  rmSync(join(house.folder, `${id}.mp4`));
  await expect(house.cuts.find(id)).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  await house.work();
  expect(existsSync(join(house.folder, `${id}.mp4`))).toBe(true);
  expect(await house.cuts.find(id)).toBeDefined();
  expect(house.messages.map(({ files }) => files.length)).toEqual([1]);
});

it('a cut that reached nobody is posted once where it is asked for next', async () => {
  const house = open();
  const tasks = await house.shots(2);
  const { platform } = house.house;
  for (const channel of ['clips', `direct-${ADA.id}`]) platform.closed.set(channel, 'message_gone');
  await house.request(tasks);
  await house.work();
  expect(house.messages).toHaveLength(0);
  const requested = await house.request(tasks, { channel: 'elsewhere' });
  if (requested.kind !== 'accepted') throw new TypeError(requested.kind);
  await house.cuts.show(requested.cut);
  await house.work();
  expect(house.messages.map(({ ref, files }) => [ref.channel, files.length])).toEqual([['elsewhere', 1]]);
});
