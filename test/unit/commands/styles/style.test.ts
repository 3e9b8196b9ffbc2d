import { beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { detailsCard } from '#commands/orders/details.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { fileNameOf } from '#src/media/file-name.ts';
import { removedBy } from '#src/tasks/removal.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { checkAgain, checkRequest } from '#src/videos/check.ts';
import { composePrompt } from '#src/videos/styles.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

let house: BotHouse;
beforeEach(() => {
  house = new BotHouse(CATALOG);
});

const admin = (interaction = 'admin') => bob({ mayAdminister: true, interaction });
const plain = (reply: Reply): string => replyText(reply).replace(/[*‹›`]/gu, '');
const set = async (text: string): Promise<string> => plain(await house.bot.text(admin(), `style ${text}`));
const order = (text: string, caller = ada()): Promise<Reply> => house.bot.text(caller, text);
const stored = async () => (await house.settings.get(ada())).styles;
const taskOf = (reply: Reply): Task => {
  if (reply.kind !== 'task') throw new TypeError(`no task: ${replyText(reply)}`);
  return house.task(reply.task);
};
const HOUSE = 'house --before Cinematic: --after ", shot on film" --avoid "text, logos"';
const SENT = 'Cinematic: a red fox, shot on film. Avoid: text, logos';

describe('/video style', () => {
  it('is shown to everyone, and changed by administrators, with an entry in the audit log', async () => {
    expect(plain(await order('style'))).toContain('There are no styles yet.');
    expect(plain(await order('style house --after x'))).toContain('Nothing was changed.');
    expect(await stored()).toBeUndefined();
    expect(await set(`${HOUSE} --model SWIFT-1 --seconds 8`)).toMatch(/Saved\.[\s\S]*\nModel: Swift 1\n/u);
    expect(await set('House --aspect 9:16 --resolution 480p')).toContain('Length: 8 s');
    expect(await stored()).toEqual([
      {
        name: 'house',
        before: 'Cinematic:',
        after: ', shot on film',
        avoid: 'text, logos',
        model: 'swift-1',
        seconds: 8,
        aspect: '9:16',
        resolution: '480p',
      },
    ]);
    const shown = plain(await order('style HOUSE'));
    expect(shown).toContain('\nModel: Swift 1\n');
    expect(shown).toContain('Avoid: text, logos');
    expect(shown).toContain('the video service has no negative prompt');
    expect(plain(await order('style'))).toContain('Cinematic: … , shot on film');
    await set('house --off seconds');
    expect((await stored())?.[0]).not.toHaveProperty('seconds');
    expect(await set('house --off all')).toContain('The style house is removed.');
    expect(await stored()).toBeUndefined();
    const audit = plain(await house.bot.command(admin(), 'audit', {}));
    for (const change of ['added', 'changed', 'removed']) expect(audit).toContain(`Bob ${change} the style house.`);
  });

  it.each([
    ['--after x', 'name: which style?'],
    ['big*house --after x', 'can’t be the name of a style'],
    ['noir', 'name: there is no style “noir”'],
    ['house --model nothing', 'model: there is no model “nothing”'],
    ['house --seconds 5', 'seconds: Swift 1 can’t make 5 s'],
    ['house --images ftp://a.example/1.png', 'isn’t a link'],
    ['house --off mood', 'off: “mood” isn’t known'],
    ['house --off after', 'A style needs words or a default'],
  ])('refuses %s and changes nothing', async (text, sentence) => {
    expect(await set(text)).toContain(sentence);
    expect(await stored()).toBeUndefined();
  });

  it('takes a length alone as its own model offers it', async () => {
    await set('house --model epic-pro');
    expect(await set('house --seconds 10')).toContain('Length: 10 s');
    expect(await set('house --seconds 8')).toContain('seconds: Epic Pro can’t make 8 s');
    expect(await set('house --seconds 8 --off model')).toContain('Length: 8 s');
    expect(await stored()).toEqual([{ name: 'house', seconds: 8 }]);
  });

  it('keeps changes that are made at once', async () => {
    await Promise.all([set('house --after film'), set('noir --after dark'), set('anime --after cel')]);
    expect((await stored())?.map(({ name }) => name)).toEqual(['anime', 'house', 'noir']);
  });
});

describe('an order with a style', () => {
  beforeEach(() => set(`${HOUSE} --seconds 8 --resolution 480p`));

  it('sends the composed prompt, keeps the typed one, and has the style’s defaults', async () => {
    const { request, price } = taskOf(await order('a red fox --style House --resolution 720p'));
    expect(request).toMatchObject({ prompt: SENT, typed: 'a red fox', style: 'house', seconds: 8, resolution: '720p' });
    expect(price.amount).toBe('0.4');
    expect(checkAgain(CATALOG, request)).toMatchObject({ ok: true, request });
  });

  it('shows the typed prompt and the style on its card, and both prompts under Details', async () => {
    const task = taskOf(await order('a red fox --style house'));
    const card = plain(await order('list red'));
    expect(card).toContain('a red fox');
    expect(card).not.toContain('film');
    expect(plain(await order('list film'))).not.toContain('a red fox');
    expect(fileNameOf(task)).not.toContain('film');
    const details = cardText(detailsCard(task, [], { media: [], marks: null, strip: null })).replace(/[*‹›`]/gu, '');
    expect(details).toContain('style house');
    expect(details).toMatch(new RegExp(`a red fox\nSent with the style house:\n${SENT}$`, 'u'));
  });

  it('loses both prompts and the style with its content', async () => {
    const task = taskOf(await order('a red fox --style house'));
    const removed = removedBy(task, { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: NOON_MS });
    expect(JSON.stringify(removed)).not.toMatch(/fox|film|"house"/u);
  });

  it('is made the same way by Retry, and in the present style by Edit & retry', async () => {
    const { id, request } = await house.seed(ada(), 'a red fox --style house');
    await set('house --after ", in clay" --off avoid');
    const again = taskOf(await house.bot.command(ada({ interaction: 'again' }), 'retry', { id: [id] }));
    expect(again.request).toEqual(request);
    const form = await house.bot.press(ada(), `edit:${id}`);
    const fields = form.kind === 'form' ? form.form.fields : [];
    const valueIn = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
    expect([valueIn('prompt'), valueIn('style')]).toEqual(['a red fox', 'house']);
    const caller = ada({ interaction: 'edited' });
    const edited = taskOf(await house.bot.submit(caller, `edit:${id}`, { prompt: 'a grey fox', seconds: '4' }));
    expect(edited.request).toMatchObject({ prompt: 'Cinematic: a grey fox, in clay', typed: 'a grey fox', seconds: 4 });
    const without = { prompt: 'a grey fox', seconds: '4', style: '' };
    const bare = taskOf(await house.bot.submit(ada({ interaction: 'bare' }), `edit:${id}`, without));
    expect(bare.request.prompt).toBe('a grey fox');
    expect(bare.request).not.toHaveProperty('style');
  });

  it('is bought as it was offered, whatever happened to the style since', async () => {
    house.rules = { confirmAbove: { amount: '0.1', currency: 'USD' }, budgets: [] };
    const offer = await order('a red fox --style house');
    const shown = offer.kind === 'offer' ? (offer.private ?? offer.card) : null;
    const [button] = shown === null ? [] : buttonsOf(shown);
    expect(button?.label).toContain('$0.40');
    const draft = await house.drafts.get(button?.id.split(':')[1] as TaskId);
    // What a replica of an earlier version would send.
    expect(draft?.request.prompt).toBe(SENT);
    await set('house --after ", in clay" --seconds 4');
    const { request } = taskOf(await house.bot.press(ada({ interaction: 'press' }), button?.id ?? ''));
    expect(request).toMatchObject({ prompt: SENT, typed: 'a red fox', seconds: 8 });
  });

  it('asks for the price where its form could not know the style’s length', async () => {
    const empty = await house.bot.form(ada());
    const prices = empty.kind === 'form' ? empty.form.prices : undefined;
    if (prices === undefined) throw new TypeError('the form has no prices');
    const values = { prompt: 'a red fox', style: 'house' };
    const reply = await house.bot.submit(ada({ shown: { prices } }), 'create', values);
    expect(replyText(reply)).toContain('$0.40');
    expect([...house.records.values()]).toEqual([]);
  });

  it('is refused by the length of what is sent, and by an unknown style', async () => {
    expect(plain(await order(`${'a'.repeat(1990)} --style house`))).toMatch(
      /prompt: with the style house it has 2,\d\d\d characters/u,
    );
    expect(plain(await order('a red fox --style noir'))).toContain('there is no style “noir”. Choose house.');
    expect([...house.records.values()]).toEqual([]);
  });

  it('has the style in each shot, each take and each compared model', async () => {
    await set('house --off seconds');
    const boards = await house.bot.text(ada(), 'storyboard --style house\na red fox\na hen --style house');
    expect(plain(boards)).toContain('style house');
    const compared = checkRequest(
      { ...CATALOG, styles: (await stored()) ?? [] },
      { prompt: 'a red fox', models: 'swift-1,plain', style: 'house' },
    );
    const requests = compared.ok ? (compared.compared ?? []).map(({ request }) => request) : [];
    expect(requests.map(({ prompt, style }) => [prompt, style])).toEqual([
      [SENT, 'house'],
      [SENT, 'house'],
    ]);
  });

  it('is suggested, and offered in the form', async () => {
    expect(await house.bot.suggest(ada(), 'create', 'style', 'h', {})).toEqual([{ value: 'house', label: 'house' }]);
    const reply = await house.bot.form(ada());
    const fields = reply.kind === 'form' ? reply.form.fields : [];
    expect(fields.find(({ name }) => name === 'style')?.choices?.all).toEqual([{ value: 'house', label: 'house' }]);
  });
});

