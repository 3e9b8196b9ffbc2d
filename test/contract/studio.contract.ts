import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { createForm } from '#commands/input/forms.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { doneIn } from '#test/fakes/outcomes.ts';
import { type ConfirmationHarness, FORM_CATALOG, type ShownMessage } from './confirmation.contract.ts';

/** Text with the markup that platforms interpret. */
const MISCHIEF = '@everyone <!channel> <@U2> **bold** [here](https://a.test)';
const DONE = doneIn(60_000);

/** Contract of what the studio shows privately, and of its forms, on every platform: replies of the real commands. */
export function describeStudio(name: string, start: () => Promise<ConfirmationHarness>): void {
  describe(`the studio on ${name}`, () => {
    let harness: ConfirmationHarness;
    let house: BotHouse;

    beforeEach(async () => {
      harness = await start();
      house = new BotHouse(FORM_CATALOG);
    });

    afterEach(() => harness.remove());

    const caller = (): Caller => ada({ user: { id: harness.requester, name: 'Ada' }, mayAdminister: true });
    const say = (text: string): Promise<Reply> => house.bot.text(caller(), text);
    const made = async (text: string) => (await house.seed(caller(), text, ...DONE)).id;
    /** Has the platform show a reply, and returns it as its only reader sees it. */
    const shown = async (reply: Reply, expected: string): Promise<ShownMessage> => {
      harness.bot.reply = reply;
      await harness.order();
      const found = await vi.waitFor(async () => {
        const all = (await harness.messages()).filter(({ text }) => text.includes(expected));
        expect(all).toHaveLength(1);
        return all[0] as ShownMessage;
      }, 300_000);
      expect(found.visibleTo).toBe(harness.requester);
      return found;
    };
    /** Has the platform open a form and submit it, and returns what the bot gets. */
    const submitted = async (reply: Reply, values: Readonly<Record<string, string>>): Promise<unknown> => {
      harness.bot.reply = reply;
      const submit = await harness.openForm();
      harness.bot.reply = await say('help style');
      await submit(values);
      return vi.waitFor(() => {
        const last = harness.bot.heard.at(-1);
        expect(last?.kind).toBe('submit');
        return last?.what;
      }, 300_000);
    };

    it('shows a select of as many options as there may be, and passes the chosen one on as a press', async () => {
      const task = 'f'.repeat(32);
      const options = Array.from({ length: 25 }, (_, at) => ({
        id: `page:list:${at}:ada:${'x'.repeat(100 - 15 - String(at).length)}`,
        label: `${at} · a fox 🦊 wakes up `.padEnd(75, 'z'),
      }));
      const selects = [
        { placeholder: 'A shot…', options },
        { placeholder: 'Edit…', options: [{ id: `edit:${task}`, label: MISCHIEF.slice(0, 75) }] },
      ];
      const card = {
        lines: [['The board.']],
        progress: null,
        buttons: [{ id: 'page:models:0', label: 'All', style: 'plain' }],
        selects,
      } as const;
      const { id, selects: seen, buttons } = await shown({ kind: 'private', card }, 'The board.');
      expect(seen).toMatchObject(selects);
      expect(buttons.map(({ label }) => label)).toEqual(['All']);
      harness.bot.reply = { kind: 'private', card: { lines: [['Shot 24.']], progress: null, buttons: [], selects } };
      const [press = ''] = options.slice(-1).map((one) => one.id);
      await harness.press(id, press);
      // As a page, the answer takes the place of the message.
      await vi.waitFor(async () => {
        expect(harness.bot.heard.at(-1)).toMatchObject({ kind: 'press', what: press });
        expect((await harness.messages()).find((one) => one.id === id)?.text).toContain('Shot 24.');
      }, 300_000);
      expect((await harness.messages()).map(({ text }) => text).join()).not.toContain('The board.');
      harness.bot.reply = createForm(FORM_CATALOG);
      expect(await harness.formOf(id, `edit:${task}`)).toBe('New clip');
      expect(harness.bot.heard.at(-1)).toMatchObject({ kind: 'press', what: `edit:${task}` });
    });

    it('lists the styles of the team', async () => {
      await say('style house --after "on film"');
      expect((await shown(await say('style'), 'Styles of this team')).text).toMatch(/house[\s\S]*… on film/u);
    });

    it('shows the words of a style as they were written', async () => {
      await say(`style house --before "${MISCHIEF}" --avoid logos`);
      const { text } = await shown(await say('style house'), 'Style house');
      expect(text).toContain(MISCHIEF);
      expect(text).toContain('no negative prompt');
    });

    it('shows under Details what was typed and what was sent with a style', async () => {
      await say('style house --before "shot on film,"');
      const task = await made(`create a fox, ${MISCHIEF} --style house`);
      const { text } = await shown(await house.bot.press(caller(), `details:${task}`), 'Sent with the style house');
      expect(text).toMatch(/^a fox, @everyone/mu);
      expect(text).toContain(`shot on film, a fox, ${MISCHIEF}`);
    });

    it('lists the reference library with who added each image', async () => {
      await say('library add @mug https://a.test/mug.png');
      expect((await shown(await say('library'), 'Reference library')).text).toContain('@mug');
    });

    it('shows a policy, and an order that it refuses with Fix it', async () => {
      await say('policy --models swift-1 --words blood');
      expect((await shown(await say('policy'), 'blood')).text).toContain('Swift 1');
      const refused = await shown(await say('create blood on snow'), 'isn’t allowed here');
      expect(refused.buttons.map(({ label }) => label)).toContain('Fix it');
    });

    it('shows an improved prompt beside the original, as plain text, with the buttons of both', async () => {
      house.enhancer = { enhance: async () => ({ ok: true, prompt: MISCHIEF }) };
      const task = await made('create a fox');
      const reply = await house.bot.press(caller(), `improve:${task}`);
      const { text, buttons } = await shown(reply, 'A language model wrote the second one.');
      expect(text).toContain('a fox');
      expect(text).toContain(MISCHIEF);
      const labels = ['Create improved · $0.20', 'Keep original · $0.20', 'Edit', 'Discard'];
      expect(buttons.map(({ label }) => label)).toEqual(labels);
    });

    it('answers a vote', async () => {
      const reply = await say('compare a fox --models sketch-480p,reel-2 --seconds 3');
      if (reply.kind !== 'task') throw new TypeError(JSON.stringify(reply));
      const ids = [...house.records.keys()];
      for (const id of ids) for (const event of DONE) house.happen(id, event);
      await house.comparisons.heldForMs(house.task(ids[0] as TaskId));
      const voted = await house.bot.press(caller(), `vote:${reply.task}:2`);
      await shown(voted, 'You voted for clip B. You can change it until the reveal.');
    });

    it('shows the help on a command with its ranges', async () => {
      const { text } = await shown(await say('help storyboard'), '/video storyboard');
      expect(text).toMatch(/seconds.*4, 6 or 8/u);
    });

    it('opens the form of a storyboard, and passes its shots on', async () => {
      const form = await house.bot.command(caller(), 'storyboard', {});
      const values = { shots: 'a fox\na hen --seconds 4' };
      expect(await submitted(form, values)).toMatchObject({ form: 'storyboard', values });
    });

    it('opens the menu of a shot among 12 with long words, within the limits of a message', async () => {
      const words = Array.from({ length: 12 }, (_, at) =>
        `scene ${at + 1} ${'of a long night '.repeat(100)}`.slice(0, 1600),
      );
      const asked = await say(`storyboard ${words.join('\n')}`);
      const order = asked.kind === 'private' ? (asked.card.buttons[0]?.id ?? '') : '';
      const reply = await house.bot.press(caller(), order);
      if (reply.kind !== 'task') throw new TypeError(JSON.stringify(reply));
      const set = reply.task;
      for (const id of memberIds({ id: set, of: 12 })) for (const event of DONE) house.happen(id, event);
      for (let made = 0; made < 26; made += 1) await house.seed(caller(), `create ${words[0]}`, ...DONE);
      for (let takes = 0; takes < 3; takes += 1) {
        const again = await house.bot.press(caller(), `retry:${set}:0.2USD`);
        if (again.kind === 'task') for (const event of DONE) house.happen(again.task, event);
      }
      const menu = await shown(await house.bot.press(caller(), `shot:${set}:1`), 'of the board');
      expect(menu.text).toContain('scene 1 of a long night');
      expect(menu.selects.map(({ placeholder, options }) => [placeholder, options.length])).toEqual([
        ['Use another take…', expect.any(Number)],
        ['Move…', 11],
        ['Replace by a clip…', 25],
      ]);
      expect(menu.buttons.map(({ label }) => label)).toEqual([
        expect.stringMatching(/^Retry · /u),
        'Skip',
        'Edit words',
      ]);
    });

    it('opens the form of a shot to insert, and passes its words on', async () => {
      const asked = await say('storyboard a fox\nit runs');
      const reply = await house.bot.press(caller(), asked.kind === 'private' ? (asked.card.buttons[0]?.id ?? '') : '');
      if (reply.kind !== 'task') throw new TypeError(JSON.stringify(reply));
      const form = await house.bot.press(caller(), `insert:${reply.task}:2`);
      const sent = await submitted(form, { prompt: 'it yawns' });
      expect(sent).toMatchObject({ form: `insert:${reply.task}:2`, values: { prompt: 'it yawns' } });
    });

    it('opens the form for changes to a clip, and passes time and note on', async () => {
      await say('review on');
      const task = await made('create a fox');
      const form = await house.bot.press(caller(), `changes:${task}:0`);
      const values = { at: '0:03', note: 'too dark' };
      expect(await submitted(form, values)).toMatchObject({ form: `changes:${task}:0`, values });
    });

    it('opens Edit & retry with the prompt as it was typed', async () => {
      await say('style house --before "shot on film,"');
      const task = await made('create a fox --style house');
      const form = await house.bot.press(caller(), `edit:${task}`);
      expect(await submitted(form, { prompt: 'a grey fox' })).toMatchObject({
        form: `edit:${task}`,
        values: { prompt: 'a grey fox' },
      });
    });
  });
}
