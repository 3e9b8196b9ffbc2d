import type { ReviewNotice, SignedOffNotice, TaskView } from '#src/chat/index.ts';
import {
  formatTimecode,
  lastDecision,
  MAX_DECISIONS,
  NOTE_LENGTH,
  type Person,
  type ReviewDecision,
  type ReviewNote,
  type Task,
  versionOf,
} from '#src/tasks/index.ts';
import { changesId, signOffButtonId } from '../../ui/buttons.ts';
import { type Card, type CardButton, type Line, layOut, type Part, textCard } from '../../ui/card.ts';
import { count, formatCount, shorten } from '../format.ts';

/** Length of a note on a clip's card, in UTF-16 units; its own message shows all of it. */
const SHORT_NOTE = 120;

export const CHANGES_WORDS = {
  title: 'Request changes',
  submit: 'Request changes',
  at: 'Time in the clip, such as 0:03',
  note: 'What should change?',
} as const;

/** Shows the last decision on a clip, and the notes on the version that it repeats. */
export function reviewLines({ review, earlierNotes }: Pick<TaskView, 'review' | 'earlierNotes'>): readonly Line[] {
  const last = lastDecision({ review: review ?? [] });
  return [
    ...(last === undefined ? [] : [decisionLine(last)]),
    ...(earlierNotes === undefined ? [] : [earlierLine(earlierNotes)]),
  ];
}

function decisionLine({ kind, by, note }: ReviewDecision): Line {
  if (kind === 'signed_off') return ['Signed off by ', { person: by }, '.'];
  const what: Line = note === undefined ? ['.'] : [': ', ...noteParts(note, SHORT_NOTE)];
  return [{ person: by }, ' requested changes', ...what];
}

function earlierLine({ version, notes }: NonNullable<TaskView['earlierNotes']>): Line {
  return [
    `Notes on v${version}: `,
    ...notes.flatMap((note, index): Line => [index === 0 ? '' : ' · ', ...noteParts(note, SHORT_NOTE)]),
  ];
}

/** Returns the newest notes on a clip as the text beside the prompt of its next version; `null` if it has none. */
export function notesFor({ review = [] }: Pick<Task, 'review'>): string | null {
  const notes = review.flatMap(({ note }) => note ?? []).toReversed();
  const words = notes.map(
    ({ text, atSeconds }) => `${atSeconds === undefined ? '' : `${formatTimecode(atSeconds)} `}${text}`,
  );
  return words.length === 0 ? null : `Requested: ${words.join(' · ').replace(/\s+/gu, ' ')}`;
}

/** Lists every decision on a clip for its details, oldest first. */
export function reviewHistory({ review = [] }: Pick<Task, 'review'>): readonly Line[] {
  return review.map((decision) => [...decisionLine(decision), ' ', { timeMs: decision.atMs }]);
}

function noteParts({ text, atSeconds }: ReviewNote, length: number): Line {
  const at: readonly Part[] = atSeconds === undefined ? [] : [{ strong: formatTimecode(atSeconds), atSeconds }, ' '];
  return [...at, { untrusted: shorten(text, length) }];
}

/** Names a clip by its version and prompt: `v2 of “a red fox”`. */
function clipName(version: number, prompt: string): Line {
  return [`v${version} of `, { untrusted: `“${shorten(prompt, 80)}”` }];
}

/** Renders the notice of a decision. @param mention person to ping; `null` for none. */
export function reviewNoticeCard(notice: ReviewNotice, mention: Person | null): Card {
  const { decision, by, version, prompt, note, takesBack } = notice;
  const ping: Line = mention === null ? [] : [{ mention }, ' '];
  const clip = clipName(version, prompt);
  if (decision === 'signed_off') return textCard([...ping, { person: by }, ' signed off ', ...clip, '.']);
  const what: Line =
    note === null ? ['. The note was removed at its author’s request.'] : [': ', ...noteParts(note, NOTE_LENGTH)];
  const undone: readonly Line[] =
    takesBack === null ? [] : [['This takes back ', { person: takesBack }, '’s sign-off.']];
  return textCard([...ping, { person: by }, ' requested changes to ', ...clip, ...what], ...undone);
}

/** Renders a signed-off clip in the team's channel for them. */
export function signedOffCard({ by, prompt, version, message, channel, link }: SignedOffNotice): Card {
  const see: Line = message === null ? [] : [' · ', { message, label: 'See it' }];
  const file: Line =
    link === null ? [] : [' · ', { link: link.url, label: 'Original' }, ' until ', { timeMs: link.expiresAtMs }];
  return textCard([
    'Signed off: ',
    ...clipName(version, prompt),
    ' by ',
    { person: by },
    ' in ',
    { channel },
    ...see,
    ...file,
  ]);
}

