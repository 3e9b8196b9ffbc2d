import { describe, expect, it, vi } from 'vitest';
import type { Addressing, Bot, Caller, Reply } from '#commands/bot-port.ts';
import type { SpendingRules } from '#commands/orders/spending.ts';
import { declarations } from '#commands/registry.ts';
import { buttonId, type Press } from '#commands/ui/buttons.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import type { FormPurpose } from '#commands/ui/form-ids.ts';
import type { OverBudget } from '#src/pipeline/over-budget.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { PolicyRules } from '#src/teams/policy/policy.ts';
import type { SettingsPatch } from '#src/teams/settings-schema.ts';
import { modelFingerprint } from '#src/videos/elsewhere.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn } from '#test/fakes/outcomes.ts';
import { CATALOG } from '../../videos/models.ts';

// Every way into the bot × every rule about spending, and × every rule of a policy. A method, command, button or form that is added needs a row.

const usd = (amount: string) => ({ amount, currency: 'USD' });
const PRICE = usd('0.3');
const FOX = 'a red fox --seconds 6 --model swift-1 --resolution 720p';
const FILLED = { prompt: 'a red fox', seconds: '6', model: 'swift-1', resolution: '720p' };
const SEND: TaskEvent = { kind: 'send', owner: 'me', atMs: 0 };
const LOST: readonly TaskEvent[] = [SEND, { kind: 'lost', failure: { code: 'lost_answer', words: null } }];
const DONE = doneIn(0);
const OVER: OverBudget = {
  scope: 'team',
  budget: 'team:slack:T1',
  period: '2026-11',
  currency: 'USD',
  limit: '10',
  used: '9.9',
  held: '0',
  doubted: '0',
  room: '0.1',
  price: '0.3',
};
const room = { scope: 'team', period: '2026-11', used: '9.9' } as const;

/** Rules of a team, each of which applies to a clip of $0.30. */
const RULES = {
  none: { budgets: [] },
  confirm: { confirmAbove: usd('0.10'), budgets: [] },
  soft: { budgets: [{ ...room, soft: '10' }] },
  approve: { approveAbove: usd('0.10'), budgets: [] },
  pause: { confirmAbove: usd('0.10'), budgets: [] },
  hard: { confirmAbove: usd('0.10'), budgets: [{ ...room, limit: '10' }] },
} satisfies Readonly<Record<string, SpendingRules>>;
type Rule = keyof typeof RULES;

/** Policies, each of which does not allow the clip of the {@link Way}s; with what the refusal names. */
const POLICIES = {
  models: [{ models: ['epic-pro'] }, 'model: swift-1 isn’t allowed here. Choose epic-pro,'],
  seconds: [{ seconds: { max: 4 } }, /seconds: 6 s isn’t allowed here\. Choose (?:4|up to 4),/u],
  'seconds listed': [{ seconds: [4, 8] }, 'seconds: 6 s isn’t allowed here. Choose 4 or 8,'],
  resolutions: [{ resolutions: ['480p'] }, 'resolution: 720p isn’t allowed here. Choose 480p,'],
  clips: [{ clips: 0 }, 'clips in one order'],
  words: [{ words: ['wolf', 'FÓX'] }, 'prompt: “FÓX” isn’t allowed here. Use another word,'],
  create: [{ create: [{ kind: 'person', id: 'U9', name: 'Grace' }] }, 'You can’t create clips here: only Grace may.'],
} as const satisfies Readonly<Record<string, readonly [rules: PolicyRules, named: string | RegExp]>>;
type PolicyName = keyof typeof POLICIES;

type Outcome = 'buys' | 'asks' | 'requests' | 'refuses';

/** Outcomes of an order; {@link Way.outcomes} are the exceptions. */
const USUAL: Readonly<Record<Rule, Outcome>> = {
  none: 'buys',
  confirm: 'asks',
  soft: 'asks',
  approve: 'requests',
  pause: 'refuses',
  hard: 'refuses',
};
/** Outcomes of a button that is itself the confirmation. */
const CONFIRMED = { confirm: 'buys', soft: 'buys' } as const;

