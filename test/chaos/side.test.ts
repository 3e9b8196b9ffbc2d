import { expect, test } from 'vitest';
import { buttonFor, mentionOf, pressesOf, reportsEnd, showsCard, showsTask, taskIn } from './side.ts';

test('tells a task’s message from the notice to its approvers', () => {
  expect(showsTask(['withdraw:t', 'details:t'], 't')).toBe(true);
  expect(showsTask(['approve:t:0.20USD', 'deny:t'], 't')).toBe(false);
  expect(showsTask(['details:another'], 't')).toBe(false);
});

test('takes a request for neither a running task nor one that has ended', () => {
  expect(taskIn(['withdraw:t', 'details:t'])).toBeNull();
  expect(taskIn(['cancel:t', 'details:t'])).toEqual({ task: 't', isOpen: true });
  expect(taskIn(['retry:t:0.20USD', 'details:t'])).toEqual({ task: 't', isOpen: false });
});

test('tells the end of a request from the notices to its approvers', () => {
  expect(reportsEnd('@bob: alice requests a clip for $0.30.')).toBe(false);
  expect(reportsEnd('@bob alice still waits for the approval of a clip for $0.30.')).toBe(false);
  const mention = { id: 'n', channel: 'c', task: null, state: null, files: [], buttons: [], replyTo: null, end: null };
  for (const words of [
    'your clip “a fox” was denied by Bob: too long.',
    'your clip “a fox” was not approved in time.',
  ]) {
    expect(reportsEnd(words)).toBe(true);
    expect(mentionOf(mention, { task: { sends: 0 }, own: 'm', words }).end).toBe('declined:0');
  }
});

const VOTE = { on: 'card', when: 'ended', action: 'vote', choice: 2, copies: 1, times: 1 } as const;

test('tells the card of a set from the messages of its tasks', () => {
  const card = ['vote:t:1', 'vote:t:2', 'reveal:t', 'details:set-t'];
  expect(showsCard(card, 't')).toBe(true);
  expect(showsTask(card, 't')).toBe(false);
  expect(taskIn(card)).toBeNull();
  expect(showsCard(['approve:set-t:0.20USD', 'deny:set-t'], 't')).toBe(false);
  expect(showsTask(['retry:t:0.20USD'], 't')).toBe(false);
});

test('finds the button of a card, and records a press on what it names', () => {
  const order = { task: 't', clips: 2 };
  expect(buttonFor(VOTE, order, ['vote:t:1', 'vote:t:2', 'details:set-t'])).toBe('vote:t:2');
  expect(buttonFor(VOTE, order, ['vote:t:2'])).toBeUndefined();
  expect(buttonFor({ ...VOTE, action: 'approve' }, order, ['approve:set-t:1USD'])).toBeUndefined();
  const { on: _on, choice: _choice, ...plain } = { ...VOTE, action: 'approve' as const };
  expect(buttonFor(plain, order, ['approve:set-t:1USD'])).toBe('approve:set-t:1USD');
  expect(pressesOf('U1', VOTE, order, 'vote:t:2')).toMatchObject([{ user: 'U1', task: 't', choice: 2 }]);
  expect(pressesOf('U1', plain, order, 'approve:set-t:1USD')).toHaveLength(2);
});
