import { describe, expect, it } from 'vitest';
import type { GivenOptions } from '#commands/bot-port.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

const LONG = 'x'.repeat(2001);

describe('invalid input as text', () => {
  it.each([
    ['create', 'prompt: say what the clip should show, such as a red fox in snow'],
    ['--seconds 6', 'prompt: say what the clip should show'],
    ['a fox --seconds 30', 'seconds: Swift 1 can’t make 30 s. Choose 4, 6 or 8.'],
    ['a fox --seconds 5.5', 'seconds: Swift 1 can’t make 5.5 s. Choose 4, 6 or 8.'],
    ['a fox --seconds -6', 'seconds: Swift 1 can’t make -6 s. Choose 4, 6 or 8.'],
    ['a fox --seconds six', 'seconds: “six” isn’t a whole number of seconds, such as 6'],
    [
      'a fox --seconds 7 --model epic-pro --image https://a.test/1',
      'seconds: Epic Pro can’t make 7 s. Choose 5 to 15 in steps of 5.',
    ],
    ['a fox --model swift', 'model: there is no model “swift”. Choose swift-1, epic-pro or plain.'],
    ['a fox --aspect 4:3', 'aspect: Swift 1 can’t make 4:3. Choose 16:9, 9:16 or 1:1.'],
    ['a fox --aspect 16:9 --model plain', 'aspect: Plain doesn’t take this option. Leave it out.'],
    ['a fox --resolution 4k', 'resolution: Swift 1 can’t make 4k. Choose 480p or 720p.'],
    ['a fox --resolution 720p --model plain', 'resolution: Plain doesn’t take this option. Leave it out.'],
    ['a fox --image fox.png', 'image: “fox.png” isn’t a link. It has to begin with https:// or http://.'],
    [`a fox --image https://a.test/${'x'.repeat(5_000)}`, 'image: the link has 5,015 characters; the limit is 4,096'],
    ['a fox --image ftp://a.test/1', 'image: “ftp://a.test/1” isn’t a link'],
    [
      'a fox --image https://a.test/1 --image https://a.test/2 --image https://a.test/3',
      'image: 3 were given; Swift 1 takes up to 2',
    ],
    ['a fox --audio https://a.test/1', 'audio: Swift 1 takes no reference audio. Leave it out.'],
    ['a fox --video https://a.test/1', 'video: Swift 1 takes no reference videos. Leave it out.'],
    ['a fox --model epic-pro', 'image: none was given; Epic Pro needs 1 to 9'],
    [LONG, 'prompt: it has 2,001 characters; Swift 1 takes up to 2,000'],
    ['a fox --secnods 6', 'There is no --secnods in /video create. Did you mean --seconds?'],
    ['a fox —secnods 6', 'There is no --secnods in /video create. Did you mean --seconds?'],
    ['a fox --aspect-ratio 1:1', 'There is no --aspect-ratio in /video create. Did you mean --aspect?'],
    [
      'a fox --bogus',
      'Options: --prompt, --model, --seconds, --aspect, --resolution, --takes, --style, --image, --audio, --video',
    ],
    ['a fox --running', 'To use it as text, put it in quotes.'],
    ['a fox --constructor', 'There is no --constructor in /video create'],
    ['a fox --seconds', 'seconds: --seconds needs a value'],
    ['a fox --seconds 6 --seconds 8', 'seconds: given 2 times (“6”, “8”), but it can be given only once'],
    ['a fox --prompt "a wolf"', 'prompt: given 2 times (“a wolf”, “a fox”), but it can be given only once'],
    [
      'status nothing-like-it',
      'No clip found with the ID “nothing-like-it”, or more than one begins with it. /video list shows the IDs',
    ],
    ['status 7f3', 'No clip found with the ID “7f3”'],
    ['status --model swift-1', 'There is no --model in /video status. Options: --id'],
    ['status --id 7f3a 8f3b', 'id: given 2 times'],
    [`list ${'x'.repeat(41)}`, 'search: it has 41 characters; the limit is 40'],
    ['list --who nobody', 'who: I don’t know anyone here called “nobody”. Use everyone, me or @name.'],
    ['list --who', 'who: --who needs a value: everyone, me, or @ and a name'],
    ['cancel', 'Which clip? For example /video cancel 7f3a9c21. /video list shows the IDs.'],
    ['cancel 00000000', 'No clip found with the ID “00000000”'],
    ['retry', 'Which clip? For example /video retry 7f3a9c21. /video list shows the IDs.'],
    ['retry 00000000', 'No clip found with the ID “00000000”'],
    ['policy off', 'off: --off needs a value'],
    ['models --all', 'There is no --all in /video models. It takes no options'],
    [
      'models of ships',
      'models: /video models takes no “of ships”. For a clip of that, write: /video create models of ships',
    ],
    ['usage nobody', 'who: I don’t know anyone here called “nobody”'],
    ['usage --month november', 'month: “november” isn’t a month. Write year and month, such as 2026-11.'],
    ['usage --month 2026-13', 'month: “2026-13” isn’t a month'],
    ['notify nobody', 'who: I don’t know anyone here called “nobody”'],
    ['notify --channel', 'channel: --channel needs a value: a channel, such as #clips'],
    ['notify --off=yes', 'off: --off takes no value, but “yes” was given. Write --off alone.'],
    ['help me out', 'There is no /video me out. Try create'],
  ])('%s', async (text, sentence) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), text);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(sentence) });
    expect(house.orders).toEqual([]);
    expect(house.subscribed).toEqual([]);
  });

  it('reports all errors at once, one per line', async () => {
    const reply = await new BotHouse(CATALOG).bot.text(ada(), '--seconds 30 --aspect 2:1 --bogus --image x --model');
    const sentence = reply.kind === 'refused' ? reply.sentence : '';
    expect(sentence.split('\n').map((line) => line.split(':')[0])).toEqual([
      'model',
      'There is no --bogus in /video create. Options',
      'prompt',
      'seconds',
      'aspect',
      'image',
    ]);
  });
});

describe('invalid input as options', () => {
  it.each<[string, GivenOptions, string]>([
    ['create', {}, 'prompt: say what'],
    ['create', { prompt: ['  '] }, 'prompt: say what'],
    ['create', { prompt: ['a fox'], seconds: ['30'] }, 'seconds: Swift 1 can’t make 30 s. Choose 4, 6 or 8.'],
    ['create', { prompt: ['a fox'], secs: ['6'] }, 'There is no --secs in /video create'],
    ['cancel', {}, 'Which clip? For example'],
    ['retry', { id: [''] }, 'Which clip? For example'],
    ['status', { id: ['x'.repeat(101)] }, 'id: it has 101 characters; the limit is 100'],
    [
      'paint',
      {},
      'There is no /video paint. Try create, compare, status, list, gallery, cancel, retry, delete, storyboard, models, usage, notify, defaults, privacy, library, style, policy, approvals or help.',
    ],
  ])('%s %j', async (name, given, sentence) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.command(ada(), name, given);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(sentence) });
    expect(house.orders).toEqual([]);
  });
});