/** Way to spend $0.30 on a clip. `seed` runs before the rules apply. */
interface Way {
  readonly seed?: (house: BotHouse) => Promise<string>;
  readonly run: (house: BotHouse, caller: Caller, id: string) => Promise<Reply | null>;
  readonly outcomes?: Partial<Readonly<Record<Rule, Outcome>>>;
  /** Rules of a policy that do not apply. Default: none. */
  readonly exempt?: readonly PolicyName[];
  /** Whether it only asks what a later press buys: then what a policy does not allow gets no price. Default: false. */
  readonly onlyAsks?: true;
  /** Label that a button ends with. Default: the price of one clip. */
  readonly label?: RegExp;
}
/** `null`: it buys nothing; a string: where its rules are tested. */
type Row = Way | string | null;

const finished = async (house: BotHouse): Promise<string> => (await house.seed(ada(), FOX, ...DONE)).id;
const uncertain = async (house: BotHouse): Promise<string> => (await house.seed(ada(), FOX, ...LOST)).id;
const draft = async (house: BotHouse, command?: string): Promise<string> => {
  const { platform, team, channel, user: by } = ada();
  const of = {
    id: taskIdOf('d1'),
    key: 'd1',
    platform,
    team,
    channel,
    by,
    request: FILLED,
  };
  return (await house.drafts.save({ ...of, ...(command === undefined ? {} : { command }) })).draft.id;
};
const again = (isConfirmed: boolean): Way => ({
  seed: uncertain,
  run: ({ bot }, caller, id) =>
    bot.press(
      caller,
      buttonId({ action: 'again', task: id as TaskId, afterSends: 1, price: PRICE, isConfirmed: isConfirmed }),
    ),
  // It buys a clip of its requester's, for whom the rule counted before.
  exempt: ['create', 'clips'],
  // The press of an approver is the approval.
  outcomes: { ...(isConfirmed ? CONFIRMED : {}), approve: 'refuses' },
});
const press = (buttonOf: (id: string) => string, way: Partial<Way> = {}): Way => ({
  run: ({ bot }, caller, id) => bot.press(caller, buttonOf(id)),
  ...way,
});

