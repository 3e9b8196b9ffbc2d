import { describe, expect, it } from 'vitest';
import { buttonId } from '#commands/ui/buttons.ts';
import type { TaskEvent } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { modelFingerprint } from '#src/videos/elsewhere.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '../../videos/models.ts';

const send: TaskEvent = { kind: 'send', owner: 'o', atMs: 0 };
const accepted: TaskEvent = { kind: 'accepted', upstreamId: 'up:1' as UpstreamId, atMs: NOON_MS };
const lost: TaskEvent = { kind: 'lost', failure: { code: 'lost_answer', words: null } };
const completed: TaskEvent = { kind: 'completed', atMs: NOON_MS + 134_000 };
const fetched: TaskEvent = { kind: 'fetched', clip: { path: '/a', bytes: 1, contentType: 'video/mp4' } };
const failed: TaskEvent = { kind: 'failed', failure: { code: 'moderated', words: 'no *foxes*' }, atMs: NOON_MS };
const refused: TaskEvent = { kind: 'refused', failure: { code: 'no_balance', words: null }, atMs: NOON_MS };
const cancel: TaskEvent = { kind: 'cancel', by: ada().user, atMs: NOON_MS };
const unfetchable: TaskEvent = { kind: 'unfetchable', failure: { code: 'gone', words: null } };
const DONE = [send, accepted, completed, fetched];

const seeded = async (...events: readonly TaskEvent[]) => {
  const house = new BotHouse(CATALOG);
  const task = await house.seed(ada(), 'a red fox --seconds 6', ...events);
  return { house, task, press: (caller: ReturnType<typeof ada>, action: string) => house.bot.press(caller, action) };
};

describe('Make it with another model', () => {
  const other = { ...CATALOG.defaultModel, name: 'other', title: 'Other', price: '0.10', service: 'second' };
  const at = { model: modelFingerprint(other), price: { amount: '0.6', currency: 'USD' } };

  async function stopped() {
    const house = new BotHouse({ ...CATALOG, models: [...CATALOG.models, other] });
    const task = await house.seed(ada(), 'a red fox --seconds 6', send, refused);
    return { house, task, press: (button: string) => house.bot.press(ada(), button) };
  }

  it('orders it there, once', async () => {
    const { house, task, press } = await stopped();
    const button = buttonId({ action: 'elsewhere', task: task.id, ...at });
    expect((await press(button)).kind).toBe('task');
    const request = { ...task.request, model: 'other', service: 'second' };
    expect(house.orders).toMatchObject([{ key: `retry:${task.id}`, request, price: at.price, retryOf: task.id }]);
    expect(replyText(await press(button))).toContain('Already on its way: ‹a red fox›');
    expect(replyText(await press(buttonId({ action: 'retry', task: task.id, price: task.price })))).toContain(
      'Already on its way: ‹a red fox›',
    );
    expect(house.records.size).toBe(2);
  });

  it('asks where the price has changed, about the order there', async () => {
    const { house, task, press } = await stopped();
    const asked = await press(
      buttonId({ action: 'elsewhere', task: task.id, ...at, price: { amount: '0.5', currency: 'USD' } }),
    );
    expect(replyText(asked)).toContain('The price is now $0.60, not $0.50.');
    const [confirm] = asked.kind === 'private' ? asked.card.buttons : [];
    expect((await press(confirm?.id ?? '')).kind).toBe('task');
    expect(house.orders).toMatchObject([{ request: { model: 'other', service: 'second' }, price: at.price }]);
  });

  it('asks before others see the prompt, about the order there', async () => {
    const house = new BotHouse({ ...CATALOG, models: [...CATALOG.models, other] });
    house.audiences.set('secret', 'channel');
    const task = await house.seed(ada({ channel: 'secret' }), 'a red fox --seconds 6', send, refused);
    const asked = await house.bot.press(ada(), buttonId({ action: 'elsewhere', task: task.id, ...at }));
    expect(replyText(asked)).toContain('This is from a private channel.');
    const [confirm] = asked.kind === 'private' ? asked.card.buttons : [];
    expect((await house.bot.press(ada(), confirm?.id ?? '')).kind).toBe('task');
    expect(house.orders).toMatchObject([{ request: { model: 'other', service: 'second' }, price: at.price }]);
  });

  it('orders nothing where the model is gone', async () => {
    const { house, task, press } = await stopped();
    const gone = await press(buttonId({ action: 'elsewhere', task: task.id, ...at, model: '00000000' }));
    expect(replyText(gone)).toContain('That model isn’t offered any more. Nothing was bought.');
    expect(house.orders).toEqual([]);
  });
});

