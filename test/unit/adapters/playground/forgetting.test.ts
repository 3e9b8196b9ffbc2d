import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { originOf } from '#test/fakes/tasks.ts';
import { approvalNotice, doneView, taskView } from '#test/fakes/views.ts';

const EVELYN = { id: 'evelyn', name: 'evelyn' };
const PSEUDONYM = { id: 'forgotten-1', name: 'Removed person' };
const BEN = { id: 'ben', name: 'ben' };

async function start() {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-forgetting-'));
  const house = await PlaygroundHouse.start({ dataDir: directory });
  onTestFinished(async () => {
    await house.remove();
    await rm(directory, { recursive: true, force: true });
  });
  const origin = originOf({ platform: 'playground', channel: 'general', user: BEN });
  const says = async (user: string, text: string, reply: Reply, id: string = randomUUID()) => {
    house.bot.reply = reply;
    return house.post('interactions', { id, user, channel: 'general', text });
  };
  const forget = () => house.platform.forget('playground', EVELYN, PSEUDONYM);
  return { house, directory, origin, says, forget };
}

const privately = (text: string): Reply => ({
  kind: 'private',
  card: { lines: [[text]], progress: null, buttons: [] },
});

it('removes what only the person sees, with its files, and leaves what others see without them', async () => {
  const { house, directory, origin, says, forget } = await start();
  const his = await house.platform.open('b1' as TaskId, origin, taskView({ task: 'b1' as TaskId, by: BEN }));
  await house.post('reactions', { id: 'r1', user: 'evelyn', message: his.message, emoji: '👍' });
  await house.post('reactions', { id: 'r2', user: 'ben', message: his.message, emoji: '👍' });
  const place = { team: 'playground', channel: 'general', address: {} };
  const view = approvalNotice({ by: BEN, pings: [{ kind: 'person', ...EVELYN }] });
  await house.platform.notify({ key: 'ask:b1:', place, replyTo: his, mention: null, view });
  const path = join(directory, 'data.jsonl');
  await writeFile(path, 'everything of evelyn');
  const file = { path, name: 'export.jsonl', bytes: 20, contentType: 'application/jsonl', description: '' };
  const about = { key: 'export:1', place, replyTo: null, mention: null, onlyFor: EVELYN, files: [file] };
  await house.platform.notify({ ...about, view: { kind: 'person_export', person: EVELYN } as never });
  await rm(path);
  await says('evelyn', '/video list', privately('clips of evelyn'));
  await says('ben', '/video list', privately('his own list'));
  await says('evelyn', '/video models', { kind: 'public', card: { lines: [['models']], progress: null, buttons: [] } });
  expect(await storedIn(house.store)).toContain('evelyn');
  for (let time = 0; time < 2; time += 1) await forget();
  expect(await storedIn(house.store)).not.toContain('evelyn');
  expect(await readdir(join(directory, 'playground'))).toEqual([]);
  const shown = await house.messages('general', '&user=ben');
  expect(shown.map(({ text }) => text).slice(2)).toEqual([
    expect.stringMatching(/^@Removed person: ben/),
    'his own list',
    'models',
  ]);
  expect(shown[0]?.reactions).toEqual({ '👍': ['ben'] });
});

it.each([
  ['no object', 7],
  ['null', null],
  ['a list', []],
  ['an object without the fields of a message', {}],
])('forgets a person beside a message whose record is %s', async (_, damage) => {
  const { house, says, forget } = await start();
  await says('ben', '/video models', { kind: 'public', card: { lines: [['models']], progress: null, buttons: [] } });
  const [broken] = await house.messages();
  await says('evelyn', '/video list', privately('clips of evelyn'));
  await house.store.keyv('playground_messages').set(broken?.id ?? '', damage);
  await forget();
  expect(await storedIn(house.store)).not.toContain('evelyn');
});

it('removes the CSV files of others, which may name the person', async () => {
  const { house, directory, forget } = await start();
  const path = join(directory, 'usage.csv');
  await writeFile(path, 'evelyn,0.20');
  const place = { team: 'playground', channel: 'general', address: {} };
  const file = { path, name: 'dailies-2026-11.csv', bytes: 11, contentType: 'text/csv', description: '' };
  const view = { kind: 'export', period: '2026-11', who: null } as never;
  await house.platform.notify({ key: 'csv', place, replyTo: null, mention: null, onlyFor: BEN, files: [file], view });
  await forget();
  expect(await readdir(join(directory, 'playground'))).toEqual([]);
  expect((await house.messages('general', '&user=ben'))[0]?.attachments).toEqual([]);
});

it('forgets the requester of a clip, and leaves that of others', async () => {
  const { house, origin, forget } = await start();
  for (const user of [EVELYN, BEN]) {
    const task = `task-${user.id}` as TaskId;
    await house.platform.open(task, { ...origin, user }, doneView({ task, by: user }));
  }
  await forget();
  const by = (await house.messages()).map(({ clip }) => clip?.by);
  expect(by).toEqual(['Removed person', 'ben']);
});

it('forgets what the person was refused with, and repeats for the others what was said', async () => {
  const { house, says, forget } = await start();
  const refused: Reply = { kind: 'refused', sentence: '“a secret film” is no model.' };
  for (const user of ['evelyn', 'ben']) await says(user, '/video create x --model y', refused, `by ${user[0]}`);
  await forget();
  expect((await says('evelyn', '', refused, 'by e')).body).toEqual({ error: 'This request was refused before.' });
  expect((await says('ben', '', refused, 'by b')).body).toEqual({ error: '“a secret film” is no model.' });
  expect((await storedIn(house.store)).match(/secret film/g)?.length).toBe(2);
});
