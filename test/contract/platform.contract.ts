import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import type { CardSelect } from '#commands/ui/card.ts';
import { cardRecords } from '#src/chat/cards.ts';
import type { MessageRef, Notice, Platform, Upload } from '#src/chat/platform.ts';
import type { CardView, SetView, TaskView, View } from '#src/chat/view.ts';
import type { Declined } from '#src/tasks/approval.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { fakeClip } from '#test/fakes/clip.ts';
import {
  approvalNotice,
  cutView,
  doneView,
  endNotice,
  reviewNotice,
  setView,
  signedOffNotice,
  spendReport,
  type TaskViewChanges,
  taskView,
} from '#test/fakes/views.ts';

/** Message as users of the platform see it, read without going through the adapter. */
export interface SeenMessage {
  readonly id: string;
  /** Visible text, without markup. */
  readonly text: string;
  readonly replyTo: string | null;
  /** Ids of the users that it pings. */
  readonly pings: readonly string[];
  readonly attachments: readonly { readonly name: string; readonly description: string; readonly bytes: number }[];
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
  readonly selects: readonly CardSelect[];
}

/** Platform under test: the adapter, and access to what users see. */
export interface PlatformHarness {
  /** Started adapter; the new one after {@link restart}. */
  readonly platform: Platform;
  /** Returns the origin of a new interaction, always of the same user. */
  newOrigin(): Promise<Origin>;
  /** Returns the caller of a command, as the bot receives it from an administrator of the team or from another member. */
  callerOf(who: 'administrator' | 'member'): Promise<Caller>;
  /** Has a member leave the team. @returns the user's id; `null` where users enter any name. */
  memberWhoLeft(): string | null;
  /** Creates a role or user group. @returns its id; `null` where there is neither. */
  newGroup(users: readonly string[]): string | null;
  /** Another channel of the same team. */
  readonly otherChannel: string;
  /** Returns all public messages of a channel, oldest first. */
  read(channel: string): Promise<readonly SeenMessage[]>;
  /** Returns all that users see in the channels of the team and in direct messages of the bot, as JSON: texts, files. */
  everything(): Promise<string>;
  /** Returns what the adapter has stored, as JSON. */
  stored(): Promise<string>;
  /** Downloads an attachment as a user would. */
  download(message: MessageRef, name: string): Promise<Buffer>;
  /** Deletes a message as a user with the permission. */
  deleteMessage(message: MessageRef): Promise<void>;
  /** Kills the process and starts it again on the same store. */
  restart(): Promise<void>;
  /** Stops everything and removes all files. */
  remove(): Promise<void>;
}

/** Prompt with all the markup that platforms interpret. */
const MISCHIEF =
  '@everyone <!channel> <@U1> <@&5> <#C1> **bold** `code` <script>alert(1)</script> https://evil.example';

/** Request of a shot that starts with the last frame of the one before. */
const CHAINED = { chain: {} } as const;

