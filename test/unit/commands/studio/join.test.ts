import { describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { cutCard } from '#commands/sentences/cards/cut.ts';
import { joinShots } from '#commands/studio/join.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { type CutFailure, cutIdOf } from '#src/orders/cut.ts';
import { cutViewOf } from '#src/studio/cuts/cut-messages.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { EVENTS, newTask } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../videos/models.ts';

const { send, accepted, completed, fetched } = EVENTS;
const DONE = [send, accepted, completed, fetched];

/** Orders clips that are done. */
async function shots(house: BotHouse, count: number, caller: () => Caller = ada): Promise<TaskId[]> {
  const ids: TaskId[] = [];
  for (let at = 1; at <= count; at += 1) ids.push((await house.seed(caller(), `create a fox, part ${at}`, ...DONE)).id);
  return ids;
}

function said(reply: Reply): string {
  if (reply.kind === 'refused') return reply.sentence;
  return 'card' in reply ? plainText(linesOf(reply.card)) : reply.kind;
}

describe('joining shots', () => {
  it('is for whoever may see them, below the message that offers it, and buys nothing', async () => {
    const house = new BotHouse(CATALOG);
    const tasks = await shots(house, 3);
    const reply = await joinShots(house, bob(), { tasks, replyTo: 'm-board' });
    expect(reply).toEqual({ kind: 'task', task: cutIdOf(tasks) });
    const { address, replyTo, user, audience } = house.joined[0]?.origin ?? {};
    expect({ below: address?.['below'], replyTo, user: user?.name, audience }).toEqual({
      below: 'm-board',
      replyTo: 'm-board',
      user: 'Bob',
      audience: 'team',
    });
    expect(house.orders).toEqual([]);
  });

  it('names the shots without a clip before anything else', async () => {
    const house = new BotHouse(CATALOG);
    const [first = '' as TaskId, third = '' as TaskId] = await shots(house, 2);
    const open = await house.seed(ada(), 'create a hen');
    const reply = await joinShots(house, ada(), { tasks: [first, open.id, third, 'none' as TaskId] });
    expect(said(reply)).toBe('Shots 2 and 4 have no clip. Retry them or leave them out, then join again.');
    expect(said(await joinShots(house, ada(), { tasks: [first] }))).toContain('at least two');
    expect(house.joined).toEqual([]);
  });

  it('shows private clips nowhere else', async () => {
    const house = new BotHouse(CATALOG);
    house.audiences.set('secret', 'channel');
    const secret = await shots(house, 1, () => ada({ channel: 'secret' }));
    const tasks = [...(await shots(house, 1)), ...secret];
    expect(said(await joinShots(house, ada(), { tasks }))).toContain('private channel');
    expect(said(await joinShots(house, bob(), { tasks }))).toContain('button');
    expect(await joinShots(house, ada({ channel: 'secret' }), { tasks })).toMatchObject({ kind: 'task' });
    expect(house.joined.map(({ origin }) => origin.audience)).toEqual(['channel']);
    const guest = ada({ isGuest: true });
    expect(said(await joinShots(house, guest, { tasks: await shots(house, 2) }))).toContain('not a member');
  });

  it('leads to a cut that was made before, and its button tries again', async () => {
    const house = new BotHouse(CATALOG);
    const tasks = await shots(house, 2);
    await joinShots(house, ada(), { tasks });
    house.cutRequested = { kind: 'there', message: { channel: 'clips', message: 'm1' } };
    expect(await joinShots(house, ada(), { tasks })).toMatchObject({ kind: 'private' });
    expect(await house.bot.press(ada(), `join:${cutIdOf(tasks)}`)).toMatchObject({ kind: 'private' });
    expect(house.joined).toHaveLength(3);
    expect(await house.bot.press(ada(), `join:${cutIdOf(tasks.toReversed())}`)).toMatchObject({ kind: 'refused' });
    house.cutRequested = { kind: 'full' };
    expect(said(await joinShots(house, ada(), { tasks }))).toContain('Try again');
    expect(await house.bot.show(cutIdOf(tasks))).toMatchObject({ message: `m-${cutIdOf(tasks)}` });
  });
});

describe('the message of a cut', () => {
  const tasks = ['one', 'two', 'three'].map((id) => newTask({ id: id as TaskId }));
  const base = {
    revision: 1,
    id: cutIdOf(tasks.map(({ id }) => id)),
    tasks: tasks.map(({ id }) => id),
    origin: newTask().origin,
    requestedAtMs: 0,
    presented: true,
  };
  const shown = (cut: object) => {
    const card = cutCard(cutViewOf({ ...base, state: 'joining', ...cut }, tasks, { handover: { kind: 'attached' } }));
    return { text: plainText(linesOf(card)), buttons: card.buttons.map(({ label }) => label) };
  };

  it('lists shots, length and size', () => {
    expect(shown({}).text).toMatch(/^Joining 3 shots… · 18 s · Ada\n1\. a red fox running through snow · 6 s\n2\. /u);
    const done = shown({ state: 'joined', file: { bytes: 12 * 1024 ** 2, seconds: 18.04 } });
    expect(done.text).toMatch(/^Cut of 3 shots · 0:18 · 12 MB · Ada\n1\. /u);
    expect(done.buttons).toEqual([]);
  });

  const difference = { shot: 2, property: 'size', value: '320×180', expected: '160×90' } as const;
  it.each<[CutFailure, string]>([
    [{ code: 'clip_missing', shots: [2] }, 'Shot 2 has no clip.'],
    [{ code: 'not_a_video', shot: 3 }, 'shot 3'],
    [{ code: 'timed_out' }, 'took too long'],
    [{ code: 'disk_full' }, 'disk is full'],
    [{ code: 'failed' }, 'in the log'],
    [
      { code: 'shots_differ', differences: [difference, { ...difference, property: 'edit_list', value: '' }] },
      'shot 2: size 320×180 instead of 160×90, parts that are cut away',
    ],
  ])('explains %o, with a way out', (failure, words) => {
    const { text, buttons } = shown({ state: 'failed', failure });
    expect(text).toContain('Couldn’t join 3 shots');
    expect(text).toContain(words);
    expect(buttons).toEqual(['Join again']);
  });
});
