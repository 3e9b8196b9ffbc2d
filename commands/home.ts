import { isPending, setCardId } from '#src/chat/index.ts';
import { usedOf } from '#src/money/index.ts';
import { isBlind, phaseAtEnd, type Task } from '#src/tasks/index.ts';
import { approvals } from './approvals/approvals.ts';
import type { Caller } from './bot-port.ts';
import { type BotPorts, teamOf } from './input/subcommand.ts';
import { oncePerBlind, oncePerBoard, placeOf, visibleAmong } from './input/task-lookup.ts';
import { type Listed, list, listedOf, rowOf } from './list.ts';
import { periodNow } from './money/month.ts';
import { callerAt } from './orders/task-actions.ts';
import { mayNotDecideOn } from './policy/rules-here.ts';
import { formatMicros, limitFacts } from './sentences/amounts.ts';
import { phaseWord } from './sentences/state-words.ts';
import { button } from './ui/buttons.ts';
import {
  type Block,
  buttonsOf,
  type Card,
  type CardButton,
  facts,
  heading,
  item,
  type Line,
  labelled,
  layOut,
  type Optional,
  present,
  progressBar,
  small,
  textCard,
} from './ui/card.ts';
import { type UsedOfLimit, usedOfLimits } from './usage.ts';

/** Commands of the buttons of a home page by the button's id, as typed after `/video`; `''` opens the form of a new clip. */
export const HOME_COMMANDS: ReadonlyMap<string, string> = new Map(
  ['', 'models', 'usage', 'gallery', 'settings', 'budget', 'approvers', 'policy'].map((command) => [
    homeId(command),
    command,
  ]),
);

const WORDS = {
  start:
    'Type /video and what the clip should show; private channels need an /invite first. /video help shows the rest.',
  where: 'Answers to the buttons here are in your messages with me.',
} as const;

const HEAD_BUTTONS: readonly CardButton[] = [
  { id: homeId(''), label: 'New clip', style: 'primary' },
  homeButton('models', 'Models'),
  homeButton('usage', 'Usage'),
];
const GALLERY = homeButton('gallery', 'Gallery');
const ADMINISTRATION: readonly CardButton[] = [
  homeButton('settings', 'Settings'),
  homeButton('budget', 'Budgets'),
  homeButton('approvers', 'Approvers'),
  homeButton('policy', 'Policy'),
];

/** Home page without anything of its person. */
export const EMPTY_HOME: Card = headCard(false);

/** Largest number of clips in progress. */
const MAX_OPEN = 10;
/** Number of the team's open clips that are searched for those that the person may cancel. */
const MAX_SEARCHED = 50;

/**
 * Returns a person's home page: what waits for them, the clips in progress that they may cancel, the budgets, and their
 * latest clips. Each card has its own buttons; what matters most comes first.
 */
export async function homeCards(ports: BotPorts, caller: Caller): Promise<readonly Card[]> {
  const [waiting, running, budgets, latest] = await Promise.all([
    waitingCard(ports, caller),
    runningCard(ports, caller),
    budgetCard(ports, caller),
    latestCard(ports, caller),
  ]);
  const administration = caller.mayAdminister && layOut([heading('Administration')], { buttons: ADMINISTRATION });
  return present([headCard(ports.gallery.isOn()), waiting, running, budgets, administration, latest]);
}

function headCard(hasGallery: boolean): Card {
  const buttons = hasGallery ? [...HEAD_BUTTONS, GALLERY] : HEAD_BUTTONS;
  return { ...textCard([WORDS.start], [WORDS.where]), buttons };
}

/** Shows the requests that wait for the person, and their own; nothing while none of them waits. */
async function waitingCard(ports: BotPorts, caller: Caller): Promise<Optional<Card>> {
  const reply = await approvals.run(ports, caller, {});
  return reply.kind === 'private' && buttonsOf(reply.card).length > 0 && reply.card;
}

