import { describe, expect, it } from 'vitest';
import { TEXT_LENGTH } from '#adapters/discord/messages/render.ts';
import { commandDefinitions, OPTION_FIELDS } from '#adapters/discord/registration/commands.ts';
import type { Caller } from '#commands/bot-port.ts';
import { declarations } from '#commands/registry.ts';
import { administratorsOnly } from '#commands/sentences/access.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { STEERING } from '#src/sandbox/steering.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '../videos/models.ts';

const said = async (house: BotHouse, caller: Caller, text: string) => {
  const reply = await house.bot.text(caller, text);
  expect(reply.kind).toBe('private');
  return replyText(reply);
};

describe('/video models', () => {
  it('shows billing, price, lengths and media of each model', async () => {
    expect(await said(new BotHouse(CATALOG), ada(), 'models')).toBe(
      [
        '‹Swift 1› (`swift-1`, default) · $0.05 per second · 4, 6 or 8 s (default 4 s) · 16:9, 9:16, 1:1 (default 16:9) · 480p, 720p (default 720p) · images: up to 2 · prompt: up to 2,000 characters',
        '‹Epic Pro› (`epic-pro`) · $1.20 per clip · 5 to 15 s in steps of 5 (default 5 s) · 16:9 · 1080p · images: 1 to 9, audio: up to 1, videos: up to 3 · prompt: any length',
        '‹Plain› (`plain`) · $0.05 per second · 4, 6 or 8 s (default 4 s) · images: up to 2 · prompt: up to 2,000 characters',
      ].join('\n'),
    );
  });
});

