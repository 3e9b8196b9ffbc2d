import { describe, expect, it, vi } from 'vitest';
import { buttonsOf } from '#commands/ui/card.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { LAST_FRAME } from '#src/videos/chain.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn, failedIn } from '#test/fakes/outcomes.ts';
import { CATALOG } from '../../videos/models.ts';

const FRAME = 'https://dailies.example/media/frame-x?signature=y';
const DONE = doneIn(1_000);
const FAILED = failedIn(1_000);
const DROPPED: TaskEvent = { kind: 'drop', dropped: { shot: 1, end: 'failed' }, atMs: NOON_MS + 2_000 };

function house(missing: ReturnType<BotHouse['frames']['missing']> = []): BotHouse {
  const made = new BotHouse(CATALOG);
  made.frames = { missing: () => missing };
  return made;
}

function firstButton(reply: Awaited<ReturnType<BotHouse['bot']['text']>>): string {
  const [button] = reply.kind === 'private' ? buttonsOf(reply.card) : [];
  if (button === undefined) throw new TypeError(replyText(reply));
  return button.id;
}

/** A house with a chained storyboard of Ada's, of three shots. */
async function withChain() {
  const made = house();
  const asked = await made.bot.text(
    ada(),
    'storyboard --chain\na fox\nit runs --image https://files.example/mug.png\nit sleeps',
  );
  const placed = await made.bot.press(ada(), firstButton(asked));
  if (placed.kind !== 'task') throw new TypeError(replyText(placed));
  const [one, two, three] = memberIds({ id: placed.task, of: 3 }) as [TaskId, TaskId, TaskId];
  const happen = (id: TaskId, ...events: readonly TaskEvent[]) => {
    for (const event of events) made.happen(id, event);
  };
  const retry = (id: TaskId, caller = ada()) => made.bot.press(caller, `retry:${id}:0.2USD`);
  const latest = () => [...made.records.values()].at(-1);
  return { made, asked, set: placed.task, one, two, three, happen, retry, latest };
}

describe('/video storyboard --chain', () => {
  it('says so before the purchase, and claims shots of which only the first may be sent', async () => {
    const { made, asked, one, two, three } = await withChain();
    const text = replyText(asked);
    expect(text).toContain(
      'Each shot starts with the last frame of the one before, so they are made one after another.',
    );
    expect(text).toMatch(/2\. ‹it runs› · ‹.*1 reference image · starts with the last frame of shot 1›/u);
    expect([one, two, three].map((id) => made.task(id).state)).toEqual(['claimed', 'waiting', 'waiting']);
    expect(made.orders).toHaveLength(1);
  });

  it('is an option of the command, too, and one of its form, whose value is submitted', async () => {
    const made = house();
    const given = { shots: ['a fox\nit runs'], chain: [''] };
    expect(replyText(await made.bot.command(ada(), 'storyboard', given))).toContain('Each shot starts with');
    const reply = await made.bot.command(ada(), 'storyboard', { chain: [''] });
    if (reply.kind !== 'form') throw new TypeError('no form');
    expect(reply.form.fields.map(({ name }) => name)).toEqual([
      'shots',
      'model',
      'seconds',
      'aspect',
      'chain',
      'resolution',
    ]);
    expect(reply.form.fields.find(({ name }) => name === 'chain')?.value).toBe('on');
    const asked = await made.bot.submit(ada(), reply.form.id, { shots: 'a fox\nit runs', chain: 'on' });
    expect(replyText(asked)).toContain('Each shot starts with');
    const off = await made.bot.submit(ada(), reply.form.id, { shots: 'a fox\nit runs', chain: 'off' });
    expect(replyText(off)).toContain('Two shots are made at a time.');
  });

  it('keeps a length, an aspect ratio and a style of the command in a form with room for five fields', async () => {
    const reply = await house().bot.command(ada(), 'storyboard', { resolution: ['480p'] });
    if (reply.kind !== 'form') throw new TypeError('no form');
    expect(reply.form.fields.slice(0, 5).map(({ name }) => name)).toContain('resolution');
  });

  it('can be meant for one shot alone', async () => {
    const made = house();
    const asked = await made.bot.text(ada(), `storyboard\na fox\nit runs --image ${LAST_FRAME}\nit sleeps`);
    expect(replyText(asked)).toContain(
      'Two shots are made at a time. A shot that starts with the last frame of another',
    );
    await made.bot.press(ada(), firstButton(asked));
    expect([...made.records.values()].map(({ state }) => state)).toEqual(['claimed', 'waiting', 'claimed']);
  });

  it.each([
    [`a fox --image ${LAST_FRAME}\nit runs`, 'Line 1: image: this is the first shot'],
    ['a fox --chain\nit runs', 'Line 1: --chain is for all shots: write it on a line of its own above them.'],
    [
      '--chain --model plain\na fox\nit runs --image https://a.example/1.png --image https://a.example/2.png',
      'Line 2: image: with the last frame of the shot before, there are 3 images; Plain takes',
    ],
  ])('refuses %j', async (lines, sentence) => {
    const made = house();
    expect(replyText(await made.bot.text(ada(), `storyboard\n${lines}`))).toContain(sentence);
    expect(made.records.size).toBe(0);
  });

  it('refuses a model that takes no image', async () => {
    const made = house();
    const [first] = CATALOG.models;
    if (first === undefined) throw new TypeError('no model');
    const none = { min: 0, max: 0 };
    const blind = { ...first, media: { image: none, audio: none, video: none } };
    made.replaceCatalog({ ...CATALOG, models: [blind], defaultModel: blind });
    const reply = await made.bot.text(ada(), 'storyboard --chain\na fox\nit runs');
    expect(replyText(reply)).toContain('chain: Swift 1 takes no images, so its clips can’t start with the last frame');
  });

  it.each([
    [['ffmpeg'], 'That needs ffmpeg, which'],
    [['public_url'], 'That needs a public address (PUBLIC_URL), which'],
    [['ffmpeg', 'public_url'], 'That needs ffmpeg and a public address (PUBLIC_URL), which'],
  ] as const)('names what is missing here: %j', async (missing, sentence) => {
    const made = house(missing);
    for (const text of ['storyboard --chain\na fox\nit runs', `storyboard\na fox\nit runs --image ${LAST_FRAME}`])
      expect(replyText(await made.bot.text(ada(), text))).toContain(sentence);
    const form = await made.bot.command(ada(), 'storyboard', {});
    expect(form.kind === 'form' && form.form.fields.some(({ name }) => name === 'chain')).toBe(false);
    expect(made.records.size).toBe(0);
  });

  it('buys nothing where it became impossible between the question and its answer', async () => {
    const made = house();
    const asked = await made.bot.text(ada(), 'storyboard --chain\na fox\nit runs');
    made.frames = { missing: () => ['ffmpeg'] };
    expect(replyText(await made.bot.press(ada(), firstButton(asked)))).toContain('That needs ffmpeg');
    expect(made.records.size).toBe(0);
  });

  it('means nothing in a clip of its own', async () => {
    const made = house();
    const reply = await made.bot.command(ada(), 'create', { prompt: ['a fox'], image: [LAST_FRAME] });
    expect(replyText(reply)).toContain('works in /video storyboard only');
    expect(made.records.size).toBe(0);
  });
});

