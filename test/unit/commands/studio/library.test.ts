import { beforeEach, expect, it, vi } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { blocksOf, type Card, layOut } from '#commands/ui/card.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '../../videos/models.ts';

const MUG = 'https://a.test/mug.png';
const FILE = 'https://dailies.example/media/relay-1';
let house: BotHouse;

beforeEach(async () => {
  house = new BotHouse(parseCatalog({ models: [SWIFT, EPIC] }));
  await house.bot.text(ada(), `library add @Mug ${MUG}`);
});

const said = async (text: string, caller = ada()) => replyText(await house.bot.text(caller, text));
const ordered = () => house.orders.map(({ request: { prompt, media } }) => [prompt, media.image]);

it('lists images with who added them, per team', async () => {
  expect(await said('library')).toContain('`@mug` · Ada');
  expect(await said('library', ada({ team: 'T2' }))).toContain('is empty');
  expect(await said('library', ada({ isExternal: true }))).toContain('belongs to the team');
});

it('shows ten images on a page, each with its picture, and none to others', async () => {
  const url = 'https://dailies.example/media/relay-1';
  house.pictures = {
    ...house.pictures,
    forImage: (given) => (given === url ? { id: 'relay-1', url: `${url}.jpg` } : null),
  };
  for (let at = 10; at < 21; at += 1)
    await house.bot.command(ada(), 'library', { change: [`add cup-${at}`], image: [url] });
  const shown = (reply: Reply) => (reply.kind === 'private' ? reply.card : layOut([]));
  const rows = (card: Card) =>
    blocksOf(card).flatMap((one) => (one.kind === 'item' ? [[one.title, one.picture?.alt, one.picture?.url]] : []));
  const first = shown(await house.bot.text(ada(), 'library'));
  const row = (at: number) => [[{ code: `@cup-${at}` }], `The image @cup-${at}`, `${url}.jpg`];
  expect(rows(first)).toEqual(Array.from({ length: 10 }, (_, at) => row(10 + at)));
  const [next, ...more] = first.buttons;
  expect([next?.label, more]).toEqual(['Next', []]);
  const second = shown(await house.bot.press(ada(), next?.id ?? ''));
  expect(rows(second)).toEqual([row(20), [[{ code: '@mug' }], undefined, undefined]]);
  expect(second.buttons.map(({ label }) => label)).toEqual(['Previous']);
  expect(replyText(await house.bot.press(ada({ isExternal: true }), next?.id ?? ''))).toContain('belongs to the team');
  expect(replyText(await house.bot.press(ada({ team: 'T2' }), next?.id ?? ''))).toContain('is empty');
});

it('uses an image by its name in a prompt and in the option, on every way in', async () => {
  await house.bot.text(ada(), 'a fox with a @mug, ask a@mug or @nobody');
  await house.bot.text(ada(), 'a hen --image @MUG');
  await house.bot.command(ada(), 'create', { prompt: ['one @mug'], image: ['@mug'] });
  await house.bot.submit(ada(), 'create', { prompt: 'two of @mug and @mug' });
  await house.bot.text(ada(), 'create a cat with @mug', 'message');
  expect(ordered()).toEqual([
    ['a fox with a mug, ask a@mug or @nobody', [MUG]],
    ['a hen', [MUG]],
    ['one mug', [MUG]],
    ['two of mug and mug', [MUG]],
    ['a cat with mug', [MUG]],
  ]);
});

it('is read once for an order', async () => {
  const lists = vi.spyOn(house.references, 'list');
  await house.bot.text(ada(), 'a fox with a @mug');
  await house.bot.text(ada(), 'create a hen');
  expect(lists).toHaveBeenCalledTimes(2);
  await house.bot.text(ada(), 'status');
  expect(lists).toHaveBeenCalledTimes(2);
});

it('adds the image to a prompt with a style', async () => {
  await house.bot.text(ada({ mayAdminister: true }), 'style house --after "on film"');
  await house.bot.text(ada(), 'a fox with a @mug --style house');
  expect(ordered()).toEqual([[expect.stringMatching(/a fox with a mug.*on film/u), [MUG]]]);
});

