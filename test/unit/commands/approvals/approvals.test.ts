import { describe, expect, it, vi } from 'vitest';
import { OPTION_FIELDS } from '#adapters/discord/registration/commands.ts';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { UNKNOWN_BUTTON } from '#commands/sentences/refusals.ts';
import { blocksOf, buttonsOf, type Card } from '#commands/ui/card.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada as adaWith, BotHouse, bob as bobWith } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { platformError } from '#test/fakes/platform.ts';
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
    expect(await there.bot.text(ada, TEXT)).toMatchObject({ kind: 'task', task });
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
      expect(replyText(question)).toContain(
        'This channel is private. May approvers who aren’t in it see the prompt and any pictures with it?',
      );
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

  it('is refused to an approver who lost the role, although a cached list of members still has them', async () => {
    const there = await house();
    const role = { kind: 'role', id: '99', name: '@leads' } as const;
    await there.approvers.add(ada, { person: admin.user, surface: 'command' }, role);
    there.groups.set('99', [ben.user.id]);
    const task = await requested(there);
    expect(replyText(await there.bot.press({ ...ben, roles: ['1'] }, approveId(there, task)))).toContain('Only @leads');
    expect(replyText(await there.bot.press({ ...ben, roles: ['99'] }, approveId(there, task)))).toContain('Approved');
  });

  it('is refused to an approver who left the team, and presses in a direct message', async () => {
    const there = await house(ben);
    const task = await requested(there);
    const direct = { ...ben, team: 'T2', channel: 'direct' };
    there.outsiders.add(ben.user.id);
    expect(replyText(await there.bot.press(direct, approveId(there, task)))).toContain('Only Ben can approve this.');
    there.outsiders.clear();
    expect(replyText(await there.bot.press(direct, approveId(there, task)))).toContain('Approved for');
  });

  it('counts from administrators once every approver has left the team', async () => {
    const there = await house(ben, cleo);
    const task = await requested(there);
    there.outsiders.add(ben.user.id);
    expect(replyText(await there.bot.press(admin, approveId(there, task)))).toContain('Only Ben or Cleo');
    there.outsiders.add(cleo.user.id);
    const stranger = { ...admin, mayAdminister: false };
    expect(replyText(await there.bot.press(stranger, approveId(there, task)))).toContain('Only Ben or Cleo');
    expect(replyText(await there.bot.press(admin, approveId(there, task)))).toContain('Approved for');
  });

  it('is asked of those who are still in the team, and of administrators once all have left', async () => {
    const there = await house(ben, cleo);
    there.outsiders.add(ben.user.id);
    const task = await requested(there);
    expect(there.task(task).approval?.askedOf).toEqual([{ kind: 'person', ...cleo.user }]);
    there.outsiders.add(cleo.user.id);
    const next = await requested(there, { ...ada, interaction: 'later' });
    expect(there.task(next).approval?.askedOf).toEqual([]);
  });

  it('is refused, and says why, where a group cannot be looked up', async () => {
    const there = await house();
    const add = (id: string, name: string) =>
      there.approvers.add(ada, { person: admin.user, surface: 'command' }, { kind: 'group', id, name });
    await add('S1', '@leads');
    const task = await requested(there);
    there.groups.set('S1', platformError('missing_permission', { retryable: false, words: 'the app is missing x' }));
    const press = async () => replyText(await there.bot.press(ben, approveId(there, task)));
    expect(await press()).toBe(
      'refused: I can’t read who belongs to @leads, so I can’t tell whether you may decide on this. Nothing was changed. The reason: the app is missing x.',
    );
    there.groups.set('S1', platformError('platform_unavailable'));
    expect(await press()).toContain('I couldn’t find out who belongs to @leads just now');
    expect(replyText(await there.bot.press(ben, `deny:${task}`))).toContain('I couldn’t find out');
    expect(idsOf(await there.bot.text({ ...ben, interaction: 'list' }, 'approvals'))).toEqual([]);
    expect(there.approved).toEqual([]);
    // Another group may still have the caller as a member.
    await add('S2', '@producers');
    there.groups.set('S2', [ben.user.id]);
    expect(await press()).toContain('Approved for');
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
    there.outcome = { kind: 'over', tasks: [there.task(task)], over, missing: 300_000n };
    const reply = await there.bot.press(ben, approveId(there, task));
    expect(replyText(reply)).toContain('This would exceed the team’s November budget by $0.30.');
    expect(replyText(reply)).toContain('You can grant $0.30 once. The budget itself stays at $1.00.');
    there.outcome = null;
    await there.bot.press({ ...ben, interaction: 'grant' }, idsOf(reply)[0] ?? '');
    expect(there.approved.at(-1)).toMatchObject({ grant: 300_000n });
    there.outcome = { kind: 'over', tasks: [there.task(task)], over: { ...over, scope: 'deployment' }, missing: null };
  });

  it('of a model that takes the request no more names it by its title', async () => {
    const there = await house(ben);
    const task = await requested(there);
    there.outcome = { kind: 'unavailable', tasks: [there.task(task)] };
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toMatch(
      /^refused: (?:Swift 1|Epic Pro) no longer takes this request/u,
    );
  });

  it('while purchases are paused keeps the request waiting', async () => {
    const there = await house(ben);
    const task = await requested(there);
    for (const reason of ['over the plan', 'over the plan.', '']) {
      const pause = { reason, by: admin.user, atMs: 0, timeZone: 'UTC' };
      there.outcome = { kind: 'paused', tasks: [there.task(task)], pause };
      const words = reason === '' ? '' : ': over the plan';
      expect(replyText(await there.bot.press(ben, approveId(there, task)))).toBe(
        `refused: Root paused all purchases${words}. The request keeps waiting.`,
      );
    }
  });

  it('with another price than the request’s is none of ours, and changes nothing', async () => {
    const there = await house(ben);
    const task = await requested(there);
    for (const price of ['0.0001USD', '99USD', '0.3EUR'])
      expect(await there.bot.press(ben, `approve:${task}:${price}`)).toEqual({
        kind: 'refused',
        sentence: UNKNOWN_BUTTON,
      });
    expect(there.task(task).state).toBe('requested');
    expect(replyText(await there.bot.press(ben, approveId(there, task)))).toContain('Approved for');
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

describe('the right to decide', () => {
  const by = { person: admin.user, surface: 'command' } as const;
  /** Prepares one person's standing between the request and the press. */
  type Standing = readonly [who: string, caller: Caller, change: (there: BotHouse) => unknown, refusal: string | null];
  const standings: readonly Standing[] = [
    ['an approver', ben, () => undefined, null],
    [
      'a former approver',
      ben,
      (there) => there.approvers.remove(ada, by, { kind: 'person', id: ben.user.id }),
      'Only Cleo can approve this.',
    ],
    [
      'a deputy whose time is over',
      ben,
      async (there) => {
        await there.approvers.add(ada, by, { kind: 'person', ...ben.user }, there.clock.now() + 60_000);
        there.clock.advance(60_000);
      },
      'Only Cleo can approve this.',
    ],
    [
      'an approver added later',
      admin,
      (there) => there.approvers.add(ada, by, { kind: 'person', ...admin.user }),
      null,
    ],
    ['an administrator who is no approver', admin, () => undefined, 'Only Ben or Cleo can approve this.'],
    [
      'a requester who became an approver',
      { ...ada, mayAdminister: true },
      (there) => there.approvers.add(ada, by, { kind: 'person', ...ada.user }),
      'You requested this, so someone else has to approve it.',
    ],
  ];

  it.each(standings)(
    'of %s is that of the press, by button, form, list and home tab',
    async (_, caller, change, no) => {
      const there = await house(ben, cleo);
      const task = await requested(there);
      await change(there);
      // Slack's Home tab shows the list, and its presses come from the direct message.
      for (const channel of [ada.channel, `direct-${caller.user.id}`]) {
        const at = { ...caller, channel, interaction: `${channel}` };
        const listed = idsOf(await there.bot.command(at, 'approvals', {})).filter((id) => !id.startsWith('withdraw:'));
        expect(listed).toEqual(no === null ? [approveId(there, task), `deny:${task}`] : []);
        if (no === null) continue;
        for (const id of [approveId(there, task), `${approveId(there, task)}:300000`, `deny:${task}`])
          expect(replyText(await there.bot.press(at, id))).toContain(no);
        expect(replyText(await there.bot.submit(at, `deny:${task}`, { reason: 'x' }))).toContain(no);
      }
      expect(there.task(task).state).toBe('requested');
      if (no !== null) return;
      expect((await there.bot.press(caller, `deny:${task}`)).kind).toBe('form');
      expect(replyText(await there.bot.press(caller, approveId(there, task)))).toContain('Approved for');
    },
  );
});

describe('Deny', () => {
  it('asks for a reason and shows it to the requester', async () => {
    const there = await house(ben);
    const task = await requested(there);
    const reply = await there.bot.press(ben, `deny:${task}`);
    expect(reply).toMatchObject({
      kind: 'form',
      form: { id: `deny:${task}`, fields: [{ name: 'reason', maxLength: 300 }] },
    });
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

describe('/video approvals with 200 requests', () => {
  it('reads the approvers once, and the members of a group once for each requester', async () => {
    const there = await house();
    const group = { kind: 'group', id: 'S1', name: '@leads' } as const;
    await there.approvers.add(ada, { person: admin.user, surface: 'command' }, group);
    for (let number = 0; number < 200; number += 1) await requested(there, { ...ada, interaction: `r${number}` });
    const list = vi.spyOn(there.approvers, 'list');
    const members = vi.spyOn(there.platform.channels, 'isInGroup').mockResolvedValue(true);
    const reply = await there.bot.text({ ...ben, interaction: 'b' }, 'approvals');
    expect(replyText(reply)).toContain('And 195 more, later ones.');
    expect([list.mock.calls.length, members.mock.calls.length]).toEqual([1, 1]);
  });
});

describe('/video approvers', () => {
  const run = (there: BotHouse, text: string, caller: Caller = admin) =>
    there.bot.text({ ...caller, interaction: text }, `approvers ${text}`);

  it('adds, lists and removes people and groups, deputies until a day', async () => {
    const there = await house();
    await run(there, 'add <@U8|Ben> 2026-12-24');
    expect(replyText(await run(there, '<@&99|leads>'))).toContain(
      'A request pings them if anyone may mention the role',
    );
    expect(replyText(await run(there, '<!subteam^S1|@artists>'))).not.toContain('pings');
    expect(await there.approvers.list(ada)).toMatchObject([
      { kind: 'person', id: 'U8', name: 'Ben', untilMs: Date.UTC(2026, 11, 25) },
      { kind: 'role', id: '99', name: '@leads' },
      { kind: 'group', id: 'S1', name: '@artists' },
    ]);
    expect(replyText(await run(there, 'list'))).toContain('• Ben · until 24 December 2026 · added by ');
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
      ['<@U8|Ben> until tomorrow', 'I don’t know “@Ben until tomorrow” here'],
    ] as const)
      expect(replyText(await run(there, text))).toContain(sentence);
    expect(await there.approvers.list(ada)).toEqual([]);
  });

  it('refuses someone who left, and everyone at once as a role, and changes nothing', async () => {
    const there = await house();
    there.outsiders.add('U8');
    expect(replyText(await run(there, 'add <@U8|Ben>'))).toContain(
      'who: Ben isn’t a member here any more. Nothing was changed.',
    );
    // On Discord, @everyone is the role with the id of the server.
    const everyone = await run(there, `add <@&${admin.team}|@everyone>`);
    expect(replyText(everyone)).toContain('who: @everyone can’t approve. Choose a role that only some have.');
    expect(await there.approvers.list(ada)).toEqual([]);
  });

  it('removes an approver who left', async () => {
    const there = await house(ben);
    there.outsiders.add(ben.user.id);
    expect(replyText(await run(there, 'remove <@U8|Ben>'))).toContain('no longer approves');
    expect(await there.approvers.list(ada)).toEqual([]);
  });

  it('refuses a group whose members can’t be looked up, with the reason and the remedy', async () => {
    const there = await house();
    const words = 'the app is missing usergroups:read; an admin adds it';
    there.groups.set('S1', platformError('missing_permission', { retryable: false, words }));
    expect(replyText(await run(there, 'add <!subteam^S1|@leads>'))).toBe(
      `refused: who: I can’t read who belongs to @leads: ${words}. Until then, add people instead. Nothing was changed.`,
    );
    there.groups.set('S1', platformError('platform_unavailable'));
    await expect(run(there, 'add <!subteam^S1|@leads>')).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(await there.approvers.list(ada)).toEqual([]);
    // Discord sends the roles with each press, and nothing has to be looked up.
    expect(replyText(await run(there, 'add <@&S1|leads>'))).toContain('may approve from now on');
    expect(replyText(await run(there, 'remove <!subteam^S1|@leads>'))).toContain('Nothing was changed');
  });

  it('names itself as the platform does', async () => {
    const there = await house();
    expect(replyText(await run(there, 'add'))).toContain('such as /video approvers @ben');
    const caller = { ...admin, fields: OPTION_FIELDS };
    const given = { change: ['add'] };
    expect(replyText(await there.bot.command(caller, 'approvers', given))).toContain('/video-admin approvers @ben');
  });

  it('is for administrators', async () => {
    const there = await house();
    expect((await run(there, 'add <@U8|Ben>', ben)).kind).toBe('refused');
    expect(await there.approvers.list(ada)).toEqual([]);
  });
});

describe('the picture of a request in a list', () => {
  const picture = { id: 'relay-1', url: 'https://bot.example/media/relay-1.jpg' };
  const pictures = (card: Card) =>
    blocksOf(card).flatMap((one) => (one.kind === 'item' && one.picture !== undefined ? [one.picture] : []));
  const list = async (there: BotHouse, caller: Caller) => {
    there.pictures = { ...there.pictures, forRequest: async () => picture };
    const reply = await there.bot.text(caller, 'approvals');
    if (reply.kind !== 'private') throw new TypeError('no list');
    const home = await there.bot.home({ ...caller, channel: `direct-${caller.user.id}` });
    expect(home.flatMap(pictures)).toEqual(pictures(reply.card));
    return pictures(reply.card);
  };
  const alt = 'Picture for “a red fox”';

  it('stands beside its prompt, also on the home page, for who waits, decides and decided', async () => {
    const there = await house(ben);
    const task = await requested(there);
    expect(await list(there, ben)).toEqual([{ ...picture, alt }]);
    expect(await list(there, ada)).toEqual([{ ...picture, alt }]);
    await there.bot.press(ben, `deny:${task}`);
    await there.bot.submit(ben, `deny:${task}`, { reason: 'no' });
    const reply = await there.bot.text(ben, 'approvals');
    expect(reply.kind === 'private' && pictures(reply.card)).toEqual([{ ...picture, alt }]);
  });

  it.each([true, false])('of a private channel goes with the prompt (shown: %s)', async (isShown) => {
    const there = await house(ben);
    there.audiences.set(ada.channel, 'channel');
    const ids = idsOf(await there.bot.text(ada, TEXT));
    const answer = ids.find((id) => id.endsWith(isShown ? ':shown' : ':hidden')) ?? '';
    await there.bot.press({ ...ada, interaction: 'p1' }, answer);
    there.memberRights.set(ada.channel, { view: false, post: false, manage: false });
    const outside: Caller = { ...ben, channel: 'elsewhere' };
    expect(await list(there, outside)).toEqual(isShown ? [{ ...picture, alt }] : []);
  });
});
