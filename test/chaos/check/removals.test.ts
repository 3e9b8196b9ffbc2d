import { expect, test } from 'vitest';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task } from '#src/tasks/task.ts';
import { EVENTS, lived, newTask, originOf } from '../../fakes/tasks.ts';
import type { Asked, Pressed, Shown } from '../history.ts';
import { checkRemovals } from './removals.ts';

const ID = taskIdOf('playground:s1-000');
const DONE: Task = {
  ...lived(
    newTask({ id: ID, origin: originOf({ platform: 'playground' }) }),
    EVENTS.send,
    EVENTS.accepted,
    EVENTS.completed,
    EVENTS.fetched,
  ),
  presented: true,
};
const DELETED = lived(DONE, { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: 1 });
const ASKED: Asked = {
  platform: 'playground',
  id: 's1-000',
  user: 'ana',
  channel: 'clips',
  replica: 0,
  atMs: 1,
  status: 202,
  message: 'm1',
};
const PRESSED: Pressed = { user: 'ana', action: 'delete', task: ID, afterSends: null, status: 202, message: null };
const BLANK: Shown = {
  id: 'm1',
  channel: 'clips',
  task: null,
  state: null,
  files: [],
  buttons: [],
  replyTo: null,
  end: null,
  words: 'This clip was deleted.',
};

const found = (task: Task, messages: readonly Shown[] = [BLANK], pressed: readonly Pressed[] = [PRESSED]) =>
  checkRemovals({ asked: [ASKED], pressed, store: { tasks: new Map([[ID, task]]) }, messages }).map(({ name }) => name);

test('finds nothing wrong with a deletion that was asked for, or with none', () => {
  expect([...found(DELETED), ...found(DONE)]).toEqual([]);
});

test('finds a deletion nobody asked for, one before the delivery, and what it left', () => {
  const left = 'left by a deletion';
  expect(found(DELETED, [BLANK], [])).toEqual(['deletion nobody asked for']);
  expect(found({ ...DELETED, presented: false })).toEqual(['deleted before its delivery']);
  expect(found({ ...DELETED, request: DONE.request })).toEqual([left]);
  expect(found(DELETED, [{ ...BLANK, files: [9] }])).toEqual([left]);
  expect(found(DELETED, [BLANK, { ...BLANK, id: 'n1', replyTo: 'm1', words: 's1-000: a red fox' }])).toEqual([left]);
  // A retry shows the same prompt, and is another task.
  expect(found(DELETED, [{ ...BLANK, id: 'n1', replyTo: 'm1', task: 'other', words: 's1-000: a fox' }])).toEqual([]);
});