const BOT: Readonly<Record<Exclude<keyof Bot, 'commands' | 'command' | 'text' | 'press' | 'submit'>, Row>> = {
  commandsFor: null,
  urgently: null,
  catalogFor: null,
  form: null,
  home: null,
  react: {
    seed: finished,
    run: ({ bot }, caller, id) => bot.react(caller, { channel: 'clips', message: `m-${id}` }, '🔁'),
  },
  suggest: null,
  removed: null,
  show: null,
};
const TEXTS: Readonly<Record<Addressing, Way>> = {
  command: { run: ({ bot }, caller) => bot.text(caller, FOX) },
  message: { run: ({ bot }, caller) => bot.text(caller, `create ${FOX}`, 'message') },
  // In the assistant pane, also what begins like a command to buy may be plain words.
  assistant: {
    run: ({ bot }, caller) => bot.text(caller, `create ${FOX}`, 'assistant'),
    outcomes: { none: 'asks', approve: 'asks', pause: 'asks', hard: 'asks' },
    onlyAsks: true,
  },
  // A message on the chat page is asked about whatever it costs.
  plain: {
    run: ({ bot }, caller) => bot.text(caller, FOX, 'plain'),
    outcomes: { none: 'asks', approve: 'asks', pause: 'asks', hard: 'asks' },
    onlyAsks: true,
  },
};
const GIVEN = Object.fromEntries(Object.entries(FILLED).map(([name, value]) => [name, [value]]));
/** The commands that spend; all others are `null`. */
const COMMANDS: Readonly<Record<string, Way>> = {
  create: { run: ({ bot }, caller) => bot.command(caller, 'create', GIVEN) },
  retry: { seed: finished, run: ({ bot }, caller, id) => bot.command(caller, 'retry', { id: [id] }) },
  compare: {
    run: ({ bot }, caller) =>
      bot.command(caller, 'compare', { prompt: GIVEN['prompt'] ?? [], models: ['swift-1,plain'], seconds: ['6'] }),
    label: /(?:· |for )\$0\.60$/u,
    // It gets a resolution that is allowed.
    exempt: ['resolutions'],
  },
};
const PRESSES: Readonly<Record<Press['action'], Row>> = {
  retry: press((id) => buttonId({ action: 'retry', task: id as TaskId, price: PRICE }), { seed: finished }),
  order: press((id) => `order:${id}:0.3USD`, { seed: draft, outcomes: CONFIRMED }),
  again: again(false),
  ask: press((id) => `ask:${id}:0.3USD`, {
    seed: draft,
    outcomes: { none: 'requests', confirm: 'requests', soft: 'requests', hard: 'requests' },
  }),
  // Without a price on its button, it is asked about whatever it costs.
  run: press((id) => `run:${id}`, {
    seed: (house) => draft(house, `create ${FOX}`),
    outcomes: { none: 'asks', approve: 'asks', hard: 'asks' },
  }),
  // It shows two prompts, each with its price, whatever that is.
  improve: press((id) => `improve:${id}`, {
    seed: (house) => {
      house.enhancer = { enhance: async () => ({ ok: true, prompt: 'a red fóx at dawn' }) };
      return draft(house);
    },
    outcomes: { none: 'asks', approve: 'asks', pause: 'asks', hard: 'asks' },
    onlyAsks: true,
  }),
  approve: 'approvals.test.ts',
  edit: null,
  fix: null,
  lookup: null,
  deny: null,
  cancel: null,
  withdraw: null,
  details: null,
  leave: null,
  delete: null,
  join: null,
  board: null,
  show: null,
  refetch: null,
  sign_off: null,
  changes: null,
  discard: null,
  page: null,
  notify: null,
  statement: null,
  privacy: null,
  vote: null,
  reveal: null,
  prefer: null,
  panel: null,
  move: null,
  remake: 'comparisons.test.ts',
  elsewhere: press(
    (id) =>
      buttonId({ action: 'elsewhere', task: id as TaskId, model: modelFingerprint({ name: 'swift-1' }), price: PRICE }),
    {
      seed: finished,
    },
  ),
};
const FORMS: Readonly<Record<FormPurpose['form'], Row>> = {
  create: { run: ({ bot }, caller) => bot.submit(caller, 'create', FILLED) },
  edit: { seed: finished, run: ({ bot }, caller, id) => bot.submit(caller, `edit:${id}`, FILLED) },
  fix: { seed: draft, run: ({ bot }, caller, id) => bot.submit(caller, `fix:${id}`, FILLED) },
  lookup: null,
  changes: null,
  panel: null,
  deny: null,
  // Its price is asked about whatever it costs.
  storyboard: 'storyboard/storyboard.test.ts',
  board: null,
};

const named = (kind: string, rows: Readonly<Record<string, Row>>): readonly (readonly [string, Way])[] =>
  Object.entries(rows).flatMap(([name, row]) =>
    row === null || typeof row === 'string' ? [] : [[`${kind} ${name}`, row] as const],
  );
const WAYS = [
  ...named('method', BOT),
  ...named('text as a', TEXTS),
  ...named('command', COMMANDS),
  ...named('button', { ...PRESSES, 'again of its question': again(true) }),
  ...named('form', FORMS),
];

const SHOTS = `${FOX}\na hen --seconds 6 --model swift-1 --resolution 720p`;
/** Ways to order a storyboard: each asks what it costs, whatever the rules about spending; its button is that of any draft. */
const STORYBOARDS: Readonly<Record<string, Way>> = {
  storyboard: { run: ({ bot }, caller) => bot.command(caller, 'storyboard', { shots: [SHOTS] }) },
  'storyboard as text': { run: ({ bot }, caller) => bot.text(caller, `storyboard ${SHOTS}`) },
  'storyboard in its form': { run: ({ bot }, caller) => bot.submit(caller, 'storyboard', { shots: SHOTS }) },
};

