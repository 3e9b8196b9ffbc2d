import { describe, expect, it } from 'vitest';
import { commandDefinitions } from '#adapters/discord/registration/commands.ts';
import { declarations } from '#commands/registry.ts';
import { checkedCommands } from '#test/fakes/discord/command-form.ts';

interface Option {
  readonly name: string;
  readonly description: string;
  readonly type: number;
  readonly required?: boolean;
  readonly options?: readonly Option[];
  readonly autocomplete?: boolean;
  readonly [limit: string]: unknown;
}

const definitions = (isGlobal: boolean, hasUserInstall = false) =>
  commandDefinitions({
    commands: declarations,
    isGlobal,
    hasUserInstall,
  }) as unknown as readonly Option[];
const [video] = definitions(true);
const subcommands = video?.options ?? [];
const create = subcommands.find(({ name }) => name === 'create');
const option = (name: string) => create?.options?.find((one) => one.name === name);

describe('the registered commands', () => {
  it('are /video with every subcommand, /clip, and the actions on messages and people', () => {
    const usual = definitions(true).filter(({ name }) => name !== 'video-admin');
    expect(usual.map(({ name, type }) => [name, type])).toEqual([
      ['video', 1],
      ['clip', 1],
      ['Animate this', 3],
      ['Make a storyboard of this', 3],
      ['Another take', 3],
      ['Show this person’s clips', 2],
    ]);
    const others = declarations.filter(({ isAdministrative }) => isAdministrative !== true);
    expect(subcommands.map(({ name }) => name)).toEqual(others.map(({ name }) => name));
  });

  // @see https://discord.com/developers/docs/interactions/application-commands#application-command-object
  it('stay within Discord’s limits', () => {
    // Over 8000 characters, names and descriptions in the longest of their languages, and over 100 commands, or 15 on messages
    // or people, are refused.
    expect(checkedCommands(definitions(true, true), true)).toHaveLength(definitions(true).length);
    expect(checkedCommands(definitions(false), false)).toHaveLength(definitions(false).length);
    for (const one of [...subcommands, ...subcommands.flatMap(({ options = [] }) => options)]) {
      expect(one.name).toMatch(/^[-_\p{Ll}\p{N}]{1,32}$/u);
      expect(one.description.length).toBeGreaterThan(0);
      expect(one.description.length).toBeLessThanOrEqual(100);
      expect(one.options?.length ?? 0).toBeLessThanOrEqual(25);
    }
  });

  it('hold /clip, which is /video create with the fields that people use most', () => {
    const clip = definitions(true).find(({ name }) => name === 'clip');
    expect(clip?.options?.map(({ name }) => name)).toEqual(['prompt', 'model', 'seconds', 'aspect', 'image']);
    expect(clip?.options).toEqual(clip?.options?.map(({ name }) => option(name)));
    expect(clip?.options?.filter(({ required }) => required === true).map(({ name }) => name)).toEqual(['prompt']);
    expect(clip?.description).toBe(create?.description);
    expect(clip).not.toHaveProperty('default_member_permissions');
  });

  it('list the required options first', () => {
    for (const { options = [] } of subcommands) {
      const order = options.map(({ required }) => required === true);
      expect(order).toEqual([...order].sort((one, other) => Number(other) - Number(one)));
    }
  });

  it('take limits, suggestions and kinds from the declaration', () => {
    expect(option('prompt')).toMatchObject({ type: 3, required: true, min_length: 1, max_length: 6000 });
    expect(option('model')).toMatchObject({ type: 3, autocomplete: true });
    expect(option('seconds')).toMatchObject({ type: 4, min_value: 1, autocomplete: true });
    expect(option('image_url')).toMatchObject({ type: 3, autocomplete: true });
    expect(option('video_url')).not.toHaveProperty('autocomplete');
    const [topic] = subcommands.find(({ name }) => name === 'help')?.options ?? [];
    expect(topic).toMatchObject({ name: 'command', type: 3, autocomplete: true });
    expect(create?.options?.filter(({ type }) => type === 11).map(({ name }) => name)).toEqual([
      'image',
      'image2',
      'image3',
      'audio',
      'video',
    ]);
    for (const name of ['image_url', 'audio_url', 'video_url']) expect(option(name)).toMatchObject({ type: 3 });
  });

  it('can be installed to servers, and to users if enabled; commands of one server have no contexts', () => {
    for (const one of definitions(true)) expect(one).toMatchObject({ integration_types: [0], contexts: [0, 1] });
    for (const one of definitions(true, true).filter(({ name }) => name !== 'video-admin'))
      expect(one).toMatchObject({ integration_types: [0, 1], contexts: [0, 1, 2] });
    for (const one of definitions(false)) {
      expect(one).not.toHaveProperty('contexts');
      expect(one).not.toHaveProperty('integration_types');
    }
  });

  it('leave permissions to the server’s owner, but for the administrative ones', () => {
    const restricted = definitions(true).filter(({ default_member_permissions: members }) => members !== undefined);
    expect(restricted.filter(({ name }) => name !== 'video-admin')).toEqual([]);
  });

  it('hold a command with administrative options twice, the options in /video-admin alone', () => {
    const [usual, admin] = definitions(true);
    const optionsOf = (definition: typeof usual) =>
      (definition as unknown as { options: { name: string; options: { name: string }[] }[] }).options
        .find(({ name }) => name === 'policy')
        ?.options.map(({ name }) => name);
    expect(optionsOf(usual)).toEqual(['channel']);
    expect(optionsOf(admin)).toEqual(expect.arrayContaining(['channel', 'models', 'words']));
  });

  // @see https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
  it('hold administrative commands in /video-admin, for members with Manage Server', () => {
    const [models] = declarations.filter(({ name }) => name === 'models');
    if (models === undefined) throw new TypeError('there is no /video models');
    const commands = [models, { ...models, name: 'settings', isAdministrative: true }] as const;
    const [usual, admin, ...others] = commandDefinitions({ commands, isGlobal: true, hasUserInstall: true });
    expect(usual).toMatchObject({ name: 'video', options: [{ name: 'models' }] });
    expect(usual).not.toHaveProperty('default_member_permissions');
    // In a direct message Discord checks no permissions: it is the way for people named in ADMINS.
    expect(admin).toMatchObject({
      name: 'video-admin',
      default_member_permissions: '32',
      integration_types: [0],
      contexts: [0, 1],
      options: [{ name: 'settings' }],
    });
    expect(others.map(({ type }) => type)).toEqual([3, 3, 3, 2]);
    expect(commandDefinitions({ commands, isGlobal: false })[1]).not.toHaveProperty('contexts');
  });
});
