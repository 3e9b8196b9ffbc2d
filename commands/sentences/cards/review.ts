import type { ReviewNotice, SignedOffNotice, TaskView } from '#src/chat/index.ts';
import {
  formatTimecode,
  lastDecision,
  NOTE_LENGTH,
  type Person,
  type ReviewDecision,
  type ReviewNote,
} from '#src/tasks/index.ts';
import { type Card, facts, type Line, lineOf, present, textCard } from '../../ui/card.ts';
import { quoted, shorten } from '../format.ts';
import { aiLabel } from '../handover.ts';

/** Length of a note on a clip's card, in UTF-16 units; its own message shows all of it. */
const SHORT_NOTE = 120;

/** Shows the last decision on a clip, and the notes on the version that it repeats. */
export function reviewLines({ task, earlierNotes }: TaskView): readonly Line[] {
  const last = lastDecision(task);
  return present([last && decisionLine(last), earlierNotes && earlierLine(earlierNotes)]);
}

export function decisionLine({ kind, by, note }: ReviewDecision): Line {
  if (kind === 'signed_off') return ['Signed off by ', { person: by }, '.'];
  const what: Line = note === undefined ? ['.'] : [': ', ...noteParts(note, SHORT_NOTE)];
  return [{ person: by }, ' requested changes', ...what];
}

function earlierLine({ version, notes }: NonNullable<TaskView['earlierNotes']>): Line {
  return [`Notes on v${version}: `, ...facts(...notes.map((note) => noteParts(note, SHORT_NOTE)))];
}

function noteParts({ text, atSeconds }: ReviewNote, length: number): Line {
  const at = atSeconds !== undefined && [{ strong: formatTimecode(atSeconds), atSeconds }, ' '];
  return lineOf(at, { untrusted: shorten(text, length) });
}

/** Names a clip by its version and prompt: `v2 of “a red fox”`. */
function clipName(version: number, prompt: string): Line {
  return [`v${version} of `, { untrusted: quoted(prompt) }];
}

/** Renders the notice of a decision. @param mention person to ping; `null` for none. */
export function reviewNoticeCard(notice: ReviewNotice, mention: Person | null): Card {
  const { decision, by, version, prompt, note, takesBack } = notice;
  const ping: Line = mention === null ? [] : [{ mention }, ' '];
  const clip = clipName(version, prompt);
  if (decision === 'signed_off') return textCard([...ping, { person: by }, ' signed off ', ...clip, '.']);
  const what: Line =
    note === null ? ['. The note was removed at its author’s request.'] : [': ', ...noteParts(note, NOTE_LENGTH)];
  return textCard(
    [...ping, { person: by }, ' requested changes to ', ...clip, ...what],
    takesBack && ['This takes back ', { person: takesBack }, '’s sign-off.'],
  );
}

/** Renders a signed-off clip in the team's channel for them. */
export function signedOffCard({ by, prompt, version, message, channel, link, isLabelled }: SignedOffNotice): Card {
  const line = facts(
    ['Signed off: ', ...clipName(version, prompt), ' by ', { person: by }, ' in ', { channel }],
    aiLabel({ isLabelled }),
    message && [{ message, label: 'See it' }],
    link && [{ link: link.url, label: 'Original' }, ' until ', { timeMs: link.expiresAtMs }],
  );
  return textCard(line);
}
