import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import type { SetView } from '#src/chat/view.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { SetKind, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, CLIP, EVENTS, newTask, originOf } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const CARD = setCardId(SET);

/** A house with a claimed set whose card is posted. */
async function withSet(of: number, house = new ChatHouse(), kind: SetKind = 'takes') {
  const ids = memberIds({ id: SET, of });
  const createdAtMs = house.clock.now();
  await house.repository.claim(
    ids.map((id, index) => {
      const address = { thread: '1', ...(index === 0 ? { token: 't' } : {}) };
      return newTask({
        id,
        createdAtMs,
        origin: originOf({ address }),
        set: { id: SET, kind, at: index + 1, of },
      });
    }),
  );
  await house.chat.show(SET);
  return { house, ids };
}

const RUNNING = [EVENTS.send, EVENTS.accepted];

function done(house: ChatHouse): readonly TaskEvent[] {
  return [...RUNNING, { kind: 'completed', atMs: house.clock.now() }, { kind: 'fetched', clip: CLIP }];
}

function message(house: ChatHouse, task: TaskId) {
  return house.platform.messages.find((one) => one.task === task);
}

function view(house: ChatHouse): SetView {
  const shown = message(house, CARD)?.shown.at(-1)?.view;
  if (shown?.kind !== 'set') throw new TypeError('there is no card');
  return shown;
}

function text(house: ChatHouse): string {
  return plainText(linesOf(cardOf(view(house))));
}

/** Names of the files on the card. */
function filesOf(house: ChatHouse): readonly string[] {
  return message(house, CARD)?.files.map(({ name }) => name) ?? [];
}

function labels(house: ChatHouse): readonly string[] {
  return cardOf(view(house)).buttons.map(({ label }) => label);
}

function notices(house: ChatHouse): readonly string[] {
  return house.platform.notices.map((notice) => plainText(linesOf(cardOf(notice.view, notice.mention))));
}

describe('the card of a set whose tasks ended under another version, which showed them only by themselves', () => {
  /** Applies events without a chat, and takes the task out of the outbox. */
  const elsewhere = async (house: ChatHouse, id: TaskId, events: readonly TaskEvent[]): Promise<void> => {
    const repository = new TaskRepository(house.store);
    for (const event of events) await repository.record(id, event);
    const { revision } = await house.record(id);
    await repository.record(id, { kind: 'presented', revision });
  };

  it('is shown again at the start', async () => {
    const { house, ids } = await withSet(2);
    for (const id of ids) await house.happen(id, ...RUNNING);
    for (const id of ids) await elsewhere(house, id, [EVENTS.failed]);
    expect(view(house).phase).toBe('queued');
    const next = await house.restart();
    await next.pass(5_000);
    expect(view(next).phase).toBe('failed');
    const { length } = next.platform.calls;
    await (await next.restart()).pass(5_000);
    expect(next.platform.calls).toHaveLength(length);
  });

  it('is shown again beside a damaged record', async () => {
    const { house, ids } = await withSet(2);
    for (const id of ids) await elsewhere(house, id, [EVENTS.send, EVENTS.refused]);
    const cards = house.store.keyv('cards');
    const card = await cards.get<object>(CARD);
    await cards.delete(CARD);
    for (const [index, record] of [null, 7, { shown: '[' }, { shown: '["", "unknown"]' }].entries())
      await cards.set(`set-${index}`, record);
    await cards.set(CARD, card);
    const next = await house.restart();
    await next.pass(5_000);
    expect(view(next).phase).toBe('refused');
  });
});

