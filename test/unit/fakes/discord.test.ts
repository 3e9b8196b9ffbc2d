import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeDiscord, fileOf, type Interaction, startDiscord } from '#test/fakes/discord/index.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { RawBot } from './raw-bot.ts';

const MINUTE_MS = 60_000;
/** Suppresses all mentions. */
const QUIET = { allowed_mentions: { parse: [] } };
const VIDEO = {
  name: 'video',
  description: 'Makes videos',
  options: [
    {
      type: 1,
      name: 'create',
      description: 'Makes one',
      options: [
        { type: 3, name: 'prompt', description: 'What to show', required: true, max_length: 100 },
        { type: 3, name: 'model', description: 'Which', autocomplete: true },
        { type: 4, name: 'seconds', description: 'How long', min_value: 1, max_value: 15 },
        { type: 11, name: 'image', description: 'First frame' },
      ],
    },
  ],
  integration_types: [0, 1],
  contexts: [0, 1, 2],
};
const BUTTONS = [{ type: 1, components: [{ type: 2, style: 2, label: 'Retry', custom_id: 'retry' }] }];

let clock: ManualClock;
let discord: FakeDiscord;
let bot: RawBot;

beforeEach(async () => {
  clock = new ManualClock();
  discord = await startDiscord({ clock, maxFileBytes: 1000, limits: { webhook: { limit: 50, windowMs: 1_000 } } });
  bot = new RawBot(discord);
  await bot.call(`PUT /applications/${discord.applicationId}/commands`, [VIDEO, { type: 3, name: 'Animate this' }]);
});
afterEach(() => discord.close());

const create = (circumstances = {}): Interaction =>
  discord.people.slash('video create', { prompt: 'a fox' }, circumstances);
const callback = ({ id, token }: Interaction, body: unknown, query = '') =>
  bot.call(`POST /interactions/${id}/${token}/callback${query}`, body);
const webhook = (method: string, { token }: Interaction, message: string | null, body?: unknown, sending = {}) =>
  bot.call(
    `${method} /webhooks/${discord.applicationId}/${token}${message === null ? '' : `/messages/${message}`}`,
    body,
    sending,
  );
const send = (body: unknown, sending = {}, channel = discord.channels.general) =>
  bot.call(`POST /channels/${channel}/messages`, body, sending);
const edit = (id: string, body: unknown, sending = {}, channel = discord.channels.general) =>
  bot.call(`PATCH /channels/${channel}/messages/${id}`, body, sending);

/** Returns the only violation. */
const violation = (): string => {
  expect(discord.violations).toHaveLength(1);
  return discord.violations[0] ?? '';
};

describe('a bot that follows the rules', () => {
  it('responds, edits, attaches and mentions without a violation', async () => {
    const made = create();
    expect(await callback(made, { type: 5 })).toMatchObject({ status: 204 });
    await webhook('PATCH', made, '@original', { content: 'on it', components: BUTTONS, ...QUIET });
    clock.advance(16 * MINUTE_MS);
    const id = discord.original(made)?.id ?? '';
    await edit(id, { content: 'done', attachments: [{ id: 0 }], ...QUIET }, { files: { 'fox.mp4': 'bytes' } });
    await send({
      content: `<@${discord.users.alice}> ready`,
      allowed_mentions: { users: [discord.users.alice] },
      message_reference: { message_id: id },
      nonce: 'one',
      enforce_nonce: true,
    });
    expect(discord.violations).toEqual([]);
    expect(discord.message(id)).toMatchObject({ content: 'done', attachments: [{ filename: 'fox.mp4', bytes: 5 }] });
    expect(discord.pings).toEqual([
      { messageId: discord.messages(discord.channels.general)[1]?.id, kind: 'user', id: discord.users.alice },
    ]);
  });

  it('receives the attachment of an option at a signed URL that expires', async () => {
    const image = fileOf('fox.png', 'image/png', Buffer.from('pixels'));
    const made = discord.people.slash('video create', { prompt: 'x', image });
    const { resolved } = made.payload['data'] as { resolved: { attachments: Record<string, { url: string }> } };
    const url = Object.values(resolved.attachments)[0]?.url ?? '';
    expect(await (await fetch(url)).text()).toBe('pixels');
    clock.advance(25 * 60 * MINUTE_MS);
    expect((await fetch(url)).status).toBe(404);
  });
});

