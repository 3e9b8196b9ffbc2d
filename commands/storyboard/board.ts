import { setCardId } from '#src/chat/index.ts';
import type { Board, BoardEdit, Shot } from '#src/orders/index.ts';
import { hasClip, type SetPlace, type Task, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import type { Caller, FieldProblem, FormField, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, refusedWith } from '../input/subcommand.ts';
import { taskHere } from '../input/task-lookup.ts';
import { mayNotDecideOn } from '../policy/rules-here.ts';
import { quoted, shorten } from '../sentences/format.ts';
import { UNKNOWN_BUTTON } from '../sentences/refusals.ts';
import { button, type Press } from '../ui/buttons.ts';
import { textCard } from '../ui/card.ts';
import { field, formReply } from '../ui/form-ids.ts';

/** Opens the form of **Edit board**, for the requester of the storyboard and those who may decide for them. */
export async function editBoard(ports: BotPorts, caller: Caller, place: SetPlace): Promise<Reply> {
  const refusal = await refusalOf(ports, caller, place.id);
  if (refusal !== null) return refusal;
  const board = await ports.boards.get(place);
  const purpose = { form: 'board', task: place.id, revision: board.revision } as const;
  const words = { title: 'Edit board', submit: 'Save' };
  return formReply(purpose, words, [orderField(board), ...takeField(board)]);
}

/** Handles the submission of **Edit board**: the order of the cut, whose missing shots are skipped, and another take. */
export async function submitBoard(
  ports: BotPorts,
  caller: Caller,
  { task, revision }: { readonly task: TaskId; readonly revision: number },
  values: Readonly<Record<string, string>>,
): Promise<Reply> {
  const refusal = await refusalOf(ports, caller, task);
  if (refusal !== null) return refusal;
  const place = (await ports.tasks.get(task))?.set;
  if (place === undefined) return refused(UNKNOWN_BUTTON);
  const board = await ports.boards.get(place);
  const read = readOrder(board, values['order']);
  // Discord's forms do not stay open.
  const buttons = [button({ action: 'board', task: setCardId(task) }, 'Edit again')];
  if ('problem' in read) return { ...refusedWith([read.problem]), buttons };
  const choice = choiceOf(board, values['take'] ?? '');
  const nowMs = ports.clock.now();
  const edit: BoardEdit = { ...read.edit, ...(choice === null ? {} : { choice: { ...choice, atMs: nowMs } }) };
  if (Object.keys(edit).length === 0)
    // The same form may have changed it: platforms deliver one again.
    return privately(textCard([board.revision === revision ? 'The board stays as it is.' : BOARD_EDITED]));
  // Someone else's edit is not overwritten by a form that did not show it.
  if (board.revision !== revision || !(await ports.boards.change(board, edit)))
    return { kind: 'refused', sentence: BOARD_CHANGED, buttons };
  await showChanged(ports, caller, place);
  return privately(textCard([BOARD_EDITED]));
}

/** Shows a change on the board's card; it stands where that fails. */
async function showChanged({ chat, logger }: BotPorts, { platform }: Caller, place: SetPlace): Promise<void> {
  await chat.updateBoard(place).catch((thrown: unknown) => {
    logger.warn({ event: 'board_display_failed', err: thrown, platform }, 'failed to show a changed board');
  });
}

/** Handles **Move**: the shot goes before another one, or to the end. */
export async function moveShot(
  ports: BotPorts,
  caller: Caller,
  { set, revision, shot, before }: Extract<Press, { readonly action: 'move' }>,
): Promise<Reply> {
  const refusal = await refusalOf(ports, caller, set);
  if (refusal !== null) return refusal;
  const place = (await ports.tasks.get(set))?.set;
  if (place === undefined) return refused(UNKNOWN_BUTTON);
  const board = await ports.boards.get(place);
  const order = movedIn(board, shot, before);
  if (order === null) return refused(UNKNOWN_BUTTON);
  const done = privately(textCard([movedTo(shot, before)]));
  // The same press may have moved it: platforms deliver one again.
  if (isInOrder(board, order)) return done;
  if (board.revision !== revision) return refused(MOVED_MEANWHILE);
  if (!(await ports.boards.change(board, { order })))
    return isInOrder(await ports.boards.get(place), order) ? done : refused(MOVED_MEANWHILE);
  await showChanged(ports, caller, place);
  return done;
}

/** Returns the numbers of all shots once one of them stands before another, or at the end (0); `null` without such shots. */
function movedIn({ shots }: Board, shot: number, before: number): readonly number[] | null {
  const all = shots.map(({ at }) => at);
  const others = all.filter((at) => at !== shot);
  const index = before === 0 ? others.length : others.indexOf(before);
  return others.length === all.length || index < 0 ? null : others.toSpliced(index, 0, shot);
}

function isInOrder({ shots }: Board, order: readonly number[]): boolean {
  return String(shots.map(({ at }) => at)) === String(order);
}

function movedTo(shot: number, before: number): string {
  return before === 0 ? `Shot ${shot} is at the end of the board.` : `Shot ${shot} is before shot ${before}.`;
}

async function refusalOf(ports: BotPorts, caller: Caller, set: TaskId): Promise<Reply | null> {
  const first = await taskHere(ports, caller, set);
  if (first?.set?.kind !== 'storyboard') return refused(UNKNOWN_BUTTON);
  const sentence = await mayNotDecideOn(ports, caller, first.origin);
  return sentence === null ? null : refused(sentence);
}

function orderField({ shots }: Board): FormField {
  const value = shots.flatMap(({ at, isSkipped }) => (isSkipped ? [] : [at])).join(' ');
  const note = shotNotes(shots.toSorted((one, other) => one.at - other.at));
  const label = 'Order of the cut; leave numbers out to skip';
  return field('order', label, { value, required: true, maxLength: 100, note });
}

/** Offers the other finished takes of all shots; no field without any. */
function takeField({ shots }: Board): readonly FormField[] {
  const all = shots
    .toSorted((one, other) => one.at - other.at)
    .flatMap((shot) =>
      takesOf(shot).map(({ id, number, task }) => ({ value: id, label: takeLabel(shot.at, number, task) })),
    );
  if (all.length === 0) return [];
  const title = 'Use another take';
  // Discord's selects have at most 25 options: of more, the latest.
  const choices = { title, placeholder: 'Leave them as they are', all: all.slice(-MAX_CHOICES) };
  return [field('take', title, { choices })];
}

const MAX_CHOICES = 25;

/** Returns the finished takes of a shot that are not chosen, with their numbers. */
function takesOf({ at, takes, chosen }: Shot) {
  return takes.flatMap((task, index) =>
    task === chosen || !hasClip(task) ? [] : [{ id: `${at}:${task.id}`, number: index + 1, task }],
  );
}

function choiceOf({ shots }: Board, value: string): Omit<NonNullable<BoardEdit['choice']>, 'atMs'> | null {
  for (const shot of shots) {
    const found = takesOf(shot).find(({ id }) => id === value);
    if (found !== undefined) return { at: shot.at, take: found.task.id };
  }
  return null;
}

/** Parses the numbers of the shots in the cut; those that are missing are skipped, and keep their order behind it. */
function readOrder(
  { shots }: Board,
  entered: string | undefined,
): { readonly edit: Pick<BoardEdit, 'order' | 'skipped'> } | { readonly problem: FieldProblem } {
  if (entered === undefined) return { edit: {} };
  const numbers = (entered.match(/[^\s,;]+/gu) ?? []).map((text) => ({
    text,
    at: /^\d{1,2}$/.test(text) ? Number(text) : 0,
  }));
  const known = shots.map(({ at }) => at);
  const wrong = numbers.find(({ at }) => !known.includes(at));
  const problem = (sentence: string) => ({ problem: { field: 'order', sentence } });
  const numbered = `1 to ${known.length}, such as ${known.length > 2 ? '3 1 2' : '2 1'}`;
  if (wrong !== undefined)
    return problem(`${quoted(wrong.text, 20)} isn’t a shot. Write the numbers of the shots in the cut, ${numbered}.`);
  const order = numbers.map(({ at }) => at);
  const twice = order.find((at, index) => order.indexOf(at) !== index);
  if (twice !== undefined) return problem(`Shot ${twice} is there twice. A shot is in the cut once.`);
  const skipped = known.filter((at) => !order.includes(at));
  const before = shots.filter(({ isSkipped }) => !isSkipped).map(({ at }) => at);
  return String(before) === String(order) ? { edit: {} } : { edit: { order: [...order, ...skipped], skipped } };
}

/** Longest note of a field. @see https://docs.discord.com/developers/components/reference#label */
const NOTE_LENGTH = 100;

/** Names the shots by their numbers, as far as they fit: `1 a fox wakes up · 2 it runs`. */
function shotNotes(shots: readonly { readonly at: number; readonly chosen: Pick<Task, 'request'> }[]): string {
  const most = Math.floor((NOTE_LENGTH + 3) / Math.max(1, shots.length)) - 3;
  return shots.map(({ at, chosen }) => shorten(`${at} ${typedPrompt(chosen.request)}`, most)).join(' · ');
}

const BOARD_EDITED = 'The board is changed.';

const MOVED_MEANWHILE =
  'Someone changed this board meanwhile. Nothing was changed; the board shows the order as it is now.';

const BOARD_CHANGED = 'Someone changed this board meanwhile. Nothing was changed; press Edit board again to see it.';

/** Names a take of a shot: `Shot 4 · take 2 · 6 s · a fox wakes up`. */
function takeLabel(at: number, take: number, { request }: Pick<Task, 'request'>): string {
  return shorten(`Shot ${at} · take ${take} · ${request.seconds} s · ${typedPrompt(request)}`, 75);
}