describe('a set', () => {
  it('has one card, which lists its tasks and holds their clips', async () => {
    const { house, ids } = await withSet(3);
    expect(house.platform.messages.map(({ task }) => task)).toEqual([CARD]);
    expect(text(house)).toContain('3 takes · $0.90');
    for (const id of ids) await house.happen(id, ...RUNNING);
    await house.poll(ids[1] as TaskId, 40);
    await house.pass(3_000);
    expect(text(house)).toMatch(/Take 1 · Queued.*\nTake 2 · Running · 40 %.*\nTake 3 · Queued/);
    expect(view(house).buttons).toEqual(['cancel', 'details']);
    expect(house.platform.messages).toHaveLength(1);
    await house.happen(
      ids[0] as TaskId,
      { kind: 'completed', atMs: house.clock.now() },
      { kind: 'fetched', clip: CLIP },
    );
    expect(filesOf(house)).toEqual([expect.stringMatching(/^red-fox-.*-1\.mp4$/u)]);
    expect(text(house)).toMatch(/Take 1 · Done in \d+ s\n/u);
    expect(notices(house)).toEqual([]);
    for (const id of ids.slice(1))
      await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, { kind: 'fetched', clip: CLIP });
    expect(new Set(filesOf(house)).size).toBe(3);
    expect(house.platform.messages).toHaveLength(1);
    expect(house.platform.countOf('attach')).toBe(3);
  });

  it('has the clips of one that was deleted on another card, each once', async () => {
    const { house, ids } = await withSet(3);
    await house.happen(ids[0] as TaskId, ...done(house));
    const [deleted] = house.platform.messages;
    if (deleted !== undefined) deleted.isDeleted = true;
    await house.happen(ids[1] as TaskId, ...done(house));
    await house.pass(5_000);
    const [, again, ...more] = house.platform.messages;
    expect(more).toEqual([]);
    expect(again?.files.map(({ name }) => name.slice(-6, -4)).toSorted()).toEqual(['-1', '-2']);
    if (again !== undefined) again.isDeleted = true;
    expect(await house.chat.showSet({ id: SET, kind: 'takes', at: 1, of: 3 })).toBe(true);
    await house.pass(5_000);
    expect(house.platform.messages.at(-1)?.files).toHaveLength(2);
    await house.happen(ids[2] as TaskId, ...done(house));
    expect(house.platform.messages).toHaveLength(3);
    expect(house.platform.messages.at(-1)?.files).toHaveLength(3);
    expect(notices(house)).toHaveLength(1);
    for (const id of ids) expect((await house.record(id)).presented).toBe(true);
  });

  it('is not posted for ever where each message is deleted at once', async () => {
    const { house, ids } = await withSet(2);
    const open = house.platform.open.bind(house.platform);
    house.platform.open = async (...given) => {
      const ref = await open(...given);
      for (const one of house.platform.messages) one.isDeleted = true;
      return ref;
    };
    for (const one of house.platform.messages) one.isDeleted = true;
    for (const id of ids) await house.happen(id, ...done(house));
    await house.pass(600_000, 5_000);
    const { length } = house.platform.calls;
    expect(house.platform.messages.length).toBeLessThanOrEqual(1 + ids.length);
    await house.pass(600_000, 5_000);
    expect(house.platform.calls).toHaveLength(length);
    for (const id of ids) {
      const task = await house.record(id);
      expect(task.presented).toBe(true);
      expect((await house.chat.view(task)).buttons).toContain('show');
    }
  });

  it('has the clips on its new card also where the process died before it was recorded', async () => {
    const { house, ids } = await withSet(2);
    for (const id of ids) await house.happen(id, ...done(house));
    house.platform.only.isDeleted = true;
    house.platform.dies('open', 'after');
    void house.chat.showSet({ id: SET, kind: 'takes', at: 1, of: 2 }).catch(() => undefined);
    await house.pass(1_000);
    const next = await house.restart();
    expect(await next.chat.showSet({ id: SET, kind: 'takes', at: 1, of: 2 })).toBe(true);
    await next.pass(30_000, 1_000);
    expect(next.platform.messages).toHaveLength(2);
    expect(next.platform.messages.at(-1)?.files).toHaveLength(2);
  });

  it('attaches each clip once over lost responses and a restart', async () => {
    const { house, ids } = await withSet(2);
    house.platform.fails('attach', 'after', platformError('platform_unavailable'));
    await house.happen(ids[0] as TaskId, ...done(house));
    house.platform.dies('attach', 'after');
    await house.happen(ids[1] as TaskId, ...done(house));
    const next = await house.restart();
    await next.pass(60_000, 1_000);
    expect(next.platform.messages).toHaveLength(1);
    expect(next.platform.only.files).toHaveLength(2);
    expect(next.platform.notices).toHaveLength(1);
  });

  it('is led to by its card, and a clip by the message of its file', async () => {
    const { house, ids } = await withSet(2);
    const attach = house.platform.attach.bind(house.platform);
    house.platform.attach = async (...given) => {
      const [{ channel }, , , { name }] = given;
      return { ...(await attach(...given)), message: { channel, message: name } };
    };
    for (const id of ids) await house.happen(id, ...done(house));
    const { channel } = house.platform.only.ref;
    for (const [index, name] of filesOf(house).entries())
      expect(await house.chat.taskOf('fake', { channel, message: name })).toBe(ids[index]);
    expect(await house.chat.taskOf('fake', house.platform.only.ref)).toBe(CARD);
  });

  it('says on its card why a clip is not in it, and leads to it', async () => {
    const { house, ids } = await withSet(2);
    house.platform.takesBytes = 1;
    await house.happen(ids[0] as TaskId, ...done(house));
    await house.pass(60_000, 1_000);
    expect(text(house)).toMatch(/Take 1 · Done in \d+ s The clip is .*, and the chat said that it is too large/u);
    expect(filesOf(house)).toEqual([]);
    house.platform.takesBytes = Number.POSITIVE_INFINITY;
    await house.happen(ids[1] as TaskId, ...done(house));
    expect(filesOf(house)).toHaveLength(1);
  });

  it('responds to the interaction with its card alone: a shot is posted below that', async () => {
    const { house, ids } = await withSet(2, new ChatHouse(), 'storyboard');
    for (const id of ids) await house.happen(id, ...done(house));
    const card = message(house, CARD);
    expect(card?.origin.address).toEqual({ thread: '1', token: 't' });
    for (const id of ids) expect(message(house, id)?.origin.address).toEqual({ thread: '1', below: card?.ref.message });
  });

  it('shows the review of a clip with that clip', async () => {
    const { house, ids } = await withSet(2);
    for (const id of ids) await house.happen(id, ...done(house));
    await house.happen(ids[0] as TaskId, EVENTS.review);
    await house.pass(5_000);
    expect(text(house)).toMatch(/Take 1 · Done in \d+ s · Signed off by .*\nTake 2 · Done in \d+ s$/mu);
  });

  it('has a message for a rejected shot that may have been accepted earlier, and for no other', async () => {
    const { house, ids } = await withSet(2, new ChatHouse(), 'storyboard');
    const [first, second] = ids as [TaskId, TaskId];
    await house.happen(first, EVENTS.send, EVENTS.refused);
    await house.happen(second, EVENTS.send, EVENTS.lost, EVENTS.resubmit, EVENTS.refused);
    expect(message(house, first)).toBeUndefined();
    expect(message(house, second)?.shown.at(-1)?.view).toMatchObject({
      phase: 'refused',
      buttons: expect.arrayContaining(['lookup']),
    });
  });

  it('mentions its requester once, when all tasks have ended', async () => {
    const { house, ids } = await withSet(3);
    for (const id of ids) await house.happen(id, ...done(house));
    expect(notices(house)).toEqual([
      expect.stringContaining('your 3 takes of “a red fox running through snow” are ready.'),
    ]);
    expect(house.platform.notices[0]).toMatchObject({ mention: ADA, replyTo: message(house, CARD)?.ref });
    for (const id of ids) expect((await house.record(id)).presented).toBe(true);
  });

  it('names what failed, which gets no message of its own', async () => {
    const { house, ids } = await withSet(4);
    for (const id of ids.slice(0, 3)) await house.happen(id, ...done(house));
    await house.happen(ids[3] as TaskId, ...RUNNING, EVENTS.failed);
    expect(notices(house)).toEqual([expect.stringMatching(/3 of your 4 takes of .* are ready; take 4 failed\./)]);
    expect(house.platform.messages).toHaveLength(1);
    expect(filesOf(house)).toHaveLength(3);
    expect(text(house)).toContain('Take 4 · ');
  });

  it('tells of a task that needs a decision, and of its end later', async () => {
    const { house, ids } = await withSet(2);
    const [first, second] = ids as [TaskId, TaskId];
    await house.happen(first, ...done(house));
    await house.happen(second, EVENTS.send, EVENTS.lost);
    expect(notices(house)).toEqual([expect.stringContaining('take 2 needs a decision')]);
    expect(labels(house)).toEqual(['Decide on take 2', '2 more', 'Details']);
    await house.happen(second, EVENTS.resubmit, ...done(house));
    expect(notices(house)).toHaveLength(2);
    expect(notices(house)[1]).toContain('your clip');
    expect(text(house)).toMatch(/Take 2 · Done/);
  });

  it('asks for no decision on a task that is still looked for', async () => {
    const { house, ids } = await withSet(2);
    const [first, second] = ids as [TaskId, TaskId];
    await house.happen(first, ...done(house));
    await house.happen(second, EVENTS.send, { ...EVENTS.lost, isListed: true });
    expect(text(house)).toContain('Take 2 · Not confirmed: I’m looking for it');
    expect(notices(house)).toEqual([]);
    await house.happen(second, EVENTS.sought);
    expect(text(house)).toContain('Take 2 · Not confirmed: it needs a decision');
    expect(notices(house)).toEqual([expect.stringContaining('take 2 needs a decision')]);
  });

  it('shows the end of a shot that had a message of its own for a decision there, too', async () => {
    const { house, ids } = await withSet(2, new ChatHouse(), 'storyboard');
    const [first, second] = ids as [TaskId, TaskId];
    await house.happen(second, EVENTS.send, EVENTS.lost);
    await house.happen(second, EVENTS.resubmit, ...RUNNING, EVENTS.failed);
    await house.happen(first, ...done(house));
    expect(message(house, second)?.shown.at(-1)?.view).toMatchObject({ phase: 'failed' });
    expect(text(house)).toMatch(/Shot 2 · .*(?:failed|couldn’t)/i);
  });

  it('says nothing at the end of a set that was cancelled', async () => {
    const { house, ids } = await withSet(2);
    for (const id of ids) await house.happen(id, { kind: 'cancel', by: ADA, atMs: house.clock.now() });
    expect(notices(house)).toEqual([]);
    expect(text(house)).toMatch(/Take 1 · Cancelled.*\nTake 2 · Cancelled/);
    expect(house.platform.messages).toHaveLength(1);
  });

  it('has one notice after a crash between the last clip and the notice, and after a lost response', async () => {
    const { house, ids } = await withSet(2);
    await house.happen(ids[0] as TaskId, ...done(house));
    house.platform.fails('notify', 'after', platformError('platform_unavailable'));
    await house.happen(ids[1] as TaskId, ...done(house));
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.notices).toHaveLength(1);
    expect(next.platform.only.files).toHaveLength(2);
    for (const id of ids) expect((await next.record(id)).presented).toBe(true);
  });

  it('leads from its card to the set, and from a task without a message to the card', async () => {
    const { house, ids } = await withSet(2);
    const card = message(house, CARD)?.ref;
    if (card === undefined) throw new TypeError('there is no card');
    expect(await house.chat.taskOf('fake', card)).toBe(CARD);
    expect(await house.chat.messageOf(ids[1] as TaskId)).toEqual(card);
  });
});
