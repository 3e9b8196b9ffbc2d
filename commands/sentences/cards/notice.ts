import type { EndNotice, Handover } from '#src/chat/index.ts';
import type { Person } from '#src/tasks/index.ts';
import { shortId } from '../../ui/buttons.ts';
import { type Card, facts, type Line, type Part, textCard } from '../../ui/card.ts';
import { quoted } from '../format.ts';
import { declinedOutcome } from './approval.ts';
import { setNoticeCard } from './set-card.ts';

/**
 * Renders the completion notice, the only message of a task that pings.
 * @param mention person to ping; `null` for none.
 */
export function noticeCard(notice: EndNotice, mention: Person | null): Card {
  const prompt: Part = { untrusted: quoted(notice.prompt) };
  const isTheirs = mention?.id === notice.by.id;
  const ping: Line = mention === null ? [] : [{ mention }, ' '];
  const whose: Line = isTheirs ? ['your clip '] : [{ person: notice.by }, '’s clip '];
  if (notice.set !== undefined) return setNoticeCard(notice, notice.set, ping);
  return textCard([...ping, ...whose, prompt, ...outcome(notice), ...whereabouts(notice)]);
}

/** Names the clip's channel for a subscribed one, with a link to its message unless that was deleted. */
function whereabouts({ subscribed, message, handover }: EndNotice): Line {
  if (!subscribed) return [];
  const isThere = handover !== 'unshown' && message.message !== '';
  return facts([' In ', { channel: message.channel }], isThere && [{ message, label: 'See it' }]);
}

function outcome(notice: EndNotice): Line {
  const { phase } = notice;
  if (phase === 'refused')
    return [` was not made. ${notice.sends === 0 ? 'Nothing was charged.' : 'An earlier try may still be charged.'}`];
  if (phase === 'declined') return declinedOutcome(notice.declined);
  if (phase !== 'done') return [` ${unhappyEnd(phase)}`];
  if (notice.handover !== 'unshown') return [` ${DONE[notice.handover ?? 'attached']}`];
  const command = { code: `/video status ${shortId(notice.task)}` };
  return [' is finished, but its message was deleted. ', command, ' has a button that shows it.'];
}

/** Outcome of a finished clip, by its handover. */
const DONE = {
  attached: 'is ready.',
  fitted: 'is ready, as a smaller copy.',
  linked: 'is ready: its message has a link, since the file is too large to post here.',
  kept: 'is finished, but too large to post here. Its message says what can be done.',
  withheld: 'is finished, but I couldn’t post the file here. Its message says why.',
} as const satisfies Readonly<Record<Exclude<Handover['kind'], 'unshown'>, string>>;

function unhappyEnd(phase: Exclude<EndNotice['phase'], 'done' | 'refused' | 'declined'>): string {
  switch (phase) {
    case 'lost':
      return 'is finished, but I could not fetch it.';
    case 'failed':
      return 'could not be made.';
    case 'uncertain':
      return 'needs a decision: the service did not answer.';
    case 'disowned':
      return 'needs a decision: the service says that it does not know it.';
  }
}

export type DirectReason = 'archived' | 'refused';

/** Renders the text of a clip sent by direct message because its channel accepts no file. */
export function directClipCard(
  reason: DirectReason,
  clip: { readonly prompt: string; readonly channel: string },
): Card {
  const prompt: Part = { untrusted: quoted(clip.prompt) };
  const channel: Part = { channel: clip.channel };
  const why: Line =
    reason === 'archived'
      ? [channel, ' is archived, so here is ']
      : ['I can’t post files in ', channel, ', so here is '];
  return textCard([...why, 'your clip ', prompt, '.']);
}
