import { describe, expect, it, onTestFinished } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { blindViewOf } from '#src/chat/comparisons/blind-view.ts';
import type { SignedOffNotice } from '#src/chat/notices/views.ts';
import { setViewOf } from '#src/chat/sets/set-view.ts';
import type { TaskView } from '#src/chat/view.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { CutHouse } from '#test/fakes/cut-house.ts';
import { newTask } from '#test/fakes/tasks.ts';

const settingsOf = async ({ team }: { readonly team: string }) => ({ aiLabel: team === newTask().origin.team });

async function doneView(): Promise<TaskView> {
  const house = new ChatHouse({ settingsOf });
  await house.done();
  return house.platform.view as TaskView;
}

describe('the word AI', () => {
  it('is on the card of a clip once that is there', async () => {
    const house = new ChatHouse({ settingsOf });
    await house.running();
    expect(house.platform.view).not.toHaveProperty('isLabelled');
    expect(await doneView()).toMatchObject({ phase: 'done', isLabelled: true });
  });

  it('is on no card of another team', async () => {
    const house = new ChatHouse({ settingsOf: async () => ({ aiLabel: false }) });
    await house.done();
    expect(house.platform.view).not.toHaveProperty('isLabelled');
  });

  it('is on the card of a set once one of its clips is there', async () => {
    const place = { id: newTask().id, kind: 'takes', at: 1, of: 2 } as const;
    const done = await doneView();
    const { isLabelled: _, ...pending } = { ...done, phase: 'running' as const };
    const setOf = (...views: readonly TaskView[]) =>
      setViewOf(
        place,
        done,
        views.map((view) => ({ view, message: null })),
      );
    expect(setOf(pending, done)).toMatchObject({ isLabelled: true });
    expect(setOf(pending, pending)).not.toHaveProperty('isLabelled');
  });

  it('does not betray that a clip of a comparison is there', async () => {
    const task = newTask({ state: 'completed', set: { id: newTask().id, kind: 'comparison', at: 1, of: 2 } });
    const done = await doneView();
    expect(blindViewOf(task, done, true)).not.toHaveProperty('isLabelled');
    expect(blindViewOf(task, done, false)).toMatchObject({ isLabelled: true });
  });

  it('is on a signed-off clip in the channel for them', async () => {
    const posted = async (isOn: boolean) => {
      const settings = { reviewIn: ['clips'], signedOffChannel: 'final', aiLabel: isOn };
      const house = new ChatHouse({ settingsOf: async () => settings });
      const id = await house.done();
      const decision = { kind: 'signed_off', by: { id: 'U2', name: 'Ben' }, atMs: house.clock.now() } as const;
      await house.happen(id, { kind: 'review', after: 0, decision });
      const notice = house.platform.notices.find(({ view }) => view.kind === 'signed_off');
      return cardText(cardOf(notice?.view as SignedOffNotice));
    };
    expect(await posted(true)).toContain(' · *AI* · ');
    expect(await posted(false)).not.toContain('*AI*');
  });

  it('is on the card of a cut', async () => {
    const house = new CutHouse({ settingsOf });
    onTestFinished(() => house.remove());
    const cut = await house.cut(await house.shots(2));
    const message = house.messages.find(({ task }) => task.startsWith(cut));
    expect(message?.shown.map(({ view }) => [view.phase, view.isLabelled])).toEqual([
      ['running', undefined],
      ['done', true],
    ]);
  });
});
