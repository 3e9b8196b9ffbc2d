import type { APIAttachment } from 'discord.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFilledIn as readModal } from '#adapters/discord/interactions/modals.ts';
import { parseCommand } from '#adapters/discord/interactions/options.ts';
import { renderCard as renderForDiscord } from '#adapters/discord/messages/render.ts';
import { imageIn } from '#adapters/slack/interactions/attachments.ts';
import { mentionedText, typedText } from '#adapters/slack/interactions/command-text.ts';
import { errorsOf, readFilledIn, readMetadata } from '#adapters/slack/interactions/modals.ts';
import { escapePlain, unescapeText } from '#adapters/slack/messages/mrkdwn.ts';
import { renderCard as renderForSlack } from '#adapters/slack/messages/render.ts';
import { readRequest } from '#adapters/slack/transport/request-id.ts';
import { isolated } from '#commands/ui/card.ts';
import { parse } from '#test/fakes/slack/mrkdwn.ts';
import { deepJson, EVERY_OBJECTS, jsonWith, objectWith, runs, textWith, withinCpuTime } from './runs.ts';

const MARKED = textWith(
  '<@U1|ada>',
  '<#C1>',
  '<!channel>',
  '<https://a.example|a>',
  '&amp;',
  '&lt;',
  '*',
  '_',
  ':x:',
  '`',
  '>',
);

