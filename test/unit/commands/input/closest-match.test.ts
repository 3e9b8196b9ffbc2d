import { expect, it } from 'vitest';
import { nearest } from '#commands/input/closest-match.ts';

const FLAGS = ['prompt', 'model', 'seconds', 'aspect', 'resolution', 'image', 'audio', 'video'];

it.each([
  ['secnods', 'seconds'],
  ['second', 'seconds'],
  ['sec', 'seconds'],
  ['modle', 'model'],
  ['Res', 'resolution'],
  ['aspect-ratio', 'aspect'],
  ['images', 'image'],
  ['vidoe', 'video'],
  ['running', null],
  ['x', null],
  ['', null],
  ['x'.repeat(5000), null],
])('matches %s to %s', (given, meant) => {
  expect(nearest(given, FLAGS)).toBe(meant);
});
