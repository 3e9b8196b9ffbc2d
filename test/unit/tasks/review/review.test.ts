import { describe, expect, it } from 'vitest';
import { isSignedOff, MAX_DECISIONS, type ReviewDecision } from '#src/tasks/review/review.ts';
import { formatTimecode, leadingTimecode, parseTimecode } from '#src/tasks/review/timecode.ts';
import { transition } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import { ADA, BOB, EVENTS, lived, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const DONE = lived(newTask(), EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
const SIGNED = { kind: 'signed_off', by: BOB, atMs: NOON_MS } as const;
const CHANGES = {
  kind: 'changes_requested',
  by: BOB,
  atMs: NOON_MS,
  note: { text: 'too dark', atSeconds: 3 },
} as const;

function decided(task: Task, decision: ReviewDecision, after = task.review?.length ?? 0): Task | null {
  return transition(task, { kind: 'review', after, decision });
}

describe('a decision', () => {
  it('counts only after the one that its reviewer saw', () => {
    const changed = decided(DONE, CHANGES, 0) as Task;
    expect(changed).toMatchObject({ state: 'completed', review: [CHANGES], presented: false });
    expect(decided(changed, SIGNED, 0)).toBeNull();
    expect(isSignedOff(decided(changed, SIGNED, 1) as Task)).toBe(true);
  });

  it('reopens a signed-off clip by changes alone', () => {
    const signed = decided(DONE, SIGNED) as Task;
    expect(decided(signed, SIGNED)).toBeNull();
    expect(isSignedOff(decided(signed, CHANGES) as Task)).toBe(false);
  });

  it('needs the clip, and has a bound', () => {
    expect(decided(lived(newTask(), EVENTS.send, EVENTS.accepted, EVENTS.completed), SIGNED)).toBeNull();
    expect(decided(lived(newTask(), EVENTS.cancel), SIGNED)).toBeNull();
    const full = { ...DONE, review: Array.from({ length: MAX_DECISIONS }, () => CHANGES) };
    expect(decided(full, SIGNED)).toBeNull();
  });

  it('stays with an expired clip and goes with its content', () => {
    const shown = { ...(decided(DONE, CHANGES) as Task), presented: true };
    const remove = { kind: 'remove', reason: 'expired', atMs: NOON_MS } as const;
    expect(transition(shown, { ...remove, keepsContent: true })).toMatchObject({ review: [CHANGES] });
    expect(transition(shown, { ...remove, keepsContent: false })?.review).toBeUndefined();
  });

  it('loses name and note of a reviewer who is forgotten, and is shown again', () => {
    const pseudonym = { id: 'forgotten-1', name: 'Removed person' };
    const both = decided(decided(DONE, CHANGES) as Task, { ...CHANGES, by: ADA, note: { text: 'mine' } }) as Task;
    const forgotten = transition(both, { kind: 'forget', person: 'bob', pseudonym });
    const erased = { kind: 'changes_requested', by: pseudonym, atMs: NOON_MS };
    expect(forgotten?.review).toEqual([erased, { ...CHANGES, by: ADA, note: { text: 'mine' } }]);
    expect(forgotten?.presented).toBe(false);
    expect(transition(forgotten as Task, { kind: 'forget', person: 'bob', pseudonym })).toBeNull();
  });
});

describe('a timecode', () => {
  it.each([
    ['0:03', 3],
    ['00:00:03', 3],
    ['1:02.5', 62.5],
    ['1:02,5', 62.5],
    ['3s', 3],
    ['3.5 seconds', 3.5],
    ['0:3', null],
    ['3', null],
    ['0:61', null],
    ['soon', null],
  ])('%s is %j seconds', (text, seconds) => {
    expect(parseTimecode(text)).toBe(seconds);
  });

  it.each([
    ['0:03 too dark', 3, 'too dark'],
    ['[0:03] - too dark', 3, 'too dark'],
    ['0:03: too\ndark', 3, 'too\ndark'],
    ['3s too dark', 3, 'too dark'],
    ['3 people are too many', null, '3 people are too many'],
    ['16:9 crop', null, '16:9 crop'],
    ['0:03', null, '0:03'],
    ['too dark at 0:03', null, 'too dark at 0:03'],
  ])('at the beginning of %j is %j, with %j', (note, atSeconds, text) => {
    expect(leadingTimecode(note)).toEqual({ atSeconds, text });
  });

  it.each([
    [3, '0:03'],
    [62.5, '1:02.5'],
    [0, '0:00'],
  ])('of %d seconds reads %s', (seconds, text) => {
    expect(formatTimecode(seconds)).toBe(text);
  });
});
