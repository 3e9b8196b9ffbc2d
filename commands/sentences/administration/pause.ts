import type { PauseInEffect } from '#src/teams/index.ts';
import { type Card, type Line, layOut } from '../../ui/card.ts';
import { fullStop, shorten } from '../format.ts';
import { formatMoment } from '../money/months.ts';

/** Largest length of a reason, in characters. */
export const REASON_LENGTH = 200;

/** Outcome of `/video pause`; `null`: nothing was to be changed. */
export type PauseOutcome = 'paused' | 'resumed' | 'not_paused' | null;

/**
 * Shows whether a team's spending is paused.
 * @param command the command as it is typed on the platform.
 * @param problem why the end that was given is none; `null`: it is one, or none was given.
 */
export function pauseCard(
  pause: PauseInEffect | null,
  outcome: PauseOutcome,
  command: string,
  problem: string | null,
): Card {
  if (pause === null)
    return layOut([{ kind: 'text', line: [NOT_PAUSED[outcome ?? 'asked']] }, hint(command, 'a reason')]);
  const { reason, by, untilMs } = pause;
  const because: Line = reason === '' ? [''] : [': ', { untrusted: reason }];
  return layOut([
    { kind: 'text', line: [{ strong: 'Spending is paused' }, ...because] },
    {
      kind: 'text',
      line: [
        'By ',
        { person: by },
        ...(untilMs === undefined ? [] : ([' · ends ', { timeMs: untilMs }] satisfies Line)),
      ],
    },
    ...(problem === null ? [] : [{ kind: 'text', line: [problem] } as const]),
    {
      kind: 'text',
      line: [
        'New clips, Send again and approvals are refused. Clips in progress go on, the other shots of their storyboards included.',
      ],
    },
    hint(command, 'off'),
  ]);
}

const NOT_PAUSED: Readonly<Record<Exclude<PauseOutcome, null> | 'asked', string>> = {
  resumed: 'Spending goes on: clips can be ordered again.',
  not_paused: 'Spending isn’t paused. Nothing was changed.',
  paused: 'Spending was paused, and the pause has ended already.',
  asked: 'Spending isn’t paused.',
};

function hint(command: string, argument: 'off' | 'a reason') {
  const [does, typed] = argument === 'off' ? ['End the pause', `${command} off`] : ['Pause it', `${command} <reason>`];
  return { kind: 'small', line: [`${does}: `, { code: typed }] } as const;
}

// Plain text that includes user input: adapters escape all of it.

/** Refuses a purchase while spending is paused: who paused it, why and until when. */
export function pausedSentence({ reason, by, untilMs, timeZone }: PauseInEffect): string {
  const because = reason === '' ? '.' : `: ${shorten(reason, REASON_LENGTH)}${fullStop(reason)}`;
  const until =
    untilMs === undefined
      ? 'It lasts until an administrator ends it.'
      : `It lasts until ${formatMoment(untilMs, timeZone)}.`;
  return `${shorten(by.name, 60)} paused spending${because} ${until} Nothing was ordered; clips in progress go on.`;
}

/** Refuses to pause without a reason. */
export const REASON_MISSING =
  'reason: say why, such as: we are over this month’s plan. Everyone who orders a clip reads it.';

/** Says that a pause has no end, since the one that was given can't be read, or has passed. */
export function notAnEnd(given: string, why: 'unreadable' | 'past'): string {
  const typed = shorten(given, 40);
  const problem = why === 'past' ? `“${typed}” is over already.` : `“${typed}” isn’t a time.`;
  return `The pause has no end: ${problem} Write 2h, 3 days, 14:00, 2026-11-30 or 2026-11-30 14:00.`;
}