it('suggests its names for the image option, after other links too, to the team alone', async () => {
  await house.bot.text(ada(), `library add @cup ${MUG}`);
  const suggested = async (typed: string, caller = ada()) =>
    (await house.bot.suggest(caller, 'create', 'image', typed, {})).map(({ value }) => value);
  expect(await suggested('')).toEqual(['@cup', '@mug']);
  expect(await suggested('@M')).toEqual(['@mug']);
  expect(await suggested(`${MUG} mu`)).toEqual([`${MUG} @mug`]);
  expect(await suggested(`${MUG},@cu`)).toEqual([`${MUG},@cup`]);
  expect(await suggested('https://a.test')).toEqual([]);
  expect(await suggested(`https://a.test/${'x'.repeat(90)} @mu`)).toEqual([]);
  expect(await suggested('', ada({ team: 'T2' }))).toEqual([]);
  expect(await suggested('', ada({ isExternal: true }))).toEqual([]);
});

it('keeps to the number of images that the model takes, and to the team', async () => {
  const many = `a @mug --image https://a.test/1 --image https://a.test/2`;
  expect(await said(many)).toMatch(/refused: .*image/u);
  expect(await said('a fox --image @mugg')).toContain('There is no @mugg in the library. Did you mean @mug?');
  expect(await said('a fox --image @mug', ada({ team: 'T2' }))).toContain('There is no @mug');
  expect(ordered()).toEqual([]);
});

it('keeps the file of an attachment until it is removed, by who added it or an administrator', async () => {
  await house.bot.command(ada(), 'library', { change: ['add cup'], image: [FILE] });
  expect([...house.libraryKept]).toEqual([FILE]);
  expect(await said('library remove @cup', bob({ mayManage: true }))).toContain('Only Ada or an administrator');
  expect(await said('library remove @cupp')).toContain('Did you mean @cup?');
  expect(await said('library remove @cup', bob({ mayAdminister: true }))).toContain('Removed');
  expect([...house.libraryKept]).toEqual([]);
  expect(await said('a fox --image @cup')).toContain('There is no @cup');
});

it.each([
  ['library add @mug https://a.test/2', 'already'],
  ['library add @cup', 'exactly one image'],
  ['library add @cup https://a.test/1 https://a.test/2', 'exactly one image'],
  ['library add @cup ftp://a.test/1', 'isn’t a link'],
  ['library add @c_p https://a.test/1', 'A name has'],
])('refuses %s', async (text, words) => {
  expect(await said(text)).toContain(words);
  expect(await house.references.list(ada())).toHaveLength(1);
});

it('says that the storage is at its limit, and adds nothing', async () => {
  house.libraryFiles = { ...house.libraryFiles, keep: async () => 'full' };
  const reply = await house.bot.command(ada(), 'library', { change: ['add cup'], image: [FILE] });
  expect(replyText(reply)).toContain('My storage has reached its limit, so nothing was added.');
  expect(await said('library')).not.toContain('@cup');
});

it('adds no file that is called .png and is none', async () => {
  house.libraryFiles = { ...house.libraryFiles, keep: async () => 'no_image' };
  const reply = await house.bot.command(ada(), 'library', { change: ['add cup'], image: [FILE] });
  expect(replyText(reply)).toContain('This file isn’t a PNG, JPEG, WebP or GIF image. Nothing was added.');
  expect(await said('library')).not.toContain('@cup');
});

it('asks about a prompt that begins with its name, and adds nothing for those who may not create', async () => {
  const reply = await house.bot.text(ada(), 'library at night, dust in the light');
  expect(replyText(reply)).toContain('Did you mean `/video library`');
  const policy = { team: { create: [] }, channels: {} };
  await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
  expect(await said('library add @cup https://a.test/1')).toContain('only administrators');
});

it('adds one image under a name at a time, whoever is first', async () => {
  const add = (url: string) => house.bot.text(ada(), `library add @cup ${url}`);
  await Promise.all([add('https://a.test/1'), add('https://a.test/2')]);
  expect((await house.references.list(ada())).map(({ name }) => name)).toEqual(['cup', 'mug']);
});

