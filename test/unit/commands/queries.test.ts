import { describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import type { BotPorts } from '#commands/input/subcommand.ts';
import { blocksOf } from '#commands/ui/card.ts';
import { type Subscription, subscriptionKey } from '#src/chat/subscriptions.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../videos/models.ts';

const said = async (house: BotHouse, caller: Caller, text: string) => {
  const reply = await house.bot.text(caller, text);
  expect(reply.kind).toBe('private');
  return replyText(reply);
};

describe('/video status', () => {
  it('shows a task as its message does, with its buttons and a link to it', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    expect(await said(house, bob(), `status ${task.id.slice(0, 4)}`)).toBe(
      [
        '‹a red fox› · ‹Swift 1› · 4 s · 16:9 · 720p · $0.20 · Ada',
        'Queued · 0:00',
        `\`${task.id.slice(0, 8)}\` · [its message → m-${task.id}]`,
        '(Cancel) (Details)',
      ].join('\n'),
    );
  });

  it('shows the caller’s open tasks, newest first', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a wolf');
    const [one, two] = [await house.seed(ada(), 'a red fox'), await house.seed(ada(), 'a hare')];
    const line = ({ id }: { readonly id: string }, prompt: string) =>
      `‹${prompt}› · queued · 2026-11-20T12:00 · ‹Swift 1› · 4 s · $0.20 · Ada · \`${id.slice(0, 8)}\` [Open → m-${id}]`;
    expect(await said(house, ada(), 'status')).toBe(
      ['Your clips in progress', line(two, 'a hare'), line(one, 'a red fox')].join('\n'),
    );
  });

  it('shows a hint if there are none', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a wolf');
    expect(await said(house, ada(), 'status')).toBe(
      'You have nothing in progress. `/video list` shows the latest clips.',
    );
  });
});

describe('/video list', () => {
  const house = new BotHouse(CATALOG);
  const filled = (async () => {
    for (let index = 1; index <= 23; index += 1) {
      await house.seed(index % 2 === 0 ? bob() : ada(), index > 12 ? `Fox ${index}` : `wolf ${index}`);
    }
  })();
  const page = async (reply: Awaited<ReturnType<typeof house.bot.text>>) => {
    await filled;
    if (reply.kind !== 'private') throw new TypeError('no card');
    const shown = cardText(reply.card).split('\n');
    const prompts = shown.flatMap((line) => /‹((?:Fox|wolf) \d+)›/.exec(line)?.[1] ?? []);
    return { heading: shown[0], range: shown[1], prompts, buttons: reply.card.buttons };
  };

  it('shows pages of ten, newest first', async () => {
    await filled;
    const first = await page(await house.bot.text(ada(), 'list'));
    expect([first.heading, first.range]).toEqual(['Team clips', '1–10, newest first']);
    expect(first.prompts).toHaveLength(10);
    expect([first.prompts[0], first.prompts[9]]).toEqual(['Fox 23', 'Fox 14']);
    expect(first.buttons.map(({ label }) => label)).toEqual(['Older']);
    const second = await page(await house.bot.press(bob(), first.buttons[0]?.id ?? ''));
    expect([second.prompts[0], second.prompts[9]]).toEqual(['Fox 13', 'wolf 4']);
    expect(second.buttons.map(({ label }) => label)).toEqual(['Newer', 'Older']);
    const third = await page(await house.bot.press(bob(), second.buttons[1]?.id ?? ''));
    expect(third.range).toBe('21–23, newest first');
    expect(third.prompts).toEqual(['wolf 3', 'wolf 2', 'wolf 1']);
    expect(third.buttons.map(({ label }) => label)).toEqual(['Newer']);
    expect((await page(await house.bot.press(bob(), third.buttons[0]?.id ?? ''))).prompts).toEqual(second.prompts);
  });

  it('shows the pictures of clips that have one beside their words', async () => {
    await filled;
    const pictured = new Map<string, string>();
    const forPoster: BotPorts['pictures']['forPoster'] = ({ id, request }) => {
      if (request.prompt !== 'Fox 23') return null;
      pictured.set(id, request.prompt);
      return { id, url: `https://bot.example/media/${id}.jpg` };
    };
    house.pictures = { ...house.pictures, forPoster };
    const reply = await house.bot.text(ada(), 'list');
    const items =
      reply.kind === 'private' ? blocksOf(reply.card).flatMap((one) => (one.kind === 'item' ? [one] : [])) : [];
    const [id = ''] = pictured.keys();
    expect(items.map(({ picture }) => picture)).toEqual([
      { id, url: `https://bot.example/media/${id}.jpg`, alt: 'A frame of “Fox 23”' },
      ...Array.from({ length: 9 }, () => undefined),
    ]);
  });

  it.each([
    ['list --who me', 'Clips by Ada', 12],
    ['list --who bob', 'Clips by Bob', 11],
    ['list --who @Bob', 'Clips by Bob', 11],
    ['list --who <@U2>', 'Clips by Bob', 11],
    ['list --who <@U2|Bob>', 'Clips by Bob', 11],
    ['list --who everyone', 'Team clips', 23],
    ['list fox', 'Team clips with ‹“fox”›', 11],
    ['list FOX --who me', 'Clips by Ada with ‹“FOX”›', 6],
    ['list fox 2', 'with ‹“fox 2”›', 4],
    ['list 2 fox', 'with ‹“2 fox”›', 4],
  ])('%s', async (text, heading, count) => {
    await filled;
    let shown = await page(await house.bot.text(ada(), text));
    expect(shown.heading).toContain(heading);
    const prompts = [...shown.prompts];
    for (let older = shown.buttons.find(({ label }) => label === 'Older'); older !== undefined; ) {
      shown = await page(await house.bot.press(ada(), older.id));
      prompts.push(...shown.prompts);
      older = shown.buttons.find(({ label }) => label === 'Older');
    }
    expect(new Set(prompts).size).toBe(count);
    expect(prompts).toHaveLength(count);
  });

  it('shows an empty list, also to other teams', async () => {
    await filled;
    expect(await said(house, ada({ team: 'T2' }), 'list')).toBe('Team clips\nNo clips yet.');
    expect(await said(house, ada(), 'list zebra')).toBe('Team clips with ‹“zebra”›\nNo clips found.');
  });

  it('notes that only the latest clips were searched', async () => {
    const many = new BotHouse(CATALOG);
    const task = await many.seed(ada(), 'a wolf');
    for (let index = 0; index < 2000; index += 1)
      many.records.set(`t${index}` as TaskId, { ...task, id: `t${index}` as TaskId });
    expect(await said(many, ada(), 'list zebra')).toMatch(/Only the latest 2,000 clips were searched\.$/);
  });
});

