import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Addressing, Caller, Reply } from '#commands/bot-port.ts';
import { optionIn } from '#commands/input/options.ts';
import { parseText } from '#commands/input/text.ts';
import { declarations } from '#commands/registry.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const said = async (text: string, addressing: Addressing = 'command', caller: Caller = ada()) => {
  const house = new BotHouse(CATALOG);
  const reply = await house.bot.text(caller, text, addressing);
  return { house, reply, words: replyText(reply) };
};

function buttonOf(reply: Reply, label: string): string {
  const buttons = reply.kind === 'private' ? reply.card.buttons : [];
  const found = buttons.find((one) => one.label.startsWith(label));
  if (found === undefined) throw new TypeError(`no button ${label} in ${replyText(reply)}`);
  return found.id;
}

describe('misspelt or guessed subcommand', () => {
  it.each([
    ['statsu', 'status'],
    ['stauts', 'status'],
    ['stat', 'usage'],
    ['lst', 'list'],
    ['lisst', 'list'],
    ['lst --who me', 'list --who me'],
    ['cancle 1234', 'cancel 1234'],
    ['cancell', 'cancel'],
    ['retyr abcd1234', 'retry abcd1234'],
    ['modles', 'models'],
    ['model', 'models'],
    ['usge', 'usage'],
    ['notfy', 'notify'],
    ['hlep', 'help'],
    ['halp', 'help'],
    ['Status?', 'status'],
    ['creat a fox', 'create a fox'],
    ['crate a fox jumping', 'create a fox jumping'],
    ['stop', 'cancel'],
    ['stop abcd1234', 'cancel abcd1234'],
    ['erase abcd1234', 'delete abcd1234'],
    ['delete scene, cinematic', 'delete'],
    ['history', 'list'],
    ['cost', 'usage'],
    ['price', 'models'],
    ['stats', 'usage'],
    ['balance', 'usage'],
    ['ls', 'list'],
    ['show 7f3a', 'status 7f3a'],
    ['queue', 'status'],
    ['login', 'help'],
    ['admin', 'help'],
    ['info', 'status'],
    ['h', 'help'],
    ['test', 'help'],
    ['hello', 'help'],
    ['ping', 'help'],
    ['report', 'usage'],
    ['invoice', 'usage'],
    ['export', 'usage'],
    ['csv', 'usage'],
    ['limits', 'usage'],
    ['download', 'gallery'],
    ['deny', 'approvals'],
    ['approve it', 'approvals'],
    ['vote', 'list'],
    ['reveal it', 'list'],
    ['join the shots', 'list'],
    ['board', 'storyboard'],
    ['search fox', 'list fox'],
    ['find fox', 'list fox'],
    [`find ${'a'.repeat(41)}`, 'list'],
    ['show my clips', 'status'],
    ['how much did we spend', 'usage'],
    ['stop everything', 'cancel'],
    ['stop all', 'cancel'],
    ['undo that', 'cancel'],
    ['remove last', 'delete'],
    ['pricing for teams', 'models'],
    ['price tags in the wind', 'models'],
    ['take 3 a fox', 'help'],
    ['improve a fox', 'create a fox'],
  ])('%j buys nothing and suggests /video %s', async (text, command) => {
    const { house, words } = await said(text);
    expect(words).toContain(`Did you mean \`/video ${command}\`?`);
    expect(words).toMatch(/\(Create a clip of “.*” · \$0\.20\).* \(Discard\)/u);
    expect(house.orders).toEqual([]);
  });

  it.each(['fox', 'Export?', 'foxes!'])('%j alone asks for confirmation', async (text) => {
    const { house, words } = await said(text);
    expect(words).toMatch(/\(Create a clip of “.*” · \$0\.20\).* \(Discard\)/u);
    expect(house.orders).toEqual([]);
  });

  it('asks about the label of any button', async () => {
    const sources = globSync('commands/**/*.ts').map((path) => readFileSync(path, 'utf8'));
    const labels = sources.flatMap((text) => [...text.matchAll(/button\(.*, ['`]([^'`$]+)[^'`]*['`]/gu)]);
    expect(labels.length).toBeGreaterThan(20);
    for (const [, label = ''] of labels.filter(([, text = '']) => /^(?!Create)\S+(?: \S+){0,2}$/u.test(text))) {
      const { house, reply } = await said(label);
      expect([label, reply.kind, house.orders]).toEqual([label, reply.kind, []]);
    }
  });

  it.each([
    'stop motion of a fox',
    'stop-motion fox',
    'running horses',
    'make it run',
    'new york at night',
    'fox --seconds 6',
    'a fox',
    'fox 7 in space',
    'hello kitty dancing',
    'test pilot in a jet',
    'time-lapse of a close-up-video wall',
    'a -30 degree day - seconds before dawn',
    'a fox—running',
    '狐',
  ])('%j is a prompt', async (text) => {
    const { reply, words } = await said(text);
    expect(`${reply.kind}: ${words}`).toContain('task');
  });

  it.each(['bugdet', 'setings', 'config', 'pauze', 'resume', 'audti', 'approvesr'])(
    '%j leads members to the help, since they may not administer the team',
    async (text) => {
      const { house, words } = await said(text);
      expect(words).toContain('Did you mean `/video help`?');
      expect(house.orders).toEqual([]);
      const { words: toAdmin } = await said(text, 'command', ada({ mayAdminister: true }));
      expect(toAdmin).toMatch(/Did you mean `\/video (?:budget|settings|pause|audit|approvers)`\?/u);
    },
  );

  it('runs the command by its button', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    const reply = await house.bot.text(ada(), `cancle ${task.id}`);
    expect(house.task(task.id).state).toBe('claimed');
    await house.bot.press(ada(), buttonOf(reply, '/video cancel'));
    expect(house.task(task.id).state).toBe('cancelled');
  });

  it('recognises the prefix of a known id, even without a digit', async () => {
    const house = new BotHouse(CATALOG);
    const { id } = await house.seed(ada(), 'a red fox');
    house.records.set('abcdefghijklmnop' as typeof id, { ...house.task(id), id: 'abcdefghijklmnop' as typeof id });
    expect(replyText(await house.bot.text(ada(), 'stop abcdef'))).toContain('Did you mean `/video cancel abcdef`?');
    expect((await house.bot.text(ada(), 'stop motion')).kind).toBe('task');
  });

  it('suggests the status for a known clip’s id alone', async () => {
    const house = new BotHouse(CATALOG);
    const { id } = await house.seed(ada(), 'a red fox');
    const reply = await house.bot.text(ada(), id.slice(0, 8));
    expect(replyText(reply)).toContain(`Did you mean \`/video status ${id.slice(0, 8)}\`?`);
    expect(house.records.size).toBe(1);
  });

  it('creates one clip from the two interpretations of a misspelt create', async () => {
    const { house, reply } = await said('crate a fox --seconds 6');
    await house.bot.press(ada(), buttonOf(reply, 'Create a clip of “a fox”'));
    await house.bot.press(ada(), buttonOf(reply, 'Create a clip of “crate'));
    expect(house.records.size).toBe(1);
    expect(house.orders).toMatchObject([{ request: { prompt: 'a fox', seconds: 6 } }]);
  });

  it('discards both interpretations', async () => {
    const { house, reply } = await said('creat a fox');
    await house.bot.press(ada(), buttonOf(reply, 'Discard'));
    expect((await house.bot.press(ada(), buttonOf(reply, 'Create a clip of “a fox”'))).kind).toBe('refused');
    expect(house.records.size).toBe(0);
  });

  it('offers no retry by a button without a price', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    const words = replyText(await house.bot.text(ada(), `retyr ${task.id}`));
    expect(words).not.toContain('(/video retry');
  });

  it.each(['cancle', 'stop', 'crate a fox', 'list', 'thanks!'])(
    'keeps the files attached to %j in the request without showing their addresses',
    async (text) => {
      const address = 'https://dailies.example/media/relay-1?expires=1&signature=s';
      const house = new BotHouse(CATALOG);
      const addressing = text === 'list' ? 'plain' : 'message';
      const reply = await house.bot.text(ada(), text, addressing, { image: [address] });
      expect(replyText(reply)).not.toContain('signature');
      expect(house.orders).toEqual([]);
      expect((await house.bot.press(ada(), buttonOf(reply, 'Create a clip'))).kind).toBe('task');
      expect(house.orders).toMatchObject([{ request: { media: { image: [address] } } }]);
      expect(house.orders[0]?.request.prompt).not.toContain('signature');
    },
  );

  it('treats the word as a prompt after create', async () => {
    const { house } = await said('create stop');
    expect(house.orders).toMatchObject([{ request: { prompt: 'stop' } }]);
  });
});

describe('invalid prompt', () => {
  it.each(['"', "''", '🦊', '1984', '...', 'create 1984'])('%j asks for confirmation', async (text) => {
    const { house, words } = await said(text);
    expect(words).toContain('no words');
    expect(words).toContain('· $0.20)');
    expect(house.orders).toEqual([]);
  });

  it.each([
    ['a fox -s 6', '-s', '--seconds'],
    ['a fox −−seconds 6', '−−seconds', '--seconds'],
    ['a fox--seconds 6', '--seconds', '--seconds'],
    ['a fox -- seconds 6', '-- seconds', '--seconds'],
    ['a fox (--seconds 4)', '--seconds', '--seconds'],
    ['"a fox --seconds 6"', '--seconds', '--seconds'],
    ['“a fox —secnods 6”', '—secnods', '--seconds'],
    ['create a fox -m swift-1', '-m', '--model'],
  ])('finds an option in %j', async (text, typed, right) => {
    const { house, words } = await said(text);
    expect(words).toContain(`\`${typed}\` looks like an option`);
    expect(words).toContain(right);
    expect(words).toContain('(Fix it)');
    expect(house.orders).toEqual([]);
  });

  it('asks for confirmation of a platform’s command only if the prompt contains an option', async () => {
    const house = new BotHouse(CATALOG);
    const asked = await house.bot.command(ada(), 'create', { prompt: ['a fox --seconds 6 --model x'] });
    expect(replyText(asked)).toContain('`--seconds` looks like an option');
    expect(replyText(asked)).not.toContain('written as');
    expect(house.orders).toEqual([]);
    for (const prompt of ['status', 'stop 1234', '1984', 'hi'])
      expect((await house.bot.command(ada(), 'create', { prompt: [prompt] })).kind).toBe('task');
  });

  it.each(['a fox-trot--fast', 'close-up-video', 'a 4-seconds-long fox', 'a fox - image of grace', '-30 degrees'])(
    'finds no option in %j',
    (text) => {
      expect(optionIn(text, ['seconds', 'model', 'image', 'video'])).toBeNull();
    },
  );
});

describe('help', () => {
  it.each(['--help', '-h', '?', 'a fox --help', 'notify --help', 'notify ?', 'a fox —help', 'list -h'])(
    '%j shows the help',
    async (text) => {
      const { house, words } = await said(text);
      expect(words).toContain('/video help');
      expect(words).not.toContain('Did you mean');
      expect(house.orders).toEqual([]);
    },
  );
});

describe('small talk', () => {
  it.each(['thanks!', 'hi', 'are you there?', 'nice', 'a red fox'])(
    '%j to the app asks for confirmation',
    async (text) => {
      const { house, words } = await said(text, 'message');
      expect(words).toContain('· $0.20)');
      expect(house.orders).toEqual([]);
    },
  );

  it.each(['a red fox in snow', 'a fox --seconds 6', 'create a fox'])('%j to the app is an order', async (text) => {
    expect((await said(text, 'message')).reply.kind).toBe('task');
  });

  it('includes any message without a command in a clip’s thread', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada({ address: { thread: '7' } }), 'a red fox in snow');
    const replies = [
      await house.bot.text(ada({ address: { thread: '7' } }), 'what a lovely red fox that is', 'message'),
      await house.bot.text(ada({ address: { thread: `m-${task.id}` } }), 'what a lovely red fox that is', 'message'),
    ];
    for (const reply of replies) expect(replyText(reply)).toContain('Should I make a clip of');
    expect((await house.bot.text(ada({ address: { thread: '8' } }), 'a wolf that runs far', 'message')).kind).toBe(
      'task',
    );
    expect((await house.bot.text(ada({ address: { thread: '7' } }), 'create a wolf', 'message')).kind).toBe('task');
  });

  it.each([
    'hello team, what do you think of it',
    'a red fox in snow --seconds 6',
    'create a fox in snow',
    'retry abcd1234',
    'list the foxes of this team',
    'status',
  ])('%j on a chat page is offered, not ordered', async (text) => {
    const { house, words } = await said(text, 'plain');
    expect(words).toMatch(/\(Create a clip of|\(Fix it\)/u);
    expect(house.orders).toEqual([]);
  });
});

describe('the assistant pane', () => {
  it.each([
    'hello team, what do you think of it',
    'a red fox in snow --seconds 6',
    'create a video of a fox in snow',
    'compare a fox --models swift-1,plain',
    'a red fox in snow --takes 3',
  ])('%j is offered with its price, not ordered', async (text) => {
    const { house, reply, words } = await said(text, 'assistant');
    expect(words).toMatch(/\(Create .* · \$\d\.\d\d\)/u);
    expect(house.orders).toEqual([]);
    const button = buttonOf(reply, 'Create');
    for (let press = 0; press < 2; press += 1) await house.bot.press(ada({ interaction: 'press' }), button);
    expect(new Set(house.orders.map(({ key }) => key)).size).toBe(1);
  });

  it('asks for the price of a retry, too', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox');
    const before = house.orders.length;
    const reply = await house.bot.text(ada({ interaction: 'again' }), `retry ${task.id}`, 'assistant');
    expect(replyText(reply)).toMatch(/\$\d\.\d\d\)/u);
    expect(house.orders).toHaveLength(before);
  });

  it.each([
    ['status', 'You have nothing in progress.'],
    ['list --who me', 'Clips by Ada'],
    ['usage', 'everyone'],
    ['storyboard', '(Open the form)'],
    ['What is running?', 'Should I make a clip of'],
  ])('%j gets %j', async (text, answer) => {
    const { house, words } = await said(text, 'assistant');
    expect(words).toContain(answer);
    expect(house.orders).toEqual([]);
  });
});

describe('long text', () => {
  it.each(['<http://', '<http://a|', '--x ', '—p ', '--image x ', '"—', '-s ', '<', '«'])(
    'of %j is parsed up to the length of a prompt',
    (part) => {
      // Without the cut, parsing would take hours: its time grows with the square of the length.
      const { given } = parseText(part.repeat(1_000_000), declarations);
      expect(Object.values(given).flat().join(' ').length).toBeLessThan(25_000);
    },
  );

  it('is scanned once per dash', () => {
    expect(optionIn('- '.repeat(500_000), ['seconds'])).toBeNull();
  });
});