/** Returns the buttons of a clip's review as it stands. */
function reviewButtonsOf(task: Task): readonly CardButton[] {
  const after = task.review?.length ?? 0;
  const changes: CardButton = { id: changesId(task.id, after), label: 'Request changes', style: 'plain' };
  if (lastDecision(task)?.kind === 'signed_off') return [changes];
  return [{ id: signOffButtonId(task.id, after), label: 'Sign off', style: 'primary' }, changes];
}

/** Asks whether to sign off a version although there is a newer one. */
export function newerVersionCard(task: Task, newest: Task, after: number): Card {
  const isDone = newest.clip !== undefined;
  const this_ = versionWords(task);
  return layOut(
    [
      {
        kind: 'text',
        line: [
          { strong: `Sign off ${this_}?` },
          ` There is a newer version, ${versionWords(newest)}${isDone ? '' : ', which is still being made'}.`,
        ],
      },
    ],
    {
      buttons: [
        { id: signOffButtonId(task.id, after, versionOf(newest)), label: `Sign off ${this_}`, style: 'primary' },
      ],
    },
  );
}

export type SignedOffTo =
  /** It is posted in the team's channel for signed-off clips. */
  | { readonly kind: 'posted'; readonly channel: string }
  /** Only its own channel may see it. */
  | { readonly kind: 'private' }
  | { readonly kind: 'none' };

/** Confirms a sign-off to the reviewer. */
export function signedOffReply(task: Task, to: SignedOffTo): Card {
  const done = `Signed off ${versionWords(task)}.`;
  if (to.kind === 'posted') return textCard([`${done} It’s posted in `, { channel: to.channel }, '.']);
  return textCard([
    to.kind === 'private' ? `${done} It stays here: clips of a private channel aren’t posted elsewhere.` : done,
  ]);
}

/** Confirms a note to the reviewer. */
export function changesReply(task: Task, reviewer: Pick<Person, 'id'>): Card {
  const notified = reviewer.id === task.origin.user.id ? '' : ' Its requester is notified.';
  return textCard([`Requested changes to ${versionWords(task)}.${notified}`]);
}

function versionWords(task: Task): string {
  return `v${versionOf(task)}`;
}

/** Tells who decided since the reviewer saw the clip, with the buttons of the present state. */
export function decidedBefore(task: Task): Card {
  const last = lastDecision(task);
  const what = last?.kind === 'signed_off' ? 'signed this clip off' : 'requested changes';
  const who: Line = last === undefined ? ['Someone'] : [{ person: last.by }];
  const line: Line = ['Someone already decided this: ', ...who, ` ${what}. Nothing was changed.`];
  return layOut([{ kind: 'text', line }], { buttons: reviewButtonsOf(task) });
}

// Plain text that includes user input: adapters escape all of it.

/** Refuses a review where the channel has none. */
export const NO_REVIEW = 'Reviews are off in this clip’s channel.';

/** Refuses a review of a clip that is not there. */
export const NOT_REVIEWABLE = 'This clip can’t be reviewed: it isn’t there.';

/** Refuses that a person signs off their own clip. */
export const OWN_CLIP = 'This is your own clip. In this team, someone else signs it off.';

/** Refuses a further decision. */
export const TOO_MANY_DECISIONS = `This clip has ${MAX_DECISIONS} notes already. Make a new version with Edit & retry.`;

export const NOTE_MISSING = 'Write what should change.';

export function noteTooLong(length: number): string {
  return `The note has ${formatCount(length)} characters. Shorten it to ${count(NOTE_LENGTH, 'character')}.`;
}

/** Refuses what is no time. */
export function notATime(given: string): string {
  return `“${shorten(given, 40)}” isn’t a time in the clip. Write minutes and seconds, such as 0:03.`;
}

/** Refuses a time after the end of a clip. */
export function afterTheEnd(atSeconds: number, seconds: number): string {
  return `${formatTimecode(atSeconds)} is after the end of this clip. It was ordered with ${seconds} s: write a time up to ${formatTimecode(seconds)}.`;
}

/** Returns a note to the person whose form was refused, so that they need not write it again. */
export function noteGivenBack(note: string): string {
  return `Your note: ${note}`;
}