describe('the first response', () => {
  it('is rejected after three seconds, and its absence is a violation of a connected bot', async () => {
    const gateway = await bot.connect();
    await gateway.identify(1);
    await gateway.event('GUILD_CREATE');
    const made = create();
    clock.advance(3_001);
    expect(violation()).toContain('no answer');
    expect((await callback(made, { type: 5 })).json.code).toBe(10062);
    expect(discord.violations[1]).toContain('late answer');
    expect((await webhook('GET', made, '@original')).json.code).toBe(10015);
  });

  it('is accepted only once', async () => {
    const made = create();
    await callback(made, { type: 5 });
    expect((await callback(made, { type: 5 })).json.code).toBe(40060);
    expect(violation()).toContain('second answer');
  });

  it('is returned as a resource on request', async () => {
    const { json } = await callback(create(), { type: 5, data: { flags: 64 } }, '?with_response=true');
    expect(json).toMatchObject({ interaction: { response_message_loading: true, response_message_ephemeral: true } });
  });

  it.each([
    ['a defer with another flag than EPHEMERAL', { type: 5, data: { flags: 1 << 15 } }],
    ['an update for a command', { type: 7, data: { content: 'x', ...QUIET } }],
    ['choices for a command', { type: 8, data: { choices: [] } }],
    ['an unknown type', { type: 3 }],
    ['a modal without components', { type: 9, data: { custom_id: 'm', title: 'T', components: [] } }],
    [
      'a modal with too long a title',
      { type: 9, data: { custom_id: 'm', title: 'T'.repeat(46), components: [field('a')] } },
    ],
    [
      'a modal with two fields of the same name',
      { type: 9, data: { custom_id: 'm', title: 'T', components: [field('a'), field('a')] } },
    ],
    [
      'a text input without a label',
      { type: 9, data: { custom_id: 'm', title: 'T', components: [{ type: 1, components: [field('a').component] }] } },
    ],
  ])('cannot be %s', async (_what, body) => {
    expect((await callback(create(), body)).json.code).toBe(50035);
    violation();
  });

  it('to autocomplete has at most 25 choices of at most 100 characters', async () => {
    const choices = Array.from({ length: 26 }, (_, index) => ({ name: `n${index}`, value: 'v' }));
    const typing = () => discord.people.autocomplete('video create', { prompt: 'x', model: 'sw' }, 'model');
    expect((await callback(typing(), { type: 8, data: { choices } })).status).toBe(400);
    expect(
      (await callback(typing(), { type: 8, data: { choices: [{ name: 'n'.repeat(101), value: 'v' }] } })).status,
    ).toBe(400);
    expect((await callback(typing(), { type: 4, data: { content: 'x', ...QUIET } })).status).toBe(400);
    expect(discord.violations).toHaveLength(3);
    expect((await callback(typing(), { type: 8, data: { choices: choices.slice(1) } })).status).toBe(204);
  });

  it('may be a modal, whose submission needs a response in turn', async () => {
    const made = create();
    await callback(made, {
      type: 9,
      data: { custom_id: 'm', title: 'Again', components: [field('prompt', 'old'), field('more')] },
    });
    const submitted = discord.people.submitModal(made, { more: 'red' });
    expect(submitted.payload['data']).toMatchObject({
      custom_id: 'm',
      components: [{ component: { custom_id: 'prompt', value: 'old' } }, { component: { value: 'red' } }],
    });
    expect((await callback(submitted, { type: 9, data: {} })).status).toBe(400);
    expect((await callback(submitted, { type: 5 })).status).toBe(204);
    expect(() => discord.people.submitModal(made, { prompt: '' })).toThrow(/prompt/);
  });
});

