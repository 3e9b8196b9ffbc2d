import type { Board, BoardEdit } from '#src/orders/index.ts';
import { hasClip, type SetPlace, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { shotCard } from '../sentences/cards/shot-card.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import type { BoardPress } from '../ui/buttons.ts';
import { type Line, textCard } from '../ui/card.ts';

type PressOf<Action extends BoardPress['action']> = Extract<BoardPress, { readonly action: Action }>;

/** Opens the menu of a shot, for everyone who sees its board. */
export async function openShot(ports: BotPorts, caller: Caller, { set, shot }: PressOf<'shot'>): Promise<Reply> {
  const first = await boardHere(ports, caller, set);
  return first === null ? refused(UNKNOWN_BUTTON) : menuOf(ports, caller, first, shot);
}

/** Handles **Move**: the shot goes before another one, or to the end. */
export async function moveShot(ports: BotPorts, caller: Caller, press: PressOf<'move'>): Promise<Reply> {
  const { shot, before } = press;
  return editShot(ports, caller, press, (board) => {
    const order = movedIn(board, shot, before);
    if (order === null) return null;
    return {
      edit: { order },
      isDone: (now) => String(now.shots.map(({ at }) => at)) === String(order),
      done: before === 0 ? `Shot ${shot} is at the end of the board.` : `Shot ${shot} is before shot ${before}.`,
    };
  });
}

/** Handles **Skip** and **Put back**. */
export async function skipShot(ports: BotPorts, caller: Caller, press: PressOf<'skip'>): Promise<Reply> {
  const { shot, isSkipped } = press;
  const skippedIn = ({ shots }: Board) => shots.filter((one) => one.isSkipped).map(({ at }) => at);
  return editShot(ports, caller, press, (board) => {
    const others = skippedIn(board).filter((at) => at !== shot);
    return {
      edit: { skipped: isSkipped ? [...others, shot] : others },
      isDone: (now) => skippedIn(now).includes(shot) === isSkipped,
      done: isSkipped ? `Shot ${shot} is left out of the cut.` : `Shot ${shot} is back in the cut.`,
    };
  });
}

/** Has the cut use another finished take of a shot. */
export async function chooseTake(ports: BotPorts, caller: Caller, press: PressOf<'take'>): Promise<Reply> {
  const { shot, take } = press;
  const chosenIn = ({ shots }: Board) => shots.find(({ at }) => at === shot)?.chosen.id;
  return editShot(ports, caller, press, ({ shots }) => {
    const takes = shots.find(({ at }) => at === shot)?.takes ?? [];
    const number = takes.findIndex((one) => one.id === take && hasClip(one)) + 1;
    if (number === 0) return null;
    return {
      edit: { choice: { at: shot, take, atMs: ports.clock.now() } },
      isDone: (now) => chosenIn(now) === take,
      done: `The cut uses take ${number} of shot ${shot}.`,
    };
  });
}

/** Change of a board that a press asks for. */
interface AskedEdit {
  readonly edit: BoardEdit;
  readonly isDone: (board: Board) => boolean;
  readonly done: string;
}

/**
 * Changes a shot of a board as it was at a revision, and shows it. Platforms deliver a press twice: one that is done already
 * says so. Any other with an old revision changes nothing: its menu did not show what someone else changed.
 * @param editOf returns `null` for a shot or clip that is not there
 */
async function editShot(
  ports: BotPorts,
  caller: Caller,
  press: PressOf<'move' | 'skip' | 'take'>,
  editOf: (board: Board) => AskedEdit | null,
): Promise<Reply> {
  const { set, revision, shot } = press;
  const first = await boardHere(ports, caller, set);
  if (first === null) return refused(UNKNOWN_BUTTON);
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return refused(refusal);
  const board = await ports.boards.get(first.set);
  const asked = board.shots.some(({ at }) => at === shot) ? editOf(board) : null;
  if (asked === null) return refused(UNKNOWN_BUTTON);
  const isChanged =
    !asked.isDone(board) && board.revision === revision && (await ports.boards.change(board, asked.edit));
  if (isChanged) await showChanged(ports, caller, first.set);
  const isDone = isChanged || asked.isDone(await ports.boards.get(first.set));
  if (press.action !== 'move' || press.isInMenu)
    return menuOf(ports, caller, first, shot, [isDone ? asked.done : CHANGED_MEANWHILE]);
  return isDone ? privately(textCard([asked.done])) : refused(CHANGED_MEANWHILE);
}

const CHANGED_MEANWHILE = 'Someone changed this board meanwhile. Nothing was changed; this is how it is now.';

/** Returns the numbers of all shots once one of them stands before another, or at the end (0); `null` without such shots. */
function movedIn({ shots }: Board, shot: number, before: number): readonly number[] | null {
  const others = shots.map(({ at }) => at).filter((at) => at !== shot);
  const index = before === 0 ? others.length : others.indexOf(before);
  return index < 0 ? null : others.toSpliced(index, 0, shot);
}

/** First task of a storyboard. */
type FirstShot = Task & { readonly set: SetPlace };

/** Returns the first task of a storyboard that the caller may see; `null` for any other id. */
async function boardHere(ports: BotPorts, caller: Caller, set: TaskId): Promise<FirstShot | null> {
  const first = await taskHere(ports, caller, set);
  return first?.set?.kind === 'storyboard' ? { ...first, set: first.set } : null;
}

/** Returns the menu of a shot as it is now. @param note what the press before did */
async function menuOf(
  ports: BotPorts,
  caller: Caller,
  { origin, set }: FirstShot,
  at: number,
  note: Line | null = null,
): Promise<Reply> {
  const [view, board] = await Promise.all([ports.chat.setView(set), ports.boards.get(set)]);
  const member = view.members.find((one) => one.shot?.at === at);
  const shot = board.shots.find((one) => one.at === at);
  if (member === undefined || shot === undefined) return refused(UNKNOWN_BUTTON);
  const mayEdit = (await mayNotDecideOn(ports, caller, origin)) === null;
  const picture = ports.pictures.forPoster(shot.chosen);
  return privately(shotCard({ view, member, board, shot, picture, mayEdit, note }));
}

/** Shows a change on the board's card; it stands where that fails. */
async function showChanged({ chat, logger }: BotPorts, { platform }: Caller, place: SetPlace): Promise<void> {
  await chat.updateBoard(place).catch((thrown: unknown) => {
    logger.warn({ event: 'board_display_failed', err: thrown, platform }, 'failed to show a changed board');
  });
}
