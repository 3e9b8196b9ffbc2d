import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GivenOptions } from '#commands/bot-port.ts';
import { checkShape, checkValues } from '#commands/input/options.ts';
import { parseText } from '#commands/input/text.ts';
import { declarations } from '#commands/registry.ts';
import { shorten } from '#commands/sentences/format.ts';
import { refusalSentence } from '#commands/sentences/refusals.ts';
import { buttonId, MAX_ID_LENGTH, type PageOf, parseButton, reactionAction } from '#commands/ui/buttons.ts';
import { parseForm } from '#commands/ui/form-ids.ts';
import { fileNameOf } from '#src/media/file-name.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { checkRequest } from '#src/videos/check.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { newTask } from '#test/fakes/tasks.ts';
import { CATALOG } from '../unit/videos/models.ts';
import { anyText, EVERY_OBJECTS, runs, textWith, withinCpuTime } from './runs.ts';

const names = declarations.map(({ name }) => name);
const flags = declarations.flatMap(({ options }) => options.map(({ name }) => `--${name}`));
const MARKS = ['“', '”', '„', '«', '"', "'", '’', '—', '–', '--', '=', '<', '>', '|', ' ', '\n', '/video'];
const LINKS = ['<https://a.example/1|a>', '<http://', 'https://a.example/1', '<@U1|ada>', '<#C1|clips>'];
const typed = textWith(
  ...names,
  ...flags,
  ...MARKS,
  ...LINKS,
  ...EVERY_OBJECTS.map((name) => `--${name}`),
  '6',
  '16:9',
);

describe('text after /video', () => {
  it('is always parsed as a known command, or as none', () => {
    fc.assert(
      fc.property(typed, (text) => {
        const { command, given, problems } = parseText(text, declarations);
        expect(command === null || names.includes(command)).toBe(true);
        for (const values of Object.values(given)) for (const value of values) expect(typeof value).toBe('string');
        for (const problem of problems) expect(problem).not.toBe('');
      }),
      runs(3_000),
    );
  });

  it('gets a response of the bot, for any content', async () => {
    await fc.assert(
      fc.asyncProperty(typed, async (text) => {
        const app = new BotHouse(CATALOG);
        const reply = await app.bot.text(ada(), text);
        expect(['task', 'private', 'public', 'refused', 'form']).toContain(reply.kind);
        if (reply.kind === 'refused') expect(reply.sentence).not.toBe('');
      }),
      runs(1_000),
    );
  });

  it('keeps a quoted prompt and flag values exactly', () => {
    const plain = fc
      .stringMatching(/^[\p{L}\p{N} ,.!?:;-]{1,60}$/u)
      .filter((text) => text.trim() === text && text !== '');
    fc.assert(
      fc.property(plain, fc.nat(99), (prompt, seconds) => {
        const { command, given } = parseText(`create "${prompt}" --seconds ${seconds}`, declarations);
        expect({ command, ...given }).toEqual({ command: 'create', prompt: [prompt], seconds: [String(seconds)] });
      }),
      runs(1_000),
    );
  });

  // Each is as long as the page accepts, and made of parts that could cause backtracking in a parser.
  it.each([
    ['opened links', '<http://'],
    ['opened labels', '<https://a|'],
    ['opened quotes', '“a '],
    ['low quotes', '„ '],
    ['dashes', '— '],
    ['flags', '--image a '],
    ['unknown flags', '--a '],
    ['joined flags', '--prompt='],
    ['spaces', ' '],
    ['apostrophes', "' "],
    ['mentions', '<@'],
  ])('is parsed within the time limit for 20,000 characters of %s', async (_what, piece) => {
    const text = `create ${piece.repeat(20_000 / piece.length)}`;
    await withinCpuTime(2_000, () => {
      const { given } = parseText(text, declarations);
      checkShape(declarations[0] ?? fail(), given);
      expect(checkRequest(CATALOG, { prompt: text, image: given['image'] })).toHaveProperty('ok');
    });
  });
});

function fail(): never {
  throw new TypeError('there is no command');
}

