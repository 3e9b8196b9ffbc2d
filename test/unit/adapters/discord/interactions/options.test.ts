import { type APIAttachment, type APIInteractionDataResolved, ApplicationCommandOptionType } from 'discord.js';
import { expect, it } from 'vitest';
import { readFilledIn } from '#adapters/discord/interactions/modals.ts';
import { parseCommand } from '#adapters/discord/interactions/options.ts';

const { Attachment, Mentionable, String: Text, Subcommand } = ApplicationCommandOptionType;
const FOX = { url: 'https://cdn.example/fox.png', filename: 'fox.png' } as APIAttachment;

it('reads options by name, and files from the resolved data, for any file name', () => {
  const options = [
    { name: 'constructor', type: Text, value: 'a fox' },
    { name: 'constructor', type: Text, value: 'a wolf' },
    { name: 'image', type: Attachment, value: '1' },
    { name: 'image2', type: Attachment, value: 'toString' },
  ];
  const given = parseCommand([{ name: 'create', type: Subcommand, options }] as Parameters<typeof parseCommand>[0], {
    attachments: { 1: FOX },
  });
  expect({ ...given?.options }).toEqual({ constructor: ['a fox', 'a wolf'] });
  expect(given?.attachments).toEqual([{ option: 'image', attachment: FOX }]);
});

it('reads a form’s fields in labels and in rows, and ignores anything else', () => {
  const endless: Record<string, unknown> = { custom_id: 'deep', value: 'x' };
  endless['component'] = endless;
  const components = [
    { type: 18, component: { custom_id: 'prompt', value: 'a fox' } },
    { type: 1, components: [{ custom_id: 'seconds', value: '6' }, null] },
    { type: 18, component: null },
    { type: 18, component: { custom_id: 'model', values: ['swift-1'] } },
    endless,
  ];
  expect(readFilledIn(components).values).toEqual({ prompt: 'a fox', seconds: '6', model: 'swift-1', deep: 'x' });
});

it('splits URLs at commas and blanks', () => {
  const options = [{ name: 'image_url', type: Text, value: 'https://a.test/1, https://a.test/2,' }];
  const given = parseCommand([{ name: 'create', type: Subcommand, options }] as Parameters<typeof parseCommand>[0]);
  expect(given?.options['image']).toEqual(['https://a.test/1', 'https://a.test/2']);
});

it('reads what is typed of a URL as the option that it belongs to', () => {
  const options = [{ name: 'image_url', type: Text, value: '@mu', focused: true }];
  const given = parseCommand([{ name: 'create', type: Subcommand, options }] as Parameters<typeof parseCommand>[0]);
  expect(given?.focused).toEqual({ name: 'image', typed: '@mu' });
});

it('reads nothing from null or missing fields', () => {
  expect(parseCommand(null, null)).toBeNull();
  expect(parseCommand(undefined, undefined)).toBeNull();
  const bare = [{ name: 'list', type: Subcommand, options: null }] as unknown as Parameters<typeof parseCommand>[0];
  expect(parseCommand(bare, null)).toMatchObject({ command: 'list', attachments: [], focused: null });
  expect(readFilledIn(undefined).values).toEqual({});
  expect(readFilledIn(null).values).toEqual({});
});

it('reads a role apart from a person, by names that cannot end the mention', () => {
  const options = (value: string) =>
    [{ name: 'approvers', type: Subcommand, options: [{ name: 'who', type: Mentionable, value }] }] as Parameters<
      typeof parseCommand
    >[0];
  const resolved = {
    roles: { 7: { id: '7', name: 'leads> <@&8|x' } },
    users: { 5: { id: '5', username: 'ben' } },
  } as unknown as APIInteractionDataResolved;
  expect(parseCommand(options('7'), resolved)?.options['who']).toEqual(['<@&7|@leads @&8x>']);
  expect(parseCommand(options('5'), resolved)?.options['who']).toEqual(['<@5|ben>']);
  expect(parseCommand(options('6'), resolved)?.options['who']).toEqual(['<@6>']);
});
