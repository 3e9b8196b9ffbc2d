import { type Board, type BoardEdit, isReplaced, type Shot } from '#src/orders/index.ts';
import { hasClip, isBlind, type SetPlace, type Task, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, visibleTo } from '../input/subcommand.ts';
import { taskHere, visibleAmong } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { shotCard } from '../sentences/cards/shot-card.ts';
import { quoted } from '../sentences/format.ts';
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
      done: [before === 0 ? `Shot ${shot} is at the end of the board.` : `Shot ${shot} is before shot ${before}.`],
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
      done: [isSkipped ? `Shot ${shot} is left out of the cut.` : `Shot ${shot} is back in the cut.`],
    };
  });
}

/** Has the cut use another finished take of a shot, or another clip in its place. It buys nothing. */
export async function chooseTake(ports: BotPorts, caller: Caller, press: PressOf<'take'>): Promise<Reply> {
  const { shot, take } = press;
  const chosenIn = ({ shots }: Board) => shots.find(({ at }) => at === shot)?.chosen.id;
  return editShot(ports, caller, press, async (board, first) => {
    const takes = board.shots.find(({ at }) => at === shot)?.takes ?? [];
    const number = takes.findIndex((one) => one.id === take && hasClip(one)) + 1;
    const clip = number === 0 ? await taskHere(ports, caller, take) : undefined;
    if (number === 0 && (clip === undefined || !mayReplace(clip, first, board, shot))) return null;
    const what: Line = clip === undefined ? [`take ${number}`] : [{ untrusted: quoted(typedPrompt(clip.request), 60) }];
    return {
      edit: { choice: { at: shot, take, atMs: ports.clock.now() } },
      isDone: (now) => chosenIn(now) === take,
      done: ['The cut uses ', ...what, clip === undefined ? ` of shot ${shot}.` : ` in place of shot ${shot}.`],
    };
  });
}

/**
 * Returns whether a clip may stand in the place of a shot: a finished one of the same channel, where everyone who sees the
 * board may see it, and that is not elsewhere on the board.
 */
function mayReplace(clip: Task, { origin }: FirstShot, { shots }: Board, shot: number): boolean {
  const { platform, team, channel, audience } = clip.origin;
  const isHere = platform === origin.platform && team === origin.team && channel === origin.channel;
  const isSeen = audience === 'team' || origin.audience !== 'team';
  const isOnBoard = shots.some(
    ({ at, takes, chosen }) => takes.some(({ id }) => id === clip.id) || (at !== shot && chosen.id === clip.id),
  );
  return isHere && isSeen && hasClip(clip) && clip.removal === undefined && !isBlind(clip) && !isOnBoard;
}

/** Number of the latest clips among which those are that could replace a shot. */
const LATEST = 100;

/** Returns the latest clips that could replace a shot and that the caller may see, newest first. */
async function clipsFor(
  ports: BotPorts,
  caller: Caller,
  first: FirstShot,
  { board, shot }: { readonly board: Board; readonly shot: Shot },
): Promise<readonly Task[]> {
  const latest = await ports.tasks.history(visibleTo(caller), { offset: 0, limit: LATEST });
  return visibleAmong(caller, latest).filter(
    (clip) => clip.id !== shot.chosen.id && mayReplace(clip, first, board, shot.at),
  );
}

/** Change of a board that a press asks for. */
interface AskedEdit {
  readonly edit: BoardEdit;
  readonly isDone: (board: Board) => boolean;
  readonly done: Line;
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
  editOf: (board: Board, first: FirstShot) => AskedEdit | null | Promise<AskedEdit | null>,
): Promise<Reply> {
  const { set, revision, shot } = press;
  const first = await boardHere(ports, caller, set);
  if (first === null) return refused(UNKNOWN_BUTTON);
  const refusal = await mayNotDecideOn(ports, caller, first.origin);
  if (refusal !== null) return refused(refusal);
  const board = await ports.boards.get(first.set);
  const asked = board.shots.some(({ at }) => at === shot) ? await editOf(board, first) : null;
  if (asked === null) return refused(UNKNOWN_BUTTON);
  const isChanged =
    !asked.isDone(board) && board.revision === revision && (await ports.boards.change(board, asked.edit));
  const isDone = isChanged || asked.isDone(await ports.boards.get(first.set));
  // A card that was not shown since someone else's change offers presses at the old revision.
  if (isChanged || !isDone) await showChanged(ports, caller, first.set);
  if (press.action !== 'move' || press.isInMenu)
    return menuOf(ports, caller, first, shot, isDone ? asked.done : [CHANGED_MEANWHILE]);
  return isDone ? privately(textCard(asked.done)) : refused(CHANGED_MEANWHILE);
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
  first: FirstShot,
  at: number,
  note: Line | null = null,
): Promise<Reply> {
  const [view, board] = await Promise.all([ports.chat.setView(first.set), ports.boards.get(first.set)]);
  const member = view.members.find((one) => one.shot?.at === at);
  const shot = board.shots.find((one) => one.at === at);
  if (member === undefined || shot === undefined) return refused(UNKNOWN_BUTTON);
  const mayEdit = (await mayNotDecideOn(ports, caller, first.origin)) === null;
  const [seen] = isReplaced(shot) ? visibleAmong(caller, [shot.chosen]) : [shot.chosen];
  const replacedBy = isReplaced(shot) ? (seen ?? null) : null;
  const picture = seen === undefined ? null : ports.pictures.forPoster(seen);
  const clips = mayEdit ? await clipsFor(ports, caller, first, { board, shot }) : null;
  return privately(shotCard({ view, member, board, shot, picture, replacedBy, clips, note }));
}

/** Shows a change on the board's card; it stands where that fails. */
async function showChanged({ chat, logger }: BotPorts, { platform }: Caller, place: SetPlace): Promise<void> {
  await chat.updateBoard(place).catch((thrown: unknown) => {
    logger.warn({ event: 'board_display_failed', err: thrown, platform }, 'failed to show a changed board');
  });
}
