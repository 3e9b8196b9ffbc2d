import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import type { RetractionCount } from '#src/chat/retraction.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { Remover } from '#src/clips/remover.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { NO_CUTS } from '#test/fakes/no-cuts.ts';
import { platformError } from '#test/fakes/platform.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { BOB, CLIP, EVENTS, newTask, requestedTask } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const CARD = setCardId(SET);
const PROMPTS = ['a secret fox', 'a secret wolf', 'a secret owl'];

/** A set whose clips are in the chat, with a remover. @param areFilesMessages each file is a message of its own */
async function delivered(changes: Partial<Task> = {}, areFilesMessages = false) {
  const house = new ChatHouse();
  const attach = house.platform.attach.bind(house.platform);
  if (areFilesMessages)
    house.platform.attach = async (...given) => {
      const [{ channel, message }, , , { name }] = given;
      return { ...(await attach(...given)), message: { channel, message: `${message}/${name}` } };
    };
  const { store, repository, clock, chat } = house;
  const ids = memberIds({ id: SET, of: 3 });
  const { request } = newTask();
  const tasks = ids.map((id, index) => {
    const set = { id: SET, kind: 'takes', at: index + 1, of: 3 } as const;
    const own = { ...request, prompt: PROMPTS[index] ?? '' };
    return newTask({ id, set, request: own, createdAtMs: clock.now(), ...changes });
  });
  await repository.claim(tasks);
  await chat.show(SET);
  await house.pass(0);
  if (tasks[0]?.state === 'requested') await house.happen(SET, EVENTS.approve);
  for (const id of ids) {
    await house.happen(id, EVENTS.send, EVENTS.accepted, { kind: 'completed', atMs: clock.now() });
    await house.happen(id, { kind: 'fetched', clip: CLIP });
  }
  await house.pass(5_000);
  const remover = new Remover({
    cuts: NO_CUTS,
    store,
    repository,
    clips: { list: async () => new Map(), remove: async () => undefined },
    messages: chat.retraction,
    audit: new AuditTrail(store, clock),
    clock,
    logger: pino({ level: 'silent' }),
  });
  const messageOf = (task: TaskId) => house.platform.messages.find((one) => one.task === task);
  const card = () => {
    const view = messageOf(CARD)?.shown.at(-1)?.view;
    return view === undefined ? '' : plainText(linesOf(cardOf(view)));
  };
  return { house, ids: ids as [TaskId, TaskId, TaskId], remover, messageOf, card };
}

/** What the store has of the set and its clips. */
const OF_THE_SET = /secret|"kind":"(?:cards|messages|deliveries|posts|set_notices|removals|retractions)"/u;

