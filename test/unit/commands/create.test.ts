import { describe, expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { taskIdOf } from '#src/tasks/service.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

describe('/video create', () => {
  it('orders what was asked for, priced, under the interaction’s key', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada({ uploadLimitBytes: 10 });
    const given = { prompt: ['a red fox'], seconds: ['6'], aspect: ['9:16'], image: ['https://a.test/1'] };
    const reply = await house.bot.command(caller, 'create', given);
    expect(reply).toEqual({ kind: 'task', task: taskIdOf(`slack:${caller.interaction}`) });
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
        origin: { platform, team, channel, user, interaction, address, uploadLimitBytes: 10 },
        price: { amount: '0.3', currency: 'USD' },
      },
    ]);
  });

  it('needs nothing but a prompt', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(ada(), '/video it’s a fox -- in snow');
    expect(house.orders[0]?.request).toMatchObject({ model: 'swift-1', prompt: 'it’s a fox -- in snow', seconds: 4 });
  });

  it('answers a second delivery of one interaction with the same task', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const replies = [await house.bot.text(caller, 'a fox'), await house.bot.text(caller, 'a fox')];
    expect(replies[1]).toEqual(replies[0]);
    expect(house.records.size).toBe(1);
  });

  it('keeps one interaction id of two platforms apart', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    await house.bot.text(caller, 'a fox');
    await house.bot.text({ ...caller, platform: 'discord' }, 'a fox');
    expect(house.records.size).toBe(2);
  });

  it('names a missing right before anything is bought', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = { right: 'Attach Files', where: 'Channel settings → Permissions' };
    expect(await house.bot.text(ada(), 'a fox')).toEqual({
      kind: 'refused',
      sentence:
        'I lack the right “Attach Files” there. It is given under: Channel settings → Permissions. After that, send this again.',
    });
    expect(house.orders).toEqual([]);
  });

  it('orders all the same where the rights cannot be looked at', async () => {
    const house = new BotHouse(CATALOG);
    house.lacking = new DailiesError('asking', { code: 'platform_unavailable', retryable: true });
    expect(await house.bot.text(ada(), 'a fox')).toMatchObject({ kind: 'task' });
  });

  it('opens a form for nothing at all, and orders what was filled in', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), '/video');
    expect(reply).toEqual({
      kind: 'form',
      form: {
        id: 'create',
        title: 'A new clip',
        submit: 'Make it',
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
        ],
      },
    });
    const values = { prompt: 'a fox', model: '', seconds: '8', aspect: '', resolution: '' };
    expect(await house.bot.submit(ada(), 'create', values)).toMatchObject({ kind: 'task' });
    expect(house.orders[0]?.request).toMatchObject({ prompt: 'a fox', seconds: 8, resolution: '720p' });
  });

  it('gives a prompt back that was refused in a form', async () => {
    const house = new BotHouse(CATALOG);
    expect(await house.bot.submit(ada(), 'create', { prompt: 'a fox', seconds: '7' })).toEqual({
      kind: 'refused',
      sentence: 'seconds: 7 is not offered by swift-1; it takes 4, 6 or 8\nYour prompt, to copy: a fox',
    });
  });

  it('rejects in the family’s own error when the store does not answer', async () => {
    const house = new BotHouse(CATALOG);
    house.tasks.submit = () => Promise.reject(new Error('boom'));
    await expect(house.bot.text(ada(), 'a fox')).rejects.toMatchObject({ code: 'internal', name: 'DailiesError' });
  });
});
