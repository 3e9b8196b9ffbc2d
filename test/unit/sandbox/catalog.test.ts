import { expect, it } from 'vitest';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { curlLine, helpText } from '#src/sandbox/help.ts';
import { readRequest } from '#src/sandbox/request.ts';
import { STEERING, steeringOf } from '#src/sandbox/steering.ts';
import { parseCatalog } from '#src/videos/catalog.ts';

const catalog = parseCatalog(sandboxCatalog);

it('is a valid catalog of the bot, with every shape of a model', () => {
  expect(catalog.defaultModel.name).toBe('swift-1');
  expect(new Set(catalog.models.map(({ billing }) => billing))).toEqual(new Set(['per_call', 'per_second']));
  expect(catalog.models.some(({ resolutions }) => resolutions.length === 0)).toBe(true);
  expect(catalog.models.some(({ media }) => media.image.min > 0)).toBe(true);
});

it('shows a valid command in the help page', () => {
  const body = /-d '(.*)'$/.exec(curlLine('http://127.0.0.1:4000', 'token', catalog))?.[1] ?? '';
  expect(readRequest(JSON.parse(body), catalog).model.name).toBe('swift-1');
});

it('lists every model and every test directive in the help page', () => {
  const help = helpText('http://127.0.0.1:4000', catalog);
  for (const { name } of catalog.models) expect(help).toContain(name);
  for (const { write } of STEERING) expect(help).toContain(write);
});

it('finds a test directive anywhere in a prompt, and none in an ordinary one', () => {
  for (const { write, does } of STEERING) expect(steeringOf(`A fox ${write.toUpperCase()} runs`)).toBe(does);
  expect(steeringOf('fail to be slow')).toBeNull();
});
