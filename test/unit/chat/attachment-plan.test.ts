import { describe, expect, it } from 'vitest';
import type { Links } from '#src/chat/attachment-plan.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { CLIP, EVENTS, NOON_MS, originOf } from '#test/fakes/tasks.ts';

const LARGE = { ...CLIP, bytes: 20_000 };
const links: Links = {
  forClip: async ({ id }) => ({ url: `https://us.example/media/${id}`, expiresAtMs: NOON_MS + 1_000 }),
};

describe('a clip over the upload limit', () => {
  it('is transcoded to a smaller copy where possible, with a link to the original', async () => {
    const asked: unknown[] = [];
    const copy = { path: '/clips/copy.mp4', bytes: 9_000, contentType: 'video/mp4' };
    const house = new ChatHouse({
      links,
      fitter: {
        isThere: true,
        fit: async (clip, seconds, limitBytes) => {
          asked.push({ clip, seconds, limitBytes });
          return copy;
        },
      },
    });
    const id = await house.done({}, LARGE);
    expect(asked).toEqual([{ clip: LARGE, seconds: 6, limitBytes: 10_000 }]);
    expect(house.platform.only.files).toMatchObject([copy]);
    expect(house.platform.view.handover).toEqual({
      kind: 'fitted',
      bytes: 20_000,
      limitBytes: 10_000,
      link: { url: `https://us.example/media/${id}`, expiresAtMs: NOON_MS + 1_000 },
    });
  });

  it('is linked where no smaller copy can be made', async () => {
    const house = new ChatHouse({ links });
    await house.done({}, LARGE);
    expect(house.platform.only.files).toEqual([]);
    expect(house.platform.view).toMatchObject({
      phase: 'done',
      handover: { kind: 'linked', bytes: 20_000, limitBytes: 10_000 },
    });
    expect(house.platform.notices).toHaveLength(1);
  });

  it('is kept where neither is possible, and linked once links are turned on', async () => {
    const house = new ChatHouse();
    const id = await house.done({}, LARGE);
    expect(house.platform.view.handover).toEqual({
      kind: 'kept',
      bytes: 20_000,
      limitBytes: 10_000,
      hasFitter: false,
    });
    const next = await house.restart({ links });
    expect((await next.chat.view(await next.record(id))).handover).toMatchObject({ kind: 'linked' });
  });

  it('is measured against the limit of its origin, which may differ from the platform’s', async () => {
    const roomy = new ChatHouse();
    await roomy.done({ origin: originOf({ uploadLimitBytes: 50_000 }) }, LARGE);
    expect(roomy.platform.view.handover).toEqual({ kind: 'attached' });
    const narrow = new ChatHouse();
    await narrow.done({ origin: originOf({ uploadLimitBytes: 999 }) });
    expect(narrow.platform.view.handover).toMatchObject({ kind: 'kept', limitBytes: 999 });
  });

  it('is retried after a delay where the refusal states no limit that it exceeds', async () => {
    const house = new ChatHouse({ links });
    house.platform.fails('attach', 'before', platformError('too_large', { retryable: false }));
    const id = await house.done();
    expect(house.platform.countOf('attach')).toBe(1);
    expect(house.platform.only.files).toEqual([]);
    await house.pass(10_000);
    expect(house.platform.only.files).toMatchObject([CLIP]);
    expect(house.platform.view.handover).toEqual({ kind: 'attached' });
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('is kept without a stated limit where the platform states none', async () => {
    const house = new ChatHouse();
    house.platform.takesBytes = 10;
    await house.done();
    await house.pass(10_000);
    expect(house.platform.view.handover).toMatchObject({ kind: 'kept', bytes: 1_000, limitBytes: null });
  });

  it('is transcoded smaller at once after each refusal, until the platform accepts it', async () => {
    const limits: number[] = [];
    const house = new ChatHouse({
      fitter: {
        isThere: true,
        fit: async (_clip, _seconds, limitBytes) => {
          limits.push(limitBytes);
          return { path: '/clips/copy.mp4', bytes: limitBytes, contentType: 'video/mp4' };
        },
      },
    });
    house.platform.takesBytes = 2_000;
    const id = await house.done({}, { ...CLIP, bytes: 9_000 });
    await house.pass(10_000);
    expect(limits).toEqual([4_500, 2_250, 1_125]);
    expect(house.platform.only.files).toMatchObject([{ bytes: 1_125 }]);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('is transcoded to the limit that the refusal states', async () => {
    const house = new ChatHouse({
      fitter: {
        isThere: true,
        fit: async (_clip, _seconds, bytes) => ({ path: '/clips/copy.mp4', bytes, contentType: 'video/mp4' }),
      },
    });
    house.platform.fails('attach', 'before', platformError('too_large', { retryable: false, limitBytes: 7_000 }));
    await house.done({}, { ...CLIP, bytes: 9_000 });
    expect(house.platform.only.files).toMatchObject([{ bytes: 7_000 }]);
    expect(house.platform.view.handover).toMatchObject({ limitBytes: 7_000 });
    expect(house.platform.countOf('attach')).toBe(2);
  });

  it('is linked where neither the platform nor ffmpeg accepts the size', async () => {
    const house = new ChatHouse({ links });
    house.platform.takesBytes = 10;
    await house.done();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'done', handover: { kind: 'linked', bytes: 1_000 } });
  });

  it('keeps the refused size across a restart', async () => {
    const house = new ChatHouse({ links });
    house.platform.takesBytes = 10;
    house.platform.dies('edit', 'before', 'final');
    await house.done();
    await house.pass(10_000);
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.view.handover).toMatchObject({ kind: 'linked' });
    expect(next.platform.countOf('attach')).toBe(2);
  });

  it('is not assumed after a too_large edit without a file, which is retried with backoff', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    for (let at = 0; at < 30; at += 1) {
      house.platform.fails('edit', 'before', platformError('too_large', { retryable: false }), 'final');
    }
    await house.happen(id, EVENTS.failed);
    await house.pass(10_000);
    expect(house.platform.countOf('edit')).toBeLessThan(8);
  });
});

describe('a clip in a chat that accepts no files', () => {
  const refusal = platformError('missing_permission', { retryable: false, words: 'uploads are turned off' });

  it('is linked, with the reason', async () => {
    const house = new ChatHouse({ links });
    house.platform.fails('attach', 'before', refusal);
    const id = await house.done();
    expect(house.platform.view).toMatchObject({
      phase: 'done',
      handover: { kind: 'withheld', right: 'uploads are turned off', link: { url: `https://us.example/media/${id}` } },
    });
    expect(house.platform.notices).toHaveLength(1);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('is also linked after an unknown refusal', async () => {
    const house = new ChatHouse({ links });
    house.platform.fails('attach', 'before', platformError('internal', { retryable: false, words: 'something_new' }));
    const id = await house.done();
    expect(house.platform.view.handover).toMatchObject({ kind: 'withheld', right: 'something_new' });
    expect(house.platform.notices).toHaveLength(1);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('shows the missing right where links are turned off, and is attached once it is granted', async () => {
    const house = new ChatHouse();
    house.platform.fails('attach', 'before', refusal);
    await house.done();
    expect(house.platform.view.handover).toEqual({ kind: 'withheld', right: 'uploads are turned off', link: null });
    expect(house.platform.notices).toEqual([]);
    await house.pass(2_000);
    expect(house.platform.view.handover).toEqual({ kind: 'attached' });
    expect(house.platform.only.files).toHaveLength(1);
    expect(house.platform.notices).toHaveLength(1);
  });
});
