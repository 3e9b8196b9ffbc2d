import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences.ts';
import type { ButtonAction, EndNotice, Phase, TaskView } from '#src/chat/view.ts';
import { taskIdOf } from '#src/tasks/service.ts';
import { NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText } from '#test/fakes/card-text.ts';

const ada = { id: 'U1', name: 'Ada' };
const bob = { id: 'U2', name: 'Bob' };
const task = taskIdOf('slack:i1');
const DAY_MS = 86_400_000;
const MB = 1024 * 1024;

const QUEUED: TaskView = {
  kind: 'task',
  task,
  state: 'polling',
  phase: 'queued',
  prompt: 'a red fox',
  modelTitle: 'Swift 1',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  price: { amount: '0.3', currency: 'USD' },
  by: ada,
  progress: null,
  createdAtMs: NOON_MS,
  endedAtMs: null,
  nowMs: NOON_MS + 12_000,
  usual: null,
  longerThanUsual: false,
  overdue: null,
  failure: null,
  refundKnown: false,
  sends: 1,
  cancelledBy: null,
  lateOutcome: null,
  leftBy: null,
  handover: null,
  retryOf: null,
  buttons: [],
};
const HEADLINE = '‹a red fox› · ‹Swift 1› · 6 s · 16:9 · 720p · $0.30 · Ada';
const ENDED = { endedAtMs: NOON_MS + 134_000, nowMs: NOON_MS + DAY_MS } as const;
const usual = { fromMs: 125_000, toMs: 170_000 };
const link = { url: 'https://d.test/media/1', expiresAtMs: NOON_MS + 7 * DAY_MS };
const sizes = { bytes: 48 * MB, limitBytes: 10 * MB };
const TOO_LARGE = 'The clip has 48 MB, more than the 10 MB this chat takes';
const FOUND =
  'If the service’s console shows it, Look it up and enter its id. If it does not, Send again. Or Leave it.';

