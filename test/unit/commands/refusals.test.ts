import { describe, expect, it } from 'vitest';
import type { GivenOptions } from '#commands/command.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

const LONG = 'x'.repeat(2001);

describe('wrong input, as text', () => {
  it.each([
    ['create', 'prompt: say what the clip should show, such as: /video create a red fox in snow'],
    ['--seconds 6', 'prompt: say what the clip should show'],
    ['a fox --seconds 30', 'seconds: 30 is not offered by swift-1; it takes 4, 6 or 8'],
    ['a fox --seconds 5.5', 'seconds: 5.5 is not offered by swift-1; it takes 4, 6 or 8'],
    ['a fox --seconds -6', 'seconds: -6 is not offered by swift-1; it takes 4, 6 or 8'],
    ['a fox --seconds six', 'seconds: “six” is not a number of seconds, such as 6'],
    [
      'a fox --seconds 7 --model epic-pro --image https://a.test/1',
      'seconds: 7 is not offered by epic-pro; it takes 5 to 15 in steps of 5',
    ],
    ['a fox --model swift', 'model: “swift” is not in the catalog; it has swift-1, epic-pro or plain'],
    ['a fox --aspect 4:3', 'aspect: 4:3 is not offered by swift-1; it takes 16:9, 9:16 or 1:1'],
    ['a fox --aspect 16:9 --model plain', 'aspect: plain does not take it; leave it out'],
    ['a fox --resolution 4k', 'resolution: 4k is not offered by swift-1; it takes 480p or 720p'],
    ['a fox --resolution 720p --model plain', 'resolution: plain does not take it; leave it out'],
    ['a fox --image fox.png', 'image: “fox.png” is not an address; it has to begin with https:// or http://'],
    [
      `a fox --image https://a.test/${'x'.repeat(5_000)}`,
      'image: an address of 5015 characters is too long; it takes up to 4096',
    ],
    ['a fox --image ftp://a.test/1', 'image: “ftp://a.test/1” is not an address'],
    [
      'a fox --image https://a.test/1 --image https://a.test/2 --image https://a.test/3',
      'image: 3 were given; swift-1 takes up to 2',
    ],
    ['a fox --audio https://a.test/1', 'audio: swift-1 takes no reference audio; leave it out'],
    ['a fox --video https://a.test/1', 'video: swift-1 takes no reference videos; leave it out'],
    ['a fox --model epic-pro', 'image: none was given; epic-pro needs 1 to 9'],
    [LONG, 'prompt: 2001 characters are too many for swift-1; it takes up to 2000'],
    ['a fox --secnods 6', '--secnods: /video create does not have it; did you mean --seconds?'],
    ['a fox —secnods 6', '--secnods: /video create does not have it; did you mean --seconds?'],
    ['a fox --aspect-ratio 1:1', '--aspect-ratio: /video create does not have it; did you mean --aspect?'],
    ['a fox --bogus', 'It takes --prompt, --model, --seconds, --aspect, --resolution, --image, --audio and --video'],
    ['a fox --running', 'As a part of the text, put it in quotes: "--running"'],
    ['a fox --constructor', '--constructor: /video create does not have it'],
    ['a fox --seconds', 'seconds: no value was given after --seconds'],
    ['a fox --seconds 6 --seconds 8', 'seconds: given 2 times (“6”, “8”); it may be given once'],
    ['a fox --prompt "a wolf"', 'prompt: given 2 times (“a wolf”, “a fox”); it may be given once'],
    ['status nothing-like-it', 'id: no single clip of this team goes by “nothing-like-it”. /video list shows the ids'],
    ['status 7f3', 'id: no single clip of this team goes by “7f3”'],
    ['status --model swift-1', '--model: /video status does not have it. It takes --id'],
    ['status --id 7f3a 8f3b', 'id: given 2 times'],
    [`list ${'x'.repeat(41)}`, 'search: 41 characters are too many; it takes up to 40'],
    ['list --who nobody', 'who: I know nobody here called “nobody”; write everyone, me, or @ and the name'],
    ['list --who', 'who: no value was given after --who; it takes everyone, me, or @ and a name'],
    ['cancel', 'id: it is missing; such as: /video cancel 7f3a9c21'],
    ['cancel 00000000', 'id: no single clip of this team goes by “00000000”'],
    ['retry', 'id: it is missing; such as: /video retry 7f3a9c21'],
    ['retry 00000000', 'id: no single clip of this team goes by “00000000”'],
    ['models --all', '--all: /video models does not have it. It takes no options'],
    [
      'models of ships',
      'models: “of ships” is more than /video models takes. For a clip of that, write: /video create models of ships',
    ],
    ['usage nobody', 'who: I know nobody here called “nobody”'],
    ['usage --month november', 'month: “november” is not a month; write it as year and month, such as 2026-11'],
    ['usage --month 2026-13', 'month: “2026-13” is not a month'],
    ['notify nobody', 'who: I know nobody here called “nobody”'],
    ['notify --channel', 'channel: no value was given after --channel; it takes a channel, such as #clips'],
    ['notify --off=yes', 'off: --off takes no value; “yes” was given. Write --off alone.'],
    [
      'help me out',
      'help: “me out” is more than /video help takes. For a clip of that, write: /video create help me out',
    ],
  ])('%s', async (text, sentence) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), text);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(sentence) });
    expect(house.orders).toEqual([]);
    expect(house.subscribed).toEqual([]);
  });

  it('says everything that is wrong at once, a line each', async () => {
    const reply = await new BotHouse(CATALOG).bot.text(ada(), '--seconds 30 --aspect 2:1 --bogus --image x --model');
    const sentence = reply.kind === 'refused' ? reply.sentence : '';
    expect(sentence.split('\n').map((line) => line.split(':')[0])).toEqual([
      'model',
      '--bogus',
      'prompt',
      'seconds',
      'aspect',
      'image',
    ]);
  });
});

describe('wrong input, as options', () => {
  it.each<[string, GivenOptions, string]>([
    ['create', {}, 'prompt: say what'],
    ['create', { prompt: ['  '] }, 'prompt: say what'],
    ['create', { prompt: ['a fox'], seconds: ['30'] }, 'seconds: 30 is not offered by swift-1; it takes 4, 6 or 8'],
    ['create', { prompt: ['a fox'], secs: ['6'] }, '--secs: /video create does not have it'],
    ['cancel', {}, 'id: it is missing'],
    ['retry', { id: [''] }, 'id: it is missing'],
    ['status', { id: ['x'.repeat(101)] }, 'id: 101 characters are too many; it takes up to 100'],
    [
      'paint',
      {},
      '“paint” is no command of mine; there are create, status, list, cancel, retry, models, usage, notify and help',
    ],
  ])('%s %j', async (name, given, sentence) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.command(ada(), name, given);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(sentence) });
    expect(house.orders).toEqual([]);
  });
});
