import { formatPrice, type Price, type Task, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import type { Model, VideoRequest } from '#src/videos/index.ts';
import { CHAIN_PACE, lastFrameOf } from '../sentences/chain.ts';
import { capitalised, count, shorten } from '../sentences/format.ts';
import { clipsCost, type Ordered, someClips } from '../sentences/ordered.ts';
import { referenceWords, requestWords } from '../sentences/settings.ts';
import { button } from '../ui/buttons.ts';
import { type Card, type CardButton, facts, joinLines, type Line, labelled, present, textCard } from '../ui/card.ts';
import type { SpendingQuestion } from './spending.ts';
import { spendingSentences } from './spending-sentences.ts';

/** Reason for offering a request instead of sending it. */
export type OfferReason =
  /** The first word is a typo of or synonym for a command: the one probably meant, and one to run by a button. */
  | { readonly kind: 'slip'; readonly command: string; readonly run: string | null }
  /** A message to the app that may not be meant as a prompt. */
  | { readonly kind: 'talk' }
  /** A prompt without letters. */
  | { readonly kind: 'no_letters' }
  /** A word in the prompt that looks like an option. */
  | { readonly kind: 'option'; readonly typed: string; readonly example: string | null }
  /** The platform had already reported the request as failed when it arrived. */
  | { readonly kind: 'late' }
  /** The request was made in a private channel, and this is another one. */
  | { readonly kind: 'private' }
  /** The price differs from the one offered before; `null` if none was. */
  | { readonly kind: 'price'; readonly before: Price | null }
  /** A language model has rewritten the prompt of `original`. */
  | { readonly kind: 'improved'; readonly original: string; readonly improved: string }
  /** Words of a prompt that are probably misspelt names of images, and these names. */
  | { readonly kind: 'names'; readonly typed: readonly string[]; readonly meant: readonly string[] }
  /** The price and the length of a storyboard, which are always shown before it is ordered. */
  | { readonly kind: 'storyboard' }
  /** The price exceeds a threshold or a soft limit. `question`: absent where others see the offer. */
  | {
      readonly kind: 'spending';
      readonly price: Price;
      /** Default: one clip. */
      readonly ordered?: Ordered;
      readonly question?: SpendingQuestion;
    };

export interface OfferedClip {
  readonly draft: TaskId;
  readonly prompt: string;
  readonly price: Price;
  readonly ordered: Ordered;
}

export type OfferedShots = readonly { readonly request: VideoRequest; readonly model: Pick<Model, 'title'> }[];

/** Content of an offer, with the ids of its buttons. */
interface OfferSubject {
  readonly reason: OfferReason;
  readonly prompt: string;
  /** Set for a storyboard; `null` if it cannot be ordered as it is. */
  readonly shots?: OfferedShots | null;
  /** Lines of a storyboard that are no shots. */
  readonly comments?: number;
  /** Empty if the request cannot be sent as it is. */
  readonly clips: readonly OfferedClip[];
  /** The draft that is asked about. */
  readonly draft: TaskId;
  /** Whether a button runs the command that was probably meant. */
  readonly hasRun: boolean;
  /** The draft that a button opens in a form; `null`: no button does. */
  readonly fix: TaskId | null;
  readonly isImprovable: boolean;
}

/** Asks for a confirmation, with the price on the button; nothing has been bought. */
export function offerCard({
  reason,
  prompt,
  shots,
  comments = 0,
  clips,
  draft,
  hasRun,
  fix,
  isImprovable,
}: OfferSubject): Card {
  const price = clips[0]?.price ?? null;
  const ordered = clips[0]?.ordered ?? null;
  const isCancel = reason.kind === 'spending' || reason.kind === 'storyboard';
  const hasEdit = shots !== undefined || reason.kind === 'improved';
  const lines =
    shots === undefined
      ? offerLines(reason, prompt, { price, ordered })
      : boardLines(reason, shots ?? [], { price, comments });
  return {
    ...textCard(...lines),
    buttons: present<CardButton>([
      hasRun && reason.kind === 'slip' && runButton(draft, reason.run ?? reason.command),
      ...clips.map((clip, at) => {
        if (reason.kind === 'names') return nameButton(clip, at < clips.length - 1 ? reason.meant : []);
        return shots === undefined ? clipButton(clip, reason) : boardButton(clip, shots ?? []);
      }),
      fix !== null && (hasEdit && clips.length > 0 ? button({ action: 'fix', draft: fix }, 'Edit') : fixButton(fix)),
      isImprovable && improveButton(draft),
      button({ action: 'discard', draft }, isCancel ? 'Cancel' : 'Discard'),
    ]),
  };
}

/** Lists the shots of a storyboard with what each costs, after its total length and price. */
function boardLines(
  reason: OfferReason,
  shots: OfferedShots,
  { price, comments }: { readonly price: Price | null; readonly comments: number },
): readonly Line[] {
  const leftOut = comments === 0 ? '' : ` ${count(comments, 'comment')} left out.`;
  const [first] = reason.kind === 'storyboard' ? [] : offerLines(reason, '', { price, ordered: null });
  const seconds = shots.reduce((sum, { request }) => sum + request.seconds, 0);
  const total = [count(shots.length, 'shot'), `${seconds} s in total`, ...(price === null ? [] : [formatPrice(price)])];
  const words = shots.map(shotWords);
  const common = words[0]?.filter((word) => words.every((own) => own.includes(word))) ?? [];
  return present([
    first,
    facts([{ strong: total.join(' · ') }], common.length > 0 && [{ untrusted: common.join(' · ') }]),
    ...shots.map(({ request }, index) => {
      const own = words[index]?.filter((word) => !common.includes(word)) ?? [];
      const prompt = { untrusted: shorten(typedPrompt(request), 80) };
      return facts([`${index + 1}. `, prompt], own.length > 0 && [{ untrusted: own.join(' · ') }]);
    }),
    [`${paceOf(shots)}${leftOut} Nothing has been started.`],
  ]);
}

function paceOf([, ...later]: OfferedShots): string {
  const isChained = ({ request }: OfferedShots[number]): boolean => request.chain !== undefined;
  if (later.every(isChained))
    return 'Each shot starts with the last frame of the one before, so they are made one after another.';
  return `Two shots are made at a time.${later.some(isChained) ? ` ${CHAIN_PACE}` : ''}`;
}

function shotWords({ request, model }: OfferedShots[number], index: number): readonly string[] {
  const chain = request.chain === undefined ? [] : [`starts with the ${lastFrameOf(index)}`];
  return [model.title, ...requestWords(request), ...referenceWords(request.media), ...chain];
}

function boardButton({ draft, price }: OfferedClip, shots: OfferedShots): CardButton {
  const label = `Create ${count(shots.length, 'shot')} · ${formatPrice(price)}`;
  return button({ action: 'order', draft, price }, label, 'primary');
}

/** Returns a refusal's button that opens the request in a form. */
export function fixButton(draft: TaskId): CardButton {
  return button({ action: 'fix', draft }, 'Fix it');
}

function runButton(draft: TaskId, command: string): CardButton {
  return button({ action: 'run', draft }, `/video ${shorten(command, 40)}`, 'primary');
}

/** Returns the button of an order with images in place of misspelt names, or with the words as they are. */
function nameButton({ draft, price }: OfferedClip, [name, ...more]: readonly string[]): CardButton {
  const what = name === undefined ? 'Keep the words' : more.length > 0 ? 'Use the images' : `Use @${name}`;
  const style = name === undefined ? 'plain' : 'primary';
  return button({ action: 'order', draft, price }, `${what} · ${formatPrice(price)}`, style);
}

function clipButton({ draft, prompt, price, ordered }: OfferedClip, reason: OfferReason): CardButton {
  const { kind } = reason;
  const order = { action: 'order', draft, price } as const;
  if (kind === 'spending') return button(order, `Create for ${formatPrice(price)}`, 'primary');
  if (reason.kind === 'improved' && prompt === reason.improved)
    return button(order, `Create improved · ${formatPrice(price)}`, 'primary');
  const what =
    kind === 'improved'
      ? 'Keep original'
      : kind === 'late' || kind === 'price'
        ? 'Create'
        : `Create ${someClips(ordered)} of “${shorten(prompt, 30)}”`;
  return button(order, `${what} · ${formatPrice(price)}`);
}

function offerLines(
  reason: OfferReason,
  prompt: string,
  { price, ordered }: { readonly price: Price | null; readonly ordered: Ordered },
): readonly Line[] {
  const [clips, it] = [someClips(ordered), ordered === null ? 'it' : 'them'];
  const cost = price === null ? null : formatPrice(price);
  const quoted: Line = ['“', { untrusted: shorten(prompt, 200) }, '”'];
  switch (reason.kind) {
    case 'slip':
      return [slipLine(reason.command, reason.run)];
    case 'talk':
      return [[`Should I make ${clips} of `, ...quoted, '? I haven’t started anything.']];
    case 'no_letters':
      return [['There are no words in ', ...quoted, `. Should I make ${clips} of it anyway?`]];
    case 'option':
      return [
        [
          { code: reason.typed },
          ' looks like an option inside the prompt, so I haven’t started anything.',
          ...(reason.example === null ? [] : [' Options are written as ', { code: reason.example }, '.']),
        ],
      ];
    case 'private':
      return [[`This is from a private channel. Creating ${it} here shows everyone here the prompt `, ...quoted, '.']];
    case 'late':
      return [[`You asked for this while I was unavailable${cost === null ? '' : ` · ${cost}`}`], quoted];
    case 'price':
      return [[priceWords(reason.before, cost)], quoted];
    case 'improved':
      // The improved one is shown whole, since it may be ordered as it is; the author knows the original.
      return [
        labelled('Original', { untrusted: shorten(reason.original, 300) }),
        labelled('Improved', { untrusted: reason.improved }),
        ['A language model wrote the second one. Nothing has been started.'],
      ];
    case 'names':
      return [
        [...noSuchImage(reason.typed), ' Did you mean ', ...codes(reason.meant), '?'],
        quoted,
        ['Nothing has been started.'],
      ];
    case 'storyboard':
      return [quoted];
    case 'spending':
      return [...spendingLines(reason), quoted];
  }
}

export function noSuchImage(names: readonly string[]): Line {
  return ['There is no image ', ...codes(names), ' in the library.'];
}

function codes(names: readonly string[]): Line {
  const shown = names.slice(0, 5).map((name): Line => [{ code: `@${name}` }]);
  return joinLines(shown, ' or ');
}

function slipLine(command: string, run: string | null): Line {
  const meant: Line = ['Did you mean ', { code: `/video ${shorten(command, 80)}` }, '? Nothing has been started.'];
  if (run === null || run === command) return meant;
  return [...meant, ' It needs a clip’s id; ', { code: `/video ${run}` }, ' shows them.'];
}

/** Names the price alone where others see the offer. */
function spendingLines({
  price,
  ordered = null,
  question,
}: Extract<OfferReason, { readonly kind: 'spending' }>): readonly Line[] {
  const sentences =
    question === undefined ? [`${capitalised(clipsCost(ordered, price))}.`] : spendingSentences(question);
  return sentences.map((sentence) => [sentence]);
}

function priceWords(before: Price | null, cost: string | null): string {
  if (before === null) return `This costs ${cost ?? 'more'}.`;
  return cost === null
    ? `The price is no longer ${formatPrice(before)}.`
    : `The price is now ${cost}, not ${formatPrice(before)}.`;
}

/** Reason for asking before an uncertain task is sent again. */
export type ResendReason = Extract<OfferReason, { readonly kind: 'late' | 'price' | 'spending' }>;

/** Button of a question about an uncertain task. */
interface ResendSubject {
  readonly confirm: CardButton;
  readonly reason: ResendReason;
  readonly price: Price;
  /** What the clip costs and what is left, if the button confirms that. */
  readonly notes: readonly string[];
}

/** Asks for a confirmation to send an uncertain task again; nothing was bought. */
export function resendCard({ confirm, reason, price, notes }: ResendSubject, { request }: Pick<Task, 'request'>): Card {
  const prompt: Line = ['“', { untrusted: shorten(typedPrompt(request), 200) }, '”'];
  const twice = 'It may be charged twice.';
  const amounts = notes.map((note): Line => [note]);
  const lines =
    reason.kind === 'spending'
      ? [...amounts, [twice], prompt]
      : [[`${resendWords(reason, price)} ${twice}`], prompt, ...amounts];
  return { ...textCard(...lines), buttons: [confirm] };
}

function resendWords(reason: Exclude<ResendReason, { readonly kind: 'spending' }>, price: Price): string {
  return reason.kind === 'late'
    ? 'You asked to send this again while I was unavailable.'
    : priceWords(reason.before, formatPrice(price));
}

/** Returns the button that has the prompt of a draft, or of a task, rewritten. */
export function improveButton(draft: TaskId): CardButton {
  return button({ action: 'improve', draft }, 'Improve');
}
