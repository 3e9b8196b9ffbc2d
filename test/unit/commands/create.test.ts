import { describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import type { MissingRight } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

describe('/video create', () => {
  it('orders the request with its price under the interaction’s key', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada({ uploadLimitBytes: 10 });
    const given = { prompt: ['a red fox'], seconds: ['6'], aspect: ['9:16'], image: ['https://a.test/1'] };
    const reply = await house.bot.command(caller, 'create', given);
    expect(reply).toMatchObject({ kind: 'task', task: taskIdOf(`slack:${caller.interaction}`) });
    const { platform, team, channel, user, interaction, address } = caller;
    expect(house.orders).toEqual([
      {
        key: `slack:${caller.interaction}`,
        request: {
          model: 'swift-1',
          prompt: 'a red fox',
          seconds: 6,
          aspectRatio: '9:16',
          resolution: '720p',
          media: { image: ['https://a.test/1'], audio: [], video: [] },
        },
        origin: { platform, team, channel, user, interaction, address, audience: 'team', uploadLimitBytes: 10 },
        price: { amount: '0.3', currency: 'USD' },
      },
    ]);
  });

  it('requires only a prompt', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(ada(), '/video it’s a fox -- in snow');
    expect(house.orders[0]?.request).toMatchObject({ model: 'swift-1', prompt: 'it’s a fox -- in snow', seconds: 4 });
  });

  it('hands a new task on with its reply, so that its message needs no read; that of a redelivery is read', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const task = taskIdOf(`slack:${caller.interaction}`);
    expect(await house.bot.text(caller, 'a fox')).toMatchObject({ claimed: { id: task, state: 'claimed' } });
    expect(await house.bot.text(caller, 'a fox')).toEqual({ kind: 'task', task });
  });

  it('returns the same task for a redelivered interaction', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const replies = [await house.bot.text(caller, 'a fox'), await house.bot.text(caller, 'a fox')];
    expect(replies[0]).toMatchObject(replies[1] ?? {});
    expect(house.records.size).toBe(1);
  });

  it('distinguishes equal interaction ids of two platforms', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    await house.bot.text(caller, 'a fox');
    await house.bot.text({ ...caller, platform: 'discord' }, 'a fox');
    expect(house.records.size).toBe(2);
  });

  it('reports unreachable reference media before anything is bought', async () => {
    const house = new BotHouse(CATALOG);
    house.checkReferences = ({ media }) =>
      Promise.resolve([
        { reason: 'unknown_host', option: 'image', given: new URL(media.image[0] ?? '').hostname },
        { reason: 'private_address', option: 'image', given: new URL(media.image[1] ?? '').hostname },
      ]);
    const image = ['https://typo.test/1.png, http://10.0.0.1/2.png'];
    const reply = await house.bot.command(ada(), 'create', { prompt: ['a fox'], image });
    expect(JSON.stringify(reply)).toMatch(
      /image: there is no host “typo\.test”.*“10\.0\.0\.1” is in a private network/,
    );
    expect(house.orders).toEqual([]);
  });

  it('checks a relayed file at its renewed address', async () => {
    const house = new BotHouse(CATALOG);
    house.renewed = (url) => url.replace('old.test', 'new.test');
    house.checkReferences = ({ media }) => {
      expect(media.image).toEqual(['https://new.test/1.png']);
      return Promise.resolve([]);
    };
    await house.bot.command(ada(), 'create', { prompt: ['a fox'], image: ['https://old.test/1.png'] });
    expect(house.orders).toHaveLength(1);
  });

  it('reports a missing right before anything is bought', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'permission', right: 'Attach Files', where: 'the channel’s settings › Permissions' };
    expect(await house.bot.text(ada(), 'a fox')).toMatchObject({
      kind: 'refused',
      sentence:
        'I need Attach Files in this channel. An admin can allow it in the channel’s settings › Permissions. Then press Try again.',
    });
    expect(house.orders).toEqual([]);
  });

  it.each<[MissingRight, string]>([
    [
      { kind: 'uninvited', to: 'channel', type: '/invite @Dailies' },
      'I’m not in this channel yet. Type /invite @Dailies, then press Try again.',
    ],
    [{ kind: 'group' }, 'I can’t be added to this group message. Use a channel, or message me directly.'],
    [{ kind: 'others' }, 'I can’t post in a conversation between other people. Use a channel, or message me directly.'],
    [{ kind: 'archived' }, 'This channel is archived. Use another one.'],
  ])('explains the remedy for %j', async (lacking, sentence) => {
    const house = new BotHouse(CATALOG);
    house.lacking = lacking;
    expect(await house.bot.text(ada(), 'a fox')).toMatchObject({ kind: 'refused', sentence });
    expect(house.orders).toEqual([]);
  });

  it.each<[string, (house: BotHouse) => Promise<Reply>]>([
    ['a command', ({ bot }) => bot.text(ada(), 'a long fox --seconds 6')],
    ['a form', ({ bot }) => bot.submit(ada(), 'create', { prompt: 'a long fox', seconds: '6' })],
  ])('saves the request of %s and sends it by Try again once the bot may post', async (_way, order) => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @Dailies' };
    const reply = await order(house);
    if (reply.kind !== 'refused') throw new TypeError(reply.kind);
    const [again] = reply.buttons ?? [];
    expect(again).toMatchObject({ label: 'Try again · $0.30', style: 'plain' });
    const press = () => house.bot.press(ada(), again?.id ?? '');
    // The bot still may not post, so the reply has the same button.
    expect(await press()).toMatchObject({ kind: 'refused', buttons: [again] });
    house.lacking = null;
    expect(await press()).toMatchObject({ kind: 'task' });
    await press();
    expect([...house.records.values()].map(({ request }) => request)).toMatchObject([
      { prompt: 'a long fox', seconds: 6 },
    ]);
  });

  it('only offers an order whose earlier delivery was refused, until its button is pressed', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'scope', right: 'files:write', where: 'https://api.slack.com/apps' };
    const caller = ada();
    const refused = await house.bot.text(caller, 'a fox', 'command');
    expect(refused.kind).toBe('refused');
    house.lacking = null;
    // A replica died before it had marked the request as done; another one handles it again.
    const again = await house.bot.text(caller, 'a fox', 'command');
    expect(again.kind).toBe('offer');
    expect(house.orders).toEqual([]);
    const button = refused.kind === 'refused' ? refused.buttons?.[0]?.id : undefined;
    expect(await house.bot.press(ada({ interaction: 'press' }), button ?? '')).toMatchObject({ kind: 'task' });
    expect(await house.bot.text(caller, 'a fox', 'command')).toMatchObject({ kind: 'task' });
    expect(house.records.size).toBe(1);
  });

  it('orders if the check for missing rights fails', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = new DailiesError('asking', { code: 'platform_unavailable', retryable: true });
    expect(await house.bot.text(ada(), 'a fox')).toMatchObject({ kind: 'task' });
  });

  it('reports a missing scope with the link to reinstall the app', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { kind: 'scope', right: 'files:write', where: 'https://api.slack.com/apps' };
    expect(await house.bot.text(ada(), 'a fox')).toMatchObject({
      kind: 'refused',
      sentence:
        'I’m missing files:write. An admin reinstalls the app at https://api.slack.com/apps. Then press Try again.',
    });
    expect(house.orders).toEqual([]);
  });

  it('buys nothing if the platform no longer accepts the bot’s token', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = new DailiesError('asking', { code: 'unauthorised', retryable: true });
    await expect(house.bot.text(ada(), 'a fox')).rejects.toMatchObject({ code: 'unauthorised' });
    expect(house.orders).toEqual([]);
  });

  it('opens a form for an empty command and orders the submitted values', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), '/video');
    expect(reply).toMatchObject({
      kind: 'form',
      form: {
        id: 'create',
        title: 'New clip',
        submit: 'Create clip',
        fields: [
          { name: 'prompt', label: 'Prompt', value: '', required: true, long: true },
          { name: 'model', label: 'Model: swift-1, epic-pro, plain', value: '', required: false, long: false },
          { name: 'seconds', label: 'Length: 4, 6 or 8 s (default 4 s)', value: '', required: false, long: false },
          { name: 'aspect', label: 'Aspect: 16:9, 9:16, 1:1 (default 16:9)', value: '', required: false, long: false },
          {
            name: 'resolution',
            label: 'Resolution: 480p, 720p (default 720p)',
            value: '',
            required: false,
            long: false,
          },
          { name: 'takes', label: 'Takes', value: '', required: false, long: false },
        ],
        media: { image: [], audio: [], video: [] },
      },
    });
    const values = { prompt: 'a fox', model: '', seconds: '8', aspect: '', resolution: '' };
    expect(await house.bot.submit(ada(), 'create', values)).toMatchObject({ kind: 'task' });
    expect(house.orders[0]?.request).toMatchObject({ prompt: 'a fox', seconds: 8, resolution: '720p' });
  });

  it('returns the values of a refused form in a new form', async () => {
    const house = new BotHouse(CATALOG);
    expect(await house.bot.submit(ada(), 'create', { prompt: 'a fox', seconds: '7' })).toMatchObject({
      kind: 'refused',
      sentence: 'seconds: Swift 1 can’t make 7 s. Choose 4, 6 or 8.',
      buttons: [{ label: 'Fix it', id: expect.stringMatching(/^fix:/) }],
    });
  });
});
