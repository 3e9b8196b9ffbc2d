import { afterEach, beforeEach, expect, it } from 'vitest';
import { subcommands } from '#commands/registry.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';

// What the page Settings reads and sends: it shows the replies itself.

let house: PlaygroundHouse;

beforeEach(async () => {
  house = await PlaygroundHouse.start();
});

afterEach(() => house.remove());

const READ = '/playground/settings?user=operator&channel=ads';
const on = { user: 'operator', channel: 'ads' };

it('reads the audit log and every command with a panel, as the user in the channel', async () => {
  const { status, headers, body } = await house.get(READ);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  const [audit, ...panels] = (body.cards as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(audit).toBe('audit');
  const withPanel = subcommands.filter(({ panel }) => panel !== undefined).map(({ declaration }) => declaration.name);
  expect(panels.toSorted()).toEqual(withPanel.toSorted());
  expect(body.cards[0].card).toEqual({
    lines: [['Yes.']],
    blocks: [{ kind: 'text', line: ['Yes.'] }],
    progress: null,
    buttons: [],
  });
  const callers = house.bot.heard.map(({ kind, caller: { channel, mayAdminister } }) => [kind, channel, mayAdminister]);
  expect(new Set(callers.map(String))).toEqual(new Set(['command,ads,true']));
  expect(await house.messages('ads')).toEqual([]);
});

it('says why to a user without the rights, and shows no card', async () => {
  house.bot.reply = { kind: 'refused', sentence: 'Only the operator can do this.' };
  const { status, body } = await house.get('/playground/settings?user=ada&channel=ads');
  expect([status, body]).toEqual([403, { error: 'Only the operator can do this.' }]);
  expect(house.bot.heard).toHaveLength(1);
});

it('answers a press and a form without a message itself, and posts nothing', async () => {
  house.bot.reply = privately('Page 2');
  const press = { ...on, id: 'p1', button: 'page:audit:10' };
  const paged = await house.post('presses', press);
  expect(paged).toMatchObject({ status: 202, body: { message: null, card: { lines: [['Page 2']], buttons: [] } } });
  house.bot.reply = privately('Saved.');
  const form = { ...on, id: 'f1', form: 'panel:settings:months', values: { alerts: 'off' } };
  const saved = await house.post('forms', form);
  expect(saved).toMatchObject({ status: 202, body: { message: null, card: { lines: [['Saved.']] } } });
  house.bot.reply = { kind: 'refused', sentence: 'That button is from an earlier version.' };
  const refused = await house.post('presses', { ...press, id: 'p2' });
  expect(refused).toMatchObject({ status: 400, body: { error: 'That button is from an earlier version.' } });
  expect(house.bot.heard.map(({ kind, what }) => [kind, what])).toEqual([
    ['press', 'page:audit:10'],
    ['submit', { form: 'panel:settings:months', values: { alerts: 'off' } }],
    ['press', 'page:audit:10'],
  ]);
  expect(await house.messages('ads')).toEqual([]);
  expect(await house.post('presses', { id: 'p3', user: 'ada', button: 'page:audit:10' })).toMatchObject({
    status: 400,
    body: { error: 'channel: is missing.' },
  });
});

it('saves a repeated form once, and stores no card of it', async () => {
  house.bot.reply = privately('ben is an approver.');
  const form = { ...on, id: 'f1', form: 'panel:approvers:approvers', values: { who: 'ben' } };
  await house.post('forms', form);
  const again = await house.post('forms', form);
  expect([again.status, again.body]).toEqual([202, { message: null }]);
  expect(house.bot.heard).toHaveLength(1);
});
