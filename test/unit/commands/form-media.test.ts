import { expect, it } from 'vitest';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '../videos/models.ts';

const PICTURES = ['https://a.example/1.png', 'https://a.example/2.png'];

it('includes the request’s reference media in its form and replaces them by the submitted ones', async () => {
  const house = new BotHouse(CATALOG);
  const task = await house.seed(ada(), `a red fox --image ${PICTURES[0]}`);
  const opened = await house.bot.press(ada(), `edit:${task.id}`);
  expect(opened).toMatchObject({ form: { media: { image: [PICTURES[0]], audio: [], video: [] } } });
  const values = { prompt: 'a wolf', image: ` ${PICTURES.join('\n')}\n` };
  expect((await house.bot.submit(ada(), `edit:${task.id}`, values)).kind).toBe('task');
  expect(house.orders.at(-1)?.request.media.image).toEqual(PICTURES);
  await house.bot.submit(ada(), `edit:${task.id}`, { prompt: 'a bear', image: '' });
  expect(house.orders.at(-1)?.request.media.image).toEqual([]);
});

it('keeps the media of a form without fields for them', async () => {
  const house = new BotHouse(CATALOG);
  const task = await house.seed(ada(), `a red fox --image ${PICTURES[0]}`);
  await house.bot.submit(ada(), `edit:${task.id}`, { prompt: 'a wolf' });
  expect(house.orders.at(-1)?.request.media.image).toEqual([PICTURES[0]]);
});

it('reports the errors of a refused form by field', async () => {
  const house = new BotHouse(CATALOG);
  const values = { prompt: '', model: 'swift-1', seconds: '99' };
  const refused = await house.bot.submit(ada(), 'create', values);
  expect(refused).toMatchObject({
    kind: 'refused',
    problems: [
      { field: 'prompt', sentence: expect.any(String) },
      { field: 'seconds', sentence: expect.stringContaining('99') },
    ],
  });
});