describe('Retry', () => {
  it('asks for confirmation if the price differs from the one on the button', async () => {
    const cheap = await seeded(...DONE);
    const asked = await cheap.press(ada(), `retry:${cheap.task.id}:0.10USD`);
    expect(replyText(asked)).toContain('The price is now $0.30, not $0.10.');
    expect(cheap.house.orders).toEqual([]);
    const [confirm] = asked.kind === 'private' ? asked.card.buttons : [];
    expect((await cheap.press(ada(), confirm?.id ?? '')).kind).toBe('task');
    expect(cheap.house.orders).toMatchObject([{ key: `retry:${cheap.task.id}`, retryOf: cheap.task.id }]);
  });

  it('creates a task if the price matches the one on the button', async () => {
    const { task, press } = await seeded(...DONE);
    expect((await press(ada(), `retry:${task.id}:0.3USD`)).kind).toBe('task');
  });

  it('renews the signed addresses of relayed files', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox --image https://ours.example/a?old', ...DONE);
    house.renewed = (url) => url.replace('old', 'new');
    await house.bot.press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price }));
    expect(house.orders[0]?.request.media.image).toEqual(['https://ours.example/a?new']);
  });

  it('creates one task for repeated presses and reactions', async () => {
    const { house, task, press } = await seeded(...DONE);
    const first = await press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price }));
    expect(first.kind).toBe('task');
    const { request, id } = task;
    expect(house.orders[0]).toMatchObject({ key: `retry:${id}`, request, retryOf: id, origin: { replyTo: `m-${id}` } });
    const made = [...house.records.keys()][1] ?? '';
    const again = await press(ada(), buttonId({ action: 'retry', task: id, price: task.price }));
    const reacted = await house.bot.react(ada(), { channel: 'clips', message: `m-${id}` }, '🔁');
    for (const reply of [again, reacted]) {
      expect(reply?.kind).toBe('private');
      expect(replyText(reply)).toBe(
        `Already on its way: ‹a red fox› (\`${made.slice(0, 8)}\`). [See it here → m-${made}]. For another take: \`/video retry ${id.slice(0, 8)}\``,
      );
    }
    expect(house.records.size).toBe(2);
  });

  it('gives the same reply to a redelivered press', async () => {
    const { task, press } = await seeded(...DONE);
    const caller = ada();
    const first = await press(caller, buttonId({ action: 'retry', task: task.id, price: task.price }));
    expect(first.kind).toBe('task');
    expect(first).toMatchObject(await press(caller, buttonId({ action: 'retry', task: task.id, price: task.price })));
  });

  it.each<readonly [string, readonly TaskEvent[]]>([
    ['Already on its way', [send, accepted]],
    ['Already retried', [send, accepted, completed]],
    ['Already retried', DONE],
    ['Already sent again, still unconfirmed', [send, lost]],
    ['Already sent again, still unconfirmed', [send, lost, { kind: 'leave', by: ada().user }]],
    ['Already retried, and failed', [send, accepted, failed]],
    ['Already retried, and refused', [send, refused]],
    ['Already retried, and cancelled', [send, cancel]],
  ])('shows the state of the first retry: %s', async (words, events) => {
    const { house, task, press } = await seeded(...DONE);
    await press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price }));
    const [, made] = [...house.records.keys()];
    for (const event of events) if (made !== undefined) house.happen(made, event);
    expect(replyText(await press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price })))).toContain(
      `${words}: ‹a red fox›`,
    );
  });

  it('refuses other users with a hint to the retry command; allows channel managers', async () => {
    const { house, task, press } = await seeded(...DONE);
    expect(replyText(await press(bob(), buttonId({ action: 'retry', task: task.id, price: task.price })))).toBe(
      `refused: Only Ada, or someone who manages this channel, can do that. To make it again under your own name, use /video retry ${task.id.slice(0, 8)}`,
    );
    expect(
      (
        await press(
          bob({ mayManage: true, channel: 'elsewhere' }),
          buttonId({ action: 'retry', task: task.id, price: task.price }),
        )
      ).kind,
    ).toBe('refused');
    expect(house.orders).toEqual([]);
    expect(
      (await press(bob({ mayManage: true }), buttonId({ action: 'retry', task: task.id, price: task.price }))).kind,
    ).toBe('task');
    expect(house.orders[0]?.origin.user.name).toBe('Bob');
  });

  it('hides the prompt from a user who may not see the retry', async () => {
    const { house, task } = await seeded(...DONE);
    house.audiences.set('secret', 'channel').set('clips', 'team');
    const caller = ada({ channel: 'secret' });
    const refusal = await house.bot.press(caller, `retry:${task.id}:0.10USD`);
    const offer = refusal.kind === 'private' ? refusal.card.buttons[0]?.id : undefined;
    const draft = offer?.split(':')[1] ?? '';
    await house.bot.submit(caller, `fix:${draft}`, { prompt: 'unreleased merger teaser' });
    expect(house.orders).toMatchObject([{ key: `retry:${task.id}`, request: { prompt: 'unreleased merger teaser' } }]);
    const reply = replyText(
      await house.bot.press(bob({ mayManage: true }), buttonId({ action: 'retry', task: task.id, price: task.price })),
    );
    expect(reply).toContain('Already');
    expect(reply).not.toContain('merger');
  });

  it('does not link the retry’s message for a user who may not see it', async () => {
    const { house, task, press } = await seeded(...DONE);
    house.audiences.set('secret', 'channel').set('clips', 'team');
    const offer = await press(bob({ mayManage: true }), `retry:${task.id}:0.01USD`);
    const create = offer.kind === 'private' ? (offer.card.buttons[0]?.id ?? '') : '';
    expect(
      (
        await house.bot.press(
          ada({ channel: 'secret' }),
          buttonId({ action: 'retry', task: task.id, price: task.price }),
        )
      ).kind,
    ).toBe('task');
    const made = house.orders[0]?.key === `retry:${task.id}` ? [...house.records.keys()][1] : undefined;
    const reply = replyText(await press(bob({ mayManage: true }), create));
    expect(reply).toContain('already requested');
    expect(reply).not.toContain(`m-${made}`);
  });

  it('offers the new price again after an earlier offer was discarded', async () => {
    const { house, task, press } = await seeded(...DONE);
    const buttons = async () => {
      const reply = await press(ada(), `retry:${task.id}:0.01USD`);
      return reply.kind === 'private' ? reply.card.buttons.map(({ id }) => id) : [];
    };
    const [, discard = ''] = await buttons();
    expect(replyText(await press(ada(), discard))).toContain('Discarded');
    const [create = ''] = await buttons();
    expect((await press(ada(), create)).kind).toBe('task');
    expect(house.orders).toHaveLength(1);
  });

  it('does not reply to the original message from another channel', async () => {
    const { house, task, press } = await seeded(...DONE);
    await press(ada({ channel: 'elsewhere' }), buttonId({ action: 'retry', task: task.id, price: task.price }));
    expect(house.orders[0]?.origin).not.toHaveProperty('replyTo');
  });

  it('checks and prices the request by the current catalog', async () => {
    const { house, task, press } = await seeded(...DONE);
    house.replaceCatalog(parseCatalog({ models: [{ ...SWIFT, price: '0.10' }] }));
    await press(ada(), buttonId({ action: 'retry', task: task.id, price: { amount: '0.6', currency: 'USD' } }));
    expect(house.orders[0]?.price).toEqual({ amount: '0.6', currency: 'USD' });
    house.replaceCatalog(parseCatalog({ models: [EPIC] }));
    expect(replyText(await house.bot.text(ada(), `retry ${task.id}`))).toBe(
      'refused: model: there is no model “swift-1”. Choose epic-pro.',
    );
  });

  it('refuses to retry an undecided task', async () => {
    const { house, task, press } = await seeded(send, lost);
    for (const reply of [
      await press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price })),
      await house.bot.text(bob(), `retry ${task.id}`),
    ]) {
      expect(replyText(reply)).toMatch(/^refused: It’s unconfirmed whether the video service accepted this one/);
    }
    expect(house.orders).toEqual([]);
    house.happen(task.id, { kind: 'leave', by: task.origin.user });
    expect((await press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price }))).kind).toBe('task');
  });

  it('creates a new task per command, for any user, under their own name and interaction', async () => {
    const { house, task } = await seeded(...DONE);
    const callers = [bob(), bob()];
    for (const caller of callers) await house.bot.text(caller, `retry ${task.id.slice(0, 8).toUpperCase()}`);
    expect(house.orders.map(({ key }) => key)).toEqual(callers.map(({ interaction }) => `slack:${interaction}`));
    expect(house.orders[0]).toMatchObject({ retryOf: task.id, origin: { user: { name: 'Bob' } } });
    expect(house.records.size).toBe(3);
  });
});