/** Shows the person's clips in progress, and then those of others that they may cancel. */
async function runningCard(ports: BotPorts, caller: Caller): Promise<Card> {
  const [own, all] = await Promise.all([
    ports.tasks.open({ ...teamOf(caller), user: caller.user.id }, 2 * MAX_OPEN),
    ports.tasks.open(teamOf(caller), MAX_SEARCHED),
  ]);
  // Those of others that wait for an approval or a decision, or have ended, cannot be cancelled.
  const queued = all.filter((task) => task.origin.user.id !== caller.user.id && phaseAtEnd(task) === 'queued');
  const shown = [...shownOnce(caller, own), ...(await cancellable(ports, caller, queued))];
  const rows = (await listedOf(ports, shown.slice(0, MAX_OPEN))).map(runningRow);
  const more = shown.length - rows.length;
  return layOut([
    heading('In progress'),
    rows.length === 0 && ['You have nothing in progress.'],
    ...rows,
    more > 0 && small(`And ${more} more.`),
  ]);
}

/** Leaves what a person may see and waits for, one of each board and blind comparison. */
function shownOnce(caller: Caller, open: readonly Task[]): readonly Task[] {
  // A cancelled task is polled until it ends, but it is not in progress for anyone.
  const awaited = open.filter(({ state, cancelledBy }) => state !== 'cancelled' && cancelledBy === undefined);
  return oncePerBoard(oncePerBlind(visibleAmong(caller, awaited)));
}

/** Leaves the tasks of others that the caller may cancel, as the press will be judged. */
async function cancellable(ports: BotPorts, caller: Caller, open: readonly Task[]): Promise<readonly Task[]> {
  const refusals = new Map<string, Promise<boolean>>();
  const mayCancel = ({ origin }: Task): Promise<boolean> => {
    const known = refusals.get(origin.channel);
    if (known !== undefined) return known;
    const asked = callerAt(ports, caller, origin).then(
      async (there) => (await mayNotDecideOn(ports, there, origin)) === null,
    );
    refusals.set(origin.channel, asked);
    return asked;
  };
  const seen = shownOnce(caller, open);
  const allowed = await Promise.all(seen.map(mayCancel));
  return seen.filter((_task, at) => allowed[at]);
}

function runningRow(listed: Listed): Block {
  const { task, message, phase, board, isCancellable } = listed;
  const hidden = isBlind(task) ? placeOf(task) : undefined;
  const { title, small } = rowOf(listed, isPending(phase) ? '' : phaseWord(phase, task));
  const id = hidden === undefined ? (board?.id ?? task.id) : setCardId(hidden.id);
  const see = board === undefined && message !== undefined && [{ message, label: 'See it' }];
  return item(title, facts(small, see), isCancellable ? button({ action: 'cancel', task: id }, 'Cancel') : undefined);
}

/** Shows what is used of the budgets of the person, and of the team; to a guest, of their own alone. */
async function budgetCard(ports: BotPorts, caller: Caller): Promise<Optional<Card>> {
  const { period: month } = await periodNow(ports, caller);
  const of = (who: Caller['user'] | null) => usedOfLimits(ports, caller, { month, who, hasPace: false });
  const [own, team] = await Promise.all([of(caller.user), caller.isExternal === true ? [] : of(null)]);
  const rows = [...own.map((one) => budgetRow('You', one)), ...team.map((one) => budgetRow('The team', one))];
  return rows.length > 0 && layOut([heading('This month'), ...rows]);
}

/** Shows an amount used; of a limit, with a bar that leads to the usage, and is read out in words. */
function budgetRow(whose: string, { spend, limit }: UsedOfLimit): Block | Line {
  const { currency, extra } = spend;
  const used = usedOf(spend);
  const amount = formatMicros(used, currency);
  if (limit === undefined) return labelled(whose, `${amount} used`);
  const most = limit + extra;
  const percent = most === 0n ? 100 : Math.min(100, Number((used * 100n) / most));
  const [ofLimit = '', left = ''] = limitFacts({ currency, limit, extra, used });
  const bar = {
    ...homeButton('usage', `${progressBar(percent)} ${percent} %`),
    spoken: `${whose}: ${percent} % used. Usage`,
  };
  return item([whose], facts(`${amount} ${ofLimit}`, left), bar);
}

/** Shows the latest clips of the person, without the buttons of pages. */
async function latestCard(ports: BotPorts, caller: Caller): Promise<Optional<Card>> {
  const reply = await list.run(ports, caller, { who: ['me'] });
  return reply.kind === 'private' && { ...reply.card, buttons: [] };
}

function homeButton(command: string, label: string): CardButton {
  return { id: homeId(command), label, style: 'plain' };
}

function homeId(command: string): string {
  return `home:${command === '' ? 'create' : command}`;
}