/** Commands that buy nothing, so that a new one is either here or in {@link COMMANDS}. */
const FREE_COMMANDS =
  'delete gallery help models list status cancel notify defaults usage approvals approvers budget statement settings audit pause privacy erase_person review policy library style';

/** Returns what happened to the clip. */
async function outcomeOf(
  { run, seed }: Way,
  rule: Rule,
): Promise<{ readonly outcome: Outcome; readonly reply: Reply }> {
  const house = new BotHouse(CATALOG);
  const id = (await seed?.(house)) ?? '';
  house.rules = RULES[rule];
  if (rule === 'hard') house.over = OVER;
  const pause = { reason: 'enough', by: { id: 'U9', name: 'Grace' }, atMs: NOON_MS };
  if (rule === 'pause') await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause });
  const states = () => [...house.records.values()].map(({ state }) => state);
  const before = states().length;
  const reply = await run(house, ada(), id);
  if (reply === null) throw new TypeError('there is no reply');
  const isSentAgain = seed === uncertain && house.task(id as TaskId).state === 'claimed';
  if (isSentAgain || states().includes('claimed')) return { outcome: 'buys', reply };
  if (states().includes('requested')) return { outcome: 'requests', reply };
  expect(states().length).toBe(before);
  return { outcome: reply.kind === 'refused' ? 'refuses' : 'asks', reply };
}

describe.each(WAYS)('%s', (_name, way) => {
  it.each(Object.keys(RULES) as Rule[])('obeys the rule: %s', async (rule) => {
    const { outcome, reply } = await outcomeOf(way, rule);
    expect(outcome).toBe(way.outcomes?.[rule] ?? USUAL[rule]);
    const shown = reply.kind === 'private' ? reply.card : reply.kind === 'offer' ? (reply.private ?? reply.card) : null;
    if (outcome === 'asks') {
      expect(shown === null ? [] : buttonsOf(shown).map(({ label }) => label)).toContainEqual(
        expect.stringMatching(way.label ?? /(?:· |for )\$0\.30$/u),
      );
    }
    if (rule === 'pause') expect(replyText(reply)).toContain('Grace paused spending: enough.');
    if (outcome === 'refuses' && rule === 'hard') expect(replyText(reply)).toContain('$0.10 of $10.00 left');
  });
});

/** Uses a way where the right to decide and the limit of approvals change once the settings were read `times` times. */
async function changeAfter({ run, seed }: Way, times: number) {
  const house = new BotHouse(CATALOG);
  const id = (await seed?.(house)) ?? '';
  const change = (patch: SettingsPatch) =>
    house.settings.change(ada(), { person: ada().user, surface: 'command' }, patch);
  await change({ policy: { team: { decide: 'any' }, channels: {} } });
  const spendingRules: typeof house.spendingRules = async (_spender, _currency, { approveAbove }) => ({
    approveAbove,
    budgets: [],
  });
  Object.assign(house, { spendingRules });
  const read = house.settings.get.bind(house.settings);
  let reads = 0;
  vi.spyOn(house.settings, 'get').mockImplementation(async (team) => {
    const before = await read(team);
    reads += 1;
    if (reads === times) await change({ approveAbove: usd('0.10'), policy: { team: { decide: [] }, channels: {} } });
    return before;
  });
  const stored = () => JSON.stringify([...house.records.values()]);
  const before = stored();
  // Someone else's clip, where it is about one.
  const reply = await run(house, seed === finished || seed === uncertain ? bob() : ada(), id);
  return { reply, reads, isChanged: stored() !== before };
}