describe('Edit & retry', () => {
  it('opens a prefilled form and keeps the media', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox --seconds 6 --image https://a.test/1', ...DONE);
    const reply = await house.bot.press(bob(), `edit:${task.id}`);
    expect(replyText(reply)).toBe(
      'Edit & retry\nprompt=a red fox\nmodel=swift-1\nseconds=6\naspect=16:9\nresolution=720p\ntakes=',
    );
    const caller = bob();
    const form = reply.kind === 'form' ? reply.form.id : '';
    const sent = await house.bot.submit(caller, form, { prompt: 'a wolf', model: 'swift-1', seconds: '8' });
    expect(sent.kind).toBe('task');
    expect(house.orders[0]).toMatchObject({
      key: `slack:${caller.interaction}`,
      retryOf: task.id,
      origin: { user: { name: 'Bob' } },
      request: { prompt: 'a wolf', seconds: 8, media: { image: ['https://a.test/1'] } },
    });
  });
});

describe('Cancel', () => {
  const cancelled: TaskEvent = { kind: 'cancel', by: { id: 'U1', name: 'Ada' }, atMs: NOON_MS };
  it.each<[string, readonly TaskEvent[], string]>([
    ['before sending', [], 'Cancelled. You were not charged.'],
    [
      'while it is sent',
      [send],
      'Cancelled in Dailies. The video service can’t cancel what has begun: it may still finish and charge $0.30.',
    ],
    [
      'while it runs',
      [send, accepted],
      'Cancelled in Dailies. The video service can’t cancel what has begun: it may still finish and charge $0.30.',
    ],
    ['when it is finished', DONE, 'Too late to cancel: the clip is finished.'],
    ['when it failed', [send, accepted, failed], 'There is nothing to cancel: it has already ended.'],
    ['a second time', [cancelled], 'Already cancelled.'],
    ['a second time while it is sent', [send, cancelled], 'Already cancelled.'],
    [
      'when the outcome is unknown',
      [send, lost],
      'It’s unconfirmed whether the service accepted this one, so I can’t stop it. Its message says what you can do.',
    ],
  ])('reports the actual outcome: %s', async (_when, events, sentence) => {
    const { house, task, press } = await seeded(...events);
    expect(replyText(await press(ada(), `cancel:${task.id}`))).toBe(sentence);
    expect(house.records.size).toBe(1);
  });

  it('has the same effect by command and by reaction', async () => {
    for (const act of ['command', 'reaction']) {
      const { house, task } = await seeded(send, accepted);
      const message = { channel: 'clips', message: `m-${task.id}` };
      const reply =
        act === 'command' ? house.bot.text(ada(), `cancel ${task.id}`) : house.bot.react(ada(), message, '❌');
      expect(replyText(await reply)).toMatch(/^Cancelled in Dailies\./);
      expect(house.task(task.id)).toMatchObject({ state: 'cancelled', cancelledBy: { name: 'Ada' } });
    }
  });

  it('is refused to other users', async () => {
    const { house, task, press } = await seeded();
    const sentence = 'refused: Only Ada, or someone who manages this channel, can do that.';
    expect(replyText(await press(bob(), `cancel:${task.id}`))).toBe(sentence);
    expect(replyText(await house.bot.text(bob(), `cancel ${task.id}`))).toBe(sentence);
    expect(house.task(task.id).state).toBe('claimed');
    expect(replyText(await press(bob({ mayManage: true }), `cancel:${task.id}`))).toMatch(/^Cancelled/);
  });
});

