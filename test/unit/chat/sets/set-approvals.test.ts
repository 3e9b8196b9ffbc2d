import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { buttonsOf, linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Approver } from '#src/tasks/approval.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, EVENTS, NOON_MS, requestedTask } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../videos/models.ts';

const SET = taskIdOf('fake:i1');
const CARD = setCardId(SET);
const BEN: Approver = { kind: 'person', ...BOB };
const LEADS: Approver = { kind: 'role', id: '99', name: '@leads' };
const DECLINE: TaskEvent = { kind: 'decline', how: 'denied', by: BOB, reason: 'too many', atMs: NOON_MS };

/** A house with Ada's request for tasks at $0.30 each. @param of by their number, changes of each. */
async function asking(
  of: readonly Partial<Task>[],
  house = new ChatHouse(),
  askedOf: readonly Approver[] = [BEN, LEADS],
) {
  const ids = memberIds({ id: SET, of: of.length });
  const { approval } = requestedTask();
  if (approval === undefined) throw new TypeError('a request without approval');
  await house.repository.claim(
    ids.map((id, at) => {
      const set = { id: SET, kind: 'takes', at: at + 1, of: of.length } as const;
      return requestedTask({ id, set, approval: { ...approval, askedOf }, ...of[at] });
    }),
  );
  await house.chat.show(SET);
  await house.pass(10_000);
  return { house, ids };
}

function posted({ platform }: ChatHouse): readonly string[] {
  return platform.notices.map(({ key, place, view }) => `${key} in ${place.channel}: ${text(view)}`);
}

function text(view: Parameters<typeof cardOf>[0]): string {
  return plainText(linesOf(cardOf(view)));
}

function card(house: ChatHouse) {
  const shown = house.platform.messages.find(({ task }) => task === CARD)?.shown.at(-1)?.view;
  if (shown === undefined) throw new TypeError('there is no card');
  return shown;
}

const FOUR = [{}, {}, {}, {}];

describe('the request for the approval of a set', () => {
  it('has one card and one notice for each approver, with the price of all and its number', async () => {
    const { house, ids } = await asking(FOUR);
    expect(house.platform.messages.map(({ task }) => task)).toEqual([CARD]);
    expect(text(card(house))).toContain(
      'Waiting for approval by Bob or @leads: $1.20 is above the team’s limit of $0.20.',
    );
    expect(text(card(house)).match(/Waiting/g)).toHaveLength(1);
    expect(card(house).buttons).toEqual(['withdraw', 'details']);
    expect(posted(house)).toEqual([
      expect.stringMatching(
        new RegExp(`^ask:${CARD}:fake:T1:bob in direct-bob: Ada requests 4 takes for \\$1\\.20\\.`),
      ),
      expect.stringMatching(new RegExp(`^ask:${CARD}: in clips: @leads: Ada requests 4 takes for`)),
    ]);
    const [notice] = house.platform.notices;
    const buttons = notice?.view.kind === 'approval' ? buttonsOf(cardOf(notice.view)) : [];
    expect(buttons.map(({ id }) => id)).toEqual([`approve:${CARD}:1.2USD`, `deny:${CARD}`]);
    for (const id of ids) expect(await house.record(id)).toMatchObject({ state: 'requested', presented: true });
    // No delivery met another one’s lock of the card.
    expect(house.failed).toEqual([]);
    const next = await house.restart();
    expect(next.platform.notices).toHaveLength(2);
  });

  it('notifies once after a crash between two notices, and once more as a reminder', async () => {
    const house = new ChatHouse();
    house.platform.fails('notify', 'after', platformError('platform_unavailable'));
    await asking(FOUR, house);
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.notices).toHaveLength(2);
    await next.happen(SET, EVENTS.remind);
    expect(posted(next).slice(2)).toEqual([
      expect.stringContaining('Ada still waits for the approval of 4 takes for $1.20.'),
      expect.stringContaining('still waits'),
    ]);
  });

  it('lists tasks with different requests, with the prompt only for those who may see it', async () => {
    const { request } = requestedTask();
    const other = {
      request: { ...request, prompt: 'a blue whale', model: 'epic-pro' },
      price: { amount: '1.20', currency: 'USD' },
    };
    for (const isMember of [true, false]) {
      const house = new ChatHouse({ modelOf: (wanted) => CATALOG.models.find(({ name }) => name === wanted) });
      house.platform.memberRights.set('clips', { view: isMember, post: isMember, manage: false });
      const origin = { ...requestedTask().origin, audience: 'channel' } as const;
      await asking([{ origin }, { origin, ...other }], house, [BEN]);
      const [notice] = posted(house);
      expect(notice).toContain('Ada requests 2 takes for $1.50.');
      expect(notice).toContain('Take 1 · Swift 1 · 6 s · $0.30');
      expect(notice).toContain(
        isMember ? 'Take 2 · Epic Pro · 6 s · $1.20 · a blue whale' : 'Take 2 · Epic Pro · 6 s · $1.20',
      );
      expect(notice?.includes('a blue whale')).toBe(isMember);
    }
  });
});

