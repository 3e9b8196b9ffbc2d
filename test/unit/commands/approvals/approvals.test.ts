import { describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { taskIdOf } from '#src/pipeline/task-service.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada as adaWith, BotHouse, bob as bobWith } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const usd = (amount: string) => ({ amount, currency: 'USD' });
const ada = adaWith();
const bob = bobWith();
const cleo: Caller = { ...bob, user: { id: 'U9', name: 'Cleo' }, interaction: 'cleo' };
const ben: Caller = { ...bob, user: { id: 'U8', name: 'Ben' }, mayAdminister: false, interaction: 'ben' };
const admin: Caller = { ...bob, user: { id: 'U7', name: 'Root' }, mayAdminister: true, interaction: 'root' };
const TEXT = 'create a red fox --seconds 8';
const DAY_MS = 86_400_000;

/** A team in which clips above $0.10 need an approval, by these people. */
async function house(...approvers: readonly Caller[]): Promise<BotHouse> {
  const there = new BotHouse(CATALOG);
  there.rules = { approveAbove: usd('0.1'), budgets: [] };
  for (const { user } of approvers)
    await there.approvers.add(ada, { person: admin.user, surface: 'command' }, { kind: 'person', ...user });
  return there;
}

/** Requests a clip of Ada's. */
async function requested(there: BotHouse, caller = ada): Promise<TaskId> {
  const reply = await there.bot.text(caller, TEXT);
  if (reply.kind !== 'task') throw new TypeError(`not requested: ${JSON.stringify(reply)}`);
  expect(there.task(reply.task).state).toBe('requested');
  return reply.task;
}

function idsOf(reply: Reply): readonly string[] {
  if (reply.kind === 'private' || reply.kind === 'offer') return buttonsOf(reply.card).map(({ id }) => id);
  return reply.kind === 'refused' ? (reply.buttons ?? []).map(({ id }) => id) : [];
}

function approveId(there: BotHouse, task: TaskId): string {
  return `approve:${task}:${there.task(task).price.amount}USD`;
}

describe('an order above the team’s limit', () => {
  it('becomes a request under its own key, in the message of the clip, and names its approvers', async () => {
    const there = await house(ben, ada);
    const task = await requested(there);
    expect(task).toBe(taskIdOf(`${ada.platform}:${ada.interaction}`));
    expect(there.task(task)).toMatchObject({
      presented: false,
      approval: { above: usd('0.1'), askedOf: [{ kind: 'person', ...ben.user }], isPromptShown: false },
    });
    expect(await there.bot.text(ada, TEXT)).toEqual({ kind: 'task', task });
    expect(there.records.size).toBe(1);
  });

  it('from a private channel first asks whether approvers outside of it may see the prompt', async () => {
    for (const [answer, isPromptShown] of [
      ['shown', true],
      ['hidden', false],
    ] as const) {
      const there = await house(ben);
      there.audiences.set(ada.channel, 'channel');
      const question = await there.bot.text(ada, TEXT);
      expect(replyText(question)).toContain('This channel is private. May approvers who aren’t in it see the prompt?');
      expect(there.records.size).toBe(0);
      const [id] = idsOf(question).filter((one) => one.endsWith(`:${answer}`));
      const press = { ...ada, interaction: `press-${answer}` };
      const reply = await there.bot.press(press, id ?? '');
      expect(reply).toMatchObject({ kind: 'task', task: taskIdOf(`${ada.platform}:${ada.interaction}`) });
      expect([...there.records.values()]).toMatchObject([{ state: 'requested', approval: { isPromptShown } }]);
      expect(replyText(await there.bot.press({ ...ben, channel: ada.channel }, id ?? ''))).not.toContain('Approved');
      expect(there.records.size).toBe(1);
    }
  });

  it('that is discarded stays so', async () => {
    const there = await house(ben);
    there.audiences.set(ada.channel, 'channel');
    const ids = idsOf(await there.bot.text(ada, TEXT));
    await there.bot.press({ ...ada, interaction: 'p1' }, ids.find((id) => id.startsWith('discard:')) ?? '');
    const late = await there.bot.press({ ...ada, interaction: 'p2' }, ids.find((id) => id.endsWith(':shown')) ?? '');
    expect(replyText(late)).toContain('Discarded');
    expect(there.records.size).toBe(0);
  });

  it('over a budget is refused with a button that asks for an approval', async () => {
    const there = new BotHouse(CATALOG);
    const figures = { limit: '1', used: '1', held: '0', doubted: '0', room: '0', price: '0.4' };
    there.over = { scope: 'team', budget: 'team:slack:T1', period: '2026-11', currency: 'USD', ...figures };
    const refusal = await there.bot.text(ada, TEXT);
    const ask = idsOf(refusal).find((id) => id.startsWith('ask:'));
    expect(await there.bot.press({ ...ada, interaction: 'ask' }, ask ?? '')).toMatchObject({ kind: 'task' });
    expect([...there.records.values()]).toMatchObject([{ state: 'requested', approval: { above: null } }]);
    there.over = { ...there.over, scope: 'deployment' };
    const other = await there.bot.text({ ...ada, interaction: 'other' }, TEXT);
    expect(idsOf(other).filter((id) => id.startsWith('ask:'))).toEqual([]);
  });
});

describe('a press on Approve', () => {
  it('approves at the price shown', async () => {
    const there = await house(ben);
    const task = await requested(there);
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toMatch(/^Approved for \$0\.\d+\. The clip/);
    expect(there.task(task)).toMatchObject({ state: 'claimed', approval: { approved: { by: ben.user } } });
    expect(there.approved).toMatchObject([{ by: ben.user, offered: there.task(task).price, grant: 0n }]);
  });

  it('is refused to the requester, also as an approver, a deputy or an administrator', async () => {
    const there = await house(ben, ada);
    const task = await requested(there);
    const own = 'You requested this, so someone else has to approve it.';
    const until = there.clock.now() + DAY_MS;
    await there.approvers.add(ada, { person: ben.user, surface: 'command' }, { kind: 'person', ...ada.user }, until);
    for (const caller of [ada, { ...ada, mayAdminister: true }]) {
      expect(replyText(await there.bot.press(caller, approveId(there, task)))).toContain(own);
      expect(replyText(await there.bot.press(caller, `deny:${task}`))).toContain(own);
    }
    expect(there.task(task).state).toBe('requested');
  });

  it('is refused to strangers and former approvers; an approver added later counts', async () => {
    const there = await house(ben, cleo);
    const task = await requested(there);
    const only = 'Only Ben or Cleo can approve this.';
    expect(replyText(await there.bot.press(admin, approveId(there, task)))).toContain(only);
    await there.approvers.remove(ada, { person: null, surface: 'command' }, { kind: 'person', id: ben.user.id });
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain('Only Cleo can approve this.');
    const later = { ...admin, mayAdminister: false };
    await there.approvers.add(ada, { person: cleo.user, surface: 'command' }, { kind: 'person', ...later.user });
    expect(replyText(await there.bot.press(later, approveId(there, task)))).toContain('Approved for');
  });

  it('counts from administrators where no valid approver is left', async () => {
    const there = await house(ada);
    const task = await requested(there);
    expect(there.task(task).approval?.askedOf).toEqual([]);
    const refusal = 'Only an administrator can approve this.';
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain(refusal);
    expect(replyText(await there.bot.press(admin, approveId(there, task)))).toContain('Approved for');
  });

  it('counts from members of a role or user group, as they are at the press', async () => {
    const there = await house();
    const group = { kind: 'group', id: 'S1', name: '@leads' } as const;
    await there.approvers.add(ada, { person: admin.user, surface: 'command' }, group);
    const task = await requested(there);
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain('Only @leads can approve this.');
    expect(
      replyText(await there.bot.press({ ...ben, team: 'other', roles: ['S1'] }, approveId(there, task))),
    ).toContain('Only @leads');
    there.groups.set('S1', [ben.user.id]);
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain('Approved for');
  });

  it('after another decision names that one; repeated, its own outcome', async () => {
    const there = await house(ben, cleo);
    const task = await requested(there);
    await there.bot.press(ben, approveId(there, task));
    there.clock.advance(120_000);
    const ago = 'Ben already approved this 2 minutes ago.';
    expect(replyText(await there.bot.press(cleo, approveId(there, task)))).toContain(ago);
    expect(replyText(await there.bot.press(cleo, `deny:${task}`))).toContain(ago);
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain('Approved for');
    expect(there.approved).toHaveLength(1);
  });

  it('after the expiry reports that, and after a withdrawal that', async () => {
    const there = await house(ben);
    const first = await requested(there);
    expect(replyText(await there.bot.press(ada, `withdraw:${first}`))).toContain('Withdrawn. Nothing was charged.');
    expect(replyText(await there.bot.press(ben, approveId(there, first)))).toContain(
      'Ada already withdrew this request',
    );
    const second = await requested(there, { ...ada, interaction: 'i2' });
    there.clock.advance(DAY_MS);
    expect(replyText(await there.bot.press(ben, approveId(there, second)))).toContain('has expired');
    expect(there.approved).toEqual([]);
  });

  it('that the platform reported as failed is only offered', async () => {
    const there = await house(ben);
    const task = await requested(there);
    const late = { ...ben, acknowledged: async () => false };
    const reply = await there.bot.press(late, approveId(there, task));
    expect(reply).toMatchObject({ kind: 'offer' });
    expect(idsOf(reply)).toEqual([approveId(there, task)]);
    expect(there.task(task).state).toBe('requested');
  });

  it('over a budget offers what the approver may grant, and buys it with that button', async () => {
    const there = await house(ben);
    const task = await requested(there);
    const figures = { limit: '1', used: '0.9', held: '0', doubted: '0', room: '0.1', price: '0.4' };
    const over = { scope: 'team', budget: 'team', period: '2026-11', currency: 'USD', ...figures } as const;
    there.outcome = { kind: 'over', task: there.task(task), over, missing: 300_000n };
    const reply = await there.bot.press(ben, approveId(there, task));
    expect(replyText(reply)).toContain('This would exceed the team’s November budget by $0.30.');
    expect(replyText(reply)).toContain('You can grant $0.30 once. The budget itself stays at $1.00.');
    there.outcome = null;
    await there.bot.press({ ...ben, interaction: 'grant' }, idsOf(reply)[0] ?? '');
    expect(there.approved.at(-1)).toMatchObject({ grant: 300_000n });
    there.outcome = { kind: 'over', task: there.task(task), over: { ...over, scope: 'deployment' }, missing: null };
  });

  it('of an unknown or foreign task, or with a broken id, changes nothing', async () => {
    const there = await house(ben);
    const task = await requested(there);
    for (const id of [`approve:${task}`, `approve:${task}:abc`, 'approve:unknown:4USD', `deny:${task}:1`, 'deny:'])
      expect((await there.bot.press(ben, id)).kind).toBe('refused');
    expect((await there.bot.press({ ...ben, platform: 'discord' }, approveId(there, task))).kind).toBe('refused');
    expect(there.task(task).state).toBe('requested');
  });
});

describe('Deny', () => {
  it('asks for a reason and shows it to the requester', async () => {
    const there = await house(ben);
    const task = await requested(there);
    const reply = await there.bot.press(ben, `deny:${task}`);
    expect(reply).toMatchObject({ kind: 'form', form: { id: `deny:${task}`, fields: [{ name: 'reason' }] } });
    await there.bot.submit({ ...ben, interaction: 's' }, `deny:${task}`, { reason: '  too long\nfor a test ' });
    expect(there.task(task)).toMatchObject({
      state: 'declined',
      declined: { how: 'denied', by: ben.user, reason: 'too long for a test' },
    });
  });

  it('needs no reason, and is checked again when the form is sent', async () => {
    const there = await house(ben);
    const task = await requested(there);
    expect(replyText(await there.bot.submit(admin, `deny:${task}`, { reason: 'x' }))).toContain('Only Ben');
    await there.bot.submit(ben, `deny:${task}`, {});
    expect(there.task(task).declined).not.toHaveProperty('reason');
  });
});

describe('/video approvals', () => {
  it('lists what waits for the caller, the caller’s own and the latest decisions', async () => {
    const there = await house(ben);
    const first = await requested(there);
    const second = await requested(there, { ...ada, interaction: 'i2' });
    await there.bot.press(ben, approveId(there, first));
    const forBen = await there.bot.text({ ...ben, interaction: 'b' }, 'approvals');
    expect(idsOf(forBen)).toEqual([approveId(there, second), `deny:${second}`]);
    expect(replyText(forBen)).toMatch(/approved by Ben/);
    const forAda = await there.bot.text({ ...ada, interaction: 'a' }, 'approvals');
    expect(replyText(forAda)).toContain('Nothing is waiting for you.');
    expect(idsOf(forAda)).toEqual([`withdraw:${second}`]);
  });

  it('numbers several requests, and hides prompts of private channels', async () => {
    const there = await house(ben);
    there.audiences.set(ada.channel, 'channel');
    for (const interaction of ['i1', 'i2']) {
      const question = await there.bot.text({ ...ada, interaction }, TEXT);
      const id = idsOf(question).find((one) => one.endsWith(':hidden')) ?? '';
      await there.bot.press({ ...ada, interaction: `${interaction}p` }, id);
    }
    const reply = await there.bot.text({ ...ben, channel: 'elsewhere', interaction: 'b' }, 'approvals');
    expect(replyText(reply)).toContain('from a private channel');
    expect(replyText(reply)).not.toContain('a red fox');
    expect(idsOf(reply)).toHaveLength(4);
    if (reply.kind === 'private')
      expect(buttonsOf(reply.card).map(({ label }) => label[0])).toEqual(['1', '1', '2', '2']);
  });
});

describe('/video approvers', () => {
  const run = (there: BotHouse, text: string, caller: Caller = admin) =>
    there.bot.text({ ...caller, interaction: text }, `approvers ${text}`);

  it('adds, lists and removes people and groups, deputies until a day', async () => {
    const there = await house();
    await run(there, 'add <@U8|Ben> 2026-12-24');
    await run(there, '<@&99|leads>');
    await run(there, '<!subteam^S1|@artists>');
    expect(await there.approvers.list(ada)).toMatchObject([
      { kind: 'person', id: 'U8', name: 'Ben', untilMs: Date.UTC(2026, 11, 25) },
      { kind: 'role', id: '99', name: '@leads' },
      { kind: 'group', id: 'S1', name: '@artists' },
    ]);
    expect(replyText(await run(there, 'list'))).toContain('Ben');
    expect(replyText(await run(there, 'remove <@U8|Ben>'))).toContain('no longer approves');
    expect(replyText(await run(there, ''))).not.toContain('Ben');
  });

  it('refuses what is no approver, no day, or over, and changes nothing', async () => {
    const there = await house();
    for (const [text, sentence] of [
      ['add nobody-knows', 'I don’t know “nobody-knows” here'],
      ['add', 'name a person, role or user group'],
      ['add <@U8|Ben> 2026-13-45', '“2026-13-45” isn’t a day'],
      ['add <@U8|Ben> 2020-01-01', 'is over'],
      ['add everyone', 'I don’t know'],
    ] as const)
      expect(replyText(await run(there, text))).toContain(sentence);
    expect(await there.approvers.list(ada)).toEqual([]);
  });

  it('is for administrators', async () => {
    const there = await house();
    expect((await run(there, 'add <@U8|Ben>', ben)).kind).toBe('refused');
    expect(await there.approvers.list(ada)).toEqual([]);
  });
});
