import { expect, test } from 'vitest';
import { cardOf, mentionOf, reportsEnd, showsTask } from './side.ts';

test('tells a task’s message from the notice to its approvers', () => {
  expect(showsTask(['withdraw:t', 'details:t'], 't')).toBe(true);
  expect(showsTask(['approve:t:0.20USD', 'deny:t'], 't')).toBe(false);
  expect(showsTask(['details:another'], 't')).toBe(false);
});

test('takes a request for neither a running task nor one that has ended', () => {
  expect(cardOf(['withdraw:t', 'details:t'])).toBeNull();
  expect(cardOf(['cancel:t', 'details:t'])).toEqual({ task: 't', isOpen: true });
  expect(cardOf(['retry:t:0.20USD', 'details:t'])).toEqual({ task: 't', isOpen: false });
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
