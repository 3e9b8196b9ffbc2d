import { describe, expect, expectTypeOf, it } from 'vitest';
import { type PersonPath, pseudonymsIn, type WRITTEN } from '#src/tasks/forgotten.ts';
import { transition } from '#src/tasks/state-machine.ts';
import type { Person, Task } from '#src/tasks/task.ts';
import { ADA, BOB, NOON_MS, newTask, requestedTask } from '../../../fakes/tasks.ts';

const PSEUDONYM = { id: 'forgotten-1', name: 'Removed person' };
const DAY = { above: null, askedOf: [], isPromptShown: false, expiresAtMs: NOON_MS };
const NOTE = { kind: 'changes_requested', atMs: NOON_MS, note: { text: 'a quokka', atSeconds: 3 } } as const;

/** A task of Ada's in which Bob decided, wrote or was asked, by place. */
const BY_BOB: { readonly [At in keyof typeof WRITTEN]: Partial<Task> } = {
  'origin.user': {},
  cancelledBy: { cancelledBy: BOB },
  leftBy: { leftBy: BOB },
  'approval.askedOf': {
    approval: {
      ...DAY,
      askedOf: [
        { kind: 'person', ...BOB },
        { kind: 'person', ...ADA },
      ],
    },
  },
  'approval.approved.by': { approval: { ...DAY, approved: { by: BOB, atMs: NOON_MS } } },
  'declined.by': { declined: { how: 'denied', by: BOB, reason: 'a quokka', atMs: NOON_MS } },
  'review.by': {
    review: [
      { ...NOTE, by: ADA },
      { ...NOTE, by: BOB },
    ],
  },
};

describe('where a task names people', () => {
  it('is known by type, also in lists and maps: a new field does not compile without a row', () => {
    interface Named {
      readonly id: string;
      readonly prices: readonly { readonly amount: string }[];
      readonly origin: { readonly user: Person; readonly address: Readonly<Record<string, string>> };
      readonly checked?: { readonly steps: readonly { readonly by?: Person | null }[] };
      readonly votes?: Readonly<Record<string, { readonly by: Person }>>;
    }
    expectTypeOf<PersonPath<Named>>().toEqualTypeOf<'origin.user' | 'checked.steps.by' | 'votes.by'>();
  });

  it.each(Object.entries(BY_BOB))('%s: leaves neither name nor words of a person who is forgotten', (at, changes) => {
    const task: Task = { ...newTask(), ...changes };
    const next = transition(task, { kind: 'forget', person: BOB.id, pseudonym: PSEUDONYM });
    if (at === 'origin.user') return expect(next).toBeNull();
    expect(JSON.stringify(next)).not.toMatch(/bob/iu);
    // What Ada wrote stays.
    expect(JSON.stringify(next).split('a quokka')).toHaveLength(at === 'review.by' ? 2 : 1);
    expect([...pseudonymsIn(next)]).toEqual(at === 'approval.askedOf' ? [] : [PSEUDONYM.id]);
    expect(next?.approval?.askedOf ?? []).toHaveLength(at === 'approval.askedOf' ? 1 : 0);
  });

  it('replaces a requester everywhere', () => {
    const shown = { ...requestedTask(), ...BY_BOB['declined.by'], state: 'declined', presented: true } as const;
    const own: Task = { ...shown, origin: { ...shown.origin, user: BOB }, cancelledBy: BOB, leftBy: BOB };
    const remove = { kind: 'remove', reason: 'forgotten', keepsContent: false, atMs: NOON_MS } as const;
    const next = transition(own, { ...remove, person: PSEUDONYM });
    expect(JSON.stringify(next)).not.toMatch(/bob|quokka/iu);
    expect(next).toMatchObject({ cancelledBy: PSEUDONYM, leftBy: PSEUDONYM, declined: { by: PSEUDONYM } });
  });
});
