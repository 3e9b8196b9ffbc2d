import { expect, onTestFinished, test } from 'vitest';
import { newTask, originOf } from '../fakes/tasks.ts';
import type { Kept } from './history.ts';
import { drawPlan } from './plan.ts';
import { SlackSide } from './slack.ts';

const TASK = newTask({ origin: originOf({ platform: 'slack' }) });
const KEPT = { tasks: new Map([[TASK.id, TASK]]), cuts: new Map(), cards: new Map() } as unknown as Kept;

test('shows the messages that the requester got directly', async () => {
  const side = await SlackSide.start('socket');
  onTestFinished(() => side.close());
  const { orders } = drawPlan({ seed: 1, store: 'sqlite', replicas: 1, interactions: 1, faults: [] });
  for (const order of orders) await side.order(order, () => 0);
  const button = { type: 'button', text: { type: 'plain_text', text: 'Details' }, action_id: `details:${TASK.id}` };
  const message = {
    channel: side.asked[0]?.user,
    text: 'a fox',
    blocks: [{ type: 'actions', elements: [button] }],
  };
  const response = await fetch(`${side.env['SLACK_API_URL']}chat.postMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${side.env['SLACK_BOT_TOKEN']}` },
    body: JSON.stringify(message),
  });
  expect(await response.json()).toMatchObject({ ok: true });
  expect(side.shown(KEPT)).toMatchObject([{ task: TASK.id, buttons: ['details'] }]);
});
