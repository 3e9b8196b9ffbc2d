import type { MessageRef, SetView } from '#src/chat/index.ts';
import {
  formatPrice,
  holdsWords,
  isBlind,
  type Person,
  type Phase,
  type Task,
  type TaskId,
  typedPrompt,
} from '#src/tasks/index.ts';
import { titled } from '#src/videos/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { personNamed } from './input/people.ts';
import { type BotPorts, privately, refused, type Subcommand, visibleTo } from './input/subcommand.ts';
import { oncePerBoard, placeOf, visibleAmong } from './input/task-lookup.ts';
import { cutLinks, setTitle, shotsReady } from './sentences/cards/set-card.ts';
import { count, quoted } from './sentences/format.ts';
import { placeWords } from './sentences/ordered.ts';
import { unknownPerson } from './sentences/refusals.ts';
import { promptPart } from './sentences/removal.ts';
import { phaseWord } from './sentences/state-words.ts';
import { button, type PageOf, pageButtons, shortId } from './ui/buttons.ts';
import { type CardButton, facts, heading, type ItemBlock, item, type Line, layOut, small } from './ui/card.ts';

const PAGE_LENGTH = 10;
/** Longest search in UTF-16 units, which has to fit into the button id of a page. */
export const SEARCH_LENGTH = 40;
/** Largest number of the latest clips that a search reads. */
const MAX_SEARCHED = 2000;
/** Clips per read of a search. */
const SEARCH_BATCH = 200;

/** `/video list`: the team's clips, newest first, in pages. */
export const list: Subcommand = {
  declaration: {
    name: 'list',
    description: 'Lists the team’s clips, newest first',
    example: '/video list red fox --who me',
    options: [
      {
        name: 'search',
        description: 'Words in the prompt',
        kind: 'text',
        positional: true,
        maxLength: SEARCH_LENGTH,
        defaultWords: 'all clips',
      },
      {
        name: 'who',
        description: 'Whose clips',
        kind: 'person',
        defaultWords: 'everyone',
      },
    ],
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const named = optionValue(given, 'who') ?? 'everyone';
    const who = await personNamed(ports, caller, named);
    if (who === null) return refused(unknownPerson(named));
    const user = who === 'everyone' ? null : who.id;
    return showPage(ports, caller, { what: 'list', offset: 0, user, search: optionValue(given, 'search') ?? null });
  },
  presses: { 'page:list': showPage },
};

/** Shows a page of the list to the caller only. */
async function showPage(ports: BotPorts, caller: Caller, page: PageOf<'list'>): Promise<Reply> {
  const found = await (page.search === null
    ? pageOf(ports, caller, page)
    : searchPage(ports, caller, page, page.search));
  const shown = found.tasks.slice(0, PAGE_LENGTH);
  // A search finds the shots that hold its words.
  const isWhole = page.search === null;
  const { offset, user, search } = page;
  const isFiltered = user !== null || search !== null;
  const nothing = offset > 0 ? 'No more clips.' : isFiltered ? 'No clips found.' : 'No clips yet.';
  const { lookedThrough } = found;
  const card = layOut(
    [
      heading(...pageHeading(user === null ? null : whose(shown, caller, user), search)),
      shown.length === 0 ? [nothing] : small(`${offset + 1}–${offset + shown.length}, newest first`),
      ...(await listedOf(ports, isWhole ? oncePerBoard(shown) : shown, isWhole)).map(listRow),
      lookedThrough !== null && small(`Only the latest ${count(lookedThrough, 'clip')} were searched.`),
    ],
    { buttons: pageButtons({ page, length: PAGE_LENGTH, hasMore: found.tasks.length > PAGE_LENGTH }) },
  );
  return privately(card);
}

function pageHeading(who: Person | null, search: string | null): Line {
  const whose: Line = who === null ? ['Team clips'] : ['Clips by ', { person: who }];
  return search === null ? whose : [...whose, ' with ', { untrusted: quoted(search, 60) }];
}