describe('Retry of a chained shot', () => {
  it('is refused while the shot before has no clip and none in progress', async () => {
    const { made, one, two, happen, retry } = await withChain();
    happen(one, ...FAILED);
    happen(two, DROPPED);
    const reply = await retry(two);
    expect(replyText(reply)).toContain(
      'Shot 2 starts with the last frame of shot 1, which has no clip. Retry shot 1 first.',
    );
    expect(made.records.size).toBe(3);
  });

  it('waits while the shot before is made again', async () => {
    const { one, two, happen, retry, latest } = await withChain();
    happen(one, ...FAILED);
    happen(two, DROPPED);
    await retry(one);
    await retry(two);
    expect(latest()).toMatchObject({ retryOf: two, takeOf: { at: 2 }, state: 'waiting', request: { chain: {} } });
  });

  it('gets a frame of its own, not the one of the take before', async () => {
    const { one, two, happen, retry, latest } = await withChain();
    happen(one, ...DONE);
    happen(two, { kind: 'framed', of: one, url: FRAME }, ...FAILED);
    await retry(two);
    expect(latest()).toMatchObject({ retryOf: two, state: 'waiting', request: { chain: {} } });
    expect(latest()?.request.media.image).toEqual(['https://files.example/mug.png']);
  });

  it('by someone else is a clip of its own with the same image, or refused where there is none yet', async () => {
    const { made, one, two, three, happen, latest } = await withChain();
    happen(one, ...DONE);
    happen(two, { kind: 'framed', of: one, url: FRAME }, ...FAILED);
    await made.bot.command(bob(), 'retry', { id: [two] });
    expect(latest()).toMatchObject({ retryOf: two, state: 'claimed' });
    expect(latest()).not.toHaveProperty('takeOf');
    expect(latest()?.request).not.toHaveProperty('chain');
    expect(latest()?.request.media.image).toEqual([FRAME, 'https://files.example/mug.png']);
    happen(three, { kind: 'drop', dropped: { shot: 2, end: 'failed' }, atMs: NOON_MS });
    expect(replyText(await made.bot.command(bob(), 'retry', { id: [three] }))).toContain(
      'in the channel of its storyboard',
    );
  });

  it('is ordered again with the whole storyboard as it was asked for', async () => {
    const { made, set, one, two, happen } = await withChain();
    happen(one, ...DONE);
    happen(two, { kind: 'framed', of: one, url: FRAME }, ...DONE);
    const asked = await made.bot.press(ada(), `retry:${setCardId(set)}`);
    expect(replyText(asked)).toContain('Each shot starts with the last frame of the one before');
  });
});