describe('decision on an uncertain task', () => {
  it('looks it up by the id that a user enters', async () => {
    const { house, task, press } = await seeded(send, lost);
    const reply = await press(ada(), `lookup:${task.id}`);
    expect(reply).toMatchObject({
      kind: 'form',
      form: { id: `lookup:${task.id}`, fields: [{ name: 'id', required: true }] },
    });
    for (const [id, sentence] of [
      [' ', 'refused: Enter the ID that the service’s console shows next to the task'],
      ['two words', 'refused: “two words” can’t be a task’s ID'],
      ['x'.repeat(513), 'can’t be a task’s ID'],
    ] as const) {
      expect(replyText(await house.bot.submit(ada(), `lookup:${task.id}`, { id }))).toContain(sentence);
    }
    house.unknown.add('v:l=');
    expect(replyText(await house.bot.submit(bob(), `lookup:${task.id}`, { id: 'v:l=' }))).toMatch(/^refused: Only Ada/);
    expect(replyText(await house.bot.submit(ada(), `lookup:${task.id}`, { id: 'v:l=' }))).toBe(
      'refused: The video service doesn’t know “v:l=”. Compare it with its console, character by character; if they are the same, only the console can help. Nothing was changed, and you can enter it again.',
    );
    expect(house.task(task.id)).toMatchObject({ state: 'uncertain' });
    expect(replyText(await house.bot.submit(ada(), `lookup:${task.id}`, { id: ' v:1= ' }))).toBe(
      'Thanks. I’ll track it from here.',
    );
    expect(house.task(task.id)).toMatchObject({ state: 'polling', upstreamId: 'v:1=' });
    expect(replyText(await house.bot.submit(ada(), `lookup:${task.id}`, { id: 'v:2' }))).toBe(
      'Someone already decided this. Its message shows the current state.',
    );
  });

  it('resubmits it once per button', async () => {
    const { house, task, press } = await seeded(send, lost);
    const again = `again:${task.id}:1:0.3USD`;
    expect(replyText(await press(ada(), again))).toMatch(/^Sending it again\. If the service accepted it/);
    expect(replyText(await press(ada(), again))).toMatch(/^Someone already decided this/);
    house.happen(task.id, send);
    house.happen(task.id, lost);
    expect(replyText(await press(ada(), again))).toMatch(/^Someone already decided this/);
    expect(house.task(task.id)).toMatchObject({ state: 'uncertain', sends: 2 });
  });

  it('asks before it is resubmitted without a price, or at another price than on the button', async () => {
    const { house, task, press } = await seeded(send, lost);
    const before = house.task(task.id);
    expect(replyText(await press(ada(), `again:${task.id}:1`))).toBe(
      'This costs $0.30. It may be charged twice.\n“‹a red fox›”\n(Send again · $0.30)',
    );
    expect(await press(ada(), `again:${task.id}:1:0.20USD`)).toMatchObject({
      kind: 'private',
      card: {
        lines: [['The price is now $0.30, not $0.20. It may be charged twice.'], expect.anything()],
        buttons: [{ id: `again:${task.id}:1:0.3USD:confirmed` }],
      },
    });
    expect(house.task(task.id)).toBe(before);
  });

  it('is resubmitted at the price of that moment', async () => {
    const { house, task, press } = await seeded(send, lost);
    const [first, ...others] = house.catalog().models;
    if (first === undefined) throw new TypeError('there is no model');
    const dearer = { ...first, price: '0.10' };
    house.replaceCatalog({ models: [dearer, ...others], defaultModel: dearer });
    expect(replyText(await press(ada(), `again:${task.id}:1:0.3USD`))).toMatch(
      /^The price is now \$0\.60, not \$0\.30\./,
    );
    await press(ada(), `again:${task.id}:1:0.6USD`);
    expect(house.task(task.id)).toMatchObject({
      state: 'claimed',
      price: { amount: '0.3' },
      money: { sends: [{ amount: '0.3' }, { amount: '0.6', currency: 'USD' }] },
    });
  });

  it('is not resubmitted once the catalog has no such model', async () => {
    const { house, task, press } = await seeded(send, lost);
    const [, ...others] = house.catalog().models;
    const [other] = others;
    if (other === undefined) throw new TypeError('there is no other model');
    house.replaceCatalog({ models: others, defaultModel: other });
    expect(replyText(await press(ada(), `again:${task.id}:1:0.3USD`))).toMatch(/^refused: /);
    expect(house.task(task.id)).toMatchObject({ state: 'uncertain', sends: 1 });
  });

  it('dismisses it', async () => {
    const { house, task, press } = await seeded(send, lost);
    expect(replyText(await press(ada(), `leave:${task.id}`))).toMatch(/^Left unresolved\./);
    expect(house.task(task.id).leftBy?.name).toBe('Ada');
  });

  it.each(['lookup', 'again', 'leave', 'show', 'refetch'])('%s is refused to other users', async (action) => {
    const { house, task, press } = await seeded(send, lost);
    const before = house.task(task.id);
    const button = action === 'again' ? `again:${task.id}:1` : `${action}:${task.id}`;
    expect(replyText(await press(bob(), button))).toMatch(/^refused: Only Ada, or someone/);
    expect(house.task(task.id)).toBe(before);
  });
});

