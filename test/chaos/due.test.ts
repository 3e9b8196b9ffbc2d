import { expect, test } from 'vitest';
import type { PlannedDeed } from './deeds.ts';
import { clipsOn, isDue } from './due.ts';
import type { PlannedOrder } from './plan.ts';
import type { Message } from './playground.ts';

const TAKES: Pick<PlannedOrder, 'ordered' | 'channel'> = { ordered: 'takes', channel: 'general' };
const BOARD = { ...TAKES, ordered: 'storyboard' } as const;

function cardOf(...states: readonly string[]): Message {
  const said = { id: 'm1', channel: 'general', replyTo: null, text: '', visibleTo: null, asked: null, mentions: [] };
  const tasks = states.map((state, at) => ({ task: `t${at + 1}`, state }));
  return { ...said, state: null, task: null, tasks, attachments: [], buttons: [{ id: 'details:set-t1' }] };
}

function deed(when: PlannedDeed['when'], action: PlannedDeed['action'], on?: 'clip'): PlannedDeed {
  return { when, action, copies: 1, times: 1, ...(on === undefined ? {} : { on }) };
}

test('a deed on a clip without a message is due by the state that its card says', () => {
  const card = cardOf('polling', 'uncertain', 'completed');
  for (const action of ['again', 'lookup', 'leave'] as const) {
    expect(clipsOn(deed('uncertain', action), card, TAKES)).toEqual(['t2']);
    expect(isDue(deed('uncertain', action), card, TAKES)).toBe(true);
  }
  expect(clipsOn(deed('ended', 'retry'), card, TAKES)).toEqual(['t3']);
  expect(isDue(deed('ended', 'delete'), card, TAKES)).toBe(true);
  expect(isDue(deed('ended', 'retry'), cardOf('polling', 'polling'), TAKES)).toBe(false);
  expect(isDue(deed('uncertain', 'again'), cardOf('polling', 'completed'), TAKES)).toBe(false);
});

test('a review is due once the card has a clip, in the channel with reviews', () => {
  const review = deed('ended', 'signoff', 'clip');
  expect(isDue(review, cardOf('failed', 'completed'), TAKES)).toBe(true);
  expect(isDue(review, cardOf('failed', 'polling'), TAKES)).toBe(false);
  expect(isDue(review, cardOf('completed'), { ...TAKES, channel: 'clips' })).toBe(false);
});

test('decisions on a request, and deeds on the card itself, are no deeds on a clip', () => {
  expect(clipsOn(deed('requested', 'approve'), cardOf('requested', 'requested'), TAKES)).toEqual([]);
  expect(clipsOn(deed('requested', 'withdraw'), cardOf('requested', 'requested'), TAKES)).toEqual([]);
  expect(clipsOn({ ...deed('ended', 'vote'), on: 'card' }, cardOf('completed'), TAKES)).toEqual([]);
});

test('the shots of a storyboard have messages of their own', () => {
  expect(clipsOn(deed('uncertain', 'again'), cardOf('polling', 'uncertain'), BOARD)).toEqual([]);
  expect(isDue(deed('uncertain', 'again'), cardOf('polling', 'uncertain'), BOARD)).toBe(false);
  const shot = { ...cardOf(), task: 't2', state: 'uncertain' };
  expect(isDue(deed('uncertain', 'again'), shot, BOARD)).toBe(true);
});
