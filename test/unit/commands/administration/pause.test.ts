import { describe, expect, it } from 'vitest';
import { buttonId } from '#commands/ui/buttons.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const admin = () => ada({ mayAdminister: true });
const said = async (house: BotHouse, text: string, caller = admin()) => replyText(await house.bot.text(caller, text));

async function paused(line = 'pause over the plan --until 2026-11-30'): Promise<BotHouse> {
  const house = new BotHouse(CATALOG);
  await said(house, 'settings --time_zone Europe/Berlin');
  await said(house, line);
  return house;
}

describe('/video pause', () => {
  it('says that nothing is paused, and how to', async () => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, 'pause')).toBe('Spending isn’t paused.\nPause it: `/video pause <reason>`');
    expect(await said(house, 'pause off')).toContain('Spending isn’t paused. Nothing was changed.');
    expect((await house.audit.page(admin(), { offset: 0, limit: 1 })).total).toBe(0);
  });

  it('is described as what it stops, and what goes on', async () => {
    const help = await said(new BotHouse(CATALOG), 'help pause');
    expect(help).toContain('Stops new orders of the team, or ends that; what was ordered goes on, unsent shots too');
  });

  it('shows the reason, the author and the end', async () => {
    const house = await paused();
    const expected = '*Spending is paused*: ‹over the plan›\nBy Ada · ends 2026-11-29T23:00';
    expect(await said(house, 'pause')).toContain(expected);
    expect(await said(house, 'pause')).toContain('End the pause: `/video pause off`');
  });

  it('refuses every order to everyone with reason, author and end, and keeps the request', async () => {
    const house = await paused();
    const reply = await house.bot.text(bob(), 'a fox');
    expect(replyText(reply)).toMatch(
      /^refused: Ada paused spending: over the plan\. It lasts until 30 November, 00:00 \(Berlin time\)\. Nothing was ordered; clips in progress go on\./u,
    );
    expect(house.records.size).toBe(0);
    await said(house, 'pause off');
    const [button] = reply.kind === 'refused' ? (reply.buttons ?? []) : [];
    expect((await house.bot.press(bob(), button?.id ?? '')).kind).toBe('task');
  });

  it('refuses Retry, 🔁 and Send again, and lets Cancel and Dismiss through', async () => {
    const house = new BotHouse(CATALOG);
    const failed = { kind: 'refused', failure: { code: 'bad_request', words: null }, atMs: NOON_MS } as const;
    const done = await house.seed(ada(), 'a fox', { kind: 'send', owner: 'me', atMs: 0 }, failed);
    const lost = { kind: 'lost', failure: { code: 'lost_answer', words: null } } as const;
    const uncertain = await house.seed(ada(), 'a hen', { kind: 'send', owner: 'me', atMs: 0 }, lost);
    await said(house, 'pause enough');
    const message = { channel: 'clips', message: `m-${done.id}` };
    for (const reply of [
      await house.bot.press(ada(), buttonId({ action: 'retry', task: done.id, price: done.price })),
      await house.bot.react(ada(), message, '🔁'),
      await house.bot.press(
        ada(),
        buttonId({ action: 'again', task: uncertain.id, afterSends: 1, price: uncertain.price, isConfirmed: false }),
      ),
    ])
      expect(replyText(reply)).toContain('Ada paused spending: enough.');
    expect(house.task(uncertain.id)).toMatchObject({ state: 'uncertain', sends: 1 });
    expect((await house.bot.press(ada(), `leave:${uncertain.id}`)).kind).toBe('private');
  });

  it('ends by itself at the given time', async () => {
    const house = await paused('pause lunch --until 1h');
    house.clock.advance(3_599_999);
    expect(await said(house, 'a fox', bob())).toContain('paused');
    house.clock.advance(1);
    expect(await said(house, 'a fox', bob())).toMatch(/^task/u);
    expect(await said(house, 'pause')).toContain('Spending isn’t paused.');
  });

  it.each([
    ['soon', '“soon” isn’t a time.'],
    ['2020-01-01', '“2020-01-01” is over already.'],
  ])('stops first where the end can’t be read, and asks about the end: %s', async (until, problem) => {
    const house = new BotHouse(CATALOG);
    const text = await said(house, `pause the provider is down --until ${until}`);
    expect(text).toContain('*Spending is paused*: ‹the provider is down›');
    expect(text).toContain(`The pause has no end: ${problem} Write 2h`);
    expect(await said(house, 'a fox', bob())).toContain('It lasts until an administrator ends it.');
  });

  it.each([
    ['pause --until 2h', 'reason: say why'],
    [`pause ${'x'.repeat(201)}`, 'reason: it has 201 characters; the limit is 200'],
  ])('%s gets one clear sentence and changes nothing', async (line, sentence) => {
    const house = new BotHouse(CATALOG);
    expect(await said(house, line)).toContain(`refused: ${sentence}`);
    expect(await house.settings.get(admin())).toMatchObject({ revision: 0 });
  });
});
