import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import type { ErrorCode } from '#src/errors.ts';
import type { Task } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { EVENTS, lived, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const OTHER = { model: '9f86d081', title: 'Reel 2', price: { amount: '0.70', currency: 'USD' } };

/** Returns the labels of the buttons of a clip that its service refused. */
async function offered(code: ErrorCode, changes: Partial<Task> = {}): Promise<readonly string[]> {
  const house = new ChatHouse({ elsewhere: async () => OTHER });
  const failure = { code, words: null };
  const task = lived(newTask(changes), EVENTS.send, { kind: 'refused', failure, atMs: NOON_MS });
  return buttonsOf(cardOf(await house.chat.view(task))).map(({ label }) => label);
}

describe('a refused clip', () => {
  it.each(['no_balance', 'unauthorised', 'unavailable', 'unknown_model'] as const)(
    'can be made elsewhere where its service alone is at fault: %s',
    async (code) => {
      expect(await offered(code)).toContain('Make it with Reel 2 · $0.70');
    },
  );

  it.each(['bad_request', 'moderated', 'frame_gone'] as const)('cannot where the order is: %s', async (code) => {
    expect((await offered(code)).join()).not.toContain('Make it with');
  });

  it('cannot be made elsewhere alone where it belongs to others', async () => {
    const place = { id: newTask().id, kind: 'storyboard', at: 1, of: 2 } as const;
    for (const changes of [{ set: place }, { takeOf: place }])
      expect((await offered('no_balance', changes)).join()).not.toContain('Make it with');
  });
});