/** Contract of every platform. */
export function describePlatform(name: string, start: () => Promise<PlatformHarness>): void {
  describe(name, () => {
    let harness: PlatformHarness;
    let directory: string;
    let origin: Origin;
    let task: TaskId;
    const seen = (channel = origin.channel): Promise<readonly SeenMessage[]> => harness.read(channel);
    const running = (changes: TaskViewChanges = {}): TaskView => taskView({ task, by: origin.user, ...changes });
    const done = (changes: TaskViewChanges = {}): TaskView => doneView({ task, by: origin.user, ...changes });
    const open = (): Promise<MessageRef> => harness.platform.open(task, origin, running());

    const upload = async (bytes = 5000, fileName = 'red-fox-7f3a.mp4'): Promise<Upload> => {
      const path = join(directory, `${randomUUID()}.mp4`);
      await writeFile(path, fakeClip(bytes));
      return { path, bytes, contentType: 'video/mp4', name: fileName, description: 'a red fox' };
    };

    beforeEach(async () => {
      harness = await start();
      directory = await mkdtemp(join(tmpdir(), 'dailies-platform-'));
      origin = await harness.newOrigin();
      task = `task-${randomUUID()}` as TaskId;
    });

    afterEach(async () => {
      await harness.remove();
      await rm(directory, { recursive: true });
    });

    describe('opening a task message', () => {
      it('shows the text and buttons of the view', async () => {
        const message = await open();
        const [shown] = await seen();
        expect(shown).toMatchObject({ id: message.message, attachments: [], pings: [] });
        expect(shown?.text).toContain('a red fox running through snow, cinematic');
        expect(shown?.text).toContain('Swift 1 · 6 s · 16:9 · 720p · $0.30');
        expect(shown?.buttons.map(({ label }) => label)).toEqual(['Cancel', 'Details']);
        expect(shown?.buttons[0]?.id).toBe(`cancel:${task}`);
      });

      it('returns the same message on a repeated call, even concurrently and after a restart', async () => {
        const all = await Promise.all([open(), open(), open()]);
        await harness.restart();
        all.push(await open());
        expect(new Set(all.map(({ message }) => message)).size).toBe(1);
        expect(await seen()).toHaveLength(1);
      });

      it('commits what it is given with its own record of a new message, and says so', async () => {
        const also = (message: MessageRef) => [
          cardRecords.overwriting(`card-of-${task}` as TaskId, {
            revision: 1,
            message,
            progress: null,
            shown: 'first',
          }),
        ];
        const openAlso = () => harness.platform.open(task, origin, running(), also);
        expect(await openAlso()).toMatchObject({ isRecorded: true });
        expect(await harness.stored()).toContain(`card-of-${task}`);
        await harness.restart();
        expect(await openAlso()).not.toHaveProperty('isRecorded');
      });

      it('posts one message per task, in the order of the calls', async () => {
        const first = await open();
        const second = await harness.platform.open('task-other' as TaskId, await harness.newOrigin(), running());
        expect((await seen()).map(({ id }) => id)).toEqual([first.message, second.message]);
      });

      it('posts an order from elsewhere as a message of its own, not in place of the one before', async () => {
        const first = await open();
        const address = harness.platform.channels.lastingAddress(origin.address);
        const other = { ...origin, address, interaction: 'gallery:1' };
        const second = `task-${randomUUID()}` as TaskId;
        const message = await harness.platform.open(second, other, taskView({ task: second, by: origin.user }));
        expect(message.message).not.toBe(first.message);
        expect(await seen()).toHaveLength(2);
      });

      it('replies to the message that it repeats', async () => {
        const original = await open();
        const retry = { ...(await harness.newOrigin()), replyTo: original.message };
        await harness.platform.open('task-retry' as TaskId, retry, running());
        expect((await seen()).at(-1)?.replyTo).toBe(original.message);
      });
    });

    describe('opening the card of a set', () => {
      it('lists its tasks, and a task of it has a message of its own below', async () => {
        const set = { id: task, kind: 'takes', of: 2 } as const;
        const members = [1, 2].map((at) => ({ view: running({ set: { ...set, at } }), message: null }));
        const view = setView(set, members);
        const card = await harness.platform.open(view.id, origin, view);
        expect(await harness.platform.open(view.id, origin, view)).toEqual(card);
        const textOf = async (message: MessageRef): Promise<string> =>
          (await seen(message.channel)).find(({ id }) => id === message.message)?.text ?? '';
        expect(await textOf(card)).toMatch(/Take 1.*Running[\s\S]*Take 2.*Running/);
        const address = { ...harness.platform.channels.lastingAddress(origin.address), below: card.message };
        const below = { ...origin, address, replyTo: card.message };
        const own = await harness.platform.open(task, below, running());
        expect(own).not.toEqual(card);
        expect(await harness.platform.open(task, below, running())).toEqual(own);
        expect(await textOf(own)).toContain('Running');
        await harness.platform.edit(card, origin, { ...view, phase: 'done', members: [] }, 'final');
        expect(await textOf(card)).not.toContain('Take 1');
      });
    });

    describe('the clips of a set', () => {
      const nameOf = (at: number): string => `red-fox-7f3a-${at}.mp4`;
      const set = { id: task, kind: 'takes', of: 2 } as const;
      const ownOf = (at: number) => ({ task: `${task}${at}` as TaskId, set: { ...set, at } });
      const fileOf = (at: number) => ({ file: { name: nameOf(at), description: 'a red fox' } });
      /** Returns the card of two takes. @param there numbers of those whose clips it has */
      const cardWith = (...there: readonly number[]): SetView => {
        const members = [1, 2].map((at) =>
          there.includes(at)
            ? { view: done(ownOf(at)), message: null, ...fileOf(at) }
            : { view: running(ownOf(at)), message: null },
        );
        return setView(set, members);
      };
      /** Returns the card of two takes after the first one was removed. */
      const cardAfter = (reason: 'deleted' | 'expired'): SetView => {
        const first = { view: done({ ...ownOf(1), removal: { reason, atMs: 0, hasContent: false } }), message: null };
        return setView(set, [first, { view: done(ownOf(2)), message: null, ...fileOf(2) }]);
      };
      const openCard = (copy = ''): Promise<MessageRef> =>
        harness.platform.open(`${cardWith().id}${copy}` as TaskId, origin, cardWith());
      const attach = async (card: MessageRef, at: number, ...there: readonly number[]) =>
        harness.platform.attach(card, origin, cardWith(...there), await upload(5_000 + at, nameOf(at)));
      const edit = (card: MessageRef, ...there: readonly number[]): Promise<void> =>
        harness.platform.edit(card, origin, cardWith(...there), 'final');
      const filesOn = async ({ channel, message }: MessageRef) => {
        const { attachments = [] } = (await seen(channel)).find(({ id }) => id === message) ?? {};
        return attachments.toSorted((one, other) => one.name.localeCompare(other.name));
      };
      const bothOnCard = async (): Promise<MessageRef> => {
        const card = await openCard();
        await attach(card, 2, 2);
        await attach(card, 1, 1, 2);
        return card;
      };

      it('are on its card, each once, also after a restart', async () => {
        const card = await bothOnCard();
        await harness.restart();
        await attach(card, 2, 1, 2);
        await edit(card, 1, 2);
        const description = expect.stringContaining('a red fox');
        expect(await filesOn(card)).toMatchObject(
          [1, 2].map((at) => ({ name: nameOf(at), bytes: 5_000 + at, description })),
        );
        expect(await seen(card.channel)).toHaveLength(1);
        expect(await harness.download(card, nameOf(2))).toEqual(fakeClip(5_002));
      });

      it('stay as long as its view names them, and leave nothing', async () => {
        const card = await bothOnCard();
        await harness.restart();
        for (let time = 0; time < 2; time += 1)
          await harness.platform.edit(card, origin, cardAfter('deleted'), 'final');
        expect(await filesOn(card)).toMatchObject([{ name: nameOf(2) }]);
        for (const all of [await harness.everything(), await harness.stored()]) expect(all).not.toMatch(/7f3a-1/u);
        expect(await harness.download(card, nameOf(2))).toEqual(fakeClip(5_002));
      });

      it('leave nothing once the card is retracted', async () => {
        const card = await bothOnCard();
        await harness.platform.retract(card, origin, { kind: 'removed', reason: 'deleted' });
        expect(await filesOn(card)).toEqual([]);
        for (const all of [await harness.everything(), await harness.stored()]) expect(all).not.toMatch(/7f3a/u);
      });

      it('are not stored any more once they have expired, and the others stay', async () => {
        const card = await bothOnCard();
        for (let time = 0; time < 2; time += 1) await harness.platform.expire(card, cardAfter('expired'));
        expect(await harness.stored()).not.toMatch(/7f3a-1/u);
        expect(await harness.download(card, nameOf(2))).toEqual(fakeClip(5_002));
      });

      it('are attached again to the card that replaces a deleted one', async () => {
        const first = await bothOnCard();
        await harness.deleteMessage(first);
        await expect(attach(first, 2, 1, 2)).rejects.toMatchObject({ code: 'message_gone' });
        const second = await openCard('~2');
        await attach(second, 1, 1);
        await attach(second, 2, 1, 2);
        expect(await filesOn(second)).toMatchObject([{ name: nameOf(1) }, { name: nameOf(2) }]);
      });
    });

    describe('the board of a storyboard', () => {
      it('has a line for each of 12 shots, a button for each that failed, and follows its order', async () => {
        const set = { id: task, kind: 'storyboard', of: 12 } as const;
        const price = { amount: '0.30', currency: 'USD' } as const;
        const failed = { phase: 'failed', state: 'failed', buttons: ['retry', 'edit', 'details'] } as const;
        const members = Array.from({ length: 12 }, (_, index) => {
          const at = index + 1;
          const prompt = `scene ${at} ${'of a long night '.repeat(100)}`;
          const original = { task: `${task}${at}` as TaskId, retryPrice: price };
          return {
            view: running({ ...failed, prompt, task: original.task, set: { ...set, at } }),
            message: null,
            shot: { at, isSkipped: at === 12, isReady: at < 3, isOutdated: false, isRetrying: false, original },
          };
        });
        const view = setView(set, members, { buttons: ['join', 'details'] });
        const card = await harness.platform.open(view.id, origin, view);
        const shown = async () => (await seen(card.channel)).find(({ id }) => id === card.message);
        expect((await shown())?.text).toMatch(/12 shots · 72 s[\s\S]*Shot 1.*scene 1[\s\S]*Shot 12.*skipped/u);
        const labels = (await shown())?.buttons.map(({ label }) => label) ?? [];
        expect(labels).toContain('Retry shot 11 · $0.30');
        expect(labels).not.toContain('Retry shot 12 · $0.30');
        expect(labels).toContain('Join 2 shots without shots 3, 4, 5, 6, 7, 8, 9, 10 and 11');
        expect(labels.slice(-1)).toEqual(['Details']);
        const [select, ...others] = (await shown())?.selects ?? [];
        expect(others).toEqual([]);
        expect(select?.options.map(({ id }) => id)).toEqual(
          Array.from({ length: 12 }, (_, index) => `shot:${task}:${index + 1}`),
        );
        expect(select?.options.map(({ label }) => label)).toContainEqual(
          expect.stringMatching(/^11 · scene 11 .*… · failed$/u),
        );
        expect(select?.options.at(-1)?.label).toMatch(/^12 · scene 12 .*… · skipped$/u);
        await harness.platform.edit(card, origin, { ...view, members: members.toReversed() }, 'final');
        expect((await shown())?.text).toMatch(/Shot 12\b[\s\S]*Shot 1\b/u);
      });

      it('says of each chained shot what it waits for, or why it was not ordered', async () => {
        const set = { id: task, kind: 'storyboard', of: 3 } as const;
        const price = { amount: '0.30', currency: 'USD' } as const;
        const parts = [
          { phase: 'failed', state: 'failed', buttons: ['retry', 'edit', 'details'] },
          { phase: 'cancelled', state: 'cancelled', sends: 0, request: CHAINED, dropped: { shot: 1, end: 'failed' } },
          { phase: 'queued', state: 'waiting', request: CHAINED, buttons: ['cancel', 'details'] },
        ] as const;
        const members = parts.map((part, index) => {
          const at = index + 1;
          const original = { task: `${task}${at}` as TaskId, retryPrice: price };
          return {
            view: running({ progress: null, ...part, task: original.task, set: { ...set, at } }),
            message: null,
            shot: { at, isSkipped: false, isReady: false, isOutdated: false, isRetrying: false, original },
          };
        });
        const view = setView(set, members, { buttons: [] });
        const card = await harness.platform.open(view.id, origin, view);
        const shown = async () => (await seen(card.channel)).find(({ id }) => id === card.message);
        const text = (await shown())?.text ?? '';
        expect(text).toContain('Shot 1 failed, so shot 2 was not ordered. Not charged.');
        expect(text).toContain('Waits for shot 2');
        expect(text).toContain('A shot that starts with the last frame of another waits for its clip.');
        // A retry of the second shot would have nothing to start with.
        expect((await shown())?.buttons.map(({ label }) => label).filter((label) => label.startsWith('Retry'))).toEqual(
          ['Retry shot 1 · $0.30'],
        );
      });
    });

    describe('a comparison', () => {
      it('has its clips under labels with a vote each, and nothing of a model until the reveal', async () => {
        const set = { id: task, kind: 'comparison', of: 2 } as const;
        const own = (at: number, changes: TaskViewChanges = {}): TaskView =>
          done({ task: `${task}${at}` as TaskId, set: { ...set, at }, buttons: [], ...changes });
        const usd = (amount: string) => ({ amount, currency: 'USD' });
        const hidden = { modelTitle: '', price: usd('0.77'), retryPrice: null, progress: null, endedAtMs: null };
        const blindly = (at: number): TaskView => own(at, { ...hidden, blind: { set: set.id, at } });
        const facts = { ended: 2, voters: 0, revealsAtMs: null, tally: [], clips: [1, 2], settings: { seconds: 6 } };
        const cardView = (stage: 'voting' | 'revealed', views: readonly TaskView[], tally: readonly number[] = []) =>
          setView(
            set,
            views.map((view) => ({ view, message: null })),
            {
              retryPrice: null,
              price: usd('1.07'),
              buttons: ['details'],
              comparison: { ...facts, stage, tally },
            },
          );
        const voting = cardView('voting', [1, 2].map(blindly));
        const card = await harness.platform.open(voting.id, origin, voting);
        const address = { ...harness.platform.channels.lastingAddress(origin.address), below: card.message };
        const below = { ...origin, address, replyTo: card.message };
        const clip = await harness.platform.open(`${task}2` as TaskId, below, blindly(2));
        await harness.platform.attach(clip, below, blindly(2), await upload());
        const shown = async ({ channel, message }: MessageRef) =>
          (await seen(channel)).find(({ id }) => id === message) ?? { text: '', buttons: [] };
        const labels = async (message: MessageRef) => (await shown(message)).buttons.map(({ label }) => label);
        expect(await labels(card)).toEqual(['Vote for A', 'Vote for B', 'Reveal the models', 'Details']);
        expect(await labels(clip)).toEqual(['Vote for B']);
        expect(await harness.everything()).not.toMatch(/Swift|0\.30|2:14/u);
        const revealed = cardView('revealed', [own(1), own(2, { modelTitle: 'Reel 2' })], [0, 1]);
        await harness.platform.edit(card, origin, revealed, 'final');
        expect((await shown(card)).text).toMatch(
          /Clip A\W+Swift 1 · \$0\.30 · made in 2:14[\s\S]*won with 1 of 1 vote/u,
        );
        expect(await labels(card)).toEqual(['Make Reel 2 the default here', 'Details']);
      });
    });

    describe('the message of a cut', () => {
      it('lists its shots, then has the file, or says why there is none', async () => {
        const cut = `cut-${randomUUID().replaceAll('-', '')}` as TaskId;
        const facts = { shots: [1, 2].map((at) => ({ prompt: `part ${at}`, seconds: 6 })), file: null, failure: null };
        const joining = cutView({ id: cut, by: origin.user, ...facts });
        const message = await harness.platform.open(cut, origin, joining);
        expect(await harness.platform.open(cut, origin, joining)).toEqual(message);
        const shown = async () => (await seen(message.channel)).find(({ id }) => id === message.message);
        expect((await shown())?.text).toMatch(/Joining 2 shots…[\s\S]*1\. part 1 · 6 s[\s\S]*2\. part 2 · 6 s/u);
        const view = { ...joining, phase: 'failed', failure: { code: 'clip_missing', shots: [2] } } as const;
        await harness.platform.edit(message, origin, view, 'final');
        expect(await shown()).toMatchObject({
          text: expect.stringContaining('Shot 2 has no clip.'),
          buttons: [{ id: `join:${cut}`, label: 'Join again' }],
        });
        const file = { bytes: 5_000, seconds: 12 };
        const made = { ...joining, phase: 'done', handover: { kind: 'attached' }, file } as const;
        const given = await upload(5_000, 'cut-part-1-7f3a.mp4');
        await harness.platform.attach(message, origin, made, given);
        expect(await shown()).toMatchObject({
          text: expect.stringContaining('Cut of 2 shots'),
          attachments: [{ name: 'cut-part-1-7f3a.mp4', bytes: 5_000 }],
          buttons: [],
        });
        expect(await harness.download(message, given.name)).toHaveLength(5_000);
        await harness.platform.retract(message, origin, { kind: 'removed', reason: 'deleted' });
        expect(await harness.everything()).not.toMatch(/part 1|cut-part/u);
      });
    });

    describe('editing', () => {
      it('replaces the content of the message', async () => {
        const message = await open();
        await harness.platform.edit(message, origin, running({ progress: 80 }), 'progress');
        await harness.platform.edit(message, origin, done(), 'final');
        const all = await seen();
        expect(all).toHaveLength(1);
        expect(all[0]?.text).toContain('Done in 2:14');
        expect(all[0]?.buttons.map(({ label }) => label)).toEqual(['Retry · $0.30', 'Edit & retry', 'Details']);
      });

      it('is not delayed by progress edits: the final content remains', async () => {
        const message = await open();
        const edits = Array.from({ length: 20 }, (_, at) =>
          harness.platform.edit(message, origin, running({ progress: at }), 'progress').catch(onlyRateLimited),
        );
        await harness.platform.edit(message, origin, done(), 'final');
        await Promise.all(edits);
        await harness.platform.edit(message, origin, done(), 'final');
        expect((await seen())[0]?.text).toContain('Done in 2:14');
      });

      it('keeps the attachments', async () => {
        const message = await open();
        await harness.platform.attach(message, origin, done(), await upload());
        await harness.platform.edit(message, origin, done({ buttons: ['details'] }), 'final');
        const [shown] = await seen();
        expect(shown?.attachments).toHaveLength(1);
        expect(shown?.buttons).toHaveLength(1);
      });

      it('works after a restart', async () => {
        const message = await open();
        await harness.restart();
        await harness.platform.edit(message, origin, done(), 'final');
        expect((await seen())[0]?.text).toContain('Done in 2:14');
      });

      it('throws message_gone if the message was deleted', async () => {
        const message = await open();
        await harness.deleteMessage(message);
        const gone = { code: 'message_gone', retryable: false };
        await expect(harness.platform.edit(message, origin, done(), 'final')).rejects.toMatchObject(gone);
        await expect(harness.platform.attach(message, origin, done(), await upload())).rejects.toMatchObject(gone);
        expect(await seen()).toEqual([]);
      });
    });

    describe('attaching', () => {
      it('attaches the file with its name and description, and replaces the text', async () => {
        const message = await open();
        const file = await upload(70_000);
        await harness.platform.attach(message, origin, done(), file);
        const [shown] = await seen();
        expect(shown?.attachments).toMatchObject([
          { name: 'red-fox-7f3a.mp4', description: 'a red fox', bytes: 70_000 },
        ]);
        expect(shown?.text).toContain('Done in 2:14');
        expect(await harness.download(message, file.name)).toEqual(fakeClip(70_000));
      });

      it('does not duplicate the file on a repeated call, even after a restart', async () => {
        const message = await open();
        const file = await upload();
        await harness.platform.attach(message, origin, done(), file);
        await harness.restart();
        await harness.platform.attach(message, origin, done(), file);
        const all = await seen();
        expect(all).toHaveLength(1);
        expect(all[0]?.attachments).toHaveLength(1);
        expect(await harness.download(message, file.name)).toEqual(fakeClip(5000));
      });

      it('does not need the file afterwards', async () => {
        const message = await open();
        const file = await upload();
        await harness.platform.attach(message, origin, done(), file);
        await rm(file.path);
        expect(await harness.download(message, file.name)).toEqual(fakeClip(5000));
      });

      it('throws too_large for a file over the upload limit, and leaves the message unchanged', async () => {
        const small = { ...origin, uploadLimitBytes: 4999 };
        const message = await harness.platform.open(task, small, running());
        const attached = harness.platform.attach(message, small, done(), await upload(5000));
        await expect(attached).rejects.toMatchObject({ code: 'too_large', retryable: false });
        const [shown] = await seen();
        expect(shown?.attachments).toEqual([]);
        expect(shown?.text).toContain('Running');
      });
    });

    describe('notifying', () => {
      const notice = (key: string, channel = origin.channel, replyTo: MessageRef | null = null) => ({
        key,
        replyTo,
        mention: origin.user,
        view: endNotice(origin),
        place: { team: origin.team, channel, address: channel === origin.channel ? origin.address : {} },
      });

      it('posts a separate message that pings only the requester', async () => {
        const message = await open();
        await harness.platform.notify(notice('end:1', origin.channel, message));
        const [, notification] = await seen();
        expect(notification).toMatchObject({ replyTo: message.message, pings: [origin.user.id] });
        expect(notification?.text).toContain('is ready.');
      });

      it('posts one message per key, even after a restart', async () => {
        const first = await harness.platform.notify(notice('end:1'));
        const again = await harness.platform.notify(notice('end:1'));
        await harness.restart();
        const later = await harness.platform.notify(notice('end:1'));
        const other = await harness.platform.notify(notice('end:2'));
        expect([again, later]).toEqual([first, first]);
        expect(other.message).not.toBe(first.message);
        expect(await seen()).toHaveLength(2);
      });

      it('pings no user without a mention', async () => {
        const view = endNotice(origin, { subscribed: true });
        await harness.platform.notify({ ...notice('end:1', harness.otherChannel), mention: null, view });
        const [notification] = await seen(harness.otherChannel);
        expect(notification?.pings).toEqual([]);
        expect(await seen()).toEqual([]);
      });

      it('edits every kind of notice, also after a restart', async () => {
        const message = await open();
        const by = { id: 'forgotten-1', name: 'Removed person' };
        const declined = { how: 'denied', by, atMs: 1 } as const;
        const denied = { ...declined, by: { id: 'U9', name: 'Ben' }, reason: 'too dark' };
        const views: Readonly<Record<Exclude<View, CardView>['kind'], (is: Declined) => Exclude<View, CardView>>> = {
          end: (is) => endNotice(origin, { phase: 'declined', handover: null, declined: is }),
          approval: (is) => approvalNotice({ task, message, decided: { approval: null, declined: is } }),
          review: ({ reason, ...is }) =>
            reviewNotice({ task, requester: origin.user, by: is.by ?? by, note: reason ? { text: reason } : null }),
        };
        const posted = await Promise.all(
          Object.entries(views).map(async ([kind, viewOf]) => {
            const ref = await harness.platform.notify({
              ...notice(`${kind}:1`),
              replyTo: message,
              view: viewOf(denied),
            });
            return { ref, view: viewOf(declined) };
          }),
        );
        for (const { text } of (await seen()).slice(1)) expect(text).toContain('too dark');
        await harness.restart();
        for (const { ref, view } of posted) await harness.platform.edit(ref, origin, view, 'final');
        const [, ...shown] = await seen();
        expect(shown.map(({ id }) => id).toSorted()).toEqual(posted.map(({ ref }) => ref.message).toSorted());
        for (const { text } of shown) expect(text).toContain('Removed person');
        expect(await harness.everything()).not.toMatch(/too dark|Ben/u);
      });
    });

    describe('asking approvers', () => {
      it('pings them with the buttons of the decision, once, even after a restart', async () => {
        const message = await open();
        const place = { team: origin.team, channel: origin.channel, address: origin.address };
        const view = approvalNotice({ task, message, pings: [{ kind: 'person', ...origin.user }] });
        const notice = { key: 'ask:1', place, replyTo: message, mention: null, view };
        const first = await harness.platform.notify(notice);
        await harness.restart();
        expect(await harness.platform.notify(notice)).toEqual(first);
        const [, posted, ...more] = await seen();
        expect(more).toEqual([]);
        expect(posted).toMatchObject({ replyTo: message.message, pings: [origin.user.id] });
        expect(posted?.text).toContain('Cleo requests a clip for $4.00. The team has $36.20 left.');
        expect(posted?.buttons).toMatchObject([
          { id: `approve:${task}:4.00USD`, label: 'Approve · $4.00' },
          { id: `deny:${task}`, label: 'Deny' },
        ]);
      });

      it('shows the decision in place of the buttons', async () => {
        const message = await open();
        const place = { team: origin.team, channel: origin.channel, address: origin.address };
        const view = approvalNotice({ task, message });
        const posted = await harness.platform.notify({ key: 'ask:1', place, replyTo: message, mention: null, view });
        const declined = { how: 'denied', by: { id: 'U9', name: 'Ben' }, reason: 'too *long*', atMs: 1 } as const;
        const decided = { ...view, decided: { approval: null, declined } };
        await harness.platform.edit(posted, origin, decided, 'final');
        const [, shown] = await seen();
        expect(shown?.text).toContain('Denied by Ben: too *long*.');
        expect(shown?.buttons).toEqual([]);
        expect(shown?.pings).toEqual([]);
      });
    });

    describe('reviewing', () => {
      const note = (changes: Partial<Notice> = {}): Notice => ({
        key: `review:${task}:1`,
        place: { team: origin.team, channel: origin.channel, address: origin.address },
        replyTo: null,
        mention: origin.user,
        view: reviewNotice({ task, requester: origin.user }),
        ...changes,
      });

      it('offers the decisions under a finished clip, in one row with its other buttons', async () => {
        const message = await open();
        const buttons = ['sign_off', 'changes', 'retry', 'edit', 'details'] as const;
        await harness.platform.attach(
          message,
          origin,
          done({ buttons, version: { number: 2, root: task } }),
          await upload(),
        );
        const [shown] = await seen();
        expect(shown?.text).toContain('· v2 ·');
        expect(shown?.buttons.slice(0, 2)).toMatchObject([
          { id: `signoff:${task}:0`, label: 'Sign off' },
          { id: `changes:${task}:0`, label: 'Request changes' },
        ]);
        expect(shown?.buttons).toHaveLength(5);
      });

      it('posts a note below the clip that pings its requester, once, even after a restart', async () => {
        const message = await open();
        const first = await harness.platform.notify(note({ replyTo: message }));
        await harness.restart();
        expect(await harness.platform.notify(note({ replyTo: message }))).toEqual(first);
        const [, posted, ...more] = await seen();
        expect(more).toEqual([]);
        expect(posted).toMatchObject({ replyTo: message.message, pings: [origin.user.id], buttons: [] });
        expect(posted?.text).toContain('Ben requested changes to v2 of “a red fox”: ');
        expect(posted?.text).toContain('too *dark* @everyone');
      });

      it('replaces a note whose author is forgotten', async () => {
        const message = await open();
        const posted = await harness.platform.notify(note({ replyTo: message }));
        const by = { id: 'forgotten-1', name: 'Removed person' };
        await harness.platform.edit(
          posted,
          origin,
          { ...reviewNotice({ task, requester: origin.user }), by, note: null },
          'final',
        );
        const all = await harness.everything();
        expect(all).toContain('Removed person requested changes');
        expect(all).not.toContain('dark');
      });

      it('posts a signed-off clip with its file in another channel, once, even after a restart', async () => {
        const message = await open();
        const view = signedOffNotice({ task, by: origin.user, message, channel: origin.channel });
        const place = { team: origin.team, channel: harness.otherChannel, address: {} };
        const files = [await upload()];
        const notice = note({ key: `signed-off:${task}`, place, mention: null, view, files });
        const first = await harness.platform.notify(notice);
        await harness.restart();
        expect(await harness.platform.notify(notice)).toEqual(first);
        const [shown, ...others] = await seen(harness.otherChannel);
        expect(others).toEqual([]);
        expect(shown).toMatchObject({
          pings: [],
          attachments: [{ name: 'red-fox-7f3a.mp4', description: 'a red fox' }],
        });
        expect(shown?.text).toContain('Signed off: v2 of “a red fox”');
      });
    });

    describe('notifying a team', () => {
      const report = (changes: Partial<Notice> = {}): Notice => ({
        key: 'report:2026-10',
        place: { team: origin.team, channel: harness.otherChannel, address: {} },
        replyTo: null,
        mention: null,
        view: spendReport(),
        ...changes,
      });
      const csv = async (): Promise<Upload> => {
        const path = join(directory, 'spend.csv');
        await writeFile(path, 'x_Task\r\n7f3a\r\n');
        return { path, bytes: 14, contentType: 'text/csv', name: 'spend-2026-10.csv', description: 'The rows' };
      };

      it('shows the sentence and the table, and pings no user', async () => {
        await harness.platform.notify(report());
        const [shown] = await seen(harness.otherChannel);
        expect(shown?.text).toContain('212.40 for 431 clips');
        expect(shown?.text).toMatch(/Ada · swift.{0,2}1 · 2 clips · \$0\.60/);
        expect(shown?.text).toContain('=HYPERLINK("https://evil.example")');
        expect(shown?.pings).toEqual([]);
      });

      it('attaches a file with its description, once, even after a restart', async () => {
        const files = [await csv()];
        const first = await harness.platform.notify(report({ files }));
        await harness.restart();
        expect(await harness.platform.notify(report({ files }))).toEqual(first);
        const [shown, ...others] = await seen(harness.otherChannel);
        expect(others).toEqual([]);
        expect(shown?.attachments).toMatchObject([{ name: 'spend-2026-10.csv', description: 'The rows', bytes: 14 }]);
        expect((await harness.download(first, 'spend-2026-10.csv')).toString()).toBe('x_Task\r\n7f3a\r\n');
      });

      it('reaches one person only', async () => {
        const { user } = origin;
        const place = { team: origin.team, address: {} };
        const channel = await harness.platform.channels.directChannel({ ...place, channel: origin.channel }, user.id);
        const files = [await csv()];
        await harness.platform.notify(report({ place: { ...place, channel }, onlyFor: user, files }));
        expect(await seen(harness.otherChannel)).toEqual([]);
      });
    });

    describe('retracting', () => {
      const removed = { kind: 'removed', reason: 'forgotten' } as const;
      const SENTENCE = 'Removed at the requester’s request.';
      /** The origin of a task after its address and interaction were removed. */
      const bare = (): Origin => ({ ...origin, interaction: '', address: {} });
      const retract = (message: MessageRef): Promise<void> => harness.platform.retract(message, bare(), removed);
      const place = () => ({ team: origin.team, channel: origin.channel, address: origin.address });
      const delivered = async (): Promise<MessageRef> => {
        const message = await open();
        const notice = { view: endNotice(origin), mention: origin.user };
        const file = await upload();
        const isOwnMessage = harness.platform.limits.mentionsWithFile;
        await harness.platform.attach(message, origin, done(), isOwnMessage ? { ...file, notice } : file);
        return message;
      };

      it('replaces text and buttons, and deletes the clip with its message', async () => {
        const message = await delivered();
        expect(await harness.everything()).toMatch(/red.fox/);
        await retract(message);
        const [shown, ...others] = await seen();
        expect(others).toEqual([]);
        expect(shown).toMatchObject({ id: message.message, attachments: [], buttons: [], pings: [] });
        expect(shown?.text.trim()).toBe(SENTENCE);
        expect(await harness.everything()).not.toMatch(/red.fox/);
      });

      it('replaces notices and requests for approval', async () => {
        const message = await open();
        const view = approvalNotice({ task, message });
        const about = { replyTo: message, place: place() };
        const posted = [
          await harness.platform.notify({ key: 'end:1', ...about, mention: origin.user, view: endNotice(origin) }),
          await harness.platform.notify({ key: 'ask:1', ...about, mention: null, view }),
        ];
        for (const one of [...posted, message]) await retract(one);
        const all = await seen();
        expect(all.map(({ text }) => text.trim())).toEqual([SENTENCE, SENTENCE, SENTENCE]);
        expect(all.flatMap(({ buttons }) => buttons)).toEqual([]);
        expect(await harness.everything()).not.toMatch(/red.fox/);
      });

      it('works after a restart, and when repeated', async () => {
        const message = await delivered();
        await harness.restart();
        await retract(message);
        const once = await seen();
        await retract(message);
        expect(await seen()).toEqual(once);
        expect(once[0]?.text.trim()).toBe(SENTENCE);
        expect(await harness.everything()).not.toMatch(/red.fox/);
      });

      it('finds what was posted under a key, also after a restart', async () => {
        expect(await harness.platform.find('task', task)).toBeUndefined();
        expect(await harness.platform.find('notice', 'end:1')).toBeUndefined();
        const message = await open();
        const view = endNotice(origin);
        const notice = { key: 'end:1', place: place(), replyTo: message, mention: null, view };
        const posted = await harness.platform.notify(notice);
        await harness.restart();
        expect(await harness.platform.find('task', task)).toEqual(message);
        expect(await harness.platform.find('notice', 'end:1')).toEqual(posted);
        expect(await seen()).toHaveLength(2);
      });

      it('leaves nothing of the clip in the store', async () => {
        const message = await delivered();
        await retract(message);
        expect(await harness.stored()).not.toMatch(/red.fox/);
      });

      it('leaves other messages as they are', async () => {
        const message = await delivered();
        await harness.platform.open('task-other' as TaskId, await harness.newOrigin(), running());
        await retract(message);
        expect((await seen()).at(-1)?.text).toContain('a red fox running through snow, cinematic');
      });

      it('counts a deleted message as retracted', async () => {
        const message = await delivered();
        await harness.deleteMessage(message);
        await retract(message);
        expect(await seen()).toEqual([]);
        expect(await harness.everything()).not.toMatch(/red.fox/);
      });
    });

    describe('forgetting', () => {
      it('leaves no id or name of a person in the store, and the messages about others', async () => {
        const [member, administrator] = [await harness.callerOf('member'), await harness.callerOf('administrator')];
        const place = { team: origin.team, channel: origin.channel, address: origin.address };
        for (const [at, { user }] of [member, administrator].entries()) {
          const view = approvalNotice({ task, pings: [{ kind: 'person', ...user }], by: user });
          await harness.platform.notify({ key: `ask:${at}`, place, replyTo: null, mention: null, view });
        }
        const { id, name } = member.user;
        const pseudonym = { id: 'forgotten-1', name: 'Removed person' };
        for (let time = 0; time < 2; time += 1) await harness.platform.forget(origin.team, member.user, pseudonym);
        expect(await harness.stored()).not.toMatch(new RegExp(`\\b(?:${id}|${name})\\b`));
        expect(await harness.everything()).toContain(administrator.user.name);
      });
    });

    describe('retention', () => {
      it('shows when the bot will delete its copy of a clip, and once it has', async () => {
        const message = await open();
        await harness.platform.attach(message, origin, done({ keptUntilMs: Date.UTC(2031, 4, 6, 12) }), await upload());
        expect(await harness.everything()).toContain('My copy of this clip will be deleted');
        const removal = { reason: 'expired', atMs: Date.UTC(2031, 4, 6, 13), hasContent: true } as const;
        await harness.platform.expire(message, done({ removal }));
        await harness.platform.edit(message, origin, done({ removal }), 'final');
        expect(await harness.everything()).toContain('This clip expired');
      });

      it('stores nothing of an expired prompt, and still retracts its message', async () => {
        const message = await open();
        await harness.platform.attach(message, origin, done(), await upload());
        expect(await harness.stored()).toMatch(/red.fox/);
        await harness.platform.expire(message, { kind: 'removed', reason: 'expired' });
        expect(await harness.stored()).not.toMatch(/red.fox/);
        const bare = { ...origin, interaction: '', address: {} };
        await harness.platform.retract(message, bare, { kind: 'removed', reason: 'forgotten' });
        expect(await harness.everything()).not.toMatch(/red.fox/);
      });

      it('changes nothing on the servers of a chat when a clip expires', async () => {
        const message = await open();
        const before = await harness.read(origin.channel);
        await harness.platform.expire({ ...message, message: 'none' }, { kind: 'removed', reason: 'expired' });
        expect(await harness.read(origin.channel)).toEqual(before);
      });
    });

    describe('untrusted text', () => {
      it('is shown as written, and pings no user', async () => {
        const message = await harness.platform.open(task, origin, running({ prompt: MISCHIEF }));
        const [shown] = await seen();
        expect(shown?.text).toContain(MISCHIEF);
        expect(shown?.pings).toEqual([]);
        const words = 'Ask @here <!here> or https://evil.example';
        const failure = { code: 'generation_failed', words } as const;
        await harness.platform.edit(message, origin, running({ phase: 'failed', state: 'failed', failure }), 'final');
        const [failed] = await seen();
        expect(failed?.text).toContain(words);
        expect(failed?.pings).toEqual([]);
      });

      it('pings only the requester in a notification that quotes it', async () => {
        const view = endNotice(origin, { prompt: MISCHIEF.slice(0, 60) });
        const place = { team: origin.team, channel: origin.channel, address: origin.address };
        await harness.platform.notify({ key: 'end:1', place, replyTo: null, mention: origin.user, view });
        expect((await seen())[0]?.pings).toEqual([origin.user.id]);
      });
    });

    it('gives the right to administer the team to its administrators alone', async () => {
      const [administrator, member] = [await harness.callerOf('administrator'), await harness.callerOf('member')];
      expect([administrator.mayAdminister, member.mayAdminister]).toEqual([true, false]);
      expect(administrator.team).toBe(member.team);
    });

    it('knows members of the team from those who left it', async () => {
      const left = harness.memberWhoLeft();
      expect(await harness.platform.channels.isMember(origin, origin.user.id)).toBe(true);
      if (left !== null) expect(await harness.platform.channels.isMember(origin, left)).toBe(false);
    });

    it('knows who has a role or belongs to a user group', async () => {
      const own = harness.newGroup([origin.user.id]);
      const isIn = (group: string | null) =>
        harness.platform.channels.isInGroup(origin, group ?? 'none', origin.user.id);
      expect([await isIn(own), await isIn(harness.newGroup([]))]).toEqual([own !== null, false]);
    });

    it('describes its connection in one line', async () => {
      expect(await harness.platform.connection()).toMatch(/^\S[^\r\n]+$/);
    });

    it('reports ready, no missing permission where it may post, and its limits', async () => {
      const { platform } = harness;
      const place = { team: origin.team, channel: origin.channel, address: origin.address };
      expect(platform.notReady()).toBeNull();
      expect(await platform.channels.missingRight(place)).toBeNull();
      expect(platform.limits.uploadBytes).toBeGreaterThan(1_000_000);
      expect(platform.limits.editIntervalMs).toBeGreaterThan(0);
      expect(platform.limits.textLength).toBeGreaterThanOrEqual(2000);
    });

    it('still sends after stop, since a last delivery may be in flight', async () => {
      const message = await open();
      await harness.platform.stop();
      await harness.platform.edit(message, origin, done(), 'final');
      expect((await seen())[0]?.text).toContain('Done in 2:14');
    });
  });
}

/** Progress edits may be dropped, but only with rate_limited. */
function onlyRateLimited(thrown: unknown): void {
  expect(thrown).toMatchObject({ code: 'rate_limited' });
}
