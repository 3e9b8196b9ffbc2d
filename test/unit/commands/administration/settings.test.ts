import { describe, expect, it } from 'vitest';
import type { Task } from '#src/tasks/task.ts';
import { ada, BotHouse, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { EVENTS } from '#test/fakes/tasks.ts';
import { CATALOG } from '../../videos/models.ts';

const admin = () => ada({ mayAdminister: true });
const { send, accepted, completed, fetched } = EVENTS;
const NOTHING = { view: false, post: false, manage: false };

async function type(text: string, house = new BotHouse(CATALOG)) {
  const reply = await house.bot.text(admin(), text);
  return { house, words: replyText(reply), kind: reply.kind, settings: await house.settings.get(admin()) };
}

describe('/video settings', () => {
  it('shows every setting with its default', async () => {
    const { words, kind } = await type('settings');
    expect(kind).toBe('private');
    expect(words).toContain('*Time zone*: UTC. Months begin and end there.');
    expect(words).toContain('*Currency*: USD for amounts typed without one.');
    expect(words).toContain('*Confirm above*: off. No clip asks for a confirmation because of its price.');
    expect(words).toContain('*Alerts*: on, at 50, 80 and 100 % of each budget.');
    expect(words.length).toBeLessThan(1000);
  });

  it.each([
    ['--time_zone europe/berlin', { timeZone: 'Europe/Berlin' }],
    ['--time_zone America/new_york', { timeZone: 'America/New_York' }],
    ['--time_zone +05:30', { timeZone: '+05:30' }],
    ['--currency usd', { currency: 'USD' }],
    ['--currency off --confirm_above 2', { confirmAbove: { amount: '2', currency: 'USD' } }],
    ['--confirm_above 2', { confirmAbove: { amount: '2', currency: 'USD' } }],
    ['--confirm_above $0', { confirmAbove: { amount: '0', currency: 'USD' } }],
    ['--approve_above "12.50 USD"', { approveAbove: { amount: '12.5', currency: 'USD' } }],
    ['--unusual_spend 20', { unusualSpend: { amount: '20', currency: 'USD' } }],
    ['--keep_clips 90', { keepClips: { days: 90, fromMs: NOON_MS + 24 * 3_600_000 } }],
    ['--keep_prompts "1 day"', { keepPrompts: { days: 1, fromMs: NOON_MS + 24 * 3_600_000 } }],
    ['--report_channel <#C7|clips>', { reportChannel: 'C7' }],
    ['--alerts off', { alerts: false }],
    ['--ai_label on', { aiLabel: true }],
  ] as const)('%s is kept', async (flags, expected) => {
    const { words, settings } = await type(`settings ${flags}`);
    expect(settings).toMatchObject(expected);
    expect(words).toContain('Saved.');
  });

  it.each([
    ['--time_zone "new york"', 'time_zone: “new york” isn’t a time zone.'],
    ['--time_zone Mars/Base', 'time_zone: “Mars/Base” isn’t a time zone.'],
    ['--currency GBP', 'currency: No model is billed in GBP.'],
    ['--currency abc', 'currency: No model is billed in ABC.'],
    ['--confirm_above abc', 'confirm_above: “abc” isn’t an amount.'],
    ['--confirm_above -5', 'confirm_above: “-5” isn’t an amount.'],
    ['--approve_above 1e9', 'approve_above: “1e9” isn’t an amount.'],
    ['--unusual_spend 0.0000001', 'unusual_spend: “0.0000001” isn’t an amount.'],
    ['--keep_clips 0', 'keep_clips: “0” isn’t a number of days from 1 to 36500.'],
    ['--keep_prompts 36501', 'keep_prompts: “36501” isn’t a number of days from 1 to 36500.'],
    ['--keep_clips -3', 'keep_clips: “-3” isn’t a number of days'],
    ['--alerts maybe', 'alerts: “maybe” isn’t known. Choose on or off.'],
    ['--off everything', 'off: “everything” isn’t known.'],
    ['--currency USD --off currency', 'currency: given a value and switched off at once.'],
  ])('%s gets one clear sentence and changes nothing', async (flags, sentence) => {
    const { house, kind, words, settings } = await type(
      `settings --time_zone Asia/Tokyo ${flags}`.replace('--time_zone Asia/Tokyo --time_zone', '--time_zone'),
    );
    expect(kind).toBe('refused');
    expect(words).toContain(`refused: ${sentence}`);
    expect(words.split('\n')).toHaveLength(1);
    expect(settings).toMatchObject({ revision: 0, timeZone: 'UTC' });
    expect((await house.audit.page(admin(), { offset: 0, limit: 9 })).total).toBe(0);
  });

  it('reports everything that is wrong at once', async () => {
    const { words } = await type('settings --time_zone x --confirm_above y');
    expect(words.split('\n')).toHaveLength(2);
  });

  it('refuses an unknown channel, and one where the bot can’t post', async () => {
    const house = new BotHouse(CATALOG);
    house.memberRights.set('secret', NOTHING);
    expect((await type('settings --report_channel #secret', house)).words).toContain('there is no such channel');
    house.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @Dailies' };
    expect((await type('settings --report_channel <#C7|clips>', house)).words).toContain('/invite @Dailies');
    expect(await house.settings.get(admin())).toMatchObject({ revision: 0 });
  });

  it.each(['--confirm_above off', '--off confirm_above', '--off CONFIRM_ABOVE'])(
    '%s removes a value',
    async (flags) => {
      const { house } = await type('settings --confirm_above 2');
      const { settings } = await type(`settings ${flags}`, house);
      expect(settings).not.toHaveProperty('confirmAbove');
    },
  );

  it('says what changed, and that the new month rule is for new clips', async () => {
    const { house, words } = await type('settings --time_zone Europe/Berlin');
    expect(words).toContain('Saved.\n*Time zone*: Europe/Berlin.');
    expect(words).toContain('Clips ordered from now on count in the months of the new time zone');
    expect((await type('settings --time_zone Europe/Berlin', house)).words).toContain('Nothing changed');
  });

  it('advises to name an approver where a threshold for approvals finds none', async () => {
    const advice = 'Nobody is an approver yet';
    const { house, words } = await type('settings --approve_above 0.30');
    expect(words).toContain(advice);
    expect((await type('settings --confirm_above 0.30', house)).words).not.toContain(advice);
    const actor = { person: admin().user, surface: 'command' } as const;
    await house.approvers.add(admin(), actor, { kind: 'person', id: 'U2', name: 'Bob' });
    expect((await type('settings --approve_above 0.40', house)).words).not.toContain(advice);
  });

  it('completes time zones by any part of their name, at most 25, and currencies of the catalog', async () => {
    const { bot } = new BotHouse(CATALOG);
    const suggest = (option: string, typed: string) => bot.suggest(admin(), 'settings', option, typed, {});
    expect((await suggest('time_zone', '')).length).toBe(25);
    expect(await suggest('time_zone', 'berl')).toEqual([expect.objectContaining({ value: 'Europe/Berlin' })]);
    expect(await suggest('time_zone', 'new york')).toEqual([expect.objectContaining({ value: 'America/New_York' })]);
    expect(await suggest('currency', '')).toEqual([{ value: 'USD', label: 'USD' }]);
  });
});

describe('the word AI on cards of clips', () => {
  it('is there for the team that wants it, once the clip is', async () => {
    const house = new BotHouse(CATALOG);
    const one = await house.seed(ada(), 'a red fox', send, accepted, completed, fetched);
    const other = await house.seed(ada(), 'a grey wolf');
    const card = async ({ id }: Pick<Task, 'id'>) => replyText(await house.bot.text(ada(), `status ${id}`));
    expect(await card(one)).not.toContain('*AI*');
    expect((await type('settings --ai_label on', house)).words).toContain(
      '*AI label*: on. The cards of finished clips have the word AI.',
    );
    expect(await card(one)).toContain('*AI* · ');
    expect(await card(other)).not.toContain('*AI*');
    const log = replyText(await house.bot.text(admin(), 'audit'));
    expect(log).toContain('turned the AI label on');
    await type('settings --ai_label off', house);
    expect(await card(one)).not.toContain('*AI*');
  });
});