/** Adds to each task its message and the phase that the message shows. @param areBoards a shot stands for its storyboard */
export function listedOf(
  { chat, catalog, pictures }: Pick<BotPorts, 'chat' | 'catalog' | 'pictures'>,
  tasks: readonly Task[],
  areBoards = true,
): Promise<readonly Listed[]> {
  return Promise.all(
    tasks.map(async (task): Promise<Listed> => {
      const place = areBoards ? placeOf(task) : undefined;
      if (place?.kind === 'storyboard') {
        const board = await chat.setView(place);
        const isCancellable = board.buttons.includes('cancel');
        return { task, board, message: await chat.messageOf(board.id), phase: board.phase, isCancellable };
      }
      const [message, { phase, buttons }] = await Promise.all([chat.messageOf(task.id), chat.view(task)]);
      const isCancellable = buttons.includes('cancel');
      return { task: titled(catalog(), task), message, phase, isCancellable, poster: pictures.forPoster(task) };
    }),
  );
}

/** Result with up to one task more than a page shows, which indicates that another page follows. */
interface Found {
  readonly tasks: readonly Task[];
  readonly lookedThrough: number | null;
}

async function pageOf(ports: BotPorts, caller: Caller, { offset, user }: PageOf<'list'>): Promise<Found> {
  const found = await ports.tasks.history(scopeOf(caller, user), { offset, limit: PAGE_LENGTH + 1 });
  return { tasks: visibleAmong(caller, found), lookedThrough: null };
}

async function searchPage(ports: BotPorts, caller: Caller, page: PageOf<'list'>, search: string): Promise<Found> {
  const fitting: Task[] = [];
  for (let offset = 0; offset < MAX_SEARCHED; offset += SEARCH_BATCH) {
    const some = await ports.tasks.history(scopeOf(caller, page.user), { offset, limit: SEARCH_BATCH });
    const holding = some.filter(({ request }) => holdsWords(typedPrompt(request), search));
    fitting.push(...visibleAmong(caller, holding));
    const isEnough = fitting.length > page.offset + PAGE_LENGTH;
    if (isEnough || some.length < SEARCH_BATCH) return { tasks: fitting.slice(page.offset), lookedThrough: null };
  }
  return { tasks: fitting.slice(page.offset), lookedThrough: MAX_SEARCHED };
}

function scopeOf(caller: Caller, user: string | null) {
  return user === null ? visibleTo(caller) : { ...visibleTo(caller), user };
}

function whose([task]: readonly Task[], caller: Caller, user: string): Person {
  if (user === caller.user.id) return caller.user;
  return task?.origin.user ?? { id: user, name: user };
}

/** Task in a list, with its message if it has one. */
export interface Listed {
  readonly task: Task;
  readonly message: MessageRef | undefined;
  readonly phase: Phase;
  /** It can still be cancelled. */
  readonly isCancellable: boolean;
  /** Board of the storyboard that it stands for, whose message it is then. Absent: the task itself. */
  readonly board?: SetView;
  readonly poster?: ReturnType<BotPorts['pictures']['forPoster']>;
}

/** Renders a clip in a list: its prompt, its settings, and a link to its message, or **Details** if it has none. */
export function listRow(listed: Listed): ItemBlock {
  return rowOf(listed, phaseWord(listed.phase, listed.task));
}

/** As {@link listRow}, with the state of the clip in other words. */
export function rowOf({ task, message, board, poster = null }: Listed, state: string): ItemBlock {
  if (board !== undefined) return boardRow(board, message);
  const { request, price, origin, version } = task;
  const isHidden = isBlind(task);
  const small = facts(
    state,
    [{ timeMs: task.createdAtMs }],
    !isHidden && [{ untrusted: request.model }],
    ...placeWords(task),
    `${request.seconds} s`,
    version && `v${version.number}`,
    isHidden ? 'model shown after the reveal' : formatPrice(price),
    [{ person: origin.user }],
    [{ code: shortId(task.id) }],
  );
  const title = [promptPart(typedPrompt(request), 60)];
  const picture = poster && { ...poster, alt: `A frame of “${typedPrompt(request)}”` };
  return item(title, small, message === undefined ? detailsButton(task.id) : { message, label: 'Open' }, picture);
}

function detailsButton(task: TaskId): CardButton {
  return button({ action: 'details', task }, 'Details');
}

/** Renders a storyboard in a list; its **Details** lead to its shots, and post its board anew. */
function boardRow(view: SetView, message: MessageRef | undefined): ItemBlock {
  const { task } = view.first;
  const small = facts(
    shotsReady(view),
    [{ timeMs: task.createdAtMs }],
    formatPrice(view.price),
    [{ person: task.origin.user }],
    [{ code: shortId(view.id) }],
    message && [{ message, label: 'See it' }],
    ...cutLinks(view),
  );
  return item(setTitle(view), small, detailsButton(view.id));
}
