import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { blocksOf, linesOf } from '#commands/ui/card.ts';
import type { EndNotice } from '#src/chat/notices/views.ts';
import type { ButtonAction, CardView, TaskView } from '#src/chat/view.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Approval, Approver } from '#src/tasks/approval.ts';
import type { Phase } from '#src/tasks/task.ts';
import { NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { cutView, setView, type TaskViewChanges, taskView } from '#test/fakes/views.ts';

const ada = { id: 'U1', name: 'Ada' };
const bob = { id: 'U2', name: 'Bob' };
const task = taskIdOf('slack:i1');
const DAY_MS = 86_400_000;
const MB = 1024 * 1024;
const CLIP = { path: '/clips/1.mp4', bytes: 5_000, contentType: 'video/mp4' };

const ADA: Approver = { kind: 'person', ...ada };
const BEN: Approver = { kind: 'person', id: 'U3', name: 'Ben' };
const ben = { id: 'U3', name: 'Ben' };

/** Request for the approval of a price above $0.20, for a day. */
function requestOf(askedOf: readonly Approver[]): Approval {
  const above = { amount: '0.2', currency: 'USD' };
  return { above, askedOf, isPromptShown: false, expiresAtMs: NOON_MS + DAY_MS };
}

/** Returns the view of a queued task, with changes. */
function queued(changes: TaskViewChanges = {}): TaskView {
  return taskView({
    task,
    phase: 'queued',
    prompt: 'a red fox',
    price: { amount: '0.3', currency: 'USD' },
    by: ada,
    progress: null,
    createdAtMs: NOON_MS,
    startedAtMs: NOON_MS,
    nowMs: NOON_MS + 12_000,
    refundKnown: false,
    buttons: [],
    ...changes,
  });
}

const HEADLINE = '‹a red fox› · ‹Swift 1› · 6 s · 16:9 · 720p · $0.30 · Ada';
const ENDED = { endedAtMs: NOON_MS + 134_000, nowMs: NOON_MS + DAY_MS } as const;
const usual = { kind: 'usual', fromMs: 125_000, toMs: 170_000 } as const;
const overdue = { kind: 'overdue', deadlineMs: 1_800_000, pollEveryMs: 30_000 } as const;
const link = { url: 'https://d.test/media/1', expiresAtMs: NOON_MS + 7 * DAY_MS };
const sizes = { bytes: 48 * MB, limitBytes: 10 * MB };
const TOO_LARGE = 'The clip is 48 MB and the limit here is 10 MB';
const FOUND = 'Does the service’s console show it? *Enter its ID*. If not, *Send again*. Not sure? *Dismiss*.';

/** Test cases by phase: name, difference from a queued view, and the expected text below the headline. */
const CASES: Readonly<Record<Phase, readonly (readonly [string, TaskViewChanges, string])[]>> = {
  requested: [
    [
      'above a limit',
      { approval: requestOf([ADA, BEN]) },
      'Waiting for approval by Ada or Ben: $0.30 is above the team’s limit of $0.20 for a clip. Expires 2026-11-21T12:00.',
    ],
    [
      'over a budget, with administrators to ask',
      { approval: { ...requestOf([]), above: null } },
      'Waiting for approval by an administrator: $0.30 would exceed the budget. Expires 2026-11-21T12:00. Nobody else is an approver, so an administrator has to look, here or in `/video approvals`.',
    ],
    [
      'with many approvers, a role among them',
      { approval: requestOf([ADA, BEN, { kind: 'role', id: '1', name: '@Le*ads' }, ADA, BEN]) },
      'Waiting for approval by Ada, Ben, ‹@Le*ads› or 2 others: $0.30 is above the team’s limit of $0.20 for a clip. Expires 2026-11-21T12:00.',
    ],
  ],
  declined: [
    [
      'denied',
      { declined: { how: 'denied', by: ben, reason: 'too long for a test', atMs: NOON_MS } },
      'Denied by Ben: ‹too long for a test›.',
    ],
    ['denied without a reason', { declined: { how: 'denied', by: ben, atMs: NOON_MS } }, 'Denied by Ben.'],
    [
      'expired',
      { approval: requestOf([BEN]), declined: { how: 'expired', atMs: NOON_MS } },
      `Expired: no one answered within 24 h. Nothing was charged. Request again: \`/video retry ${task.slice(0, 8)}\``,
    ],
    ['withdrawn', { declined: { how: 'withdrawn', by: ada, atMs: NOON_MS } }, 'Withdrawn.'],
    ['withdrawn by another', { declined: { how: 'withdrawn', by: ben, atMs: NOON_MS } }, 'Withdrawn by Ben.'],
  ],
  queued: [
    ['waiting', {}, 'Queued · 0:12'],
    ['with what is usual', { pace: usual }, 'Queued · 0:12 · usually 2–3 min'],
    ['behind others', { ahead: 3, pace: usual }, 'Queued · 0:12 · 3 ahead at the service · usually 2–3 min'],
    ['next', { ahead: 0 }, 'Queued · 0:12 · next at the service'],
    [
      'held back by the service',
      { retrying: { step: 'send', code: 'rate_limited', words: null, nextAtMs: NOON_MS + 120_000 } },
      'Queued · 0:12\nNot sent yet: the video service takes no more requests at the moment. Next try 2026-11-20T12:02. Cancelling now costs nothing.',
    ],
  ],
  running: [
    ['without a percentage', {}, 'Running · 0:12'],
    ['with one', { progress: 42 }, 'Running · 42 % · 0:12\n[bar 42]'],
    ['at its beginning', { progress: 0 }, 'Running · 0 % · 0:12\n[bar 0]'],
    [
      'past what is usual',
      { pace: { kind: 'longer' }, nowMs: NOON_MS + 200_000 },
      'Running · 3:20 · longer than usual',
    ],
    [
      'overdue',
      { nowMs: NOON_MS + 3_725_000, pace: overdue },
      'Running · 1:02:05\nStill running after 30 min. Checking every 30 s.',
    ],
    [
      'overdue, while polls fail',
      {
        nowMs: NOON_MS + 3_725_000,
        pace: overdue,
        retrying: { step: 'poll', code: 'unavailable', words: 'HTTP 503', nextAtMs: NOON_MS + 3_730_000 },
      },
      'Running · 1:02:05\nNot done after 30 min.\nI can’t check on this clip right now: the video service can’t be reached. Next try in less than a minute. You don’t need to do anything: I’ll post the clip when it arrives.',
    ],
  ],
  fetching: [
    ['', ENDED, 'Finished, fetching the clip · 2:14'],
    [
      'that failed',
      { ...ENDED, retrying: { step: 'fetch', code: 'not_ready', words: null, nextAtMs: NOON_MS } },
      'Finished, fetching the clip · 2:14\nThe clip is finished, but I couldn’t fetch it yet: the video service doesn’t hand it out yet. Next try in less than a minute. I’ll keep trying; Fetch it again tries at once.',
    ],
  ],
  done: [
    ['', { ...ENDED, handover: { kind: 'attached' } }, 'Done in 2:14'],
    [
      'sent twice',
      { ...ENDED, sends: 2, handover: { kind: 'attached' } },
      'Done in 2:14 · $0.30, or up to $0.60 (sent 2 times)',
    ],
    [
      'fitted',
      { ...ENDED, handover: { kind: 'fitted', ...sizes, link } },
      `Done in 2:14\n${TOO_LARGE}, so this is a smaller copy.\n[The original](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'fitted without links',
      { ...ENDED, handover: { kind: 'fitted', ...sizes, link: null } },
      `Done in 2:14\n${TOO_LARGE}, so this is a smaller copy.\nFor a link to the original, your administrator can set \`PUBLIC_URL\` and \`LINK_SECRET\`.`,
    ],
    [
      'linked',
      { ...ENDED, handover: { kind: 'linked', ...sizes, link } },
      `Done in 2:14\n${TOO_LARGE}. [Watch it here](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'withheld',
      { ...ENDED, handover: { kind: 'withheld', right: 'uploads are *off*', link } },
      `Done in 2:14\nThe chat refused the clip here: ‹uploads are *off*›. [Watch it here](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'withheld without links',
      { ...ENDED, handover: { kind: 'withheld', right: 'uploads are off', link: null } },
      'Done in 2:14\nThe chat refused the clip here: ‹uploads are off›. The clip is safe; I’ll post it as soon as that works.',
    ],
    [
      'of a file that may be cut off',
      { ...ENDED, handover: { kind: 'attached' }, clip: { ...CLIP, isUnproven: true } },
      'Done in 2:14\nThe video service didn’t say how long this file is, so it may be cut off.',
    ],
    ['within seconds', { ...ENDED, endedAtMs: NOON_MS + 10_400, handover: { kind: 'attached' } }, 'Done in 10 s'],
    [
      'unshown',
      { ...ENDED, handover: { kind: 'unshown' } },
      'Done in 2:14\nIts message was deleted before I could post the clip. I’ve kept it.',
    ],
    [
      'kept by a limit that nobody stated, with ffmpeg there',
      { ...ENDED, handover: { kind: 'kept', bytes: 48 * MB, limitBytes: null, hasFitter: true } },
      'Done in 2:14\nThe clip is 48 MB, and the chat said that it is too large. I’ve kept it on my disk.\nTo get such clips here, your administrator can set `PUBLIC_URL` and `LINK_SECRET` (a link).',
    ],
    [
      'kept',
      { ...ENDED, handover: { kind: 'kept', ...sizes } },
      `Done in 2:14\n${TOO_LARGE}. I’ve kept it on my disk.\nTo get such clips here, your administrator can set \`PUBLIC_URL\` and \`LINK_SECRET\` (a link), or install ffmpeg or name it in \`FFMPEG_PATH\` (a smaller copy).`,
    ],
  ],
  lost: [
    [
      '',
      { ...ENDED, failure: { code: 'gone', words: 'secret *words*' } },
      'The video service finished this clip, but I couldn’t download it.\nThe video service has already deleted the clip.\nIt may charge $0.30 all the same.',
    ],
    [
      'for a token that somebody can mend',
      { ...ENDED, failure: { code: 'unauthorised', words: null } },
      'The video service finished this clip, but I couldn’t download it.\nThe video service doesn’t accept my token. Ask your administrator to check VIDEO_API_TOKEN or SERVICES; then fetch it again.\nIt may charge $0.30 all the same.',
    ],
  ],
  failed: [
    [
      'with the service’s words, refunds known',
      { ...ENDED, refundKnown: true, failure: { code: 'generation_failed', words: 'no *GPU*' } },
      'The video service couldn’t make this clip. It said: “‹no *GPU*›”\nNot charged: the video service refunds failed tasks.',
    ],
    [
      'without words, refunds not known',
      { ...ENDED, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Different wording may pass.\nThe video service refunds failed tasks under its own rules. Its console shows whether the $0.30 came back.',
    ],
    [
      'billed all the same',
      { ...ENDED, failure: { code: 'moderated', words: null, isBilled: true } },
      'The video service’s content rules stopped this. Different wording may pass.\nThe video service bills it all the same, so $0.30 counts as used.',
    ],
    [
      'not billed, by the catalog',
      { ...ENDED, failure: { code: 'moderated', words: null, isBilled: false } },
      'The video service’s content rules stopped this. Different wording may pass.\nNot charged: the video service doesn’t charge for what its rules stop.',
    ],
    [
      'sent twice, refunds known',
      { ...ENDED, sends: 2, refundKnown: true },
      'The video service couldn’t make this clip.\nNot charged: the video service refunds failed tasks. But it was sent 2 times: the video service may still charge $0.30 for the rest.',
    ],
    [
      'sent three times, refunds not known',
      { ...ENDED, sends: 3 },
      'The video service couldn’t make this clip.\nThe video service refunds failed tasks under its own rules. Its console shows whether the $0.30 came back. But it was sent 3 times: the video service may still charge up to $0.60 for the rest.',
    ],
  ],
  refused: [
    [
      '',
      { ...ENDED, sends: 0, failure: { code: 'no_balance', words: 'quota: 0' } },
      'The video service account is out of credit. Ask your administrator to top it up; then try again. It said: “‹quota: 0›”\nNo clip was made, and you weren’t charged.',
    ],
    [
      'when it was sent again',
      { ...ENDED, sends: 1, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Different wording may pass.\nNo clip was made this time. The video service may have accepted what I sent before and may charge $0.30. If its console shows that, press Enter its ID.',
    ],
    [
      'when it was sent a third time',
      { ...ENDED, sends: 2, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Different wording may pass.\nNo clip was made this time. The video service may have accepted what I sent before and may charge up to $0.60 (sent 2 times). If its console shows that, press Enter its ID.',
    ],
  ],
  uncertain: [
    [
      '',
      { state: 'uncertain' },
      `The video service didn’t confirm this request. It may be processing it and may charge $0.30. I won’t send it again on my own.\n${FOUND}`,
    ],
    [
      'a second time',
      { state: 'uncertain', sends: 2 },
      `The video service didn’t confirm this request. It may be processing it and may charge up to $0.60 (sent 2 times). I won’t send it again on my own.\n${FOUND}`,
    ],
    [
      'while it is looked for',
      { state: 'uncertain', failure: { code: 'lost_answer', words: null, search: { untilMs: NOON_MS } } },
      'The video service didn’t confirm this request. It may be processing it and may charge $0.30. I won’t send it again on my own.\nI’m looking for it in the service’s list. If I don’t find it there, I’ll ask you what to do 2026-11-20T12:00.',
    ],
    ...(
      [
        ['none', 'I didn’t find it in the service’s list.'],
        ['alike', 'The service’s list has requests like it, and I can’t tell whether one of them is this one.'],
        ['unread', 'I couldn’t look for it in the service’s list.'],
      ] as const
    ).map(([result, words]): [string, TaskViewChanges, string] => [
      `after a search: ${result}`,
      { state: 'uncertain', failure: { code: 'lost_answer', words: null, search: { untilMs: NOON_MS, result } } },
      `The video service didn’t confirm this request. It may be processing it and may charge $0.30. I won’t send it again on my own.\n${words}\n${FOUND}`,
    ]),
    [
      'not known to the service',
      { state: 'uncertain', failure: { code: 'task_unknown', words: null } },
      'The video service keeps saying that it doesn’t know this task. It may have made the clip all the same and may charge $0.30. I won’t send it again on my own.\nDetails shows the ID that I asked for. Does the service’s console show another one? *Enter its ID*. None? *Send again*. Not sure? *Dismiss*.',
    ],
    [
      'not known to the service, and left',
      { leftBy: bob, failure: { code: 'task_unknown', words: null } },
      'Bob left this unresolved. The video service may have accepted it and may charge $0.30.',
    ],
    ['left', { leftBy: bob }, 'Bob left this unresolved. The video service may have accepted it and may charge $0.30.'],
  ],
  cancelled: [
    ['before sending', { sends: 0, cancelledBy: ada }, 'Cancelled. You were not charged.'],
    ['by another', { sends: 0, cancelledBy: bob }, 'Cancelled by Bob. You were not charged.'],
    [
      'after',
      { cancelledBy: ada },
      'Cancelled in Dailies. The video service can’t cancel what has begun: it may still finish and charge $0.30.',
    ],
    [
      'after, and it came',
      { cancelledBy: ada, lateOutcome: 'completed' },
      'Cancelled in Dailies. The video service finished it all the same and charges $0.30.',
    ],
    [
      'after, and it failed',
      { cancelledBy: bob, lateOutcome: 'failed', refundKnown: true },
      'Cancelled in Dailies by Bob. The video service couldn’t make it. Not charged: the video service refunds failed tasks.',
    ],
    [
      'after it was sent again, and it came',
      { sends: 2, cancelledBy: ada, lateOutcome: 'completed' },
      'Cancelled in Dailies. The video service finished it all the same and charges $0.30, or up to $0.60 (sent 2 times).',
    ],
    [
      'after it was sent again, and it failed',
      { sends: 2, cancelledBy: ada, lateOutcome: 'failed', refundKnown: true },
      'Cancelled in Dailies. The video service couldn’t make it. Not charged: the video service refunds failed tasks. But it was sent 2 times: the video service may still charge $0.30 for the rest.',
    ],
    [
      'after, and nobody knows',
      { cancelledBy: ada, lateOutcome: 'unknown' },
      'Cancelled in Dailies. What became of it is unknown; the video service may have charged $0.30.',
    ],
  ],
};

const ALL = Object.entries(CASES).flatMap(([phase, cases]) =>
  cases.map(([about, changes, text]) => ({
    name: `${phase} ${about}`,
    view: queued({ phase: phase as Phase, ...changes }),
    text,
  })),
);

it('says which shot a chained one waits for, and no time: it is not sent yet', () => {
  const set = { id: task, kind: 'storyboard', at: 3, of: 4 } as const;
  const chained = { state: 'waiting', set, request: { chain: {} }, sends: 0 } as const;
  const waiting = queued({ ...chained, pace: { kind: 'longer' } });
  expect(cardText(cardOf(waiting))).toContain('Waits for shot 2');
  expect(cardText(cardOf(waiting))).not.toMatch(/Queued|longer than usual/u);
});

it('does not say of a removed file that it may be cut off', () => {
  const removal = { reason: 'expired', atMs: NOON_MS, hasContent: true } as const;
  const view = queued({ ...ENDED, phase: 'done', clip: { ...CLIP, isUnproven: true }, removal });
  expect(cardText(cardOf(view))).not.toContain('cut off');
});

it('shows the number of reference files by kind, without addresses', () => {
  const media = { image: ['a', 'b'], audio: [], video: ['c'] };
  expect(cardText(cardOf(queued({ request: { media } })))).toContain(
    '720p · 2 reference images · 1 reference video · $0.30',
  );
});

describe('task message', () => {
  it.each(ALL)('$name', ({ view, text }) => {
    expect(cardText(cardOf(view))).toBe(`${HEADLINE}\n${text}`);
  });

  it.each(ALL)('$name has no exclamation marks or emoji', ({ view }) => {
    const text = cardText(cardOf(view));
    expect(text).not.toContain('!');
    expect(text.match(/\p{Extended_Pictographic}/gu) ?? []).toEqual([]);
  });

  it('has the same first line in all phases', () => {
    const lines = new Set(ALL.map(({ view }) => JSON.stringify(blocksOf(cardOf(view))[0])));
    expect(lines.size).toBe(1);
  });

  it('omits settings that the model does not take', () => {
    const view = queued();
    const { aspectRatio: _aspect, resolution: _resolution, ...request } = view.task.request;
    const bare = { ...view, task: { ...view.task, request } };
    expect(cardText(cardOf(bare))).toMatch(/· 6 s · \$0\.30 · Ada\n/);
  });

  it('shortens a long prompt to one line and marks it as untrusted', () => {
    const [first = []] = linesOf(cardOf(queued({ prompt: `*fox*\n<@U9> ${'word '.repeat(100)}` })));
    const shown = first[0];
    if (typeof shown !== 'object' || !('untrusted' in shown)) throw new TypeError('the prompt is not marked');
    expect(shown.untrusted).toMatch(/^\*fox\* <@U9> word.*word…$/);
    expect(shown.untrusted.length).toBeLessThanOrEqual(200);
  });

  it('shows no progress bar after completion', () => {
    expect(cardOf(queued({ phase: 'done', progress: 100 })).progress).toBeNull();
  });

  it('shows its buttons with the task in their ids', () => {
    const buttons: readonly ButtonAction[] = [
      ...(['retry', 'edit', 'cancel', 'details', 'lookup', 'again', 'leave', 'show', 'refetch'] as const),
    ];
    const card = cardOf(queued({ sends: 2, buttons }));
    expect(card.buttons.map(({ id, label }) => `${id} ${label}`)).toEqual([
      `retry:${task}:0.30USD Retry · $0.30`,
      `edit:${task} Edit & retry`,
      `cancel:${task} Cancel`,
      `details:${task} Details`,
      `lookup:${task} Enter its ID`,
      `again:${task}:2:0.30USD Send again · $0.30`,
      `leave:${task} Dismiss`,
      `show:${task} Show the clip`,
      `refetch:${task} Fetch it again`,
    ]);
  });
});

describe('completion notice', () => {
  const done: EndNotice = {
    kind: 'end',
    task,
    phase: 'done',
    prompt: 'a *red* fox',
    by: ada,
    message: { channel: 'clips', message: 'm1' },
    sends: 0,
    handover: 'attached',
    subscribed: false,
  };

  it.each<[EndNotice['phase'], string]>([
    ['done', '@Ada your clip ‹“a *red* fox”› is ready.'],
    ['lost', '@Ada your clip ‹“a *red* fox”› is finished, but I could not fetch it.'],
    ['failed', '@Ada your clip ‹“a *red* fox”› could not be made.'],
    ['refused', '@Ada your clip ‹“a *red* fox”› was not made. Nothing was charged.'],
    ['uncertain', '@Ada your clip ‹“a *red* fox”› needs a decision: the service did not answer.'],
    ['disowned', '@Ada your clip ‹“a *red* fox”› needs a decision: the service says that it does not know it.'],
  ])('%s', (phase, text) => {
    expect(cardText(cardOf({ ...done, phase }))).toBe(text);
  });

  it.each<[NonNullable<EndNotice['handover']>, string]>([
    ['fitted', 'is ready, as a smaller copy.'],
    ['linked', 'is ready: its message has a link, since the file is too large to post here.'],
    ['kept', 'is finished, but too large to post here. Its message says what can be done.'],
    ['withheld', 'is finished, but I couldn’t post the file here. Its message says why.'],
    [
      'unshown',
      `is finished, but its message was deleted. \`/video status ${task.slice(0, 8)}\` has a button that shows it.`,
    ],
  ])('describes a clip with the handover %s', (handover, text) => {
    expect(cardText(cardOf({ ...done, handover }))).toBe(`@Ada your clip ‹“a *red* fox”› ${text}`);
  });

  it('does not link a deleted message', () => {
    expect(cardText(cardOf({ ...done, handover: 'unshown', subscribed: true }, null))).not.toContain('See it');
  });

  it('does not claim that nothing was charged if an earlier submission may be billed', () => {
    expect(cardText(cardOf({ ...done, phase: 'refused', sends: 1 }))).toBe(
      '@Ada your clip ‹“a *red* fox”› was not made. An earlier try may still be charged.',
    );
  });

  it('names the requester and the channel in a subscribed channel, and pings the given person', () => {
    const there = { ...done, subscribed: true };
    expect(cardText(cardOf(there))).toBe('Ada’s clip ‹“a *red* fox”› is ready. In #clips · [See it → m1]');
    expect(cardText(cardOf(there, ada))).toBe('@Ada your clip ‹“a *red* fox”› is ready. In #clips · [See it → m1]');
    expect(cardText(cardOf(there, bob))).toBe('@Bob Ada’s clip ‹“a *red* fox”› is ready. In #clips · [See it → m1]');
    expect(cardText(cardOf(done, null))).toBe('Ada’s clip ‹“a *red* fox”› is ready.');
  });
});

describe('the card of a set', () => {
  it.each([
    ['is looked for', {}, 'I’m looking for it'],
    ['was not found', { result: 'none' }, 'it needs a decision'],
  ] as const)('tells of a lost order that it %s', (_what, found, words) => {
    const search = { untilMs: NOON_MS, ...found };
    const failure = { code: 'lost_answer', words: null, search } as const;
    const lost = taskView({ phase: 'uncertain', state: 'uncertain', failure });
    const view = setView({ id: task, kind: 'takes', of: 1 }, [{ view: lost, message: null }]);
    expect(cardText(cardOf(view))).toContain(`Not confirmed: ${words}`);
  });
});

describe('the word AI', () => {
  const firstLine = (view: CardView) => cardText(cardOf(view)).split('\n')[0];
  const set = { id: task, kind: 'storyboard', of: 2 } as const;
  const file = { seconds: 18, bytes: 1_000 };

  it('is the first fact on the cards of a clip, a storyboard and a cut', () => {
    const clip = queued({ phase: 'done', isLabelled: true });
    expect(firstLine(clip)).toBe('‹a red fox› · *AI* · ‹Swift 1› · 6 s · 16:9 · 720p · $0.30 · Ada');
    const board = setView(set, [{ view: clip, message: null }]);
    expect(firstLine(board)).toMatch(/^Storyboard: ‹a red fox› · \*AI\* · /u);
    expect(firstLine(cutView({ isLabelled: true, file }))).toContain(' · *AI* · 0:18');
  });

  it('is on no card without the setting', () => {
    const clip = queued({ phase: 'done' });
    for (const view of [clip, setView(set, [{ view: clip, message: null }]), cutView({ file })])
      expect(firstLine(view)).not.toContain('AI*');
  });
});
