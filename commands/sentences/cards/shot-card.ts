import type { SetMember, SetView } from '#src/chat/index.ts';
import type { Board, Shot } from '#src/orders/index.ts';
import { formatPrice, hasClip, isEnded, ledgerOf, type Task, total, typedPrompt } from '#src/tasks/index.ts';
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
  /** The caller may change the board. */
  readonly mayEdit: boolean;
  /** What the press before did. */
  readonly note: Optional<Line>;
}

/** Longest prompt in the menu, in UTF-16 units; **Details** shows all of it. */
const PROMPT_LENGTH = 200;

/** Renders one shot of a board, with what can be done with it. */
export function shotCard(menu: ShotMenu): Card {
  const { view, member, shot, picture, mayEdit, note } = menu;
  const words = typedPrompt(shot.chosen.request);
  const cost = total(shot.takes.flatMap(costsOf)).map(formatPrice);
  return layOut(
    [
      note,
      item(
        [promptPart(words, PROMPT_LENGTH)],
        facts(`Shot ${shot.at} of the board`, ...shotLine(member, phaseLines(member.view))),
        undefined,
        picture && { ...picture, alt: `A frame of “${words}”` },
      ),
      facts(
        `Price so far: ${cost.join(' + ') || 'nothing'}`,
        shot.takes.length > 1 && count(shot.takes.length, 'take'),
      ),
    ],
    mayEdit ? { selects: present([takeSelect(menu), moveSelect(menu)]), buttons: shotButtons(view, member, menu) } : {},
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

function moveSelect({ board: { place, revision, shots }, shot: { at } }: ShotMenu): CardSelect | null {
  const here = shots.findIndex((one) => one.at === at);
  const to = (before: number, label: string) =>
    option({ action: 'move', set: place.id, revision, shot: at, before, isInMenu: true }, label);
  const others = shots.flatMap((one, index) =>
    index === here || index === here + 1 ? [] : [to(one.at, `Before ${one.at} · ${wordsOf(one.chosen)}`)],
  );
  return select('Move…', [...others, ...(here === shots.length - 1 ? [] : [to(0, 'To the end')])]);
}

function shotButtons(
  { set }: SetView,
  { shot }: SetMember,
  { board: { revision }, shot: { at, takes, isSkipped } }: ShotMenu,
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
  ]);
}

/** Names a clip by its words. */
function wordsOf({ request }: Pick<Task, 'request'>): string {
  return typedPrompt(request) || NO_PROMPT;
}