describe('the decision on a set', () => {
  it('to approve it goes on in the same card, and replaces the buttons of each notice once', async () => {
    const { house, ids } = await asking(FOUR);
    await house.happen(ids[2] as TaskId, EVENTS.approve);
    for (const id of ids) expect((await house.record(id)).state).toBe('claimed');
    expect(text(card(house))).toMatch(/Take 1 · Queued[\s\S]*Take 4 · Queued[\s\S]*Approved by Bob/);
    expect(house.platform.settled.map(({ ref }) => ref.channel)).toEqual(['direct-bob', 'clips']);
    for (const { view } of house.platform.settled) expect(text(view)).toContain('Approved by Bob.');
    expect(house.platform.messages.map(({ task }) => task)).toEqual([CARD]);
  });

  it('to deny it mentions its requester once, and the card offers it again as a whole', async () => {
    const { house, ids } = await asking(FOUR);
    await house.happen(ids[0] as TaskId, DECLINE);
    await house.pass(10_000);
    const ends = house.platform.notices.filter(({ view }) => view.kind === 'end');
    expect(ends.map(({ view, mention }) => [text(view), mention])).toEqual([
      ['@Ada your 4 takes of “a red fox running through snow” were denied by Bob: too many.', ADA],
    ]);
    expect(text(card(house))).toContain('Denied by Bob: too many.');
    expect(text(card(house)).match(/Denied/g)).toHaveLength(1);
    expect(buttonsOf(cardOf(card(house))).map(({ label }) => label)).toEqual(['Retry', 'Details']);
    for (const id of ids) expect(await house.record(id)).toMatchObject({ state: 'declined', presented: true });
  });

  it('to deny it no longer names who did, or why, once they are forgotten', async () => {
    const { house, ids } = await asking(FOUR);
    await house.happen(ids[0] as TaskId, DECLINE);
    await house.pass(10_000);
    for (const id of ids) await house.happen(id, EVENTS.forget);
    await house.pass(10_000);
    const sentence = '@Ada your 4 takes of “a red fox running through snow” were denied by Removed person.';
    expect(house.platform.erased.map(({ view }) => text(view))).toEqual([sentence]);
    expect(house.platform.notices.filter(({ view }) => view.kind === 'end')).toHaveLength(1);
    for (const id of ids) expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('to withdraw it mentions no one; its expiry is told once', async () => {
    const withdrawn = await asking(FOUR);
    await withdrawn.house.happen(SET, { kind: 'decline', how: 'withdrawn', by: ADA, atMs: NOON_MS });
    await withdrawn.house.pass(10_000);
    expect(withdrawn.house.platform.notices.filter(({ view }) => view.kind === 'end')).toEqual([]);
    const expired = await asking(FOUR);
    await expired.house.happen(SET, { kind: 'decline', how: 'expired', atMs: NOON_MS + 86_400_000 });
    await expired.house.pass(10_000);
    const ends = expired.house.platform.notices.filter(({ view }) => view.kind === 'end');
    expect(ends.map(({ view }) => text(view))).toEqual([
      expect.stringContaining('were not approved in time. Nothing was charged.'),
    ]);
    expect(text(card(expired.house))).toContain(
      'Expired: no one answered within 24 h. Nothing was charged. Retry requests them again.',
    );
  });

  it('names the price of all where that has risen', async () => {
    const { house } = await asking(FOUR);
    await house.happen(SET, {
      kind: 'decline',
      how: 'repriced',
      by: BOB,
      price: { amount: '0.40', currency: 'USD' },
      atMs: NOON_MS,
    });
    await house.pass(10_000);
    expect(text(card(house))).toContain('The price is now $1.60, not $1.20. Nothing was charged; Retry asks again.');
  });
});