describe('/video usage', () => {
  const entry: LedgerEntry = {
    task: 't' as TaskId,
    send: 1,
    platform: 'slack',
    team: 'T1',
    channel: 'clips',
    user: 'U1',
    userName: 'Ada',
    model: 'swift-1',
    period: '2026-11',
    amount: '0.3',
    currency: 'USD',
    state: 'settled',
    createdAtMs: NOON_MS,
  };
  const house = new BotHouse(CATALOG);
  house.entries.push(
    entry,
    { ...entry, amount: '0.1' },
    { ...entry, amount: '0.2', user: 'U2', userName: 'Bob' },
    { ...entry, amount: '1.25', currency: 'EUR', model: 'epic-pro' },
    { ...entry, state: 'reserved' },
    { ...entry, state: 'in_doubt', amount: '0.4' },
    { ...entry, state: 'refunded' },
    { ...entry, state: 'released' },
    { ...entry, amount: '7', createdAtMs: Date.UTC(2026, 9, 31, 23) },
    { ...entry, amount: '9', team: 'T2' },
  );

  it('sums this month for everyone, by currency', async () => {
    expect(await said(house, ada(), 'usage')).toBe(
      [
        'November 2026 · everyone',
        '*$0.60 and €1.25* billed · 4 clips',
        '*$0.30* in progress · 1 clip',
        '*$0.40* unconfirmed, may be billed · 1 clip',
        'Failed, refunded under the service’s rules: 1 clip ($0.30)',
        'Not charged: 1 clip (would have been $0.30)',
        '*By person*',
        '• Ada · $0.40 and €1.25 · 3 clips · $0.30 in progress, $0.40 unconfirmed',
        '• Bob · $0.20 · 1 clip',
        '*By model*',
        '• ‹Epic Pro› · €1.25 · 1 clip',
        '• ‹Swift 1› · $0.60 · 3 clips · $0.30 in progress, $0.40 unconfirmed',
      ].join('\n'),
    );
  });

  it('shows one person, another month, and an empty month', async () => {
    expect(await said(house, bob(), 'usage me')).toMatch(
      /^November 2026 · Bob\n\*\$0\.20\* billed · 1 clip\n\*By model\*\n• ‹Swift 1› · \$0\.20 · 1 clip$/,
    );
    expect(await said(house, ada(), 'usage --month 2026-10')).toContain(
      'October 2026 · everyone\n*$7.00* billed · 1 clip',
    );
    expect(await said(house, ada(), 'usage me --month 2026-09')).toBe('September 2026 · Ada\nNothing was requested.');
  });
});

