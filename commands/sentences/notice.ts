import type { EndNotice } from '#src/chat/view.ts';
import type { Person } from '#src/tasks/task.ts';
import type { Card, Line, Part } from '../card.ts';
import { shorten } from './format.ts';

/**
 * The one message at the end that pings.
 * @param mention who is pinged; `null` for nobody.
 */
export function noticeCard(notice: EndNotice, mention: Person | null): Card {
  const prompt: Part = { untrusted: `“${shorten(notice.prompt, 80)}”` };
  const isTheirs = mention?.id === notice.by.id;
  const ping: Line = mention === null ? [] : [{ mention }, ' '];
  const whose: Line = isTheirs ? [] : [' of ', { person: notice.by }];
  const where: Line = notice.subscribed
    ? [' In ', { channel: notice.message.channel }, ' · ', { message: notice.message, label: 'See it' }]
    : [];
  return {
    lines: [[...ping, opening(isTheirs, ping.length > 0), prompt, ...whose, ` ${outcome(notice)}`, ...where]],
    progress: null,
    buttons: [],
  };
}

function opening(isTheirs: boolean, afterPing: boolean): string {
  const words = isTheirs ? 'your clip ' : 'the clip ';
  return afterPing ? words : `T${words.slice(1)}`;
}

function outcome({ phase, sends }: EndNotice): string {
  switch (phase) {
    case 'done':
      return 'is ready.';
    case 'lost':
      return 'is finished, but I could not fetch it.';
    case 'failed':
      return 'could not be made.';
    case 'refused':
      return sends === 0
        ? 'was not taken by the service; nothing was spent.'
        : 'was not taken by the service this time; what I sent before may still be billed.';
    case 'uncertain':
      return 'needs a decision: the service did not answer.';
    case 'disowned':
      return 'needs a decision: the service says that it does not know it.';
  }
}
