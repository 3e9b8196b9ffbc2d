import { describe, expect, it } from 'vitest';
import { parseText } from '#commands/input/text.ts';
import { declarations } from '#commands/registry.ts';

const parse = (text: string) => parseText(text, declarations);

describe('typed command', () => {
  it.each([
    ['a red fox', { prompt: ['a red fox'] }],
    ['/video a red fox', { prompt: ['a red fox'] }],
    ['create a red fox', { prompt: ['a red fox'] }],
    ['/video  CREATE   a red fox ', { prompt: ['a red fox'] }],
    ['a fox --seconds 6 --aspect=16:9', { prompt: ['a fox'], seconds: ['6'], aspect: ['16:9'] }],
    ['--seconds 6 a fox', { prompt: ['a fox'], seconds: ['6'] }],
    ['a fox --seconds 6 in snow', { prompt: ['a fox in snow'], seconds: ['6'] }],
    ['a fox --Seconds 6', { prompt: ['a fox'], seconds: ['6'] }],
    ['a fox —seconds 6 –aspect 1:1', { prompt: ['a fox'], seconds: ['6'], aspect: ['1:1'] }],
    ['a fox —seconds=6', { prompt: ['a fox'], seconds: ['6'] }],
    ['a fox\nin snow\n--seconds 6', { prompt: ['a fox\nin snow'], seconds: ['6'] }],
    [
      'a fox --image https://a.test/1 --image https://a.test/2',
      { prompt: ['a fox'], image: ['https://a.test/1', 'https://a.test/2'] },
    ],
    ['a fox --image <https://a.test/1.png|a label>', { prompt: ['a fox'], image: ['https://a.test/1.png'] }],
    ['a fox like <https://a.test>', { prompt: ['a fox like https://a.test'] }],
    ['a fox --model "swift-1"', { prompt: ['a fox'], model: ['swift-1'] }],
    ["a fox --model='swift-1'", { prompt: ['a fox'], model: ['swift-1'] }],
    ['a fox --model “swift-1”', { prompt: ['a fox'], model: ['swift-1'] }],
    ['"a red fox" --seconds 6', { prompt: ['a red fox'], seconds: ['6'] }],
    ['“a red fox”', { prompt: ['a red fox'] }],
    ['--prompt "a red fox" --seconds 6', { prompt: ['a red fox'], seconds: ['6'] }],
  ])('parses %j as create', (text, given) => {
    expect(parse(text)).toMatchObject({ command: 'create', given, problems: [] });
  });

  it.each([
    "the fox's den, it's cold, dogs' night",
    'the fox’s den',
    'a fox -- then a wolf',
    'a fox — then a wolf',
    'a fox —running— through snow',
    'a fox-trot--fast',
    'a sign that says "OPEN --seconds 6 now"',
    'a sign that says “--bogus”, in neon',
    'a 6" nail and a 4" nail',
    '--- a fox ---',
    'a -30 degree day',
    '“One” and “two”',
    '🦊 runs\n\n  twice',
  ])('parses all of %j as the prompt', (text) => {
    expect(parse(text)).toMatchObject({ command: 'create', given: { prompt: [text] }, problems: [] });
  });

  it.each([
    ['status', 'status', {}],
    ['status 7f3a', 'status', { id: ['7f3a'] }],
    ['list red fox --who me', 'list', { search: ['red fox'], who: ['me'] }],
    ['compare a fox --models a,b, c', 'compare', { prompt: ['a fox'], models: ['a,b,c'] }],
    ['compare --models a, b ,c a fox', 'compare', { prompt: ['a fox'], models: ['a,b,c'] }],
    ['compare a fox --models a, --seconds 6', 'compare', { prompt: ['a fox'], models: ['a,'], seconds: ['6'] }],
    ['compare a fox --models a,', 'compare', { prompt: ['a fox'], models: ['a,'] }],
    ['list --who <@U2|Bob the Builder> red', 'list', { search: ['red'], who: ['<@U2|Bob the Builder>'] }],
    ['cancel 7f3a', 'cancel', { id: ['7f3a'] }],
    ['Retry 7f3a', 'retry', { id: ['7f3a'] }],
    ['models', 'models', {}],
    ['usage me --month 2026-10', 'usage', { who: ['me'], month: ['2026-10'] }],
    ['notify --off everyone', 'notify', { off: [''], who: ['everyone'] }],
    [
      'notify everyone --channel <#C2|films> --off',
      'notify',
      { off: [''], who: ['everyone'], channel: ['<#C2|films>'] },
    ],
    ['help', 'help', {}],
  ])('parses %j as %s', (text, command, given) => {
    expect(parse(text)).toMatchObject({ command, given, problems: [] });
  });

  it.each(['', '  ', '/video', ' /video  '])('parses %j as empty', (text) => {
    expect(parse(text).command).toBeNull();
  });

  it('keeps a word that only starts with a command’s name', () => {
    expect(parse('/videos of foxes').given).toEqual({ prompt: ['/videos of foxes'] });
    expect(parse('listing ships').given).toEqual({ prompt: ['listing ships'] });
  });

  it.each([
    ['a fox --seconds', 'seconds: --seconds needs a value: a whole number, such as 6'],
    ['a fox --seconds --aspect 1:1', 'seconds: --seconds needs a value'],
    ['a fox --seconds= 6', 'seconds: --seconds needs a value'],
    ['a fox --image', 'image: --image needs a value: an address'],
    ['notify --off=yes', 'off: --off takes no value, but “yes” was given'],
    ['models of ships', 'write: /video create models of ships'],
    ['models me', 'models: /video models takes no “me”'],
  ])('reports an error for %j', (text, problem) => {
    expect(parse(text).problems).toHaveLength(1);
    expect(parse(text).problems[0]).toContain(problem);
  });

  it('accepts flags named like properties of Object.prototype', () => {
    expect(Object.entries(parse('a fox --constructor --__proto__ x').given)).toContainEqual(['constructor', ['']]);
  });

  it('parses a long text of quotes and dashes without delay', () => {
    const text = '"a —b '.repeat(3000);
    expect(parse(text).command).toBe('create');
  });
});