describe('/video usage with many people', () => {
  const house = new BotHouse(CATALOG);
  // People with more clips spent less.
  for (let person = 1; person <= 20; person += 1) {
    for (let clip = 0; clip < person; clip += 1) {
      house.entries.push({
        task: `t${person}-${clip}` as TaskId,
        send: 1,
        platform: 'slack',
        team: 'T1',
        channel: 'clips',
        user: `P${person}`,
        userName: `Person ${person}`,
        model: 'swift-1',
        period: '2026-11',
        amount: ((100 - person) / 100 / person).toFixed(6),
        currency: 'USD',
        state: 'settled',
        createdAtMs: NOON_MS,
      });
    }
  }
  const peopleIn = (text: string): readonly string[] => text.match(/Person \d+/g) ?? [];

  it('shows everyone in pages, sorted by amount and not by number of clips', async () => {
    const first = await house.bot.text(ada(), 'usage');
    if (first.kind !== 'private') throw new TypeError('no card');
    const [next] = first.card.buttons;
    expect(next?.label).toBe('Next');
    const second = await house.bot.press(ada(), next?.id ?? '');
    const people = [...peopleIn(replyText(first)), ...peopleIn(replyText(second))];
    expect(people).toEqual(Array.from({ length: 20 }, (_, at) => `Person ${at + 1}`));
    expect(replyText(second)).toContain('(Previous)');
  });
});

describe('/video models', () => {
  it('shows pages of ten models', async () => {
    const [model] = CATALOG.models;
    if (model === undefined) throw new TypeError('no models');
    const models = Array.from({ length: 23 }, (_, at) => ({ ...model, name: `m-${at}`, title: `Model ${at}` }));
    const house = new BotHouse({ models, defaultModel: CATALOG.defaultModel });
    const shown: string[] = [];
    let reply = await house.bot.text(ada(), 'models');
    for (;;) {
      if (reply.kind !== 'private') throw new TypeError('no card');
      shown.push(...(replyText(reply).match(/Model \d+/g) ?? []));
      const next = reply.card.buttons.find(({ label }) => label === 'Next');
      if (next === undefined) break;
      reply = await house.bot.press(ada(), next.id);
    }
    expect(shown).toEqual(models.map(({ title }) => title));
    expect(replyText(reply)).toContain('(Previous)');
  });
});