describe('input from Slack', () => {
  const names = ['type', 'command', 'trigger_id', 'event_id', 'event', 'view', 'id', 'hash', 'state', 'container'];
  const kinds = [
    'event_callback',
    'block_actions',
    'view_submission',
    'shortcut',
    'app_mention',
    'reaction_added',
    'x',
  ];

  it('is a known request, or none', () => {
    fc.assert(
      fc.property(fc.oneof(objectWith(...names), jsonWith([...names, 'item', 'reaction'], kinds)), (body) => {
        if (typeof body !== 'object' || body === null) return;
        const request = readRequest(body);
        if (request !== null) expect(typeof request.id).toBe('string');
      }),
      runs(2_000),
    );
  });

  it('is converted to text without markup', () => {
    fc.assert(
      fc.property(MARKED, fc.boolean(), (text, keepsMentions) => {
        expect(typeof unescapeText(text, { keepsMentions })).toBe('string');
        expect(typedText(text)).toBe(typedText(text).trim());
        const mentioned = mentionedText(`<@B1> ${text}`, 'B1');
        expect(mentioned).not.toBeNull();
      }),
      runs(2_000),
    );
  });

  it('unescapes to the text that was escaped', () => {
    fc.assert(
      fc.property(MARKED, (text) => {
        expect(unescapeText(escapePlain(text), { keepsMentions: true })).toBe(text);
        expect(escapePlain(text)).not.toMatch(/<[@#!h]/);
      }),
      runs(1_000),
    );
  });

  it.each(['<', '<@', '&', ':a', '<https://a|', '<!date^', ' ', '>\n', '`'])(
    'is parsed and escaped within the time limit for 40,000 characters of %s',
    async (piece) => {
      const text = piece.repeat(40_000 / piece.length);
      await withinCpuTime(2_000, () => {
        expect(typeof typedText(text)).toBe('string');
        expect(typeof mentionedText(text, 'B1')).not.toBe('number');
        expect(typeof isolated(text)).toBe('string');
      });
    },
  );

  it('in forms is read field by field, for any content', () => {
    const field = fc.oneof(fc.constantFrom('prompt', 'image_files', ...EVERY_OBJECTS), fc.string());
    const sent = jsonWith(['value', 'selected_option', 'files', 'id', 'name'], ['a fox', 6]);
    const values = fc.dictionary(field, fc.dictionary(field, sent, { maxKeys: 4 }), { maxKeys: 4 });
    fc.assert(
      fc.property(values, MARKED, (given, sentence) => {
        const { values: read, files } = readFilledIn({ state: { values: given } });
        for (const value of Object.values(read)) expect(typeof value).toBe('string');
        expect(Array.isArray(files)).toBe(true);
        const errors = errorsOf({ state: { values: given } }, { sentence, problems: [{ field: 'prompt', sentence }] });
        for (const error of Object.values(errors)) expect(typeof error).toBe('string');
      }),
      runs(1_000),
    );
  });

  it('as private metadata of a form is valid, or none', () => {
    const json = jsonWith(['form', 'channel', 'thread', 'image', 'id'], ['create', 'C1']).map(
      (one) => JSON.stringify(one) ?? '',
    );
    fc.assert(
      fc.property(fc.oneof(json, fc.string()), (text) => {
        const memory = readMetadata(text);
        if (memory !== null) expect(typeof memory.channel).toBe('string');
      }),
      runs(1_000),
    );
    expect(readMetadata(deepJson(60_000, '[', ']'))).toBeNull();
  });

  it('contains an image, or none', () => {
    const part = objectWith('image_url', 'thumb_url', 'type');
    const file = fc.record(
      { id: fc.string(), mimetype: fc.constantFrom('image/png', 'text/plain') },
      { requiredKeys: [] },
    );
    const message = fc.record(
      { files: fc.array(file), blocks: fc.array(part), attachments: fc.array(part) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(message, (given) => {
        expect(imageIn(given as Parameters<typeof imageIn>[0])).not.toBeUndefined();
      }),
      runs(500),
    );
  });
});

describe('input from Discord', () => {
  const name = fc.oneof(
    fc.constantFrom('prompt', 'image', 'image2', 'image_url', 'who', ...EVERY_OBJECTS),
    fc.string(),
  );
  const option = fc.record({
    name,
    type: fc.constantFrom(3, 4, 5, 6, 7, 11),
    value: fc.oneof(fc.string(), fc.constantFrom('1', ...EVERY_OBJECTS)),
    focused: fc.boolean(),
  });
  const attachment = { url: 'https://cdn.example/a.png', filename: 'a.png', size: 1 } as APIAttachment;

  it('as options is read by name', () => {
    fc.assert(
      fc.property(name, fc.array(option, { maxLength: 5 }), (command, options) => {
        const given = parseCommand(
          [{ name: command, type: 1, options }] as unknown as Parameters<typeof parseCommand>[0],
          {
            attachments: { 1: attachment },
          },
        );
        expect(given?.command).toBe(command);
        for (const values of Object.values(given?.options ?? {})) expect(Array.isArray(values)).toBe(true);
        for (const one of given?.attachments ?? []) expect(one.attachment.url).toBe(attachment.url);
      }),
      runs(2_000),
    );
  });

  it('as a submitted form is read by field', () => {
    const sent = jsonWith(['custom_id', 'value', 'values', 'component', 'components'], ['prompt', 'a fox']);
    const component = fc.dictionary(fc.constantFrom('custom_id', 'value', 'component'), sent, { maxKeys: 3 });
    fc.assert(
      fc.property(fc.array(component, { maxLength: 4 }), (components) => {
        for (const value of Object.values(readModal(components).values)) expect(typeof value).toBe('string');
      }),
      runs(1_000),
    );
  });
});

describe('untrusted text', () => {
  it('is rendered on every platform within its limits', () => {
    const words = textWith('@everyone', '<@1>', '# ', '**', '```', '||', '[a](https://b)', 'x'.repeat(500), '\n');
    const line = fc.array(
      fc.oneof(
        words,
        words.map((untrusted) => ({ untrusted })),
      ),
      { maxLength: 4 },
    );
    const card = fc.record({
      lines: fc.array(line, { maxLength: 6 }),
      progress: fc.option(fc.nat(100)),
      buttons: fc.constant([]),
    });
    fc.assert(
      fc.property(card, (given) => {
        const discord = JSON.stringify(renderForDiscord(given, { guild: null }));
        expect(discord).not.toBe('');
        const slack = renderForSlack(given, { workspaceUrl: null, repeats: null });
        expect(parse(slack.text, slack.blocks as unknown as Parameters<typeof parse>[1]).pings).toEqual([]);
      }),
      runs(500),
    );
  });
});