describe.each(WAYS.filter(([, { outcomes }]) => outcomes?.none !== 'asks'))('%s', (_name, way) => {
  it('buys nothing by settings that changed since they were read', async () => {
    const { reads, isChanged } = await changeAfter(way, 0);
    expect(isChanged).toBe(true);
    // The last reading is that of the claim.
    for (const times of Array.from({ length: reads - 1 }, (_, at) => at + 1)) {
      const { reply, isChanged: isBought } = await changeAfter(way, times);
      expect({ times, isBought }).toEqual({ times, isBought: false });
      expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining('settings changed just now') });
    }
  });
});

/** Uses a way where a policy does not allow the clip. */
async function forbid({ run, seed }: Way, rules: PolicyRules): Promise<{ house: BotHouse; reply: Reply | null }> {
  const house = new BotHouse(CATALOG);
  const id = (await seed?.(house)) ?? '';
  const policy = { team: {}, channels: { clips: rules } };
  await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
  const before = JSON.stringify([...house.records.values()]);
  const reply = await run(house, ada({ channel: 'thread', parentChannel: 'clips' }), id);
  expect(JSON.stringify([...house.records.values()])).toBe(before);
  return { house, reply };
}

describe.each([...WAYS, ...named('command', STORYBOARDS)])('%s', (_name, way) => {
  it.each(Object.keys(POLICIES) as PolicyName[])('buys nothing past the policy: %s', async (name) => {
    const [rules, named] = POLICIES[name];
    if (way.exempt?.includes(name) === true) return;
    const { reply } = await forbid(way, rules);
    if (way.onlyAsks === true) {
      const shown = reply?.kind === 'private' ? buttonsOf(reply.card).map(({ label }) => label) : [];
      if (name !== 'create') expect(shown).not.toContainEqual(expect.stringContaining('$'));
      return;
    }
    if (reply?.kind !== 'refused') throw new TypeError(`it was not refused: ${JSON.stringify(reply)}`);
    expect(reply.sentence).toMatch(named);
    expect(reply.sentence).toContain('ask an administrator');
  });
});

describe.each([...WAYS, ...named('command', STORYBOARDS)])('%s', (_name, way) => {
  /** Uses a way where every clip has the style `house`. */
  const use = async (words: readonly string[]) => {
    const house = new BotHouse(CATALOG);
    const id = (await way.seed?.(house)) ?? '';
    const before = new Set(house.records.keys());
    const policy = { team: { style: 'house', words }, channels: {} };
    const styles = [{ name: 'house', after: 'shot on film' }];
    await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy, styles });
    const reply = await way.run(house, ada(), id);
    return { reply, bought: [...house.records.values()].filter((task) => !before.has(task.id)) };
  };

  it('makes clips in the style that the policy asks for, or none', async () => {
    const { reply, bought } = await use([]);
    for (const { request } of bought)
      expect(request).toMatchObject({ style: 'house', typed: 'a red fox', prompt: 'a red fox shot on film' });
    // A retry sends what its original sent, which was made without the style.
    if (reply?.kind === 'refused') expect(reply.sentence).toContain('clips here are made in the style house');
    else expect(reply?.kind === 'task').toBe(bought.length > 0);
  });

  it('buys nothing with forbidden words in the style', async () => {
    expect((await use(['film'])).bought).toEqual([]);
  });
});

it('opens no form for an order where the caller may not create clips', async () => {
  const house = new BotHouse(CATALOG);
  const policy = { team: { create: [] }, channels: {} };
  await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
  for (const reply of [await house.bot.form(ada()), await house.bot.text(ada(), '')])
    expect(replyText(reply)).toMatch(/You can’t create clips here: only administrators may\./u);
  expect(await house.bot.form(ada({ mayAdminister: true }))).toMatchObject({ kind: 'form' });
});

it('has a row for every command', () => {
  const orders = [...Object.keys(COMMANDS), 'storyboard'];
  const known = [...orders, ...FREE_COMMANDS.split(' ')];
  expect(declarations.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
  const buying = declarations.filter(({ buys }) => buys === true).map(({ name }) => name);
  expect(buying.toSorted()).toEqual(orders.toSorted());
});
