import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import type { ReviewDecision, ReviewRules } from '#src/tasks/review/review.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { ChatHouse, type ChatHouseOptions } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, NOON_MS, originOf } from '#test/fakes/tasks.ts';

const NOTE = { kind: 'changes_requested', by: BOB, atMs: NOON_MS, note: { text: 'too dark', atSeconds: 3 } } as const;
const SIGNED = { kind: 'signed_off', by: BOB, atMs: NOON_MS } as const;
const PSEUDONYM = { id: 'forgotten-1', name: 'Removed person' };

function houseWith(rules: ReviewRules = {}, options: ChatHouseOptions = {}): ChatHouse {
  return new ChatHouse({ settingsOf: async () => ({ reviewIn: ['clips'], ...rules }), ...options });
}

async function review(house: ChatHouse, id: TaskId, ...decisions: readonly ReviewDecision[]): Promise<void> {
  for (const decision of decisions) {
    const after = (await house.record(id)).review?.length ?? 0;
    await house.happen(id, { kind: 'review', after, decision });
  }
}

describe('a review in the chat', () => {
  it('shows each decision on the card, and as one notice below it that mentions the requester', async () => {
    const house = houseWith();
    const id = await house.done();
    expect(house.platform.view.buttons).toEqual(['sign_off', 'changes', 'retry', 'edit', 'details']);
    await review(house, id, NOTE, SIGNED);
    expect(house.platform.view).toMatchObject({
      buttons: ['changes', 'retry', 'edit', 'details'],
      task: { review: [NOTE, SIGNED] },
    });
    const [, note, signed, ...others] = house.platform.notices;
    expect(others).toEqual([]);
    const replyTo = house.platform.only.ref;
    expect(note).toMatchObject({ key: `review:${id}:1`, mention: ADA, replyTo, view: { note: NOTE.note, version: 1 } });
    expect(signed).toMatchObject({ key: `review:${id}:2`, mention: ADA, view: { decision: 'signed_off', note: null } });
    expect(house.platform.countOf('attach')).toBe(1);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('says whose sign-off the requested changes take back', async () => {
    const house = houseWith();
    const id = await house.done();
    await review(house, id, SIGNED, NOTE);
    const view = house.platform.notices.at(-1)?.view;
    expect(view).toMatchObject({ decision: 'changes_requested', takesBack: BOB });
    expect(view === undefined ? '' : cardText(cardOf(view))).toContain('This takes back Bob’s sign-off.');
  });

  it('mentions nobody for a decision on one’s own clip, and posts nothing for one’s own sign-off', async () => {
    const house = houseWith();
    const id = await house.done();
    await review(house, id, { ...NOTE, by: ADA }, { ...SIGNED, by: ADA });
    expect(house.platform.notices.slice(1)).toMatchObject([{ key: `review:${id}:1`, mention: null }]);
  });

  it.each(['before', 'after'] as const)('is posted once if the process dies %s the platform acted', async (when) => {
    const house = houseWith({ signedOffChannel: 'final' });
    const id = await house.done();
    house.platform.dies('notify', when, 'review:');
    await review(house, id, NOTE);
    const next = await house.restart();
    expect(next.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:done:1`, `review:${id}:1`]);
    next.platform.dies('notify', when, 'signed-off:');
    await review(next, id, SIGNED);
    const last = await next.restart();
    const keys = [`end:${id}:done:1`, `review:${id}:1`, `review:${id}:2`, `signed-off:${id}`];
    expect(last.platform.notices.map(({ key }) => key)).toEqual(keys);
    expect(await last.record(id)).toMatchObject({ presented: true });
  });

  it('posts a note in the channel where the clip’s message is gone, and gives up where that is gone', async () => {
    const house = houseWith();
    const id = await house.done();
    house.platform.fails('notify', 'before', platformError('message_gone', { retryable: false }), 'review:');
    await review(house, id, NOTE);
    expect(house.platform.notices.at(-1)).toMatchObject({ key: `review:${id}:1`, replyTo: null });
    for (let times = 0; times < 2; times += 1)
      house.platform.fails('notify', 'before', platformError('message_gone', { retryable: false }), ':2');
    await review(house, id, NOTE);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('does not announce the clip to those who subscribed after its end', async () => {
    const house = houseWith();
    const id = await house.done();
    await house.subscriptions.add({ platform: 'fake', team: 'T1', channel: 'late', who: 'everyone', by: BOB });
    await review(house, id, SIGNED);
    expect(house.platform.notices.map(({ place }) => place.channel)).toEqual(['clips', 'clips']);
  });

  it('erases name and note of a reviewer who is forgotten, once', async () => {
    const house = houseWith();
    const id = await house.done();
    await review(house, id, NOTE);
    await house.happen(id, { kind: 'forget', person: BOB.id, pseudonym: PSEUDONYM });
    const [edited, ...more] = house.platform.erased;
    expect(more).toEqual([]);
    expect(edited).toMatchObject({ ref: { message: `review:${id}:1` }, view: { by: PSEUDONYM, note: null } });
    expect(JSON.stringify(house.platform.view)).not.toContain('too dark');
    await review(house, id, { ...SIGNED, by: ADA });
    expect(house.platform.erased).toHaveLength(1);
  });

  it('erases the name of a forgotten signer from the notice that takes the sign-off back, and later its author’s', async () => {
    const house = houseWith();
    const id = await house.done();
    const CAI = { id: 'U3', name: 'Cai' };
    await review(house, id, SIGNED, { ...NOTE, by: CAI });
    await house.happen(id, { kind: 'forget', person: BOB.id, pseudonym: PSEUDONYM });
    expect(house.platform.erased).toMatchObject([
      { ref: { message: `review:${id}:1` }, view: { by: PSEUDONYM } },
      { ref: { message: `review:${id}:2` }, view: { by: CAI, note: NOTE.note, takesBack: PSEUDONYM } },
    ]);
    const another = { ...PSEUDONYM, id: 'forgotten-2' };
    await house.happen(id, { kind: 'forget', person: CAI.id, pseudonym: another });
    expect(house.platform.erased.slice(2)).toMatchObject([
      { ref: { message: `review:${id}:2` }, view: { by: another, note: null, takesBack: PSEUDONYM } },
    ]);
    await review(house, id, { ...SIGNED, by: ADA });
    expect(house.platform.erased).toHaveLength(3);
  });

  it('erases the notes of a reviewer who is forgotten from the next version, too', async () => {
    const house = houseWith();
    const id = await house.done();
    await review(house, id, NOTE, { ...NOTE, by: ADA, note: { text: 'too slow' } });
    const next = await house.done({ id: 'second' as TaskId, retryOf: id, origin: originOf({ interaction: 'i2' }) });
    const shown = () => house.platform.messages.find(({ task }) => task === next)?.shown.at(-1)?.view.earlierNotes;
    expect(shown()?.notes).toEqual([NOTE.note, { text: 'too slow' }]);
    await house.happen(id, { kind: 'forget', person: BOB.id, pseudonym: PSEUDONYM });
    await house.pass(10_000);
    expect(shown()?.notes).toEqual([{ text: 'too slow' }]);
  });

  it('retracts its notices with the clip', async () => {
    const house = houseWith({ signedOffChannel: 'final' });
    const id = await house.done();
    await review(house, id, NOTE, SIGNED);
    const messages = (await house.chat.retraction.messagesOf(await house.record(id))).map(({ message }) => message);
    expect(messages).toEqual(
      expect.arrayContaining([`review:${id}:1`, `review:${id}:2`, `signed-off:${id}`, house.platform.only.ref.message]),
    );
  });

  it('shows the notes on a version with the next one, in the same channel alone', async () => {
    const house = houseWith({ reviewIn: ['clips', 'elsewhere'] });
    const id = await house.done();
    await review(house, id, NOTE);
    await house.task({ id: 'second' as TaskId, retryOf: id });
    await house.task({
      id: 'third' as TaskId,
      retryOf: id,
      origin: originOf({ channel: 'elsewhere', interaction: 'i3' }),
    });
    const notes = house.platform.messages.map(({ shown }) => shown[0]?.view.earlierNotes);
    expect(notes).toEqual([undefined, { version: 1, notes: [NOTE.note] }, undefined]);
  });
});

describe('the channel for signed-off clips', () => {
  it('gets a signed-off clip with its file, once, also if it is reopened and signed off again', async () => {
    const house = houseWith({ signedOffChannel: 'final' });
    const id = await house.done();
    await review(house, id, SIGNED, NOTE, SIGNED);
    const there = house.platform.notices.filter(({ place }) => place.channel === 'final');
    expect(there).toMatchObject([
      {
        key: `signed-off:${id}`,
        mention: null,
        files: [{ bytes: 1_000, description: 'a red fox running through snow' }],
        view: { kind: 'signed_off', message: house.platform.only.ref, channel: 'clips' },
      },
    ]);
  });

  it('does not get a clip that only its own channel may see', async () => {
    const house = houseWith({ signedOffChannel: 'final' });
    const id = await house.done({ origin: originOf({ audience: 'channel' }) });
    await review(house, id, SIGNED);
    expect(house.platform.notices.map(({ place }) => place.channel)).toEqual(['clips', 'clips']);
  });

  it('gets a link where the file is too large or refused, and is skipped where it refuses both', async () => {
    const links = { forClip: async () => ({ url: 'https://a.test/media/1', expiresAtMs: NOON_MS }) };
    const house = houseWith({ signedOffChannel: 'final' }, { links });
    house.platform.limits = { ...house.platform.limits, uploadBytes: 500 };
    const large = await house.done({ id: 'large' as TaskId });
    await review(house, large, SIGNED);
    expect(house.platform.notices.at(-1)).toMatchObject({ view: { link: { url: 'https://a.test/media/1' } } });
    expect(house.platform.notices.at(-1)?.files).toBeUndefined();
    const refused = platformError('missing_permission', { retryable: false });
    house.platform.fails('notify', 'before', refused, 'signed-off:');
    const other = await house.done({ id: 'other' as TaskId });
    await review(house, other, SIGNED);
    expect(house.platform.notices.some(({ key }) => key === 'signed-off:other')).toBe(false);
    expect(await house.record(other)).toMatchObject({ presented: true });
  });
});
