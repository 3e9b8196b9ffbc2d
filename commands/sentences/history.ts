import type { MessageRef } from '#src/chat/platform.ts';
import { formatPrice } from '#src/money/price.ts';
import type { Person, Task } from '#src/tasks/task.ts';
import { shortId } from '../buttons.ts';
import type { Card, CardButton, Line, Part } from '../card.ts';
import { count, shorten } from './format.ts';

/** A task in a list, with its message where it has one. */
export interface Listed {
  readonly task: Task;
  readonly message: MessageRef | undefined;
}

/** What a page of `/video list` shows. */
export interface ListedPage {
  readonly listed: readonly Listed[];
  readonly who: Person | null;
  readonly search: string | null;
  /** Clips on the pages before. */
  readonly offset: number;
  /** How many of the latest were looked through, where older ones were left out; else `null`. */
  readonly lookedThrough: number | null;
  readonly buttons: readonly CardButton[];
}

/** A page of the team's clips, newest first. */
export function listCard(page: ListedPage): Card {
  const lines: Line[] = [pageHeading(page), ...page.listed.map(listLine)];
  if (page.listed.length === 0) lines.push([page.offset > 0 ? 'No more.' : 'None yet.']);
  if (page.lookedThrough !== null)
    lines.push([`I looked through the latest ${count(page.lookedThrough, 'clip')} only.`]);
  return { lines, progress: null, buttons: page.buttons };
}

function pageHeading({ listed, who, search, offset }: ListedPage): Line {
  const whose: Line = who === null ? [{ strong: 'The team’s clips' }] : [{ strong: 'Clips by ' }, { person: who }];
  const holding: Line = search === null ? [] : [' with ', { untrusted: `“${shorten(search, 60)}”` }];
  const figures = listed.length === 0 ? '' : ` · ${offset + 1}–${offset + listed.length}, newest first`;
  return [...whose, ...holding, figures];
}

/** The caller's open tasks. */
export function openCard(listed: readonly Listed[]): Card {
  const lines: Line[] =
    listed.length === 0
      ? [['Nothing of yours is running. ', { code: '/video list' }, ' shows the latest clips.']]
      : [[{ strong: 'Yours, still open' }], ...listed.map(listLine)];
  return { lines, progress: null, buttons: [] };
}

function listLine({ task, message }: Listed): Line {
  const { request, price, origin } = task;
  const jump: readonly Part[] = message === undefined ? [] : [' · ', { message, label: 'open' }];
  return [
    { code: shortId(task.id) },
    ' ',
    { untrusted: shorten(request.prompt, 60) },
    ' · ',
    { untrusted: request.model },
    ` · ${request.seconds} s · ${formatPrice(price)} · `,
    { person: origin.user },
    ` · ${stateWord(task)} · `,
    { timeMs: task.createdAtMs },
    ...jump,
  ];
}

/** A task's state in one word or two. */
export function stateWord(task: Pick<Task, 'state' | 'cancelledBy' | 'leftBy'>): string {
  switch (task.state) {
    case 'claimed':
      return 'queued';
    case 'sending':
      return task.cancelledBy === undefined ? 'queued' : 'cancelled';
    case 'polling':
      return 'running';
    case 'uncertain':
      return task.leftBy === undefined ? 'uncertain' : 'left uncertain';
    case 'completed':
      return 'done';
    case 'failed':
      return 'failed';
    case 'rejected':
      return 'refused';
    case 'cancelled':
      return 'cancelled';
  }
}