describe('other buttons', () => {
  it('shows the clip of a cancelled task that was completed anyway', async () => {
    const cancel: TaskEvent = { kind: 'cancel', by: { id: 'U1', name: 'Ada' }, atMs: NOON_MS };
    const { house, task, press } = await seeded(send, accepted, cancel, completed);
    expect(replyText(await press(ada(), `show:${task.id}`))).toBe(
      'The clip is on its way to its message, or to a new one if that was deleted.',
    );
    expect(house.task(task.id).state).toBe('completed');
    expect(replyText(await press(ada(), `show:${task.id}`))).toMatch(/^There is nothing to fetch/);
  });

  it('fetches a lost clip again', async () => {
    const { house, task, press } = await seeded(send, accepted, completed, unfetchable);
    expect(replyText(await press(ada(), `refetch:${task.id}`))).toMatch(/^Fetching it again/);
    expect(house.task(task.id)).not.toHaveProperty('failure');
  });

  it('suggests fetching a finished clip again instead of a retry, which would be charged', async () => {
    const failure = { code: 'unauthorised', words: null } as const;
    for (const events of [[completed], [cancel, completed]]) {
      const { task, press } = await seeded(send, accepted, ...events, { kind: 'unfetchable', failure });
      expect(replyText(await press(ada(), `details:${task.id}`))).toContain('then fetch it again.');
    }
  });

  it('shows all details to any user, privately, with external text escaped', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(
      ada(),
      'a *red*\nfox <@U9> --seconds 6 --image https://a.test/1',
      send,
      accepted,
      failed,
    );
    const reply = await house.bot.press(bob(), `details:${task.id}`);
    expect(reply.kind).toBe('private');
    expect(replyText(reply)).toBe(
      [
        'Details',
        '‹Swift 1› · 6 s · 16:9 · 720p · by Ada',
        'image: ‹https://a.test/1›',
        'Failed · sent once',
        'The video service’s content rules stopped this. Different wording may pass. It said: “‹no *foxes*›”',
        '$0.30, failed, refunded under the service’s rules',
        'Requested 2026-11-20T12:00 · accepted by the service 2026-11-20T12:00 · ended 2026-11-20T12:00',
        `ID \`${task.id}\` · at the service ‹up:1›`,
        '‹a *red*\nfox <@U9>›',
      ].join('\n'),
    );
  });

  it.each([
    ['listed', 'its answer was lost, and I found it in the service’s list'],
    ['entered', 'its ID was entered by a person'],
  ] as const)('says how a task of an unknown id was %s', async (how, words) => {
    const upstreamId = 'up:1' as UpstreamId;
    const { task, press } = await seeded(send, lost, { kind: 'identify', upstreamId, how, atMs: NOON_MS });
    expect(replyText(await press(ada(), `details:${task.id}`))).toContain(` · ${words} 2026-11-20T12:00\n`);
  });

  it.each([
    '',
    'paint:x',
    'retry:',
    'retry',
    'retry:nothing',
    'again:x',
    'again:x:y',
    'page:list',
    'page:list:x:9:x',
    'page:list:0:9:x:y',
    'retry:a:b',
  ])('refuses the unknown button %j', async (button) => {
    expect(replyText(await new BotHouse(CATALOG).bot.press(ada(), button))).toMatch(
      /^refused: This button no longer works/,
    );
  });

  it.each([{ team: 'T2' }, { platform: 'discord' }])('hides tasks from another team: %j', async (elsewhere) => {
    const { house, task, press } = await seeded(...DONE);
    for (const action of ['retry', 'edit', 'cancel', 'details']) {
      expect(replyText(await press(ada(elsewhere), `${action}:${task.id}`))).toMatch(/no longer works/);
    }
    expect((await house.bot.submit(ada(elsewhere), `edit:${task.id}`, { prompt: 'x' })).kind).toBe('refused');
    expect(replyText(await house.bot.text(ada(elsewhere), `status ${task.id}`))).toMatch(/No clip found/);
    expect(await house.bot.react(ada(elsewhere), { channel: 'clips', message: `m-${task.id}` }, '🔁')).toBeNull();
    expect(house.orders).toEqual([]);
  });

  it.each(['', 'edit', 'edit:', 'paint:x', 'lookup:nothing'])('refuses the unknown form %j', async (form) => {
    expect((await new BotHouse(CATALOG).bot.submit(ada(), form, { prompt: 'x' })).kind).toBe('refused');
  });
});