describe('the card of a set', () => {
  it('says which of its clips was deleted, and keeps the others', async () => {
    const { house, ids, remover, messageOf, card } = await delivered();
    const [first, second] = ids;
    expect(await remover.remove({ id: second }, { reason: 'deleted' })).toBe(true);
    await house.pass(5_000);
    expect(card()).toMatch(/Take 1 · Done in .*\nTake 2 · Done, and removed since.*\nTake 3 · Done in/);
    expect(house.platform.retracted).toEqual([]);
    expect(house.platform.only.files.map(({ name }) => name.slice(-6, -4))).toEqual(['-1', '-3']);
    expect(messageOf(first)).toBeUndefined();
  });

  it('is forgotten with the messages of its files, and loses a deleted clip on the cards before it, too', async () => {
    const { house, ids, remover, messageOf } = await delivered({}, true);
    const [first] = ids;
    const [card] = house.platform.messages;
    if (card !== undefined) card.isDeleted = true;
    await house.chat.showSet({ id: SET, kind: 'takes', at: 1, of: 3 });
    await house.pass(5_000);
    if (card !== undefined) card.isDeleted = false;
    await remover.remove({ id: first }, { reason: 'deleted' });
    await house.pass(5_000);
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([2, 2]);
    expect(messageOf(first)).toBeUndefined();
    for (const id of ids) await remover.remove({ id }, { reason: 'deleted' });
    expect(await storedIn(house.store)).not.toMatch(OF_THE_SET);
  });

  it('is edited again until a deleted clip is off it; one that may not be edited is counted as kept', async () => {
    const { house, ids, remover } = await delivered();
    const [first, second] = ids;
    const counts: RetractionCount[] = [];
    const retracted = (count: RetractionCount): void => void counts.push(count);
    house.platform.fails('edit', 'before', platformError('platform_unavailable'), 'final');
    await remover.remove({ id: first }, { reason: 'deleted', retracted });
    expect(house.platform.only.files).toHaveLength(3);
    expect(counts).toEqual([]);
    await remover.complete([first]);
    expect(house.platform.only.files).toHaveLength(2);
    house.platform.fails('edit', 'before', platformError('missing_permission', { retryable: false }), 'final');
    await remover.remove({ id: second }, { reason: 'deleted', retracted });
    expect(counts).toEqual([{ retracted: 0, kept: 1 }]);
  });

  it('is retracted with its last clip, and nothing about it stays in the store', async () => {
    const { house, ids, remover, messageOf } = await delivered();
    for (const id of ids) await remover.remove({ id }, { reason: 'deleted' });
    await house.pass(5_000);
    expect(house.platform.retracted.map(({ ref }) => ref)).toContainEqual(messageOf(CARD)?.ref);
    expect(await storedIn(house.store)).not.toMatch(OF_THE_SET);
    const shown = messageOf(CARD)?.shown.length;
    await house.chat.updateBoard({ id: SET, kind: 'takes', at: 1, of: 3 });
    expect(messageOf(CARD)?.shown).toHaveLength(shown ?? 0);
    expect(house.platform.messages.filter(({ task }) => task === CARD)).toHaveLength(1);
  });

  it('is retracted later where it is being edited: until then, what is recorded about it stays', async () => {
    const { house, ids, remover, messageOf } = await delivered();
    const isRetracted = () => house.platform.retracted.some(({ ref }) => ref.message === messageOf(CARD)?.ref.message);
    const edit = await house.store.leases.take(`message:${CARD}`, 15_000);
    for (const id of ids) await remover.remove({ id }, { reason: 'deleted' });
    expect(isRetracted()).toBe(false);
    expect(await house.chat.messageOf(CARD)).toBeDefined();
    await edit?.release();
    await remover.complete(ids);
    expect(isRetracted()).toBe(true);
    expect(await storedIn(house.store)).not.toMatch(OF_THE_SET);
  });

  it('is retracted once where its clips are removed together', async () => {
    const { house, ids, remover, messageOf } = await delivered();
    for (const id of ids) await remover.remove({ id }, { reason: 'deleted', isPartOfMany: true });
    await remover.complete(ids);
    const ofCard = house.platform.retracted.filter(({ ref }) => ref.message === messageOf(CARD)?.ref.message);
    expect(ofCard).toHaveLength(1);
    expect(await storedIn(house.store)).not.toMatch(OF_THE_SET);
  });

  it('expires once all of its prompts have: until then, it shows those of the others', async () => {
    const { house, ids, remover, messageOf } = await delivered();
    const shownIn = () =>
      house.platform.expired.flatMap(({ ref, view }) => (ref.message === messageOf(CARD)?.ref.message ? [view] : []));
    const isExpired = () => shownIn().some(({ kind }) => kind === 'removed');
    for (const id of ids.slice(0, 2)) await remover.remove({ id }, { reason: 'expired' });
    expect(isExpired()).toBe(false);
    // Of the clips that are left, the files stay.
    const files = shownIn().map((view) => (view.kind === 'set' ? view.members.flatMap(({ file }) => file ?? []) : []));
    expect(files.map(({ length }) => length)).toEqual([2, 1]);
    // Its clip alone: the prompt stays, also on the card.
    await remover.remove({ id: ids[2] }, { reason: 'expired', keepsContent: true });
    expect(isExpired()).toBe(false);
    await remover.remove({ id: ids[2] }, { reason: 'expired' });
    expect(isExpired()).toBe(true);
    expect(await storedIn(house.store)).not.toMatch(OF_THE_SET);
  });

  it('is followed by the notices to its approvers: they lose the prompt of a task that was deleted', async () => {
    const { state, approval, presented } = requestedTask();
    if (approval === undefined) throw new TypeError('a request without approval');
    const asked = { ...approval, askedOf: [{ kind: 'person', ...BOB } as const] };
    const { house, ids, remover } = await delivered({ state, approval: asked, presented });
    const shown = () => JSON.stringify(house.platform.settled.at(-1));
    expect(shown()).toContain('a secret wolf');
    await remover.remove({ id: ids[1] }, { reason: 'deleted' });
    expect(shown()).not.toContain('a secret wolf');
    expect(shown()).toContain('a secret owl');
    expect(await storedIn(house.store)).not.toContain('a secret wolf');
  });
});
