import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deserialize, serialize } from '#src/engine/store/envelope.ts';
import { DailiesError } from '#src/errors.ts';
import { SignedLinks } from '#src/media/clip-links.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { newTask } from '#test/fakes/tasks.ts';
import { anyText, jsonWith, runs, textWith } from './runs.ts';

describe('a record', () => {
  it('round-trips with any content', () => {
    const value = fc.jsonValue({ maxDepth: 4 }).map((json) => JSON.parse(JSON.stringify(json)) as unknown);
    const colons = jsonWith([':', '::a', 'revision'], [':', '::', ':base64:YQ==', '":"']);
    fc.assert(
      fc.property(fc.oneof(value, colons), (written) => {
        const whole = JSON.parse(JSON.stringify({ value: written })) as { value: unknown };
        expect(deserialize(serialize(whole))).toEqual(whole);
      }),
      runs(1_500),
    );
  });

  it('is reported as damaged by one kind of error', () => {
    const whole = serialize({ value: newTask() });
    const cut = fc.nat(whole.length).map((at) => whole.slice(0, at));
    const changed = fc.tuple(fc.nat(whole.length - 1), fc.string({ maxLength: 3 }));
    const damaged = fc.oneof(
      cut,
      changed.map(([at, text]) => whole.slice(0, at) + text + whole.slice(at + 1)),
      fc.string(),
    );
    fc.assert(
      fc.property(damaged, (text) => {
        try {
          deserialize(text);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(DailiesError);
          expect(thrown).toMatchObject({ code: 'internal', retryable: false });
        }
      }),
      runs(1_500),
    );
  });

  it('that exists but cannot be read does not make a claim retry forever', async () => {
    const store = new MemoryStore();
    const task = newTask();
    store.commit = async () => false;
    await expect(new TaskRepository(store).claim([task])).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('a signed link', () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 21));
  const links = new SignedLinks({ publicUrl: 'https://c.example', secret: 'a secret of this test', clock });

  it('is valid unchanged, and for nothing else', () => {
    const id = anyText(30)
      .map((text) => text.toWellFormed())
      .filter((text) => !/^\.*$/.test(text));
    const other = textWith('0', '1', 'A', '=', '-');
    fc.assert(
      fc.property(id, other, other, (signed, expires, signature) => {
        const url = new URL(links.sign(signed).url);
        const right = [url.searchParams.get('expires') ?? '', url.searchParams.get('signature') ?? ''] as const;
        expect(decodeURIComponent(url.pathname)).toBe(`/media/${signed}`);
        expect(links.verify(signed, ...right)).toBe('valid');
        expect(links.verify(`${signed}x`, ...right)).toBe('forged');
        expect(links.verify(signed, expires, right[1])).toBe(expires === right[0] ? 'valid' : 'forged');
        expect(links.verify(signed, right[0], signature)).toBe('forged');
      }),
      runs(500),
    );
  });
});