it('keeps the file of one that is added twice at the same moment', async () => {
  const add = () => house.bot.command(ada(), 'library', { change: ['add cup'], image: [FILE] });
  await Promise.all([add(), add()]);
  expect([...house.libraryKept]).toEqual([FILE]);
});

const buttonsOf = (reply: Reply) =>
  reply.kind === 'private' ? reply.card.buttons.map(({ id, label }) => ({ id, label })) : [];
const press = async (reply: Reply, label: string) =>
  house.bot.press(ada(), buttonsOf(reply).find((one) => one.label.startsWith(label))?.id ?? '');

it.each(['@mugg', '@Mgu', '@muf'])('asks about %s in a prompt, which is a misspelt name', async (typed) => {
  const reply = await house.bot.text(ada(), `a dog beside ${typed} at dawn`);
  expect(replyText(reply)).toContain(
    `There is no image \`${typed.toLowerCase()}\` in the library. Did you mean \`@mug\`?`,
  );
  expect(buttonsOf(reply).map(({ label }) => label)).toEqual(['Use @mug · $0.20', 'Keep the words · $0.20', 'Discard']);
  expect(house.orders).toEqual([]);
  await press(reply, 'Use');
  await press(reply, 'Keep');
  expect(ordered()).toEqual([['a dog beside mug at dawn', [MUG]]]);
});

it('keeps the words of a prompt without their @, so that nothing asks again', async () => {
  const reply = await house.bot.text(ada(), 'a shirt of @Mugg and @coffee --style none');
  expect(replyText(reply)).toContain('refused');
  const asked = await house.bot.text(ada(), 'a shirt of @Mugg and @coffee');
  await press(asked, 'Keep');
  expect(ordered()).toEqual([['a shirt of Mugg and @coffee', []]]);
});

it.each([
  ['a form', () => house.bot.submit(ada(), 'create', { prompt: 'two of @mugg' })],
  ['a command of the platform', () => house.bot.command(ada(), 'create', { prompt: ['two of @mugg'] })],
  ['a mention', () => house.bot.text(ada(), 'create two of @mugg', 'message')],
  ['a confirmed question', async () => press(await house.bot.text(ada(), 'two of @mugg', 'plain'), 'Create')],
  ['a shot', () => house.bot.text(ada(), 'storyboard two of @mugg\na hen')],
  ['a comparison', () => house.bot.text(ada(), 'compare two of @mugg --models swift-1,plain')],
])('asks about a misspelt name in %s', async (_way, order) => {
  house.replaceCatalog(CATALOG);
  const reply = await order();
  expect(replyText(reply)).toContain('Did you mean `@mug`?');
  expect(house.orders).toEqual([]);
  expect((await press(reply, 'Use @mug')).kind).toBe('task');
  const [{ request, set } = { request: undefined, set: undefined }] = house.orders;
  expect([request, ...(set?.more ?? []).map((one) => one.request)]).toContainEqual(
    expect.objectContaining({ prompt: 'two of mug', media: expect.objectContaining({ image: [MUG] }) }),
  );
});

it('mentions a name that is like no image where it asks anyway', async () => {
  const reply = await house.bot.text(ada(), 'a cup of @coffee', 'plain');
  expect(replyText(reply)).toContain('There is no image `@coffee` in the library.');
  expect((await press(reply, 'Create')).kind).toBe('task');
  expect(ordered()).toEqual([['a cup of @coffee', []]]);
});

it.each(['everyone', 'here', 'Channel'])('has no image @%s, which is no name of an image in a chat', async (name) => {
  expect(await said(`library add @${name} ${MUG}`)).toContain('That name notifies people');
  expect(await said('a call to @everyone at @here')).toContain('task');
  expect(ordered()).toEqual([['a call to @everyone at @here', []]]);
});

it('names the word that is no link, beside an attached image', async () => {
  const reply = await house.bot.text(ada(), 'library add @cup b', 'message', { image: [FILE] });
  expect(replyText(reply)).toContain('“b” isn’t a link');
});