describe('a policy that asks for a style', () => {
  it('gives every order that style and its price, refuses another one, and keeps it from being removed', async () => {
    await set('house --after film --seconds 8');
    await set('noir --after dark');
    expect(plain(await house.bot.text(admin(), 'policy --style nothing'))).toContain('there is no style “nothing”');
    expect(plain(await house.bot.text(admin(), 'policy --style House'))).toContain('Style of every clip: house');
    expect(taskOf(await order('a red fox')).request).toMatchObject({ prompt: 'a red fox film', seconds: 8 });
    const other = await order('a red fox --style noir', ada({ interaction: 'other' }));
    expect(plain(other)).toContain('style: noir isn’t allowed here. Choose house');
    expect(await set('house --off all')).toContain('The policy asks for the style house');
    const { defaultModel } = await house.bot.catalogFor(ada());
    expect(defaultModel.personal).toEqual({ seconds: 8 });
    expect(await house.bot.suggest(ada(), 'create', 'style', '', {})).toEqual([{ value: 'house', label: 'house' }]);
  });
});

it('is refused with a length that the policy withholds, instead of ordering another one', async () => {
  await set('house --after film --seconds 8');
  await house.bot.text(admin(), 'policy --seconds 4');
  expect(plain(await order('a red fox --style house'))).toContain('seconds: 8 s isn’t allowed here. Choose 4, or');
  expect([...house.records.values()]).toEqual([]);
  expect(taskOf(await order('a red fox --style house --seconds 4')).request.seconds).toBe(4);
});

it.each([
  [{ before: 'A', after: 'B' }, 'A fox B'],
  [{ after: ', B.' }, 'fox, B.'],
  [{ avoid: 'text' }, 'fox. Avoid: text'],
  [{ after: 'B!', avoid: 'text' }, 'fox B! Avoid: text'],
  [{ seconds: 4 }, 'fox'],
])('%j around a prompt is %s', (parts, expected) => {
  expect(composePrompt({ name: 'x', ...parts }, 'fox')).toBe(expected);
});

it('takes --image, as other commands do', async () => {
  await set('house --image https://a.test/1.png https://a.test/2.png');
  expect(await set('house')).toContain('https://a.test/2.png');
});