describe('reactions', () => {
  it.each(['🔁', '🔁\uFE0F', '🔄', 'repeat', ':repeat:', 'arrows_counterclockwise'])('%s retries', async (emoji) => {
    const { house, task } = await seeded(...DONE);
    expect((await house.bot.react(ada(), { channel: 'clips', message: `m-${task.id}` }, emoji))?.kind).toBe('task');
  });

  it.each(['❌', '❌\uFE0F', 'x', ':x:'])('%s cancels', async (emoji) => {
    const { house, task } = await seeded();
    await house.bot.react(ada(), { channel: 'clips', message: `m-${task.id}` }, emoji);
    expect(house.task(task.id).state).toBe('cancelled');
  });

  it('ignores other emoji and other messages', async () => {
    const { house, task } = await seeded(...DONE);
    for (const emoji of ['👍', 'xx', '']) {
      expect(await house.bot.react(ada(), { channel: 'clips', message: `m-${task.id}` }, emoji)).toBeNull();
    }
    expect(await house.bot.react(ada(), { channel: 'clips', message: 'm-other' }, '🔁')).toBeNull();
    expect(house.orders).toEqual([]);
  });

  it('refuses a user who may not retry', async () => {
    const { house, task } = await seeded(...DONE);
    const reply = await house.bot.react(bob(), { channel: 'clips', message: `m-${task.id}` }, 'repeat');
    expect(replyText(reply)).toMatch(/^refused: Only Ada/);
  });
});