describe('options', () => {
  it('with any name and value are refused with a message', () => {
    const option = fc.oneof(fc.constantFrom(...EVERY_OBJECTS, 'prompt', 'seconds', 'image'), fc.string());
    const given = fc.dictionary(option, fc.array(typed, { maxLength: 3 }), {
      maxKeys: 5,
    }) as fc.Arbitrary<GivenOptions>;
    fc.assert(
      fc.property(given, fc.constantFrom(...declarations), (values, command) => {
        const problems = [
          ...checkShape(command, values),
          ...checkValues(command, values).map(({ sentence }) => sentence),
        ];
        for (const problem of problems) expect(problem).toMatch(/\S/);
      }),
      runs(1_000),
    );
  });

  it('of a clip become a request that fits the catalog, or refusals', () => {
    const text = fc.option(typed, { nil: undefined });
    const media = fc.option(fc.array(typed, { maxLength: 4 }), { nil: undefined });
    const model = fc.oneof(fc.constantFrom('swift-1', 'EPIC-PRO', 'plain', undefined), typed);
    const draft = fc.record({
      prompt: text,
      model,
      seconds: fc.oneof(text, fc.double()),
      aspect: text,
      resolution: text,
      image: media,
      audio: media,
      video: media,
    });
    fc.assert(
      fc.property(draft, (wish) => {
        const checked = checkRequest(CATALOG, wish);
        if (!checked.ok) {
          for (const refusal of checked.refusals) expect(refusalSentence(refusal)).toMatch(/\S/);
          return;
        }
        expect(checked.request.prompt.trim()).toBe(checked.request.prompt);
        for (const address of Object.values(checked.request.media).flat()) expect(URL.canParse(address)).toBe(true);
      }),
      runs(1_000),
    );
  });
});

describe('ids of buttons and forms', () => {
  const id = textWith(
    'retry',
    'order',
    'fix',
    '0.20USD',
    'again',
    'page:list',
    'edit',
    'create',
    ':',
    '0',
    '12',
    '7f3a9c21',
  );

  it('are parsed, or are none of ours', () => {
    fc.assert(
      fc.property(id, (text) => {
        const press = parseButton(text);
        if (press !== null && 'task' in press) expect(press.task).not.toBe('');
        if (press !== null && 'draft' in press) expect(press.draft).not.toBe('');
        const form = parseForm(text);
        expect(form === null || ['create', 'edit', 'lookup', 'fix'].includes(form.form)).toBe(true);
        expect([null, 'retry', 'cancel']).toContain(reactionAction(text));
      }),
      runs(2_000),
    );
  });

  it('round-trip', () => {
    const some = (text: fc.Arbitrary<string>) =>
      fc.option(
        text.filter((one) => one !== ''),
        { nil: null },
      );
    const page: fc.Arbitrary<PageOf<'list'>> = fc.record({
      what: fc.constant('list'),
      offset: fc.nat(9_999_999),
      user: some(fc.string({ maxLength: 40 })),
      search: some(anyText(40)),
    });
    fc.assert(
      fc.property(page, (given) => {
        const made = buttonId({ action: 'page', ...given });
        if (made.length <= MAX_ID_LENGTH) expect(parseButton(made)).toEqual({ action: 'page', ...given });
      }),
      runs(1_000),
    );
    fc.assert(
      fc.property(fc.nat(999_999), fc.stringMatching(/^[0-9a-v]{16}$/), (afterSends, task) => {
        const resent = { action: 'again', task: task as TaskId, afterSends } as const;
        const unpriced = { action: 'again', task, afterSends, price: null, isConfirmed: false };
        expect(parseButton(buttonId({ ...resent, price: null, isConfirmed: false }))).toEqual(unpriced);
        const price = { amount: '0.30', currency: 'USD' };
        for (const isConfirmed of [false, true])
          expect(parseButton(buttonId({ ...resent, price, isConfirmed }))).toEqual({ ...unpriced, price, isConfirmed });
      }),
      runs(200),
    );
  });
});

describe('text derived from a prompt', () => {
  it('is a file name without a path, valid in a header', () => {
    fc.assert(
      fc.property(textWith('../', '/', '\\', 'a red fox', '狐狸', 'é', '\n'), (prompt) => {
        const { request } = newTask();
        const name = fileNameOf({ ...newTask(), request: { ...request, prompt } });
        expect(name).toMatch(/^[^/\\\s\p{C}]+\.mp4$/u);
        expect(() => encodeURIComponent(name)).not.toThrow();
      }),
      runs(1_000),
    );
  });

  it('is a line within the length limit', () => {
    fc.assert(
      fc.property(textWith('a ', '👩‍👩‍👧', '\n'), fc.integer({ min: 1, max: 100 }), (text, length) => {
        expect(shorten(text, length).length).toBeLessThanOrEqual(length);
      }),
      runs(1_000),
    );
  });
});
