import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '#adapters/slack/manifest.json' with { type: 'json' };
import { parseText } from '#commands/input/text.ts';
import { declarations } from '#commands/registry.ts';

/** @see https://discord.com/developers/docs/interactions/application-commands#application-command-object */
describe('declarations', () => {
  it('are in the order of the help', () => {
    const names = [
      'create',
      'compare',
      'status',
      'list',
      'gallery',
      'cancel',
      'retry',
      'delete',
      'storyboard',
      'models',
      'usage',
      'notify',
      'defaults',
      'privacy',
      'library',
      'style',
      'policy',
      'approvals',
    ];
    const administrative = ['budget', 'statement', 'approvers', 'settings', 'review', 'pause', 'audit', 'erase_person'];
    expect(declarations.map(({ name }) => name)).toEqual([...names, ...administrative, 'help']);
    expect(declarations.filter(({ isAdministrative }) => isAdministrative === true).map(({ name }) => name)).toEqual(
      administrative,
    );
  });

  it.each(declarations)('$name is within Discord’s limits', ({ name, description, options }) => {
    for (const named of [{ name, description }, ...options]) {
      expect(named.name).toMatch(/^[a-z_]{1,32}$/);
      expect(named.description.length).toBeGreaterThan(0);
      expect(named.description.length).toBeLessThanOrEqual(100);
    }
    expect(options.length).toBeLessThanOrEqual(25);
    expect(new Set(options.map((option) => option.name)).size).toBe(options.length);
    expect(options.filter(({ positional }) => positional).length).toBeLessThanOrEqual(1);
    for (const { choices = [] } of options) expect(choices.length).toBeLessThanOrEqual(25);
  });

  it('have fewer than 8000 characters in total', () => {
    const texts = declarations.flatMap((one) => [one, ...one.options]).map((one) => one.name + one.description);
    expect(texts.join('').length).toBeLessThan(8000);
  });

  it.each(declarations)('the example of $name can be parsed', ({ name, example }) => {
    expect(parseText(example, declarations)).toMatchObject({ command: name, problems: [] });
  });
});

describe('documentation', () => {
  const document = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8');

  it.each(declarations)('docs/commands.md has a row for $name with its options', ({ name, options }) => {
    const words = options.map((option) => {
      const word = option.repeated ? `${option.name}…` : option.name;
      return option.required ? word : `[${word}]`;
    });
    expect(document).toContain(`| \`${['/video', name, ...words].join(' ')}\` |`);
  });

  it('the hint in Slack’s manifest names every command', () => {
    const [hint] = manifest.features.slash_commands.map((command) => command.usage_hint);
    const [create, ...others] = declarations;
    expect(hint).toBe([create?.example.replace('/video create ', ''), ...others.map(({ name }) => name)].join(' · '));
  });
});
