import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIAttachment } from 'discord.js';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { renderForm } from '#adapters/discord/interactions/modals.ts';
import { separated, textOf } from '#adapters/discord/interactions/options.ts';
import { commandDefinitions } from '#adapters/discord/registration/commands.ts';
import { storyboardForm } from '#commands/input/forms.ts';
import { declarations } from '#commands/registry.ts';
import { checkedModal } from '#test/fakes/discord/modal.ts';
import { CATALOG } from '../../../videos/models.ts';

const LOGGER = pino({ level: 'silent' });
let server: Server | null = null;

afterEach(() => void server?.close());

/** Serves a text, as Discord's CDN does. */
async function attached(filename: string, status: number, text: string | Buffer, type?: string) {
  server = createServer((_request, response) => response.writeHead(status).end(text));
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/attachments/1/2/${filename}`;
  const attachment = { url, filename, ...(type === undefined ? {} : { content_type: type }) } as APIAttachment;
  return { option: 'file', attachment };
}

it('has an option for a text file in place of one for lines, which Discord’s options cannot hold', () => {
  const [video] = commandDefinitions({ commands: declarations, isGlobal: false });
  const named = JSON.parse(JSON.stringify(video)) as {
    options: { name: string; options: { name: string; type: number }[] }[];
  };
  const options = named.options.find(({ name }) => name === 'storyboard')?.options ?? [];
  expect(options.map(({ name, type }) => [name, type])).toEqual([
    ['file', 11],
    ['model', 3],
    ['seconds', 4],
    ['aspect', 3],
    ['resolution', 3],
    ['style', 3],
    ['chain', 5],
  ]);
});

it('reads the file as the shots', async () => {
  const given = await attached('board.txt', 200, 'a fox\r\nit runs 🦊', 'text/plain; charset=utf-8');
  expect(separated([given])).toEqual([[given], []]);
  expect(await textOf(given, LOGGER)).toEqual({ options: { shots: ['a fox\r\nit runs 🦊'] } });
  expect(await textOf(undefined, LOGGER)).toEqual({ options: {} });
});

it.each([
  ['UTF-8', Buffer.from('\uFEFFa fox\nit runs 🦊')],
  ['UTF-16LE', Buffer.from('\uFEFFa fox\nit runs 🦊', 'utf16le')],
  ['UTF-16BE', Buffer.from('\uFEFFa fox\nit runs 🦊', 'utf16le').swap16()],
])('reads a file in %s with a byte order mark', async (_encoding, bytes) => {
  expect(await textOf(await attached('board.txt', 200, bytes), LOGGER)).toEqual({
    options: { shots: ['a fox\nit runs 🦊'] },
  });
});

it.each([
  [
    'board.txt',
    200,
    Buffer.from('un zèbre', 'latin1'),
    undefined,
    'file: board.txt isn’t text in UTF-8. Save it as UTF-8',
  ],
  ['board.txt', 200, 'a fox\0', undefined, 'file: board.txt isn’t text'],
  ['board.txt', 200, Buffer.from('a fox', 'utf16le'), undefined, 'file: board.txt isn’t text'],
  ['board.pdf', 200, 'x', 'application/pdf', 'file: board.pdf can’t be used'],
  ['board.txt', 404, 'gone', undefined, 'file: I couldn’t fetch board.txt'],
  ['board.txt', 200, 'x'.repeat(100_001), undefined, 'file: board.txt is too large; the limit is 98 KB'],
])('refuses %s (%i)', async (name, status, text, type, sentence) => {
  expect(await textOf(await attached(name, status, text, type), LOGGER)).toEqual({
    wrong: expect.stringContaining(sentence),
  });
});

it('has a modal of a paragraph and four selects, with the text that was written', () => {
  const reply = storyboardForm({ catalog: () => CATALOG, frames: { missing: () => ['ffmpeg'] } }, null, {
    script: 'a fox\nit runs',
  });
  if (reply.kind !== 'form') throw new TypeError('no form');
  const { components } = checkedModal(renderForm(reply.form));
  expect(components).toMatchObject([
    { component: { type: 4, style: 2, custom_id: 'shots', value: 'a fox\nit runs' } },
    { component: { type: 3, custom_id: 'model', required: false } },
    { component: { type: 3, custom_id: 'seconds' } },
    { component: { type: 3, custom_id: 'aspect' } },
    { component: { type: 3, custom_id: 'resolution' } },
  ]);
});