/** By what the view is about: how it differs from a queued one, and what stands below the headline. */
const CASES: Readonly<Record<Phase, readonly (readonly [string, Partial<TaskView>, string])[]>> = {
  queued: [
    ['waiting', {}, 'Queued · 0:12'],
    ['with what is usual', { usual }, 'Queued · 0:12 · usually 2–3 min'],
  ],
  running: [
    ['without a percentage', {}, 'Running · 0:12'],
    ['with one', { progress: 42 }, 'Running · 42 % · 0:12\n[bar 42]'],
    ['at its beginning', { progress: 0 }, 'Running · 0 % · 0:12\n[bar 0]'],
    [
      'past what is usual',
      { usual, longerThanUsual: true, nowMs: NOON_MS + 200_000 },
      'Running · 3:20 · longer than usual',
    ],
    [
      'overdue',
      {
        usual,
        longerThanUsual: true,
        nowMs: NOON_MS + 3_725_000,
        overdue: { deadlineMs: 1_800_000, pollEveryMs: 30_000 },
      },
      'Running · 1:02:05\nStill running after 30 min. I keep looking, every 30 s.',
    ],
  ],
  fetching: [['', ENDED, 'Finished; fetching the clip · 2:14']],
  done: [
    ['', { ...ENDED, handover: { kind: 'attached' } }, '2:14 · $0.30'],
    [
      'sent twice',
      { ...ENDED, sends: 2, handover: { kind: 'attached' } },
      '2:14 · $0.30, or up to $0.60 (sent 2 times)',
    ],
    [
      'fitted',
      { ...ENDED, handover: { kind: 'fitted', ...sizes, link } },
      `2:14 · $0.30\n${TOO_LARGE}, so this is a smaller copy.\n[The original](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'fitted without links',
      { ...ENDED, handover: { kind: 'fitted', ...sizes, link: null } },
      `2:14 · $0.30\n${TOO_LARGE}, so this is a smaller copy.\nFor a link to the original, whoever runs me sets \`PUBLIC_URL\` and \`LINK_SECRET\`.`,
    ],
    [
      'linked',
      { ...ENDED, handover: { kind: 'linked', ...sizes, link } },
      `2:14 · $0.30\n${TOO_LARGE}. [Watch it here](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'withheld',
      { ...ENDED, handover: { kind: 'withheld', right: 'uploads are *off*', link } },
      `2:14 · $0.30\nThe chat did not take the clip here: ‹uploads are *off*›. [Watch it here](${link.url}); the link stops working 2026-11-27T12:00.`,
    ],
    [
      'withheld without links',
      { ...ENDED, handover: { kind: 'withheld', right: 'uploads are off', link: null } },
      '2:14 · $0.30\nThe chat did not take the clip here: ‹uploads are off›. I keep it, and put it here once I may.',
    ],
    [
      'kept',
      { ...ENDED, handover: { kind: 'kept', ...sizes } },
      `2:14 · $0.30\n${TOO_LARGE}. I keep it on my disk.\nTo get such clips here, whoever runs me sets \`PUBLIC_URL\` and \`LINK_SECRET\` (a link), or installs ffmpeg or names it in \`FFMPEG_PATH\` (a smaller copy).`,
    ],
  ],
  lost: [
    [
      '',
      { ...ENDED, failure: { code: 'gone', words: 'secret *words*' } },
      'The service finished this clip, but I could not fetch it.\nThe video service has deleted the clip already.\nIt may bill $0.30 all the same.',
    ],
    [
      'for a token that somebody can mend',
      { ...ENDED, failure: { code: 'unauthorised', words: null } },
      'The service finished this clip, but I could not fetch it.\nThe video service does not know my token. Whoever runs me has to check VIDEO_API_TOKEN; then fetch it again.\nIt may bill $0.30 all the same.',
    ],
  ],
  failed: [
    [
      'with the service’s words, refunds known',
      { ...ENDED, refundKnown: true, failure: { code: 'generation_failed', words: 'no *GPU*' } },
      'The video service could not make this clip. Its words: ‹no *GPU*›\nNot charged: the service refunds failed tasks.',
    ],
    [
      'without words, refunds not known',
      { ...ENDED, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Another wording may pass.\nThe service refunds failed tasks under its own rules; its console shows whether the $0.30 came back.',
    ],
    [
      'sent twice, refunds known',
      { ...ENDED, sends: 2, refundKnown: true },
      'The video service could not make this clip.\nNot charged: the service refunds failed tasks. But it was sent 2 times: the service may still bill $0.30 for the rest.',
    ],
    [
      'sent three times, refunds not known',
      { ...ENDED, sends: 3 },
      'The video service could not make this clip.\nThe service refunds failed tasks under its own rules; its console shows whether the $0.30 came back. But it was sent 3 times: the service may still bill up to $0.60 for the rest.',
    ],
  ],
  refused: [
    [
      '',
      { ...ENDED, sends: 0, failure: { code: 'no_balance', words: 'quota: 0' } },
      'The video service’s account has not enough balance. Whoever runs me can top it up in the service’s console; then try again. Its words: ‹quota: 0›\nNothing was made and nothing was spent.',
    ],
    [
      'when it was sent again',
      { ...ENDED, sends: 1, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Another wording may pass.\nNothing was made this time. The service may have taken what I sent before, and may bill $0.30. If its console shows that, Look it up.',
    ],
    [
      'when it was sent a third time',
      { ...ENDED, sends: 2, failure: { code: 'moderated', words: null } },
      'The video service’s content rules stopped this. Another wording may pass.\nNothing was made this time. The service may have taken what I sent before, and may bill up to $0.60 (sent 2 times). If its console shows that, Look it up.',
    ],
  ],
  uncertain: [
    [
      '',
      { state: 'uncertain' },
      `The service did not answer when I sent this. It may have taken it and may bill $0.30. I will not send it again by myself.\n${FOUND}`,
    ],
    [
      'a second time',
      { state: 'uncertain', sends: 2 },
      `The service did not answer when I sent this. It may have taken it and may bill up to $0.60 (sent 2 times). I will not send it again by myself.\n${FOUND}`,
    ],
    [
      'not known to the service',
      { state: 'uncertain', failure: { code: 'task_unknown', words: null } },
      'However often I ask, the service says that it does not know this task. It may have made the clip all the same and may bill $0.30. I will not send it again by myself.\nDetails has the id that I asked for. If the service’s console shows another one, Look it up and enter that. If it shows none, Send again. Or Leave it.',
    ],
    [
      'not known to the service, and left',
      { leftBy: bob, failure: { code: 'task_unknown', words: null } },
      'Left as it is by Bob. The service may have taken it and may bill $0.30.',
    ],
    ['left', { leftBy: bob }, 'Left as it is by Bob. The service may have taken it and may bill $0.30.'],
  ],
  cancelled: [
    ['before sending', { sends: 0, cancelledBy: ada }, 'Cancelled. Nothing was spent.'],
    ['by another', { sends: 0, cancelledBy: bob }, 'Cancelled. Nothing was spent. By Bob.'],
    [
      'after',
      { cancelledBy: ada },
      'Stopped following. The service has no cancel: it may still finish and bill $0.30.',
    ],
    [
      'after, and it came',
      { cancelledBy: ada, lateOutcome: 'completed' },
      'Stopped following. The service finished it all the same and bills $0.30.',
    ],
    [
      'after, and it failed',
      { cancelledBy: bob, lateOutcome: 'failed', refundKnown: true },
      'Stopped following. By Bob. The service could not make it. Not charged: the service refunds failed tasks.',
    ],
    [
      'after it was sent again, and it came',
      { sends: 2, cancelledBy: ada, lateOutcome: 'completed' },
      'Stopped following. The service finished it all the same and bills $0.30, or up to $0.60 (sent 2 times).',
    ],
    [
      'after it was sent again, and it failed',
      { sends: 2, cancelledBy: ada, lateOutcome: 'failed', refundKnown: true },
      'Stopped following. The service could not make it. Not charged: the service refunds failed tasks. But it was sent 2 times: the service may still bill $0.30 for the rest.',
    ],
    [
      'after, and nobody knows',
      { cancelledBy: ada, lateOutcome: 'unknown' },
      'Stopped following. What became of it is not known; it may have billed $0.30.',
    ],
  ],
};

const ALL = Object.entries(CASES).flatMap(([phase, cases]) =>
  cases.map(([about, changes, text]) => ({
    name: `${phase} ${about}`,
    view: { ...QUEUED, phase: phase as Phase, ...changes },
    text,
  })),
);

describe('a task’s message', () => {
  it.each(ALL)('$name', ({ view, text }) => {
    expect(cardText(cardOf(view))).toBe(`${HEADLINE}\n${text}`);
  });

  it.each(ALL)('$name is worded calmly', ({ view }) => {
    const text = cardText(cardOf(view));
    expect(text).not.toContain('!');
    expect(text.match(/\p{Extended_Pictographic}/gu) ?? []).toEqual([]);
  });

  it('has a first line that never moves', () => {
    const lines = new Set(ALL.map(({ view }) => JSON.stringify(cardOf(view).lines[0])));
    expect(lines.size).toBe(1);
  });

  it('leaves out what the model does not take', () => {
    expect(cardText(cardOf({ ...QUEUED, aspectRatio: null, resolution: null }))).toMatch(/· 6 s · \$0\.30 · Ada\n/);
  });

  it('shortens a long prompt to one line, as text', () => {
    const [first = []] = cardOf({ ...QUEUED, prompt: `*fox*\n<@U9> ${'word '.repeat(100)}` }).lines;
    const shown = first[0];
    if (typeof shown !== 'object' || !('untrusted' in shown)) throw new TypeError('the prompt is not marked');
    expect(shown.untrusted).toMatch(/^\*fox\* <@U9> word.*word…$/);
    expect(shown.untrusted.length).toBeLessThanOrEqual(200);
  });

  it('shows no bar once the service has finished', () => {
    expect(cardOf({ ...QUEUED, phase: 'done', progress: 100 }).progress).toBeNull();
  });

  it('offers its buttons, each by an id with the task in it', () => {
    const buttons: readonly ButtonAction[] = [
      ...(['retry', 'edit', 'cancel', 'details', 'lookup', 'again', 'leave', 'show', 'refetch'] as const),
    ];
    const card = cardOf({ ...QUEUED, sends: 2, buttons });
    expect(card.buttons.map(({ id, label }) => `${id} ${label}`)).toEqual([
      `retry:${task} Retry`,
      `edit:${task} Edit & retry`,
      `cancel:${task} Cancel`,
      `details:${task} Details`,
      `lookup:${task} Look it up`,
      `again:${task}:2 Send again`,
      `leave:${task} Leave it`,
      `show:${task} Show the clip`,
      `refetch:${task} Fetch it again`,
    ]);
  });
});

describe('the mention at the end', () => {
  const done: EndNotice = {
    kind: 'end',
    task,
    phase: 'done',
    prompt: 'a *red* fox',
    by: ada,
    message: { channel: 'clips', message: 'm1' },
    sends: 0,
    subscribed: false,
  };

  it.each<[EndNotice['phase'], string]>([
    ['done', '@Ada your clip ‹“a *red* fox”› is ready.'],
    ['lost', '@Ada your clip ‹“a *red* fox”› is finished, but I could not fetch it.'],
    ['failed', '@Ada your clip ‹“a *red* fox”› could not be made.'],
    ['refused', '@Ada your clip ‹“a *red* fox”› was not taken by the service; nothing was spent.'],
    ['uncertain', '@Ada your clip ‹“a *red* fox”› needs a decision: the service did not answer.'],
    ['disowned', '@Ada your clip ‹“a *red* fox”› needs a decision: the service says that it does not know it.'],
  ])('%s', (phase, text) => {
    expect(cardText(cardOf({ ...done, phase }))).toBe(text);
  });

  it('does not say that nothing was spent where an earlier send may be billed', () => {
    expect(cardText(cardOf({ ...done, phase: 'refused', sends: 1 }))).toBe(
      '@Ada your clip ‹“a *red* fox”› was not taken by the service this time; what I sent before may still be billed.',
    );
  });

  it('in a subscribed channel says whose and where, and pings whom it is told to', () => {
    const there = { ...done, subscribed: true };
    expect(cardText(cardOf(there))).toBe('The clip ‹“a *red* fox”› of Ada is ready. In #clips · [See it → m1]');
    expect(cardText(cardOf(there, ada))).toBe('@Ada your clip ‹“a *red* fox”› is ready. In #clips · [See it → m1]');
    expect(cardText(cardOf(there, bob))).toBe(
      '@Bob the clip ‹“a *red* fox”› of Ada is ready. In #clips · [See it → m1]',
    );
    expect(cardText(cardOf(done, null))).toBe('The clip ‹“a *red* fox”› of Ada is ready.');
  });
});
