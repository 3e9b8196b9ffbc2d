import type { LedgerEntry, LedgerState } from '#src/money/ledger.ts';
import { formatPrice } from '#src/money/price.ts';
import type { Task } from '#src/tasks/task.ts';
import { MEDIA_KINDS } from '#src/videos/request.ts';
import type { Card, Line, Part } from '../card.ts';
import { failureLine, unfetchedLine } from './errors.ts';
import { stateWord } from './history.ts';

/** Everything that is known of one task, for one person. */
export function detailsCard(task: Task, entries: readonly LedgerEntry[]): Card {
  return {
    lines: [
      [{ untrusted: task.request.prompt }],
      settingsLine(task),
      ...mediaLines(task),
      idLine(task),
      timesLine(task),
      [`${stateWord(task)}, sent ${task.sends === 1 ? 'once' : `${task.sends} times`}`],
      ...failureLines(task),
      ...moneyLines(task, entries),
    ],
    progress: null,
    buttons: [],
  };
}

function failureLines({ state, lateOutcome, failure }: Task): readonly Line[] {
  if (failure === undefined) return [];
  const wasMade = state === 'completed' || lateOutcome === 'completed';
  return [wasMade ? unfetchedLine(failure) : failureLine(failure)];
}

function settingsLine({ request, origin }: Task): Line {
  const settings = [`${request.seconds} s`, request.aspectRatio, request.resolution].filter((one) => one !== undefined);
  return [{ untrusted: request.model }, ` · ${settings.join(' · ')} · by `, { person: origin.user }];
}

function mediaLines({ request }: Task): readonly Line[] {
  return MEDIA_KINDS.flatMap((kind) => request.media[kind].map((url): Line => [`${kind}: `, { untrusted: url }]));
}

function idLine({ id, upstreamId, retryOf }: Task): Line {
  const upstream: readonly Part[] = upstreamId === undefined ? [] : [' · at the service: ', { untrusted: upstreamId }];
  const original: readonly Part[] = retryOf === undefined ? [] : [' · repeats ', { code: retryOf }];
  return ['id: ', { code: id }, ...upstream, ...original];
}

function timesLine({ createdAtMs, acceptedAtMs, endedAtMs }: Task): Line {
  const accepted: readonly Part[] =
    acceptedAtMs === undefined ? [] : [' · taken by the service ', { timeMs: acceptedAtMs }];
  const ended: readonly Part[] = endedAtMs === undefined ? [] : [' · ended ', { timeMs: endedAtMs }];
  return ['asked for ', { timeMs: createdAtMs }, ...accepted, ...ended];
}

function moneyLines({ price }: Task, entries: readonly LedgerEntry[]): readonly Line[] {
  if (entries.length === 0) return [[`${formatPrice(price)} by the catalog; nothing in the ledger yet`]];
  return entries.map((entry) => {
    const which = entries.length === 1 ? '' : `send ${entry.send}: `;
    return [`${which}${formatPrice(entry)}, ${LEDGER_WORDS[entry.state]}`];
  });
}

/** What became of the money of one send, in words. */
export const LEDGER_WORDS: Readonly<Record<LedgerState, string>> = {
  reserved: 'on its way',
  settled: 'billed',
  refunded: 'failed, refunded under the service’s rules',
  released: 'cost nothing',
  in_doubt: 'may be billed, nobody can tell yet',
};