function field(custom_id: string, value?: string) {
  return {
    type: 18,
    label: custom_id,
    component: { type: 4, style: 1, custom_id, ...(value === undefined ? {} : { value }) },
  };
}

describe("an interaction's token", () => {
  it('expires after 15 minutes; using it again is a violation', async () => {
    const made = create();
    await callback(made, { type: 5 });
    clock.advance(15 * MINUTE_MS + 1);
    expect(await webhook('PATCH', made, '@original', { content: 'x', ...QUIET })).toMatchObject({
      status: 401,
      json: { code: 50027 },
    });
    expect(discord.violations).toEqual([]);
    await webhook('PATCH', made, '@original', { content: 'x', ...QUIET });
    expect(discord.violations).toEqual([]);
    await webhook('PATCH', made, '@original', { content: 'x', ...QUIET });
    expect(violation()).toContain('3 uses of the expired token');
  });

  it('needs no authorization, and no other endpoint works without it', async () => {
    const made = create();
    await callback(made, { type: 4, data: { content: 'x', ...QUIET } });
    const headers = { authorization: '' };
    expect((await webhook('GET', made, '@original', undefined, { headers })).status).toBe(200);
    expect((await bot.call('GET /users/@me', undefined, { headers })).status).toBe(401);
    expect(violation()).toContain("without the bot's token");
  });

  it('edits the deferred response by a follow-up, which is deprecated', async () => {
    const made = create();
    await callback(made, { type: 5 });
    const { json } = await webhook('POST', made, null, { content: 'x', ...QUIET });
    expect(json.id).toBe(made.originalId);
    expect(violation()).toContain('follow-up');
  });

  it('of a user install allows five follow-ups, and the bot has no access to the channel', async () => {
    const made = create({ channel: discord.channels.elsewhere });
    expect(made.payload).toMatchObject({ authorizing_integration_owners: { 1: discord.users.alice }, context: 0 });
    await callback(made, { type: 4, data: { content: 'x', ...QUIET } });
    for (let count = 0; count < 5; count += 1) await webhook('POST', made, null, { content: 'more', ...QUIET });
    expect(made.followupIds).toHaveLength(5);
    expect((await webhook('POST', made, null, { content: 'more', ...QUIET })).json.code).toBe(40094);
    expect(violation()).toContain('more than 5 follow-ups');
    expect(
      (await edit(made.originalId ?? '', { content: 'y', ...QUIET }, {}, discord.channels.elsewhere)).json.code,
    ).toBe(50001);
  });

  it('is the only access to an ephemeral message', async () => {
    const made = create();
    await callback(made, { type: 4, data: { content: 'x', flags: 64, ...QUIET } });
    expect((await edit(made.originalId ?? '', { content: 'y', ...QUIET })).json.code).toBe(10008);
    expect((await webhook('PATCH', made, '@original', { content: 'y', ...QUIET })).status).toBe(200);
    expect(() => discord.people.react(made.originalId ?? '', '🔁', { user: discord.users.bob })).toThrow(
      /does not see/,
    );
  });
});

