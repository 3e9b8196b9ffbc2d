import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { personalCatalog } from '#src/videos/personal-defaults.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { taskView } from '#test/fakes/views.ts';

let house: PlaygroundHouse;

beforeEach(async () => {
  house = await PlaygroundHouse.start();
});

afterEach(() => house.remove());

const ORIGIN = { platform: 'playground', team: 'playground', channel: 'general', address: {} };
const entered = { id: 'i1', user: 'ada', channel: 'general', text: '/video create a fox --seconds 4' };

/** Makes the bot respond to any text with one task, displayed by the platform. */
function answersWithTask(task = 'task-1' as TaskId): void {
  house.bot.reply = { kind: 'task', task };
  const origin = { ...ORIGIN, user: { id: 'ada', name: 'ada' }, interaction: 'i1' };
  house.bot.onShow = () => house.platform.open(task, origin, taskView({ task }));
}

it('leaves a message out of the list whose record has a wrong shape', async () => {
  answersWithTask();
  await house.post('interactions', entered);
  const [message] = await house.messages();
  const damage = (value: unknown) => house.store.keyv('playground_messages').set(message?.id ?? '', value);
  for (const value of [7, null, [], { ...message, card: 'a fox' }, { ...message, attachments: null }]) {
    await damage(value);
    for (const user of ['', '&user=ada']) {
      const { status, body } = await house.get(`/playground/messages?channel=general${user}`);
      expect(status).toBe(200);
      expect((body as readonly { readonly id?: string }[]).map(({ id }) => id)).not.toContain(message?.id);
    }
  }
});

