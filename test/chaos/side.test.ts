import { expect, test } from 'vitest';
import { tasksOfSet } from './sets.ts';
import {
  buttonFor,
  cardIn,
  isAskedBy,
  mentionOf,
  openDetails,
  pressesOf,
  reportsEnd,
  showsCard,
  showsTask,
  taskIn,
} from './side.ts';

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

test('takes the card that leads to a decision on one of its clips for no message of the clip', () => {
  const card = ['details:t2', 'retry:t3:0.20USD', 'details:set-t'];
  expect(showsCard(card, 't')).toBe(true);
  expect(showsTask(card, 't2')).toBe(false);
  expect(taskIn(card)).toBeNull();
});

test('tells the card of a set whose message may be deleted, and whether it can still change', () => {
  expect(cardIn(['details:t2', 'cancel:set-t', 'details:set-t'])).toEqual({ task: 'set-t', isOpen: true });
  expect(cardIn(['vote:t:1', 'details:set-t'])).toEqual({ task: 'set-t', isOpen: false });
  // A board stays where its shots are.
  expect(cardIn(['join:set-t', 'shot:t:1', 'details:set-t'])).toBeNull();
  expect(cardIn(['withdraw:set-t', 'details:set-t'])).toBeNull();
  expect(cardIn(['retry:t:0.20USD', 'details:t'])).toBeNull();
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

test('finds the review of any clip of an order, and the retry of its last one', () => {
  const [first = '', last = ''] = tasksOfSet('t', 2);
  const order = { task: 't', clips: 2 };
  const review = { ...VOTE, on: 'clip', action: 'signoff' } as const;
  expect(buttonFor(review, order, ['details:x', `signoff:${last}:0`])).toBe(`signoff:${last}:0`);
  expect(buttonFor(review, order, ['signoff:x:0', `changes:${last}:0`])).toBeUndefined();
  expect(pressesOf('U1', review, order, `signoff:${last}:0`)).toMatchObject([{ user: 'U1', task: last }]);
  const retry = { ...review, action: 'retry' } as const;
  expect(buttonFor(retry, order, [`retry:${first}:1USD`, `retry:${last}:1USD`])).toBe(`retry:${last}:1USD`);
});

test('tells the button of a question from the one that was pressed', () => {
  expect(isAskedBy('signoff:t:0', 'signoff:t:0:2')).toBe(true);
  expect(isAskedBy('remake:t:1USD', 'remake:t:1USD:confirmed')).toBe(true);
  expect(isAskedBy('signoff:t:0', 'signoff:t:0')).toBe(false);
});

test('opens the details of one clip of a set after the other until there is the button of a deed', async () => {
  const [first = '', last = ''] = tasksOfSet('t', 2);
  const shown = [{ id: 'card', buttons: ['retry:set-t:1USD', 'details:set-t'], hasFile: true }];
  const replies = new Map([
    ['details:set-t', { id: 'whole', buttons: [`details:${first}`, `details:${last}`, 'show:set-t'], hasFile: false }],
    [`details:${last}`, { id: 'one', buttons: [`signoff:${last}:0`], hasFile: false }],
  ]);
  const pressed: string[] = [];
  const press = (message: string, button: string, clip?: string): void => {
    pressed.push(`${message} ${button} ${clip ?? ''}`.trim());
    const reply = replies.get(button);
    if (reply !== undefined) shown.push(reply);
  };
  const isThere = (): boolean => shown.some(({ buttons }) => buttons.includes(`signoff:${last}:0`));
  const order = { task: 't', clips: 2, isOnCard: true };
  await openDetails(order, isThere, { seen: () => shown, press, signal: new AbortController().signal, replyMs: 1 });
  const opened = 'card details:set-t';
  expect(pressed).toEqual([opened, `whole details:${first} ${first}`, opened, `whole details:${last} ${last}`]);
});
