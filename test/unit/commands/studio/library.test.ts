import { beforeEach, expect, it, vi } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { EPIC, SWIFT } from '../../videos/models.ts';

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
