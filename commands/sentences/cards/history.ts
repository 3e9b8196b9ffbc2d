import type { MessageRef, TaskView } from '#src/chat/index.ts';
import { formatPrice, isBlind, type Person, type Phase, phaseOf, type Task, typedPrompt } from '#src/tasks/index.ts';
import { shortId, taskButtonId } from '../../ui/buttons.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { count, shorten } from '../format.ts';
import { placeWords } from '../ordered.ts';
import { promptPart } from '../removal.ts';
import { cutLinks, linkTo, setTitle, shotsReady } from './set-card.ts';

/** Task in a list, with its message if it has one. */
export interface Listed {
  readonly task: Task;
  readonly message: MessageRef | undefined;
  readonly phase: Phase;
  /** Board of the storyboard that it stands for, whose message it is then. Absent: the task itself. */
  readonly board?: TaskView;
}

/** Content of a page of `/video list`. */
interface ListedPage {
  readonly listed: readonly Listed[];
  readonly who: Person | null;
  readonly search: string | null;
  /** Number of clips on the previous pages. */
  readonly offset: number;
  /** Number of clips on this page: a storyboard is one row. */
  readonly clips: number;
  /** Number of the latest clips searched, if older ones were left out; otherwise `null`. */
  readonly lookedThrough: number | null;
  readonly buttons: readonly CardButton[];
}

/** Shows a page of the team's clips, newest first. */
export function listCard(page: ListedPage): Card {
  const { listed, offset, clips, who, search, lookedThrough, buttons } = page;
  const isFiltered = who !== null || search !== null;
  const blocks: Block[] = [{ kind: 'heading', line: pageHeading(page) }];
  const nothing = offset > 0 ? 'No more clips.' : isFiltered ? 'No clips found.' : 'No clips yet.';
  if (listed.length === 0) blocks.push({ kind: 'text', line: [nothing] });
  else blocks.push({ kind: 'small', line: [`${offset + 1}–${offset + clips}, newest first`] });
  blocks.push(...listed.map(listRow));
  if (lookedThrough !== null)
    blocks.push({ kind: 'small', line: [`Only the latest ${count(lookedThrough, 'clip')} were searched.`] });
  return layOut(blocks, { buttons });
}

function pageHeading({ who, search }: ListedPage): Line {
  const whose: Line = who === null ? ['Team clips'] : ['Clips by ', { person: who }];
  return search === null ? whose : [...whose, ' with ', { untrusted: `“${shorten(search, 60)}”` }];
}

/** Renders a clip in a list: its prompt, its settings, and a link to its message, or **Details** if it has none. */
export function listRow({ task, message, phase, board }: Listed): Block {
  if (board !== undefined) return boardRow(board, message);
  const { request, price, origin, version } = task;
  const facts = [...placeWords(task), `${request.seconds} s`, ...(version === undefined ? [] : [`v${version.number}`])];
  const what: Line = isBlind(task)
    ? [[...facts, 'model shown after the reveal'].join(' · ')]
    : [{ untrusted: request.model }, ` · ${[...facts, formatPrice(price)].join(' · ')}`];
  return {
    kind: 'item',
    title: [promptPart(typedPrompt(request), 60)],
    small: [
      `${phaseWord(phase, task)} · `,
      { timeMs: task.createdAtMs },
      ' · ',
      ...what,
      ' · ',
      { person: origin.user },
      ' · ',
      { code: shortId(task.id) },
    ],
    accessory:
      message === undefined
        ? { id: taskButtonId('details', task.id), label: 'Details', style: 'plain' }
        : { message, label: 'Open' },
  };
}

/** Renders a storyboard in a list; its **Details** lead to its shots, and post its board anew. */
function boardRow(view: TaskView, message: MessageRef | undefined): Block {
  const cut = cutLinks(view).flatMap((line): Line => [' · ', ...line]);
  return {
    kind: 'item',
    title: setTitle(view),
    small: [
      `${shotsReady(view)} · `,
      { timeMs: view.createdAtMs },
      ` · ${formatPrice(view.price)} · `,
      { person: view.by },
      ' · ',
      { code: shortId(view.task) },
      ...linkTo(message, 'See it'),
      ...cut,
    ],
    accessory: { id: taskButtonId('details', view.task), label: 'Details', style: 'plain' },
  };
}

function phaseWord(phase: Phase, { leftBy, declined }: Task): string {
  switch (phase) {
    case 'requested':
      return 'waiting for approval';
    case 'declined':
      // Its time is over, although that is not recorded yet.
      return declined?.how === 'repriced' ? 'price has risen' : (declined?.how ?? 'expired');
    case 'queued':
    case 'running':
    case 'done':
    case 'failed':
    case 'refused':
    case 'cancelled':
      return phase;
    case 'fetching':
      return 'finished, fetching';
    case 'lost':
      return 'finished, not fetched';
    case 'uncertain':
      return leftBy === undefined ? 'unconfirmed' : 'left unresolved';
  }
}

/** Returns a task's state in one word or two, independently of its message. */
export function stateWord(task: Task): string {
  const phase = phaseOf(task, { isRunning: true, isHandedOver: true });
  return phase === 'running' ? 'in progress' : phaseWord(phase, task);
}