describe('a message', () => {
  it.each([
    ['no contents', {}],
    ['more than 2000 characters', { content: 'x'.repeat(2001) }],
    ['six rows', { content: 'x', components: Array.from({ length: 6 }, (_, row) => rowOf([`${row}`])) }],
    ['six buttons in a row', { content: 'x', components: [rowOf(['1', '2', '3', '4', '5', '6'])] }],
    ['two buttons with the same custom_id', { content: 'x', components: [rowOf(['1', '1'])] }],
    ['a custom_id of 101 characters', { content: 'x', components: [rowOf(['c'.repeat(101)])] }],
    [
      'a link button without a link',
      { content: 'x', components: [{ type: 1, components: [{ type: 2, style: 5, label: 'x' }] }] },
    ],
    ['an embed with too long a title', { embeds: [{ title: 'x'.repeat(257) }] }],
    [
      'embeds of more than 6000 characters',
      { embeds: [{ description: 'x'.repeat(4096) }, { description: 'x'.repeat(1905) }] },
    ],
    ['a video as an embed’s image', { embeds: [{ image: { url: 'attachment://fox.mp4' } }] }],
    ['a text display without the V2 flag', { content: 'x', components: [{ type: 10, content: 'x' }] }],
    ['content beside V2', { content: 'x', flags: 1 << 15, components: [{ type: 10, content: 'x' }] }],
    ['41 components', { flags: 1 << 15, components: Array.from({ length: 41 }, () => ({ type: 10, content: 'x' })) }],
    [
      '4001 characters of V2 text',
      {
        flags: 1 << 15,
        components: [
          { type: 10, content: 'x'.repeat(4000) },
          { type: 10, content: 'y' },
        ],
      },
    ],
    ['a gallery of a missing file', { flags: 1 << 15, components: [galleryOf('fox.mp4')] }],
    [
      'parse and a list of the same kind',
      { content: 'x', allowed_mentions: { parse: ['users'], users: ['100000000000000001'] } },
    ],
    ['a nonce of 26 characters', { content: 'x', nonce: 'n'.repeat(26) }],
    ['an unknown attachment', { content: 'x', attachments: [{ id: '5' }] }],
    ['an attachment listed twice', { content: 'x', attachments: [{ id: '5' }, { id: '5' }] }],
    ['eleven attachments', { content: 'x', attachments: Array.from({ length: 11 }, (_, id) => ({ id })) }],
  ])('is rejected with %s', async (_what, body) => {
    expect((await send({ ...QUIET, ...body })).status).toBe(400);
    violation();
  });

  it('is posted once per nonce', async () => {
    const first = await send({ content: 'x', nonce: 'n', enforce_nonce: true, ...QUIET });
    const second = await send({ content: 'x', nonce: 'n', enforce_nonce: true, ...QUIET });
    expect(second.json.id).toBe(first.json.id);
    expect(discord.messages(discord.channels.general)).toHaveLength(1);
  });

  it('pings those that allowed_mentions allows, and every mention if it is missing', async () => {
    const { alice, bob } = discord.users;
    const content = `<@${alice}> <@${bob}> @everyone`;
    await send({ content, allowed_mentions: { users: [bob] } });
    await send({ content, ...QUIET });
    expect(discord.pings.map(({ id }) => id)).toEqual([bob]);
    const { json } = await send({ content });
    expect(discord.pings.map(({ id }) => id)).toEqual([bob, alice, bob, 'everyone']);
    expect(violation()).toContain('missing allowed_mentions');
    await edit(json.id, { content });
    expect(discord.pings).toHaveLength(4);
    expect(discord.violations[1]).toContain('edit');
  });

  it('loses the files that an edit does not list', async () => {
    const { json } = await send({ content: 'x', ...QUIET }, { files: { 'a.mp4': 'a', 'b.mp4': 'b' } });
    const [first, second] = discord.message(json.id).attachments;
    await edit(json.id, { content: 'y', ...QUIET });
    expect(discord.message(json.id).attachments).toHaveLength(2);
    await edit(json.id, { attachments: [{ id: second?.id }, { id: 0 }], ...QUIET }, { files: { 'c.mp4': 'c' } });
    expect(discord.message(json.id).attachments.map(({ filename }) => filename)).toEqual(['b.mp4', 'c.mp4']);
    expect(discord.vanished).toEqual([{ messageId: json.id, attachment: first }]);
    expect(discord.violations).toEqual([]);
    await edit(json.id, { content: 'z', ...QUIET }, { files: { 'd.mp4': 'd' } });
    expect(discord.message(json.id).attachments.map(({ filename }) => filename)).toEqual(['d.mp4']);
    await edit(json.id, { attachments: [], ...QUIET }, { files: { 'e.mp4': 'e' } });
    expect(violation()).toContain('lost attachment: e.mp4');
  });

  it('in V2 shows a file only by a component, and stays V2', async () => {
    const text = { type: 10, content: 'x' };
    const { json } = await send(
      { flags: 1 << 15, components: [text], attachments: [{ id: 0 }], ...QUIET },
      { files: { 'fox.mp4': 'a' } },
    );
    expect(violation()).toContain('attachment invisible');
    const [file] = discord.message(json.id).attachments;
    const gallery = { components: [text, galleryOf('fox.mp4')], attachments: [{ id: file?.id }], ...QUIET };
    const edited = await edit(json.id, gallery);
    // One that a component shows is told there alone.
    expect([json['attachments'], edited.json['attachments']]).toMatchObject([[{ id: file?.id }], []]);
    expect(edited.json['components']).toMatchObject([{}, { items: [{ media: { attachment_id: file?.id } }] }]);
    await edit(json.id, { attachments: [{ id: file?.id }], ...QUIET });
    expect(discord.violations).toHaveLength(1);
    expect((await edit(json.id, { ...gallery, attachments: [] })).status).toBe(400);
    expect((await edit(json.id, { flags: 0, ...QUIET })).status).toBe(400);
    expect((await edit(json.id, { content: 'x', ...QUIET })).status).toBe(400);
  });

  it('accepts no file over the limit: a violation if the bot knew it', async () => {
    const files = { 'fox.mp4': 'x'.repeat(1001) };
    expect(await send({ ...QUIET }, { files })).toMatchObject({ status: 413, json: { code: 40005 } });
    expect(discord.violations).toEqual([]);
    const made = create({ attachmentSizeLimit: 1000 });
    await callback(made, { type: 5 });
    expect((await webhook('PATCH', made, '@original', QUIET, { files })).status).toBe(413);
    expect(violation()).toContain('attachment_size_limit');
  });

  it('needs the permissions of its channel', async () => {
    const { general, thread } = discord.channels;
    const files = { 'fox.mp4': 'x' };
    discord.deny(general, ['ATTACH_FILES', 'READ_MESSAGE_HISTORY']);
    const { json } = await send({ content: 'x', ...QUIET });
    expect((await send({ ...QUIET }, { files })).json.code).toBe(50013);
    expect((await bot.call(`GET /channels/${general}/messages/${json.id}`)).json.code).toBe(50013);
    expect((await send({ content: 'x', message_reference: { message_id: json.id }, ...QUIET })).json.code).toBe(160002);
    discord.deny(general, ['SEND_MESSAGES']);
    expect((await send({ content: 'x', ...QUIET })).json.code).toBe(50013);
    expect((await send({ content: 'x', ...QUIET }, {}, thread)).status).toBe(200);
    discord.deny(general, ['VIEW_CHANNEL']);
    expect((await send({ content: 'x', ...QUIET }, {}, thread)).json.code).toBe(50001);
    discord.deleteChannel(general);
    expect((await send({ content: 'x', ...QUIET })).json.code).toBe(10003);
    expect(discord.violations).toEqual([]);
  });

  it('older than an hour can be edited three times in six seconds', async () => {
    const { json } = await send({ content: 'x', ...QUIET });
    clock.advance(61 * MINUTE_MS);
    for (let count = 0; count < 3; count += 1)
      expect((await edit(json.id, { content: `${count}`, ...QUIET })).status).toBe(200);
    expect(await edit(json.id, { content: 'y', ...QUIET })).toMatchObject({ status: 429, json: { code: 30046 } });
  });
});

const rowOf = (ids: readonly string[]) => ({
  type: 1,
  components: ids.map((custom_id) => ({ type: 2, style: 1, label: 'x', custom_id })),
});
function galleryOf(filename: string) {
  return { type: 12, items: [{ media: { url: `attachment://${filename}` } }] };
}

it('rejects a revoked token until it is restored, without a violation', async () => {
  discord.revokeToken();
  expect(await bot.call('GET /users/@me')).toMatchObject({ status: 401 });
  discord.restoreToken();
  expect(await bot.call('GET /users/@me')).toMatchObject({ status: 200 });
  expect(discord.violations).toEqual([]);
});