describe('POST /playground/interactions', () => {
  it('passes the text after /video, its user and its channel to the bot', async () => {
    await house.post('interactions', { ...entered, channel: '#general' });
    expect(house.bot.heard).toMatchObject([
      {
        kind: 'text',
        what: 'create a fox --seconds 4',
        caller: {
          platform: 'playground',
          team: 'playground',
          channel: 'general',
          user: { id: 'ada', name: 'ada' },
          interaction: 'i1',
          mayManage: false,
        },
      },
    ]);
  });

  it('gives the rights to manage and to administer to the operator alone', async () => {
    await house.post('interactions', { ...entered, user: 'operator' });
    await house.post('interactions', { ...entered, id: 'i2', user: 'Operator' });
    expect(house.bot.heard.map(({ caller }) => caller.mayManage)).toEqual([true, false]);
    expect(house.bot.heard.map(({ caller }) => caller.mayAdminister)).toEqual([true, false]);
  });

  it('responds with the message of the task, in the fields of the API', async () => {
    answersWithTask();
    const { status, body } = await house.post('interactions', entered);
    expect(status).toBe(202);
    const [message] = await house.messages();
    expect(message).toMatchObject({
      id: body.message,
      author: 'Dailies',
      channel: 'general',
      replyTo: null,
      visibleTo: null,
      text: expect.stringMatching(/^a red fox running .* · ada\nRunning · 42 % · 1:12$/),
      state: 'polling',
      progress: 42,
      task: 'task-1',
      attachments: [],
      buttons: [
        { id: 'cancel:task-1', label: 'Cancel' },
        { id: 'details:task-1', label: 'Details' },
      ],
      edits: 0,
    });
  });

  it('deduplicates by id: a hundred concurrent requests, a later one, and one after a restart', async () => {
    answersWithTask();
    let open = (): void => {};
    house.bot.gate = new Promise((resolve) => {
      open = resolve;
    });
    const sent = Array.from({ length: 100 }, () => house.post('interactions', entered));
    await expect.poll(() => house.bot.heard.length).toBe(1);
    open();
    const answers = await Promise.all(sent);
    await house.restart();
    answers.push(await house.post('interactions', entered));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.message}`)).size).toBe(1);
    expect(house.bot.heard).toHaveLength(1);
    expect(await house.messages()).toHaveLength(1);
  });

  it('shows an ephemeral response to the requester alone', async () => {
    const { body } = await house.post('interactions', { ...entered, text: '/video usage' });
    const [message] = await house.messages();
    expect(message).toMatchObject({ id: body.message, visibleTo: 'ada', text: 'Yes.', task: null, state: null });
    expect(message?.asked).toEqual({ user: 'ada', what: '/video usage', how: 'interaction' });
    expect(await house.messages('general', '&user=sam')).toEqual([]);
    expect(await house.messages('general', '&user=ada')).toHaveLength(1);
  });

  it.each([
    ['/video usage --month 2026-11', '/video usage'],
    ['/video LIST', '/video LIST'],
    ['/video a fox -s 6', '/video'],
    ['/video', '/video'],
    ['hello team', 'hello team'],
  ])('labels a response with its request: %s', async (text, what) => {
    await house.post('interactions', { ...entered, text });
    expect((await house.messages())[0]?.asked).toMatchObject({ what });
  });

  it('returns a refusal, posts it as an ephemeral message, and repeats it for the same id', async () => {
    house.bot.reply = { kind: 'refused', sentence: 'seconds: 30 is not offered\nit takes 4, 6 or 8' };
    const refusal = { status: 400, body: { error: 'seconds: 30 is not offered\nit takes 4, 6 or 8' } };
    expect(await house.post('interactions', entered)).toMatchObject(refusal);
    house.bot.reply = privately('Yes.');
    expect(await house.post('interactions', entered)).toMatchObject(refusal);
    expect(await house.messages()).toMatchObject([{ text: refusal.body.error, visibleTo: 'ada' }]);
  });

  it.each(['', '  ', '/vido a fox', ' /giphy fox'])('responds to %j with an example command', async (text) => {
    const { status, body } = await house.post('interactions', { ...entered, text });
    expect(status).toBe(400);
    expect(body.error).toContain('/video');
    expect(house.bot.heard).toEqual([]);
  });

  it('passes plain text on as such, not as an order', async () => {
    await house.post('interactions', { ...entered, text: 'a fox in the /video style' });
    expect(house.bot.heard).toMatchObject([{ what: 'a fox in the /video style', addressing: 'plain' }]);
  });

  it('opens a form', async () => {
    const form = { id: 'create', title: 'Make a clip', fields: [], submit: 'Create clip' };
    house.bot.reply = { kind: 'form', form };
    const answer = await house.post('interactions', { ...entered, text: '/video' });
    expect(answer).toMatchObject({ status: 202, body: { message: null, form } });
    expect(house.bot.heard[0]?.what).toBe('');
    expect(await house.messages()).toEqual([]);
  });

  it('reports a failure, and handles a retry', async () => {
    house.bot.reply = new DailiesError('writing', { code: 'store_unavailable', retryable: true });
    const failed = await house.post('interactions', entered);
    expect(failed).toMatchObject({ status: 503, body: { error: expect.stringContaining('database') } });
    house.bot.reply = privately('Yes.');
    expect((await house.post('interactions', entered)).status).toBe(202);
    expect((await house.messages()).map(({ text }) => text)).toEqual([failed.body.error, 'Yes.']);
  });

  it('reports a failure while the store is unavailable', async () => {
    const away = new DailiesError('reading', { code: 'store_unavailable', retryable: true });
    vi.spyOn(house.store.leases, 'take').mockRejectedValue(away);
    const said = { status: 503, body: { error: expect.stringContaining('database') } };
    expect(await house.post('interactions', entered)).toMatchObject(said);
    vi.spyOn(house.store, 'keyv').mockImplementation(() => {
      throw away;
    });
    expect(await house.post('presses', { id: 'p1', user: 'ada', message: 'm1', button: 'cancel:1' })).toMatchObject(
      said,
    );
    expect(house.bot.heard).toEqual([]);
  });

  it.each([
    [{ ...entered, user: undefined }, 'user: is missing.'],
    [{ ...entered, user: '   ' }, 'user: is empty.'],
    [{ ...entered, user: 'a'.repeat(41) }, 'user: is longer than 40 characters.'],
    [{ ...entered, user: 'a\u0000b' }, 'user: holds characters that cannot be seen.'],
    [{ ...entered, id: 7 }, 'id: has to be text.'],
    [{ ...entered, channel: '#' }, 'channel: is empty.'],
    [{ ...entered, text: undefined }, 'text: is missing.'],
    [[], 'The request has to be a JSON object.'],
  ])('names the invalid field: %j', async (body, error) => {
    expect(await house.post('interactions', body)).toMatchObject({ status: 400, body: { error } });
    expect(house.bot.heard).toEqual([]);
  });

  it('rejects requests before the start and after the stop, and drains those in flight', async () => {
    let open = (): void => {};
    house.bot.gate = new Promise((resolve) => {
      open = resolve;
    });
    const begun = house.post('interactions', entered);
    await expect.poll(() => house.bot.heard.length).toBe(1);
    const stopped = house.platform.stop();
    expect((await house.post('interactions', { ...entered, id: 'i2' })).status).toBe(503);
    expect(house.platform.notReady()).toContain('shutting down');
    open();
    await stopped;
    expect((await begun).status).toBe(202);
  });
});

describe('presses, reactions, forms', () => {
  async function shown(visibleTo: string | null = null): Promise<string> {
    const card = {
      lines: [['Page 1']],
      progress: null,
      buttons: [{ id: 'page:models:10', label: 'Older', style: 'plain' }],
    } as const;
    house.bot.reply = visibleTo === null ? { kind: 'public', card } : { kind: 'private', card };
    const { body } = await house.post('interactions', { ...entered, user: visibleTo ?? 'ada', text: '/video list' });
    house.bot.heard.length = 0;
    return body.message;
  }

  it('responds to a press with a reply to its message', async () => {
    const message = await shown();
    house.bot.reply = privately('Details.');
    const { status, body } = await house.post('presses', { id: 'p1', user: 'sam', message, button: 'details:1' });
    expect(status).toBe(202);
    expect((await house.messages()).at(-1)).toMatchObject({ id: body.message, replyTo: message, visibleTo: 'sam' });
    expect(house.bot.heard).toMatchObject([{ kind: 'press', what: 'details:1', caller: { channel: 'general' } }]);
  });

  it('edits the message in place for pagination', async () => {
    const message = await shown('ada');
    house.bot.reply = privately('Page 2');
    const { body } = await house.post('presses', { id: 'p1', user: 'ada', message, button: 'page:models:10' });
    expect(body.message).toBe(message);
    expect(await house.messages()).toMatchObject([{ text: 'Page 2', edits: 1 }]);
  });

  it('does not edit a message that lacks the pressed button', async () => {
    answersWithTask();
    const { body } = await house.post('interactions', entered);
    const before = await house.messages();
    house.bot.reply = privately('The list');
    const pressed = await house.post('presses', {
      id: 'p1',
      user: 'sam',
      message: body.message,
      button: 'page:models:10',
    });
    expect(await house.messages()).toEqual([
      ...before,
      expect.objectContaining({ id: pressed.body.message, visibleTo: 'sam', text: 'The list' }),
    ]);
  });

  it('deduplicates a press', async () => {
    const message = await shown();
    const pressed = { id: 'p1', user: 'ada', message, button: 'retry:1' };
    await Promise.all([house.post('presses', pressed), house.post('presses', pressed)]);
    await house.post('presses', pressed);
    expect(house.bot.heard).toHaveLength(1);
  });

  it('rejects a press on an ephemeral message of another user or on a missing one', async () => {
    const message = await shown('ada');
    const press = { id: 'p1', user: 'sam', message, button: 'page:models:10' };
    const nothing = { status: 400, body: { error: 'message: there is no such message.' } };
    expect(await house.post('presses', press)).toMatchObject(nothing);
    expect(await house.post('reactions', { ...press, emoji: '❌' })).toMatchObject(nothing);
    expect(await house.post('presses', { ...press, message: 'none' })).toMatchObject(nothing);
    expect(house.bot.heard).toEqual([]);
  });

  it('shows a reaction once per user and passes it to the bot', async () => {
    const message = await shown();
    house.bot.reply = null;
    const answer = await house.post('reactions', { id: 'r1', user: 'ada', message, emoji: '👨‍👩‍👧' });
    expect(answer).toMatchObject({ status: 202, body: { message: null } });
    await house.post('reactions', { id: 'r2', user: 'ada', message, emoji: '👨‍👩‍👧' });
    await house.post('reactions', { id: 'r3', user: 'sam', message, emoji: '👨‍👩‍👧' });
    expect((await house.messages())[0]?.reactions).toEqual({ '👨‍👩‍👧': ['ada', 'sam'] });
    expect(house.bot.heard[0]?.what).toEqual({ message: { channel: 'general', message }, emoji: '👨‍👩‍👧' });
  });

  it('passes on a form from a message or from a channel, and requires one of them', async () => {
    const message = await shown();
    house.bot.reply = privately('Taken.');
    const form = { id: 'f1', user: 'ada', form: 'edit:1', values: { prompt: 'a fox' } };
    expect((await house.post('forms', { ...form, message })).status).toBe(202);
    expect((await house.post('forms', { ...form, id: 'f2', channel: 'clips', message: null })).status).toBe(202);
    expect(house.bot.heard.map(({ caller }) => caller.channel)).toEqual(['general', 'clips']);
    expect(house.bot.heard[0]?.what).toEqual({ form: 'edit:1', values: { prompt: 'a fox' } });
    expect((await house.messages()).at(-1)?.replyTo).toBe(message);
    const nowhere = await house.post('forms', { ...form, id: 'f3' });
    expect(nowhere).toMatchObject({ status: 400, body: { error: 'channel: is missing.' } });
  });

  it('dismisses an ephemeral message for its user alone', async () => {
    const message = await shown('ada');
    await house.post('dismissals', { user: 'sam', message });
    expect(await house.messages()).toHaveLength(1);
    await house.post('dismissals', { user: 'ada', message });
    expect(await house.messages()).toEqual([]);
    const everybodys = await house.post('interactions', { ...entered, id: 'i9' });
    expect(everybodys.status).toBe(202);
  });
});

describe('reads', () => {
  it('keep the order of messages while the clock stands still, and after a restart', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      house.bot.reply = privately(id);
      await house.post('interactions', { ...entered, id });
    }
    await house.restart();
    house.bot.reply = privately('f');
    await house.post('interactions', { ...entered, id: 'f' });
    expect((await house.messages()).map(({ text }) => text).join('')).toBe('abcdef');
    expect((await house.messages('general', '&limit=2')).map(({ text }) => text)).toEqual(['e', 'f']);
  });

  describe('of a long channel', () => {
    /** Posts `count` messages; every `each`th is ephemeral for sam. */
    const fill = async (count: number, each = Number.POSITIVE_INFINITY): Promise<void> => {
      for (let at = 1; at <= count; at += 1) {
        const isPrivate = at % each === 0;
        const card = { lines: [[String(at)]], progress: null, buttons: [] };
        house.bot.reply = { kind: isPrivate ? 'private' : 'public', card };
        await house.post('interactions', { ...entered, id: `p${at}`, user: isPrivate ? 'sam' : 'ada' });
      }
    };
    const page = async (query: string) => {
      const { status, headers, body } = await house.get(`/playground/messages?channel=general${query}`);
      const texts = status === 200 ? body.map(({ text }: { text: string }) => Number(text)) : [];
      return { status, texts, ids: body, more: headers.get('x-has-more'), later: headers.get('x-has-later') };
    };
    const idOf = async (text: number): Promise<string> =>
      (await house.messages('general', '&limit=1000')).find((one) => one.text === String(text))?.id ?? '';

    it('count visible messages alone, and report whether there are more', async () => {
      await fill(12, 3);
      expect(await page('&user=ada&limit=4')).toMatchObject({ texts: [7, 8, 10, 11], more: 'true', later: 'false' });
      expect(await page('&user=ada&limit=8')).toMatchObject({ texts: [1, 2, 4, 5, 7, 8, 10, 11], more: 'false' });
      expect(await page('&user=sam&limit=12')).toMatchObject({ texts: { length: 12 }, more: 'false' });
    });

    it('page before, after and around a message', async () => {
      await fill(9);
      const [two, five] = [await idOf(2), await idOf(5)];
      expect(await page(`&before=${five}&limit=3`)).toMatchObject({ texts: [2, 3, 4], more: 'true', later: 'true' });
      expect(await page(`&before=${two}&limit=3`)).toMatchObject({ texts: [1], more: 'false' });
      expect(await page(`&after=${five}&limit=3`)).toMatchObject({ texts: [6, 7, 8], later: 'true' });
      expect(await page(`&after=${five}&limit=4`)).toMatchObject({ texts: [6, 7, 8, 9], later: 'false' });
      expect(await page(`&around=${five}&limit=5`)).toMatchObject({
        texts: [3, 4, 5, 6, 7],
        more: 'true',
        later: 'true',
      });
      expect(await page(`&around=${two}&limit=20`)).toMatchObject({
        texts: { length: 9 },
        more: 'false',
        later: 'false',
      });
    });

    it('reject a cursor of another channel or of another user', async () => {
      await fill(2, 2);
      expect(await page(`&user=ada&around=${await idOf(2)}`)).toMatchObject({ status: 404 });
      expect(await page('&around=nothing')).toMatchObject({ status: 404 });
      expect((await house.get(`/playground/messages?channel=else&before=${await idOf(1)}`)).status).toBe(404);
      expect((await page('&before=a&after=b')).status).toBe(400);
    });

    it('have a default limit', async () => {
      const index = Array.from({ length: 600 }, (_, at) => ({
        index: 'playground:general',
        member: `x${at}`,
        score: at,
      }));
      const records = index.map(({ member, score }) => {
        const value = { id: member, channel: 'general', order: score, visibleTo: null, replyTo: null, attachments: [] };
        const card = { lines: [[String(score)]], progress: null, buttons: [] };
        return {
          namespace: 'playground_messages',
          key: member,
          value: { ...value, card },
          expected: 'any',
        } as const;
      });
      await house.store.commit({ records, index });
      expect(await page('')).toMatchObject({ texts: { length: 500 }, more: 'true' });
      expect(await page('&limit=5000')).toMatchObject({ texts: { length: 600 }, more: 'false' });
    });
  });

  it('list the channels with messages', async () => {
    await house.post('interactions', entered);
    house.clock.advance(1000);
    await house.post('interactions', { ...entered, id: 'i2', channel: '#Schnitt & Ton' });
    expect((await house.get('/playground/channels')).body).toEqual(['general', 'Schnitt & Ton']);
    expect(await house.messages('#Schnitt & Ton')).toHaveLength(1);
    expect(await house.messages('nowhere')).toEqual([]);
  });

  it('leave out a channel nobody wrote in, which may still be written in', async () => {
    await house.post('interactions', { ...entered, channel: 'ads' });
    const used = async (channel: string) =>
      (await house.platform.channels.rights({ team: 'playground', channel, address: {} }, 'ada')).isUnused !== true;
    expect(await Promise.all(['general', 'clips', 'ads', 'nowhere'].map(used))).toEqual([true, true, true, false]);
  });

  it('return the models with the user’s defaults first', async () => {
    const own = personalCatalog(parseCatalog(sandboxCatalog), { seconds: 8 });
    const channels: string[] = [];
    house.bot.catalogFor = async ({ channel }) => {
      channels.push(channel);
      return own;
    };
    const { body } = await house.get('/playground/commands?user=ada&channel=ads');
    expect(channels).toEqual(['ads']);
    const [model] = body.models.filter(({ isDefault }: { isDefault: boolean }) => isDefault);
    const [length] = model.settings.filter(({ name }: { name: string }) => name === 'seconds');
    expect(length.choices[0]).toMatchObject({ value: '8', label: expect.stringContaining('(default)') });
  });

  it('return the command declarations and suggestions of the bot', async () => {
    const { body } = await house.get('/playground/commands?user=ada');
    expect(body.isEmbeddedService).toBe(true);
    expect(body.commands[0]).toMatchObject({ name: 'create', options: expect.any(Array) });
    const namesFor = async (user: string): Promise<readonly string[]> =>
      (await house.get(`/playground/commands?user=${user}`)).body.commands.map(({ name }: { name: string }) => name);
    expect(await namesFor('ada')).not.toContain('budget');
    expect(await namesFor('operator')).toContain('budget');
    house.bot.suggestions = [{ value: 'swift-1', label: 'Swift 1' }];
    const query = 'user=ada&channel=general&command=create&option=model&typed=sw';
    const given = encodeURIComponent('{"prompt":["a fox"]}');
    expect((await house.get(`/playground/suggestions?${query}&given=${given}`)).body).toEqual(house.bot.suggestions);
    expect(await house.get(`/playground/suggestions?${query}&given=nonsense`)).toMatchObject({
      status: 400,
      body: { error: 'given: is not JSON.' },
    });
  });

  it('stream events to the users who may see them', async () => {
    const reads = async (user: string, until: RegExp): Promise<string> => {
      const stop = new AbortController();
      const response = await fetch(`${house.url}/playground/events?user=${user}`, { signal: stop.signal });
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk);
        if (text.includes('event: hello') && !text.includes('event: message'))
          await house.post('interactions', entered);
        if (until.test(text)) break;
      }
      stop.abort();
      return text;
    };
    expect(await reads('ada', /event: message\ndata: .*Yes\./)).toContain('"visibleTo":"ada"');
    house.bot.reply = privately('For sam.');
    const sams = reads('sam', /For sam/);
    await house.post('interactions', { ...entered, id: 'i3', user: 'sam' });
    expect(await sams).not.toContain('Yes.');
  });

  it('serve an attachment with ranges and its content type, and no other file of the folder', async () => {
    answersWithTask();
    const { body } = await house.post('interactions', entered);
    const origin = { ...ORIGIN, user: { id: 'ada', name: 'ada' }, interaction: 'i1' };
    const file = { path: import.meta.filename, bytes: 10, name: 'ein fuchs #1.mp4', description: 'a fox' };
    const message = { channel: 'general', message: body.message };
    await house.platform.attach(message, origin, taskView(), { ...file, contentType: 'video/mp4' });
    await house.platform.attach(message, origin, taskView(), { ...file, name: 'page.html', contentType: 'text/html' });
    const [clip, page] = (await house.messages())[0]?.attachments ?? [];
    const part = await house.get(clip?.url ?? '', { range: 'bytes=0-5' });
    expect([part.status, part.body, part.headers.get('content-type')]).toEqual([206, 'import', 'video/mp4']);
    // The time of the file would tell when a blind clip was finished.
    expect([part.headers.get('last-modified'), part.headers.get('etag')]).toEqual([null, expect.stringMatching(/^"/)]);
    const other = await house.get(page?.url ?? '');
    expect(other.headers.get('content-type')).toBe('application/octet-stream');
    expect(other.headers.get('content-disposition')).toMatch(/^attachment/);
    for (const path of ['none.mp4', '..%2f..%2fpackage.json', '%2e%2e']) {
      expect((await house.get(`/playground/files/${body.message}/${path}`)).status).toBeGreaterThanOrEqual(400);
    }
  });
});

it('accepts reactions named like properties of Object.prototype', async () => {
  answersWithTask();
  const { body } = await house.post('interactions', entered);
  house.bot.reply = null;
  for (const [at, emoji] of ['constructor', '__proto__', 'toString', 'constructor'].entries()) {
    const reaction = { id: `r${at}`, user: `user${at}`, message: body.message, emoji };
    expect(await house.post('reactions', reaction)).toMatchObject({ status: 202 });
  }
  expect(Object.keys((await house.messages())[0]?.reactions ?? {})).toEqual(['constructor', '__proto__', 'toString']);
});

describe('overload', () => {
  it('is rejected with 503 before anything is done', async () => {
    const crowded = await PlaygroundHouse.start({ maxInFlight: 1 });
    const gate = Promise.withResolvers<void>();
    crowded.bot.gate = gate.promise;
    const first = crowded.post('interactions', { ...entered, id: 'first' });
    await expect.poll(() => crowded.bot.heard.length).toBe(1);
    const refused = await crowded.post('interactions', { ...entered, id: 'second' });
    expect(refused).toMatchObject({ status: 503, body: { error: expect.stringContaining('Nothing was created') } });
    expect(refused.headers.get('retry-after')).toBe('5');
    gate.resolve();
    expect((await first).status).toBe(202);
    expect((await crowded.post('interactions', { ...entered, id: 'second' })).status).toBe(202);
    expect(crowded.bot.heard).toHaveLength(2);
    await crowded.remove();
  });
});
