import { describe, expect, it } from 'vitest';
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

function house(missing: BotHouse['frames']['missing'] = []): BotHouse {
  const made = new BotHouse(CATALOG);
  made.frames = { missing };
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
      'Line 2: image: with the last frame of the shot before, there are 3 images; plain takes',
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
    expect(replyText(reply)).toContain('chain: swift-1 takes no images, so its clips can’t start with the last frame');
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
    made.frames = { missing: ['ffmpeg'] };
    expect(replyText(await made.bot.press(ada(), firstButton(asked)))).toContain('That needs ffmpeg');
    expect(made.records.size).toBe(0);
  });

  it('is refused beside a replica that does not know it, while other storyboards are ordered', async () => {
    const made = house();
    made.isBesideOlder = true;
    const asked = await made.bot.text(ada(), 'storyboard --chain\na fox\nit runs');
    expect(replyText(asked)).toContain('An update is in progress');
    expect(made.records.size).toBe(0);
    const plain = await made.bot.text(ada(), 'storyboard\na fox\nit runs');
    expect((await made.bot.press(ada(), firstButton(plain))).kind).toBe('task');
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
    const asked = await made.bot.press(ada(), `retry:${setCardId(set)}:0.6USD`);
    expect(replyText(asked)).toContain('Each shot starts with the last frame of the one before');
  });
});
