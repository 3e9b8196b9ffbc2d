import { describe, expect, it } from 'vitest';
import type { Caller } from '#commands/command.ts';
import type { LedgerEntry } from '#src/money/ledger.ts';
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
  it('shows a task as its message does, with its buttons and the way there', async () => {
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

  it('shows the caller’s own open ones, newest first', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a wolf');
    const [one, two] = [await house.seed(ada(), 'a red fox'), await house.seed(ada(), 'a hare')];
    const line = ({ id }: { readonly id: string }, prompt: string) =>
      `\`${id.slice(0, 8)}\` ‹${prompt}› · ‹swift-1› · 4 s · $0.20 · Ada · queued · 2026-11-20T12:00 · [open → m-${id}]`;
    expect(await said(house, ada(), 'status')).toBe(
      ['*Yours, still open*', line(two, 'a hare'), line(one, 'a red fox')].join('\n'),
    );
  });

  it('says when there is none', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a wolf');
    expect(await said(house, ada(), 'status')).toBe(
      'Nothing of yours is running. `/video list` shows the latest clips.',
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
    return { heading: shown[0], prompts, buttons: reply.card.buttons };
  };

  it('shows ten at a time, newest first, and turns its pages', async () => {
    await filled;
    const first = await page(await house.bot.text(ada(), 'list'));
    expect(first.heading).toBe('*The team’s clips* · 1–10, newest first');
    expect(first.prompts).toHaveLength(10);
    expect([first.prompts[0], first.prompts[9]]).toEqual(['Fox 23', 'Fox 14']);
    expect(first.buttons.map(({ label }) => label)).toEqual(['Older']);
    const second = await page(await house.bot.press(bob(), first.buttons[0]?.id ?? ''));
    expect([second.prompts[0], second.prompts[9]]).toEqual(['Fox 13', 'wolf 4']);
    expect(second.buttons.map(({ label }) => label)).toEqual(['Newer', 'Older']);
    const third = await page(await house.bot.press(bob(), second.buttons[1]?.id ?? ''));
    expect(third.heading).toBe('*The team’s clips* · 21–23, newest first');
    expect(third.prompts).toEqual(['wolf 3', 'wolf 2', 'wolf 1']);
    expect(third.buttons.map(({ label }) => label)).toEqual(['Newer']);
    expect((await page(await house.bot.press(bob(), third.buttons[0]?.id ?? ''))).prompts).toEqual(second.prompts);
  });

  it.each([
    ['list --who me', 'Clips by Ada', 12],
    ['list --who bob', 'Clips by Bob', 11],
    ['list --who @Bob', 'Clips by Bob', 11],
    ['list --who <@U2>', 'Clips by Bob', 11],
    ['list --who <@U2|Bob>', 'Clips by Bob', 11],
    ['list --who everyone', 'The team’s clips', 23],
    ['list fox', 'The team’s clips* with ‹“fox”›', 11],
    ['list FOX --who me', 'Clips by Ada with ‹“FOX”›', 6],
    ['list fox 2', 'with ‹“fox 2”›', 4],
  ])('%s', async (text, heading, count) => {
    await filled;
    let shown = await page(await house.bot.text(ada(), text));
    expect(shown.heading?.replace('* ', ' ').replace('by *', 'by ')).toContain(heading.replace('* ', ' '));
    const prompts = [...shown.prompts];
    for (let older = shown.buttons.find(({ label }) => label === 'Older'); older !== undefined; ) {
      shown = await page(await house.bot.press(ada(), older.id));
      prompts.push(...shown.prompts);
      older = shown.buttons.find(({ label }) => label === 'Older');
    }
    expect(new Set(prompts).size).toBe(count);
    expect(prompts).toHaveLength(count);
  });

  it('says when there is nothing, and knows nothing of other teams', async () => {
    await filled;
    expect(await said(house, ada({ team: 'T2' }), 'list')).toBe('*The team’s clips*\nNone yet.');
    expect(await said(house, ada(), 'list zebra')).toBe('*The team’s clips* with ‹“zebra”›\nNone yet.');
  });

  it('says when it searched the latest only', async () => {
    const many = new BotHouse(CATALOG);
    const task = await many.seed(ada(), 'a wolf');
    for (let index = 0; index < 2000; index += 1)
      many.records.set(`t${index}` as TaskId, { ...task, id: `t${index}` as TaskId });
    expect(await said(many, ada(), 'list zebra')).toMatch(/I looked through the latest 2000 clips only\.$/);
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

  it('adds up this month for everyone, currencies apart', async () => {
    expect(await said(house, ada(), 'usage')).toBe(
      [
        '*November 2026* · everyone',
        '*$0.60 and €1.25* billed (4 clips)',
        '*$0.30* on its way (1 clip)',
        '*$0.40* may be billed, nobody can tell yet (1 clip)',
        '*$0.30* failed, refunded under the service’s rules (1 clip)',
        '*$0.30* cost nothing (1 clip)',
        'Billed by person:',
        '• Ada: $0.40 and €1.25 (3 clips)',
        '• Bob: $0.20 (1 clip)',
        'Billed by model:',
        '• ‹swift-1›: $0.60 (3 clips)',
        '• ‹epic-pro›: €1.25 (1 clip)',
      ].join('\n'),
    );
  });

  it('of one person, of another month, and of nothing', async () => {
    expect(await said(house, bob(), 'usage me')).toMatch(
      /^\*November 2026\* · Bob\n\*\$0\.20\* billed \(1 clip\)\nBilled by model/,
    );
    expect(await said(house, ada(), 'usage --month 2026-10')).toContain(
      '*October 2026* · everyone\n*$7.00* billed (1 clip)',
    );
    expect(await said(house, ada(), 'usage me --month 2026-09')).toBe('*September 2026* · Ada\nNothing was ordered.');
  });
});

describe('/video notify', () => {
  it('bare: tells of everyone’s clips here, from now on', async () => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, ada(), 'notify')).toBe(
      'From now on I tell of everyone’s finished clips in #clips.\nTold of now:\n• everyone’s finished clips in #clips, asked for by Ada',
    );
    expect(await said(house, bob(), 'notify everyone')).toMatch(
      /^I tell of everyone’s finished clips in #clips already\./,
    );
    expect(house.subscribed).toEqual([
      { platform: 'slack', team: 'T1', channel: 'clips', who: 'everyone', by: { id: 'U1', name: 'Ada' } },
    ]);
    expect(house.places[0]).toEqual({ team: 'T1', channel: 'clips', address: { thread: '1' } });
  });

  it('of a person, in another channel', async () => {
    const house = new BotHouse(CATALOG);
    await house.seed(bob(), 'a fox');
    house.places.length = 0;
    expect(await said(house, ada(), 'notify bob --channel <#C2|films>')).toMatch(
      /^From now on I tell of finished clips of Bob in #C2\./,
    );
    expect(house.places).toEqual([{ team: 'T1', channel: 'C2', address: {} }]);
    await said(house, ada(), 'notify me --channel #films');
    expect(house.subscribed.map(({ channel, who }) => [channel, who])).toEqual([
      ['C2', { id: 'U2', name: 'Bob' }],
      ['films', { id: 'U1', name: 'Ada' }],
    ]);
  });

  it.each(['notify --off', 'notify off', 'notify everyone --off'])('%s stops', async (text) => {
    const house = new BotHouse(CATALOG);
    await said(house, ada(), 'notify');
    expect(await said(house, bob(), text)).toBe(
      'I no longer tell of everyone’s finished clips in #clips.\nNobody is told of other people’s clips now. Whoever asks for a clip is always told.',
    );
    expect(await said(house, bob(), text)).toMatch(/^There was nothing like that to stop in #clips\./);
  });

  it('stops for one person alone', async () => {
    const house = new BotHouse(CATALOG);
    await said(house, ada(), 'notify');
    await said(house, ada(), 'notify me');
    expect(await said(house, ada(), 'notify me --off')).toMatch(
      /^I no longer tell of finished clips of Ada in #clips\./,
    );
    expect(house.subscribed).toHaveLength(1);
  });

  it('names the right it lacks and where to give it, and agrees to nothing', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { right: 'View Channel', where: 'Server settings → Roles' };
    const reply = await house.bot.text(ada(), 'notify --channel #films');
    expect(replyText(reply)).toMatch(/^refused: .*“View Channel”.*Server settings → Roles/);
    expect(house.subscribed).toEqual([]);
  });
});