describe('Make shots again', () => {
  /** Frames and finishes a shot. */
  function chainOn({ happen }: Awaited<ReturnType<typeof withChain>>, id: TaskId, of: TaskId): void {
    happen(id, { kind: 'framed', of, url: FRAME }, ...DONE);
  }

  /** A finished chained board of three shots, the first of which was made again. */
  async function outdated() {
    const world = await withChain();
    const { made, one, two, three, happen, retry, latest } = world;
    happen(one, ...DONE);
    chainOn(world, two, one);
    chainOn(world, three, two);
    await retry(one);
    const again = latest()?.id as TaskId;
    made.clock.advance(60_000);
    happen(again, ...doneIn(120_000));
    made.orders.length = 0;
    const board = async () => made.bot.text(ada(), `status ${setCardId(world.set)}`);
    const button = async () => {
      const reply = await board();
      const all = reply.kind === 'private' ? buttonsOf(reply.card) : [];
      return all.find(({ label }) => label.startsWith('Make'));
    };
    return { ...world, again, board, button };
  }

  it('is offered with its price where shots start with an earlier take', async () => {
    const { board, button, set } = await outdated();
    expect(replyText(await board())).toContain('Shots 2 and 3 start with the earlier take of shot 1.');
    expect(await button()).toMatchObject({
      id: `retry:${setCardId(set)}:0.4USD`,
      label: 'Make shots 2 and 3 again · $0.40',
    });
  });

  it('orders each of them once, at this price alone, whoever presses how often', async () => {
    const { made, board, button, two, three, set } = await outdated();
    const { id = '' } = (await button()) ?? {};
    expect(replyText(await made.bot.press(bob(), id))).toContain('Only Ada');
    expect(replyText(await made.bot.press(ada({ channel: 'other' }), id))).toContain(
      'in the channel of its storyboard',
    );
    expect(replyText(await made.bot.press(ada(), `retry:${setCardId(set)}:0.2USD`))).toContain('The board has changed');
    expect(made.orders).toEqual([]);
    const caller = ada();
    await Promise.all([made.bot.press(caller, id), made.bot.press(caller, id), made.bot.press(ada(), id)]);
    await made.bot.press(caller, id);
    const takes = [...made.records.values()].filter(({ takeOf }) => (takeOf?.at ?? 1) > 1);
    expect(takes.map(({ retryOf, takeOf, state }) => [retryOf, takeOf?.at, state])).toEqual([
      [two, 2, 'waiting'],
      [three, 3, 'waiting'],
    ]);
    expect(new Set(takes.map(({ press }) => press)).size).toBe(1);
    expect(replyText(await board())).not.toContain('earlier take');
    expect(await button()).toBeUndefined();
  });

  it('stops at settings that change meanwhile, and tells which shots are made', async () => {
    const { made, button, three } = await outdated();
    const { id = '' } = (await button()) ?? {};
    const limit = { confirmAbove: { amount: '9', currency: 'USD' } };
    const submit = made.tasks.submit.bind(made.tasks);
    vi.spyOn(made.tasks, 'submit').mockImplementationOnce(async (...order) => {
      const submission = await submit(...order);
      await made.settings.change(ada(), { person: ada().user, surface: 'command' }, limit);
      return submission;
    });
    expect(replyText(await made.bot.press(ada(), id))).toContain(
      'Shot 2 is being made again. Shot 3 isn’t:\nThe team’s settings changed just now. Nothing was bought; try again.',
    );
    const madeAgain = () =>
      [...made.records.values()].flatMap(({ takeOf }) => (takeOf === undefined ? [] : [takeOf.at]));
    expect(madeAgain()).toEqual([1, 2]);
    await made.bot.press(ada(), (await button())?.id ?? '');
    expect(made.orders.at(-1)).toMatchObject({ retryOf: three });
    expect(madeAgain()).toEqual([1, 2, 3]);
  });

  it('stops at a limit, and is still offered', async () => {
    const { made, button } = await outdated();
    made.limit = { of: 'person', kind: 'open', max: 1, found: 1 };
    const { id = '' } = (await button()) ?? {};
    expect((await made.bot.press(ada(), id)).kind).toBe('refused');
    expect([...made.records.values()].filter(({ takeOf }) => (takeOf?.at ?? 1) > 1)).toEqual([]);
    made.limit = null;
    expect(await button()).toMatchObject({ id });
  });
});
