import type { SetMember, SetView } from '#src/chat/index.ts';
import type { Board, Shot } from '#src/orders/index.ts';
import {
  formatPrice,
  hasClip,
  isEnded,
  ledgerOf,
  MAX_SET_SIZE,
  type Task,
  total,
  typedPrompt,
} from '#src/tasks/index.ts';
import { button, buttonId, type Press } from '../../ui/buttons.ts';
import {
  type Card,
  type CardButton,
  type CardOption,
  type CardSelect,
  facts,
  item,
  type Line,
  layOut,
  type Optional,
  type Picture,
  present,
} from '../../ui/card.ts';
import { count, shorten } from '../format.ts';
import { NO_PROMPT, promptPart } from '../removal.ts';
import { shotLine } from './set-card.ts';
import { phaseLines } from './task-card.ts';

/** What the menu of a shot shows. */
interface ShotMenu {
  readonly view: SetView;
  readonly member: SetMember;
  readonly board: Board;
  readonly shot: Shot;
  /** `null` where there is none, or it may not be shown. */
  readonly picture: Pick<Picture, 'id' | 'url'> | null;
  /** The clip in its place that is none of its takes; `null` for none, and where the caller may not see it. */
  readonly replacedBy: Task | null;
  /** Other clips that the cut could use; `null` where the caller may not change the board. */
  readonly clips: readonly Task[] | null;
  /** What the press before did. */
  readonly note: Optional<Line>;
}

/** Longest prompt in the menu, in UTF-16 units; **Details** shows all of it. */
const PROMPT_LENGTH = 200;

/** Renders one shot of a board, with what can be done with it. */
export function shotCard(menu: ShotMenu): Card {
  const { view, member, shot, picture, replacedBy, clips, note } = menu;
  const { task } = member.view;
  const words = typedPrompt((replacedBy ?? task).request);
  const cost = total(shot.takes.flatMap(costsOf)).map(formatPrice);
  return layOut(
    [
      note,
      item(
        [promptPart(typedPrompt(task.request), PROMPT_LENGTH)],
        facts(`Shot ${shot.at} of the board`, ...shotLine(member, phaseLines(member.view))),
        undefined,
        picture && { ...picture, alt: `A frame of “${words}”` },
      ),
      replacedBy && ['In its place: ', promptPart(words, PROMPT_LENGTH)],
      facts(
        `Price so far: ${cost.join(' + ') || 'nothing'}`,
        shot.takes.length > 1 && count(shot.takes.length, 'take'),
      ),
    ],
    clips === null
      ? {}
      : {
          selects: present([takeSelect(menu), moveSelect(menu), clipSelect(menu, clips)]),
          buttons: shotButtons(view, member, menu),
        },
  );
}

/** Returns what each send of a take has cost, or may still. */
function costsOf(take: Task) {
  return ledgerOf(take).filter(({ state, booked, counted }) =>
    booked === undefined ? counted === 'held' || (state !== 'refunded' && state !== 'released') : booked === 'settled',
  );
}

function select(placeholder: string, options: readonly CardOption[]): CardSelect | null {
  return options.length === 0 ? null : { placeholder, options };
}

function option(press: Press, label: string): CardOption {
  return { id: buttonId(press), label: shorten(label, LABEL_LENGTH) };
}

/** Longest label of an option that all platforms take. */
const LABEL_LENGTH = 75;
/** Most options of a select that all platforms take. */
const MAX_OPTIONS = 25;

/** Offers the finished takes that are not in the cut; of very many, the latest. */
function takeSelect({ board: { place, revision }, shot: { at, takes, chosen } }: ShotMenu): CardSelect | null {
  const others = takes.flatMap((take, index) => {
    if (take.id === chosen.id || !hasClip(take)) return [];
    const press = { action: 'take', set: place.id, revision, shot: at, take: take.id } as const;
    return [option(press, `Use take ${index + 1} · ${take.request.seconds} s · ${wordsOf(take)}`)];
  });
  return select('Use another take…', others.slice(-MAX_OPTIONS));
}

function moveSelect({ view, board: { place, revision, shots }, shot: { at } }: ShotMenu): CardSelect | null {
  const here = shots.findIndex((one) => one.at === at);
  const namesOf = new Map(view.members.map((member) => [member.shot?.at, wordsOf(member.view.task)]));
  const to = (before: number, label: string) =>
    option({ action: 'move', set: place.id, revision, shot: at, before, isInMenu: true }, label);
  const others = shots.flatMap((one, index) =>
    index === here || index === here + 1 ? [] : [to(one.at, `Before ${one.at} · ${namesOf.get(one.at) ?? NO_PROMPT}`)],
  );
  return select('Move…', [...others, ...(here === shots.length - 1 ? [] : [to(0, 'To the end')])]);
}

function clipSelect({ board: { place, revision }, shot: { at } }: ShotMenu, clips: readonly Task[]): CardSelect | null {
  const options = clips.slice(0, MAX_OPTIONS).map((clip) => {
    const press = { action: 'take', set: place.id, revision, shot: at, take: clip.id } as const;
    return option(press, `${shorten(wordsOf(clip), CLIP_WORDS_LENGTH)} · ${clip.request.seconds} s`);
  });
  return select('Replace by a clip…', options);
}

/** Longest words of a clip in its option, so that its length is there. */
const CLIP_WORDS_LENGTH = 60;

function shotButtons(
  { set }: SetView,
  { shot }: SetMember,
  { board: { revision, shots }, shot: { at, takes, isSkipped } }: ShotMenu,
): readonly CardButton[] {
  if (shot === undefined) return [];
  const { task, retryPrice } = shot.original;
  const mayRetry = retryPrice !== null && takes.every(isEnded);
  const price = retryPrice === null ? '' : ` · ${formatPrice(retryPrice)}`;
  const skip = { action: 'skip', set: set.id, revision, shot: at, isSkipped: !isSkipped } as const;
  return present([
    mayRetry && button({ action: 'retry', task, price: retryPrice }, `Retry${price}`),
    button(skip, isSkipped ? 'Put back' : 'Skip'),
    mayRetry && button({ action: 'edit', task }, 'Edit words'),
    shots.length < MAX_SET_SIZE &&
      retryPrice !== null &&
      button({ action: 'insert', set: set.id, before: at }, 'Insert a shot before'),
  ]);
}

/** Names a clip by its words. */
function wordsOf({ request }: Pick<Task, 'request'>): string {
  return typedPrompt(request) || NO_PROMPT;
}