describe('/video notify', () => {
  const subscription = (changes: Partial<Subscription> = {}): Subscription => {
    const by = { id: 'U1', name: 'Ada' };
    return { platform: 'slack', team: 'T1', channel: 'clips', who: 'everyone', by, ...changes };
  };
  const LIMITED = { view: true, post: true, manage: false };
  const HIDDEN = { view: false, post: false, manage: false };
  const refusal = async (house: BotHouse, caller: Caller, text: string) => {
    const reply = await house.bot.text(caller, text);
    expect(reply.kind).toBe('refused');
    return replyText(reply);
  };

  it('without options shows the notifications with a button for each change, and changes nothing', async () => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, ada(), 'notify')).toBe(
      'No notifications are on. You’re always told about your own clips.\n(Announce everyone’s clips here) (Message me about this channel’s clips) (Announce clips…)',
    );
    expect(house.subscribed).toEqual([]);
    house.memberRights.set('clips', LIMITED);
    expect(await said(house, ada(), 'notify')).toMatch(
      /\n\(Message me about this channel’s clips\) \(Announce clips…\)$/,
    );
    house.platform.limits = { ...house.platform.limits, hasDirectMessages: false };
    expect(await said(house, ada(), 'notify')).toMatch(/own clips\.\n\(Announce clips…\)$/);
  });

  it.each(['notify on', 'notify everyone', 'notify --channel <#clips>'])(
    '%s announces everyone’s clips',
    async (text) => {
      const house = new BotHouse(CATALOG);
      expect(await said(house, ada(), text)).toBe(
        'I’ll post in #clips when anyone’s clip is ready.\nNotifications:\n• everyone’s clips → #clips (set by Ada)\n(Turn off) (Message me about this channel’s clips) (Announce clips…)',
      );
      expect(await said(house, bob(), text)).toMatch(/^Already on: everyone’s clips → #clips\./);
      expect(house.subscribed).toEqual([subscription()]);
      expect(house.places[0]).toEqual({ team: 'T1', channel: 'clips', address: { thread: '1' } });
    },
  );

  it('announces a person’s clips in another channel', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a fox');
    house.places.length = 0;
    expect(await said(house, ada(), 'notify bob --channel <#C2|films>')).toMatch(
      /^I’ll post in #C2 when a clip by Bob is ready\./,
    );
    expect(house.places).toEqual([{ team: 'T1', channel: 'C2', address: {} }]);
  });

  it('requires the right to manage the channel, except for one’s own clips', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a fox');
    house.memberRights.set('films', LIMITED).set('clips', LIMITED);
    for (const text of ['notify on', 'notify everyone --channel films', 'notify bob --channel films', 'notify bob'])
      expect(await refusal(house, ada(), text), text).toMatch(/manages a channel/);
    house.memberRights.set('films', { view: true, post: false, manage: false });
    expect(await refusal(house, ada(), 'notify me --channel films')).toMatch(/You can’t post/);
    house.memberRights.set('films', LIMITED);
    await said(house, ada(), 'notify me --channel films');
    await said(house, ada({ mayManage: true }), 'notify on');
    expect(house.subscribed.map(({ channel }) => channel)).toEqual(['films', 'clips']);
  });

  it('hides a channel that the caller may not see, and its notifications', async () => {
    const house = new BotHouse(CATALOG);
    house.subscribed.push(subscription({ channel: 'secret', by: { id: 'U3', name: 'Eve' } }));
    house.memberRights.set('secret', HIDDEN).set('gone', new Error('away'));
    for (const channel of ['secret', 'gone']) {
      for (const what of ['me', 'everyone', 'off', 'everyone --direct'])
        expect(await refusal(house, ada(), `notify ${what} --channel ${channel}`)).toBe(
          'refused: I can’t find that channel.',
        );
    }
    expect(await said(house, ada(), 'notify')).not.toMatch(/secret|Eve/);
    const button = `notify:off:${subscriptionKey(subscription({ channel: 'secret' }))}`;
    expect(await house.bot.press(ada(), button)).toEqual(await house.bot.press(ada(), 'notify:off:0000000000000000'));
    expect(house.subscribed).toHaveLength(1);
    const stranger = ada({ isExternal: true });
    expect(await refusal(house, stranger, 'notify me --channel films')).toBe('refused: I can’t find that channel.');
  });

  it.each(['notify --off', 'notify off', 'notify everyone --off'])(
    '%s removes the caller’s own notifications',
    async (text) => {
      const house = new BotHouse(CATALOG);
      await said(house, ada(), 'notify on');
      house.memberRights.set('clips', LIMITED);
      expect(await refusal(house, bob(), text)).toMatch(/^refused: Only the person who turned this on/);
      expect(await said(house, ada(), text)).toMatch(
        /^Turned off: everyone’s clips → #clips\.\nNo notifications are on/,
      );
      expect(await said(house, ada(), text)).toMatch(/^Nothing to turn off in #clips\./);
    },
  );

  it('sends direct messages only about a channel that is visible to the team', async () => {
    const house = new BotHouse(CATALOG);
    house.memberRights.set('clips', LIMITED);
    expect(await said(house, bob(), 'notify everyone --direct')).toBe(
      'I’ll message you when a clip from #clips is ready.\nNotifications:\n• everyone’s clips from #clips → a direct message to you\n(Turn off) (Announce clips…)',
    );
    const by = { id: 'U2', name: 'Bob' };
    expect(house.subscribed).toEqual([subscription({ channel: 'direct-U2', from: 'clips', by })]);
    expect(await said(house, ada(), 'notify')).toMatch(/^No notifications are on/);
    house.audiences.set('secret', 'channel');
    expect(await refusal(house, ada(), 'notify --direct --channel secret')).toMatch(/only in that channel/);
    expect(await said(house, bob(), 'notify off')).toMatch(/^Turned off/);
    expect(house.subscribed).toEqual([]);
  });

  it('can also be changed by buttons', async () => {
    const house = new BotHouse(CATALOG);
    expect(replyText(await house.bot.press(ada(), 'notify:on'))).toMatch(/^I’ll post in #clips/);
    expect(replyText(await house.bot.press(ada(), 'notify:direct'))).toMatch(
      /\(Turn off 1\) \(Turn off 2\) \(Announce clips…\)$/,
    );
    for (const key of house.subscribed.map(subscriptionKey))
      expect(replyText(await house.bot.press(ada(), `notify:off:${key}`))).toMatch(/^Turned off/);
    expect(house.subscribed).toEqual([]);
  });

  it('reports a missing right and its remedy, and changes nothing', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'permission', right: 'View Channel', where: 'Server settings → Roles' };
    const reply = await house.bot.text(ada(), 'notify --channel #films');
    expect(replyText(reply)).toMatch(
      /^refused: I need View Channel in that channel\..*Server settings → Roles\. Then try again\.$/,
    );
    expect(house.subscribed).toEqual([]);
  });
});

describe('/video gallery', () => {
  it('gives the caller a private link for the channel', async () => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, ada(), 'gallery')).toContain('https://dailies.example/gallery/open?key=k');
    expect(house.galleryLinks).toEqual([expect.objectContaining({ channel: ada().channel, user: ada().user })]);
  });

  it('names the setting that is missing', async () => {
    const house = new BotHouse(CATALOG);
    house.galleryLinks = null;
    expect(replyText(await house.bot.text(ada(), 'gallery'))).toContain('PUBLIC_URL');
  });
});