describe('/video help', () => {
  it('shows every command on one screen, create with range and default of each option', async () => {
    const text = await said(new BotHouse(CATALOG), ada(), 'help');
    expect(text.split('\n')).toEqual([
      'Type `/video` and what the clip should show. Everything else has a default. For example: `/video create a red fox in snow --seconds 6`',
      'Create',
      '`/video create prompt` Creates a clip from a prompt',
      [
        '`prompt`: ‹up to 2,000 characters for Swift 1 and Plain; any length for Epic Pro›',
        '`model`: ‹swift-1, epic-pro or plain (default swift-1)›',
        '`seconds`: ‹4, 6 or 8 (default 4) for Swift 1 and Plain; 5 to 15 in steps of 5 (default 5) for Epic Pro›',
        '`aspect`: ‹16:9, 9:16 or 1:1 (default 16:9) for Swift 1; 16:9 for Epic Pro; not taken for Plain›',
        '`resolution`: ‹480p or 720p (default 720p) for Swift 1; 1080p for Epic Pro; not taken for Plain›',
        '`takes`: ‹1 to 4 (default 1)›',
        '`image`: ‹links, up to 2 for Swift 1 and Plain; 1 to 9 for Epic Pro›',
        '`audio`: ‹links, none for Swift 1 and Plain; up to 1 for Epic Pro›',
        '`video`: ‹links, none for Swift 1 and Plain; up to 3 for Epic Pro›',
      ].join(' · '),
      '`/video compare prompt models` Compares models: one clip with each, a vote, then their names · and options of `create`',
      '`/video cancel id` Cancels a clip; once it is rendering, you may still be charged',
      '`/video retry id` Creates another take of a clip, under your name',
      '`/video delete id` Deletes a clip and its prompt; its price stays in the books',
      '`/video storyboard [shots] [chain]` Creates a storyboard: 2 to 12 shots, which become one cut · and options of `create`',
      'Find',
      '`/video status [id]` Shows one clip, or all of yours in progress',
      '`/video list [search] [who]` Lists the team’s clips, newest first',
      '`/video gallery` Opens a page with the clips that you may see',
      '`/video models` Shows the models: price, lengths, aspect ratios, reference media',
      'Money',
      '`/video usage [who] [month] [by] [csv]` Shows a month’s spend and what is left of the budget',
      '`/video approvals` Lists the clips that wait for an approval',
      'More',
      expect.stringContaining('`/video notify'),
      '`/video defaults [model] [seconds] [aspect] [off]` Shows or changes the model, length and aspect that your clips get',
      '`/video privacy [what]` Shows what is stored about you, sends it to you, or removes it',
      '`/video library [change] [image]` Shows the team’s reference images; adds or removes one',
      '`/video style [name]` Shows the team’s styles',
      expect.stringContaining('`/video policy [channel]` What is allowed here'),
      expect.stringContaining('`/video help [command]`'),
      'Options are typed as `--seconds 6`. `/video help` and a command’s name shows its options, their defaults and an example. React to a clip with 🔁 for another take, with ❌ to cancel it.',
    ]);
  });

  it('has no description in bold, as the title of an item is', async () => {
    const reply = await new BotHouse(CATALOG).bot.text(ada(), 'help');
    const blocks = 'card' in reply ? (reply.card.blocks ?? []) : [];
    expect(blocks.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(10);
    expect(blocks.filter(({ kind }) => kind === 'item')).toEqual([]);
  });

  it('uses the platform’s option fields instead of flags', async () => {
    const house = new BotHouse(CATALOG);
    const text = replyText(await house.bot.command(ada({ fields: OPTION_FIELDS }), 'help', {}));
    expect(text).toContain('`/clip prompt:a red fox in snow seconds:6`');
    expect(text).toContain('`image`, `image2`, `image3`, `image_url`: ‹files or links');
    expect(text).not.toMatch(/--|everyone, me/);
    const given = { prompt: ['a fox'], image: ['ftp://a.test/1'] };
    const refusal = replyText(await house.bot.command(ada({ fields: OPTION_FIELDS }), 'create', given));
    expect(refusal).toContain('image_url: “ftp://a.test/1” isn’t a link');
  });

  it('describes flags', async () => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, ada(), 'help notify')).toMatch(
      /`direct`: ‹sends you a direct message [^›]+›.*\n.*`off`: ‹stops the notifications›/,
    );
    const given = { command: ['notify'] };
    const text = replyText(await house.bot.command(ada({ fields: OPTION_FIELDS }), 'help', given));
    expect(text).toContain('`off`: ‹stops the notifications · True or False (default False)›');
  });

  it('shows one command with its options and an example', async () => {
    expect(await said(new BotHouse(CATALOG), ada(), 'help list')).toBe(
      [
        '`/video list [search]` · Lists the team’s clips, newest first',
        '• `search`: ‹words in the prompt · up to 40 characters (default all clips)›',
        '• `who`: ‹whose clips · everyone, me or @name (default everyone)›',
        'For example: `/video list red fox --who me`',
        'Related: `/video status`, `/video gallery`, `/video retry`. `/video help` shows every command.',
      ].join('\n'),
    );
    expect(replyText(await new BotHouse(CATALOG).bot.text(ada(), 'help paint'))).toMatch(/^refused: There is no/);
  });

  it('names administrative commands to administrators alone', async () => {
    const house = new BotHouse(CATALOG);
    const administrator = ada({ mayAdminister: true });
    const notUsual = replyText(await house.bot.text(ada(), 'help paint'));
    expect(notUsual).toMatch(/notify, .*or help\./);
    expect(notUsual).not.toMatch(/budget|settings/);
    expect(replyText(await house.bot.text(administrator, 'help paint'))).toMatch(/budget.*settings.*or help\./);
    expect(await house.bot.text(ada(), 'help budget')).toEqual({
      kind: 'refused',
      sentence: administratorsOnly('slack'),
    });
    expect(await said(house, administrator, 'help budget')).toContain('`/video budget');
  });

  it('refers to /video models if the models differ too much', async () => {
    const models = [1, 2, 3, 4].map((number) => ({ ...EPIC, name: `m${number}`, seconds: [number] }));
    const house = new BotHouse(parseCatalog({ models }));
    expect(await said(house, ada(), 'help')).toContain('`seconds`: ‹1 for Epic Pro; for others see /video models›');
  });

  it('fits into one message of every platform, including the embedded service’s test directives', async () => {
    const house = new BotHouse(parseCatalog(sandboxCatalog), STEERING);
    // Discord counts the text of all components together; Slack counts each block alone.
    const rights = [{}, { mayAdminister: true }];
    for (const caller of rights.flatMap((one) => [ada(one), ada({ ...one, fields: OPTION_FIELDS })]))
      expect(replyText(await house.bot.command(caller, 'help', {})).length).toBeLessThan(TEXT_LENGTH);
  });

  const others = declarations.filter(({ name }) => name !== 'help');

  it.each(others)('shows $name with its options, an example and related commands', async ({ name, options }) => {
    const house = new BotHouse(CATALOG);
    const text = await said(house, ada({ mayAdminister: true }), `help ${name}`);
    for (const option of options) expect(text).toContain(`• \`${option.name}\`: ‹`);
    const [, related = ''] = /For example: `\/video .+\nRelated: (.*?)\. /u.exec(text) ?? [];
    const named = [...related.matchAll(/`\/video (\w+)`/gu)].map((match) => match[1]);
    expect(named.length).toBeGreaterThan(0);
    expect(declarations.map((one) => one.name)).toEqual(expect.arrayContaining(named));
    expect(named).not.toContain(name);
  });

  it.each(others)('says what the options of $name mean, with the fields of each platform', async (command) => {
    const house = new BotHouse(CATALOG);
    const { name, options } = command;
    const ofCatalog = new Set(['prompt', 'takes', 'image', 'audio', 'video']);
    const described = options.filter(
      (option) =>
        option.range === undefined &&
        !ofCatalog.has(option.name) &&
        !/model|setting|style/u.test(option.autocomplete ?? ''),
    );
    const definitions = commandDefinitions({ commands: [command], isGlobal: false });
    const registered = JSON.stringify(definitions);
    for (const caller of [ada({ mayAdminister: true }), ada({ mayAdminister: true, fields: OPTION_FIELDS })]) {
      const text = replyText(await house.bot.command(caller, 'help', { command: [name] }));
      for (const option of described) expect(text).toContain(option.description.slice(1));
      const [, example = ''] = /For example: `(.+)`/u.exec(text) ?? [];
      if (caller.fields === undefined) continue;
      expect(example).not.toMatch(/--|:me\b|:everyone\b|:add\b/u);
      for (const [, field] of example.matchAll(/ (\w+):/gu)) expect(registered).toContain(`"name":"${field}"`);
    }
  });

  it('suggests the command that was probably meant, among those that the reader may run', async () => {
    const house = new BotHouse(CATALOG);
    const near = 'There is no /video compere. Did you mean compare? /video help shows every command.';
    expect(await house.bot.text(ada(), 'help compere')).toEqual({ kind: 'refused', sentence: near });
    expect(replyText(await house.bot.text(ada(), 'help budgt'))).not.toContain('Did you mean');
    expect(await said(house, ada(), 'help usage')).not.toContain('/video budget');
    const admin = ada({ mayAdminister: true, fields: OPTION_FIELDS });
    const typed = { command: ['/video-admin budgt'] };
    expect(replyText(await house.bot.command(admin, 'help', typed))).toContain('Did you mean budget?');
    const usage = replyText(await house.bot.command(admin, 'help', { command: ['usage'] }));
    expect(usage).toContain('Related: `/video-admin budget`');
  });

  it('lists the test directives of the embedded service', async () => {
    const steering = [
      { write: '[fail]', effect: 'makes it fail' },
      { write: '[slow]', effect: 'makes it slow' },
    ];
    expect(await said(new BotHouse(CATALOG, steering), ada(), 'help')).toMatch(
      /In a prompt: `\[fail\]` makes it fail · `\[slow\]` makes it slow\.$/,
    );
  });
});

describe('suggestions', () => {
  const suggest = (house: BotHouse, caller: Caller, command: string, option: string, typed = '', given = {}) =>
    house.bot.suggest(caller, command, option, typed, given);

  it('of models show billing, price and lengths', async () => {
    const house = new BotHouse(CATALOG);
    expect(await suggest(house, ada(), 'create', 'model')).toMatchObject([
      { value: 'swift-1', label: 'Swift 1 · $0.05/s · 4, 6 or 8 s · 4 s = $0.20 (default)' },
      { value: 'epic-pro', label: 'Epic Pro · $1.20/clip · 5 to 15 s in steps of 5 · 5 s = $1.20' },
      { value: 'plain', label: 'Plain · $0.05/s · 4, 6 or 8 s · 4 s = $0.20' },
    ]);
    // Priced for the length entered so far.
    for (const seconds of ['6', ' 6s'])
      expect(
        (await suggest(house, ada(), 'create', 'model', '', { seconds: [seconds] })).map(({ label }) => label),
      ).toEqual([
        'Swift 1 · $0.05/s · 6 s = $0.30 (default)',
        'Epic Pro · $1.20/clip · only 5 to 15 s in steps of 5',
        'Plain · $0.05/s · 6 s = $0.30',
      ]);
    // Matches the name and title, not the text of the price.
    expect((await suggest(house, ada(), 'create', 'model', 'P')).map(({ value }) => value)).toEqual([
      'plain',
      'epic-pro',
    ]);
    for (const typed of ['epic', 'pro epic'])
      expect((await suggest(house, ada(), 'create', 'model', typed)).map(({ value }) => value)).toEqual(['epic-pro']);
  });

  it('of models ignore the case of a name', async () => {
    const capital = { ...CATALOG.defaultModel, name: 'Veo-3.1-Ultra', title: 'Ultra' };
    const house = new BotHouse({ models: [capital], defaultModel: capital });
    for (const typed of ['veo', 'Veo', '3.1-ULTRA'])
      expect((await suggest(house, ada(), 'create', 'model', typed)).map(({ value }) => value)).toEqual([capital.name]);
  });

  it('of lengths match by the leading digits, not by the price', async () => {
    const seconds = [2, 5, 10, 12];
    const model = { ...CATALOG.defaultModel, seconds };
    const house = new BotHouse({ models: [model], defaultModel: model });
    const found = async (typed: string) =>
      (await suggest(house, ada(), 'create', 'seconds', typed)).map(({ value }) => value);
    expect(await found('1')).toEqual(['10', '12']);
    expect(await found('2')).toEqual(['2']);
    expect(await found('0')).toEqual([]);
  });

  it('of settings depend on the model chosen so far', async () => {
    const house = new BotHouse(CATALOG);
    expect(await suggest(house, ada(), 'create', 'seconds')).toEqual([
      { value: '4', label: 'Swift 1 · $0.05/s · 4 s = $0.20 (default)' },
      { value: '6', label: 'Swift 1 · $0.05/s · 6 s = $0.30' },
      { value: '8', label: 'Swift 1 · $0.05/s · 8 s = $0.40' },
    ]);
    const given = { model: ['epic-pro'] };
    expect((await suggest(house, ada(), 'create', 'seconds', '', given)).map(({ label }) => label)).toEqual([
      'Epic Pro · $1.20/clip · 5 s = $1.20 (default)',
      'Epic Pro · $1.20/clip · 10 s = $1.20',
      'Epic Pro · $1.20/clip · 15 s = $1.20',
    ]);
    expect(await suggest(house, ada(), 'create', 'aspect', '9')).toEqual([
      { value: '9:16', label: '9:16' },
      { value: '16:9', label: '16:9 (default)' },
    ]);
    expect(await suggest(house, ada(), 'create', 'resolution')).toEqual([
      { value: '480p', label: '480p' },
      { value: '720p', label: '720p (default)' },
    ]);
    expect(await suggest(house, ada(), 'create', 'aspect', '', { model: ['plain'] })).toEqual([]);
  });

  it('of tasks match by prompt and show state and age; to cancel, only tasks that the caller may cancel', async () => {
    const house = new BotHouse(CATALOG);
    const wolf = await house.seed(bob(), 'a wolf');
    const fox = await house.seed(ada(), `a red fox ${'runs and '.repeat(30)}`);
    house.clock.advance(7_200_000);
    const all = await suggest(house, ada(), 'retry', 'id');
    expect(all.map(({ value }) => value)).toEqual([fox.id, wolf.id]);
    expect(all[1]?.label).toBe('a wolf · queued · 2 h ago · $0.20');
    expect((await suggest(house, ada(), 'status', 'id'))[1]?.label).toBe('a wolf · queued · 2 h ago');
    expect(all[0]?.label.length).toBeLessThanOrEqual(100);
    expect((await suggest(house, ada(), 'status', 'id', 'WOLF')).map(({ value }) => value)).toEqual([wolf.id]);
    expect((await suggest(house, ada(), 'cancel', 'id')).map(({ value }) => value)).toEqual([fox.id]);
    expect(await suggest(house, ada({ mayManage: true }), 'cancel', 'id')).toHaveLength(2);
    expect(await suggest(house, ada({ team: 'T2' }), 'retry', 'id')).toEqual([]);
  });

  it('of commands are those that the caller may run, also for a misspelling', async () => {
    const house = new BotHouse(CATALOG);
    const found = async (typed: string, caller = ada()) =>
      (await suggest(house, caller, 'help', 'command', typed)).map(({ value }) => value);
    const label = 'compare · Compares models: one clip with each, a vote, then their names';
    expect(await suggest(house, ada(), 'help', 'command', 'comp')).toMatchObject([{ value: 'compare', label }]);
    expect(await found('/video compere')).toEqual(['compare']);
    expect((await found('re')).slice(0, 2)).toEqual(['retry', 'create']);
    expect(await found('budget')).toEqual([]);
    expect(await found('')).not.toContain('budget');
    expect(await found('budgt', ada({ mayAdminister: true }))).toEqual(['budget']);
    expect(await found('xylophone')).toEqual([]);
  });

  it('of months are the latest ones; at most 25 of any kind', async () => {
    const models = Array.from({ length: 40 }, (_, number) => ({ ...SWIFT, name: `m${number}`, default: number === 0 }));
    const house = new BotHouse(parseCatalog({ models }));
    expect(await suggest(house, ada(), 'create', 'model')).toHaveLength(25);
    const months = await suggest(house, ada(), 'usage', 'month');
    expect(months.slice(0, 2)).toEqual([
      { value: '2026-11', label: 'November 2026' },
      { value: '2026-10', label: 'October 2026' },
    ]);
    expect(months.at(-1)?.value).toBe('2025-12');
  });

  it('are empty for options without suggestions', async () => {
    const house = new BotHouse(CATALOG);
    expect(await suggest(house, ada(), 'create', 'prompt')).toEqual([]);
    expect(await suggest(house, ada(), 'paint', 'id')).toEqual([]);
    expect(await suggest(house, ada(), 'create', 'paint')).toEqual([]);
  });
});

it('shows examples with the models that are allowed here, in the form of the platform', async () => {
  const house = new BotHouse(
    parseCatalog({
      models: [
        { ...SWIFT, name: 'one' },
        { ...SWIFT, name: 'two', default: false },
      ],
    }),
  );
  expect(await said(house, ada(), 'help compare')).toContain('--models one,two');
  expect(await said(house, ada(), 'help defaults')).toContain('--model one');
  const fields = replyText(await house.bot.command(ada({ fields: OPTION_FIELDS }), 'help', { command: ['compare'] }));
  expect(fields).toContain('models:one,two');
  const given = { prompt: ['a fox'], models: ['one'] };
  expect(replyText(await house.bot.command(ada({ fields: OPTION_FIELDS }), 'compare', given))).toContain(
    'such as models:one,two; 1 model is named',
  );
});

it('takes the name of a flag without its dashes', async () => {
  const house = new BotHouse(CATALOG);
  const administrator = ada({ mayAdminister: true });
  const [typed, flag] = await Promise.all(
    ['audit deployment', 'audit --deployment'].map((text) => house.bot.text(administrator, text)),
  );
  expect(typed).toEqual(flag);
});
