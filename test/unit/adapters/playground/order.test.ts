import { describe, expect, it } from 'vitest';
import { wireModels } from '#adapters/playground/models.ts';
import { complete } from '#adapters/playground/page/composer/completion.js';
import { orderSummary, priceOfTakes } from '#adapters/playground/page/composer/order.js';
import { declarations } from '#commands/registry.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';

const MODELS = wireModels(parseCatalog(sandboxCatalog));
const typing = (text: string) => complete(text, text.length, declarations, { users: [], channels: [] }, MODELS);

describe('the summary of an order', () => {
  it.each([
    [{}, 'Swift 1 · 4 s · 16:9 · 720p · $0.20'],
    [{ seconds: ['8'], aspect: ['9:16'] }, 'Swift 1 · 8 s · 9:16 · 720p · $0.40'],
    [
      { seconds: ['6 s'], image: ['https://a.example/1.png'] },
      'Swift 1 · 6 s · 16:9 · 720p · 1 reference file · $0.30',
    ],
    [{ model: ['SKETCH-480p'] }, 'Sketch · 1 s · 16:9 · $0.02'],
    [{ seconds: ['6'], takes: ['4'] }, 'Swift 1 · 6 s · 16:9 · 720p · 4 takes · $1.20'],
    [{ takes: ['5'] }, null],
    // Its defaults are not known to the page.
    [{ style: ['house'] }, null],
    [{ model: ['nothing'] }, null],
    [{ seconds: ['7'] }, null],
  ])('%j: %s', (given, expected) => {
    expect(orderSummary(given, MODELS)).toEqual(expected);
  });

  it('and its form have the price of several takes, as the form sends it back', () => {
    const seconds = MODELS[0]?.settings
      .find(({ name }) => name === 'seconds')
      ?.choices?.find(({ value }) => value === '6');
    expect(priceOfTakes(seconds, '')).toMatchObject({ priceId: '0.3USD' });
    expect(priceOfTakes(seconds, '3')).toEqual({
      price: '$0.90',
      priceId: '0.9USD',
      priceInFull: 'Swift 1 · $0.05/s · 6 s · 3 takes = $0.90',
    });
  });

  it('is shown from the second word of a prompt on, also with the caret before the options', () => {
    expect(typing('/video create a fox ').hint).toEqual({
      title: 'Order',
      text: 'Swift 1 · 4 s · 16:9 · 720p · $0.20',
    });
    const text = '/video create a fox --seconds 8';
    const caret = '/video create a fo'.length;
    expect(complete(text, caret, declarations, { users: [], channels: [] }, MODELS).hint?.text).toContain('$0.40');
  });

  it('is not shown for another command', () => {
    expect(typing('/video list a fox ').hint?.text).not.toContain('$');
  });
});

it('offers only the options that the chosen model takes', () => {
  const names = (text: string) => typing(text).options.map(({ name }: { name: string }) => name);
  expect(names('/video create a fox ')).toEqual([
    'model',
    'seconds',
    'aspect',
    'resolution',
    'takes',
    'style',
    'image',
  ]);
  expect(names('/video create a fox --model sketch-480p ')).not.toContain('resolution');
  expect(names('/video create a fox --model sketch-480p ')).not.toContain('audio');
});

it('does not turn plain text into a command by itself', () => {
  const found = typing('hello team');
  expect(found.isEager).toBe(false);
  expect(found.offers).toEqual([
    expect.objectContaining({ insert: '/video create hello team', detail: expect.stringContaining('$0.20') }),
  ]);
});
