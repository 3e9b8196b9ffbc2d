import { describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import { isSignedOff } from '#src/tasks/review/review.ts';
import type { Task } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { EVENTS } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../videos/models.ts';

const DONE = [EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched] as const;
const CLEO = { id: 'U3', name: 'Cleo' };

/** Ada's finished clip of 4 s in a channel with reviews. */
async function reviewed(settings: object = {}) {
  const house = new BotHouse(CATALOG);
  const actor = { person: CLEO, surface: 'command' } as const;
  await house.settings.change({ platform: 'slack', team: 'T1' }, actor, { reviewIn: ['clips'], ...settings });
  const task = await house.seed(ada({ interaction: 'first' }), 'a red fox', ...DONE);
  return {
    house,
    task,
    now: () => house.task(task.id),
    signOff: (caller: Caller, after = 0, newest: number | null = null, id = task.id) =>
      house.bot.press(caller, buttonId({ action: 'sign_off', task: id, after: after, newest: newest })),
    request: (caller: Caller, values: Readonly<Record<string, string>>, after = 0) =>
      house.bot.submit(caller, buttonId({ action: 'changes', task: task.id, after: after }), values),
  };
}

function buttonIds(reply: Reply): readonly string[] {
  return reply.kind === 'private' ? reply.card.buttons.map(({ id }) => id) : [];
}

describe('the buttons of a review', () => {
  it('are under a finished clip of a channel with reviews, within one row', async () => {
    const { house, task } = await reviewed();
    const { buttons } = await house.chat.view(task);
    expect(buttons).toEqual(['sign_off', 'changes', 'retry', 'edit', 'details']);
    const elsewhere = await house.seed(ada({ interaction: 'other', channel: 'random' }), 'a red fox', ...DONE);
    expect((await house.chat.view(elsewhere)).buttons).toEqual(['retry', 'edit', 'details']);
    const inThread = { interaction: 'thread', channel: 'thread-1', parentChannel: 'clips' };
    const below = await house.seed(ada(inThread), 'a red fox', ...DONE);
    expect((await house.chat.view(below)).buttons).toContain('sign_off');
  });

  it('are refused where reviews are off, the clip is gone, or the caller may not see it', async () => {
    const { house, task, signOff, now } = await reviewed();
    const seen = await house.seed(ada({ interaction: 'p', channel: 'secret' }), 'a teaser', ...DONE);
    house.audiences.set('secret', 'channel');
    expect(await signOff(bob(), 0, null, seen.id)).toMatchObject({ kind: 'refused' });
    const actor = { person: CLEO, surface: 'command' } as const;
    await house.settings.change({ platform: 'slack', team: 'T1' }, actor, { reviewIn: [] });
    expect(replyText(await signOff(bob()))).toContain('Reviews are off in this clip’s channel.');
    expect(now().review).toBeUndefined();
    expect(await house.bot.press(bob(), buttonId({ action: 'changes', task: task.id, after: 0 }))).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('a policy on reviews', () => {
  it('refuses both decisions to those whom it does not name', async () => {
    const review = [{ kind: 'person', id: 'U2', name: 'Bob' }] as const;
    const { house, task, signOff, request, now } = await reviewed({ policy: { team: { review }, channels: {} } });
    const cleo = (): Caller => bob({ user: CLEO });
    for (const reply of [
      await signOff(cleo()),
      await request(cleo(), { note: 'no' }),
      await house.bot.press(cleo(), buttonId({ action: 'changes', task: task.id, after: 0 })),
    ])
      expect(replyText(reply)).toContain('You can’t review clips here: only Bob may.');
    expect(now().review).toBeUndefined();
    expect(replyText(await signOff(bob()))).toBe('Signed off v1.');
  });
});

describe('Sign off', () => {
  it('is recorded once, also for a press that is delivered twice', async () => {
    const { signOff, now } = await reviewed();
    const press = bob();
    for (const reply of [await signOff(press), await signOff(press)]) expect(replyText(reply)).toBe('Signed off v1.');
    expect(now().review).toMatchObject([{ kind: 'signed_off', by: { name: 'Bob' } }]);
  });

  it('tells the second of two who decided, and what still can be done', async () => {
    const { signOff, request, now } = await reviewed();
    const [first, second] = await Promise.all([signOff(bob()), request(ada(), { note: 'too dark' })]);
    expect(replyText(first)).toBe('Signed off v1.');
    expect(replyText(second)).toContain('Someone already decided this: Bob signed this clip off. Nothing was changed.');
    expect(buttonIds(second)).toEqual([buttonId({ action: 'changes', task: now().id, after: 1 })]);
    expect(now().review).toHaveLength(1);
    const reopened = await request(ada(), { note: 'too dark' }, 1);
    expect(replyText(reopened)).toContain('Requested changes to v1.');
    expect(replyText(await signOff(bob({ user: CLEO })))).toContain('Ada requested changes.');
    expect(isSignedOff(now())).toBe(false);
  });

  it('of one’s own clip is for somebody else, where the team says so', async () => {
    const { signOff, request, now } = await reviewed({ signOffOwn: false });
    expect(replyText(await signOff(ada()))).toContain('someone else signs it off');
    expect(now().review).toBeUndefined();
    expect(replyText(await request(ada(), { note: 'I see it myself' }))).toContain('Requested changes');
    expect(replyText(await signOff(bob(), 1))).toBe('Signed off v1.');
    const free = await reviewed();
    expect(replyText(await free.signOff(ada()))).toBe('Signed off v1.');
  });

  it('of an earlier version asks once more, naming the newest one', async () => {
    const { house, task, signOff, now } = await reviewed();
    const versionOf = (number: number) => ({ version: { root: task.id, number } });
    const retry = async (number: number, ...events: Parameters<BotHouse['seed']>[2][]): Promise<Task> => {
      const made = await house.seed(bob({ interaction: `v${number}` }), 'a red fox', ...events);
      house.records.set(made.id, { ...made, retryOf: task.id, ...versionOf(number) });
      return made;
    };
    const newest = await retry(2, ...DONE);
    const forPoster = ({ id }: Pick<Task, 'id'>, isStrip = false) => ({
      id: `${id}${isStrip ? '.strip' : ''}`,
      url: null,
    });
    house.pictures = { ...house.pictures, forPoster };
    const asked = await signOff(bob());
    const frames = { id: `${newest.id}.strip`, url: null, alt: 'Frames of v2' };
    expect(asked).toMatchObject({ card: { blocks: [{}, { kind: 'picture', picture: frames }] } });
    expect(replyText(asked)).toContain('*Sign off v1?* There is a newer version, v2.');
    expect(buttonIds(asked)).toEqual([buttonId({ action: 'sign_off', task: task.id, after: 0, newest: 2 })]);
    expect(now().review).toBeUndefined();
    // A third version appears while the question is open.
    await retry(3, EVENTS.send, EVENTS.accepted);
    expect(replyText(await signOff(bob(), 0, 2))).toContain('v3, which is still being made');
    expect(replyText(await signOff(bob(), 0, 3))).toBe('Signed off v1.');
  });

  it('asks about no newer version that the reviewer may not see', async () => {
    const { house, task, signOff } = await reviewed();
    const made = await house.seed(ada({ interaction: 'v2', channel: 'secret' }), 'a red fox', ...DONE);
    house.audiences.set('secret', 'channel');
    const origin = { ...made.origin, audience: 'channel' } as const;
    house.records.set(made.id, { ...made, origin, retryOf: task.id, version: { root: task.id, number: 2 } });
    expect(replyText(await signOff(ada()))).toContain('v2');
    expect(replyText(await signOff(bob()))).toBe('Signed off v1.');
  });

  it('says where the clip goes, and that a private one stays', async () => {
    const { house, signOff } = await reviewed({ signedOffChannel: 'final', reviewIn: ['clips', 'secret'] });
    expect(replyText(await signOff(bob()))).toContain('Signed off v1. It’s posted in');
    house.audiences.set('secret', 'channel');
    const secret = await house.seed(ada({ interaction: 'p', channel: 'secret' }), 'a teaser', ...DONE);
    expect(replyText(await signOff(bob({ channel: 'secret' }), 0, null, secret.id))).toContain('It stays here');
  });
});

describe('Request changes', () => {
  it('opens a form with a note and an optional time', async () => {
    const { house, task } = await reviewed();
    const reply = await house.bot.press(bob(), buttonId({ action: 'changes', task: task.id, after: 0 }));
    expect(reply).toMatchObject({
      kind: 'form',
      form: {
        id: buttonId({ action: 'changes', task: task.id, after: 0 }),
        fields: [
          { name: 'at', required: false },
          { name: 'note', required: true, long: true },
        ],
      },
    });
  });

  it.each([
    [
      { at: '0:03', note: 'too dark' },
      { text: 'too dark', atSeconds: 3 },
    ],
    [
      { at: '', note: '0:03 too dark' },
      { text: 'too dark', atSeconds: 3 },
    ],
    [{ note: '0:03 too dark' }, { text: 'too dark', atSeconds: 3 }],
    [
      { at: '0:02', note: '0:03 too dark' },
      { text: '0:03 too dark', atSeconds: 2 },
    ],
    [
      { at: '0:03', note: '0:03 too dark' },
      { text: 'too dark', atSeconds: 3 },
    ],
    [{ at: '', note: ' too\r\ndark ' }, { text: 'too\ndark' }],
    [
      { at: '3', note: '3 foxes' },
      { text: '3 foxes', atSeconds: 3 },
    ],
    [{ at: '', note: '3 foxes' }, { text: '3 foxes' }],
    [
      { at: '0:04', note: 'the end' },
      { text: 'the end', atSeconds: 4 },
    ],
  ])('%j is stored as %j', async (values, note) => {
    const { request, now } = await reviewed();
    expect(replyText(await request(bob(), values))).toContain('Requested changes to v1.');
    expect(now().review).toEqual([{ kind: 'changes_requested', by: bob().user, atMs: expect.any(Number), note }]);
  });

  it.each([
    [{ at: '0:09', note: 'too dark' }, 'at', '0:09 is after the end of this clip. It was ordered with 4 s'],
    [{ at: '', note: '0:09 too dark' }, 'note', '0:09 is after the end of this clip.'],
    [{ at: 'soon', note: 'too dark' }, 'at', '“soon” isn’t a time in the clip.'],
    [{ at: '', note: ' ' }, 'note', 'Write what should change.'],
    [{ at: '', note: 'x'.repeat(1001) }, 'note', 'The note has 1,001 characters.'],
  ])('%j is refused at its field, and the note is given back', async (values, field, sentence) => {
    const { house, request, now } = await reviewed();
    const reply = await request(bob(), values);
    expect(reply).toMatchObject({ kind: 'refused', problems: [{ field }], buttons: [{ label: 'Edit again' }] });
    const [again] = (reply.kind === 'refused' ? reply.buttons : undefined) ?? [];
    expect((await house.bot.press(bob(), again?.id ?? '')).kind).toBe('form');
    expect(replyText(reply)).toContain(sentence);
    if (values.note.trim() !== '') expect(replyText(reply)).toContain(`Your note: ${values.note.trim().slice(0, 20)}`);
    expect(now().review).toBeUndefined();
  });

  it('is beside the prompt of Edit & retry, the newest one first', async () => {
    const { house, task, request } = await reviewed();
    const prompt = async () => {
      const reply = await house.bot.press(ada(), `edit:${task.id}`);
      return reply.kind === 'form' ? reply.form.fields.find(({ name }) => name === 'prompt')?.note : reply.kind;
    };
    expect(await prompt()).toBeUndefined();
    await request(bob(), { note: '0:03 too\ndark' });
    await request(bob(), { note: 'more fog '.repeat(20) }, 1);
    expect(await prompt()).toMatch(/^Requested: more fog more fog .{60,100}…$/u);
    await request(bob(), { at: '0:01', note: 'less fog' }, 2);
    expect(await prompt()).toContain('Requested: 0:01 less fog · more fog');
  });

  it('is listed with every decision under Details', async () => {
    const { house, task, request } = await reviewed();
    await request(bob(), { note: '0:03 too *dark*' });
    expect(replyText(await house.bot.press(ada(), `details:${task.id}`))).toContain(
      'Bob requested changes: *0:03* ‹too *dark*›',
    );
  });
});
